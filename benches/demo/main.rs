//! `make demo`: what the module sends, and what other requests feel of its work.
//!
//! First a few bodies are fetched at several levels and given to decoders that share no code with the module. Then
//! small requests are timed next to large responses that are compressed in the event loop, compressed on a thread
//! pool, or sent as they are. `PORT` is the port to serve on, a free one unless set.

mod bodies;
mod contest;

use std::env;
use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;
use std::time::Instant;

use harness::load::{processor, processors};
use harness::{Builder, Nginx, locate};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("demo: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let begin = Instant::now();
    if !locate::nginx_has("--with-threads") {
        return Err("this NGINX was built without --with-threads, so it has no thread pools to show".into());
    }
    let place = Place::from_environment()?;
    println!("{}\n", describe());
    bodies::compare(&place)?;
    contest::hold(&place)?;
    println!(
        "The demo took {:.0} s, and its server is stopped. To keep one running: make serve DIR=. PORT=8080",
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}

/// What the figures are measured on: the module, NGINX and the processor, in one line.
fn describe() -> String {
    let (major, minor, patch) = locate::nginx_version();
    format!(
        "ngx_http_compress_module {}, NGINX {major}.{minor}.{patch} with one worker and \"thread_pool compress \
         threads=2\"; {} processors ({})",
        env!("CARGO_PKG_VERSION"),
        processors(),
        processor()
    )
}

/// Where the servers of the demo listen.
struct Place {
    port: Option<u16>,
}

impl Place {
    fn from_environment() -> Result<Self, String> {
        let Some(text) = env::var("PORT").ok().filter(|text| !text.is_empty()) else {
            return Ok(Self { port: None });
        };
        let port = text.parse().ok().filter(|port| *port != 0).ok_or(format!("PORT={text} is no port"))?;
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| format!("port {port}: {error}"))?;
        Ok(Self { port: Some(port) })
    }

    /// An NGINX with one worker and a pool of two threads, and its port. `locations` go into its server.
    fn start(&self, files: &[(String, Vec<u8>)], locations: &str) -> (Nginx, u16) {
        let listen = self.port.map_or(String::new(), |port| format!("listen 127.0.0.1:{port};"));
        let builder = Nginx::builder()
            .main("thread_pool compress threads=2;")
            .http("sendfile on; keepalive_requests 1000000000;")
            .server(&format!("access_log off; {listen}\n{locations}"));
        let nginx = files.iter().fold(builder, add_file).start();
        let port = self.port.unwrap_or_else(|| nginx.port());
        (nginx, port)
    }
}

fn add_file(builder: Builder, (name, bytes): &(String, Vec<u8>)) -> Builder {
    builder.file(name, bytes.clone())
}

/// A location whose files are those of the server, with `lines` of its own.
fn location(name: &str, lines: &str) -> String {
    format!("location /{name}/ {{ alias \"%%PREFIX%%/html/\"; {lines} }}\n")
}
