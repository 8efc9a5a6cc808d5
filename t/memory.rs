//! How much memory a worker needs at most: the formula of docs/architecture.md ("Memory"), with many clients that
//! are slow.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use harness::{Builder, Connection, Nginx, Upstream, corpus, decode, locate, raise_descriptor_limit};

use crate::support::{has_threads, pooled};

const CODINGS: [&str; 2] = ["br", "zstd"];
const CLIENTS: usize = 1000;
const MIB: usize = 1 << 20;
const BODY: usize = 20 * MIB;
/// Shorter than the default, for a test that is not too long.
const SEGMENT: usize = 256 << 10;
const THREADS: usize = 2;
/// What an encoder of the levels used here holds, its history and its segment included.
const ENCODER: usize = 16 * MIB;
/// NGINX's own memory for a client: the connection, the request, its pools and buffers of the proxy.
const CONNECTION: usize = 48 << 10;

/// The bound of the docs: what threads hold, and each client's share.
fn bound(base: u64, share: usize) -> u64 {
    base + (THREADS * ENCODER + CLIENTS * (share + CONNECTION)) as u64
}

/// A client's share of a long body: `*_buffers`, and the output of one part.
fn long_share(coding: &str) -> usize {
    let part = corpus::text(SEGMENT);
    let output = match coding {
        "br" => harness::tools::filter("brotli", &["-q", "1", "-c"], &part),
        _ => harness::tools::filter("zstd", &["-1", "-c"], &part),
    };
    (128 << 10) + output.unwrap().len()
}

fn builder(brotli_level: u32) -> Builder {
    raise_descriptor_limit();
    pooled().connections(4 * CLIENTS as u32).http(&format!(
        "brotli_comp_level {brotli_level}; brotli_parallel_segment_size 256k;
             zstd_parallel_segment_size 256k; send_timeout 300s; proxy_read_timeout 300s;"
    ))
}

/// A server whose sockets take little, so that what waits for clients waits in the worker.
fn narrow(lines: &str) -> String {
    format!("server {{ listen 127.0.0.1:%%PORT2%% sndbuf=16k; root %%PREFIX%%/html; {lines} }}")
}

/// Many clients that take the header and next to nothing of the body.
fn slow_clients(nginx: &Nginx, path: &str, coding: &str) -> Vec<Connection> {
    let mut clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let mut client = Connection::connect_with_buffer(nginx.port_of("PORT2"), 4096).unwrap();
            // The last of them has its turn when all others had theirs.
            client.set_timeout(Duration::from_secs(200)).unwrap();
            client.send_request("GET", path, &[("Accept-Encoding", coding)]).unwrap();
            client
        })
        .collect();
    for client in &mut clients {
        assert_eq!(client.read_head("GET").unwrap().coding(), coding);
    }
    for _ in 0..4 {
        for client in &mut clients {
            assert!(client.read_piece().unwrap().is_some());
        }
    }
    clients
}

#[test]
fn bug_79_a_thousand_slow_clients_of_a_file() {
    if !has_threads() || locate::is_sanitized() {
        return;
    }
    for coding in CODINGS {
        let nginx = builder(1).http(&narrow("")).file("large.txt", corpus::text(BODY)).start();
        let base = nginx.worker().vm_rss();
        let clients = slow_clients(&nginx, "/large.txt", coding);
        let (most, bound) = (nginx.vm_hwm(), bound(base, long_share(coding)));
        println!("file, {coding}: {} MiB of {} MiB", most >> 20, bound >> 20);
        assert!(most <= bound, "{coding}: {most} bytes, more than {bound}");
        drop(clients);
    }
}

#[test]
fn a_thousand_slow_clients_of_an_upstream() {
    if !has_threads() || locate::is_sanitized() {
        return;
    }
    let text = corpus::text(BODY);
    let upstream = Upstream::start(move |mut conn| {
        conn.read_request();
        conn.send_head(200, &["Content-Type: text/plain", &format!("Content-Length: {BODY}")]);
        conn.send(&text);
    });
    for (coding, buffering) in [("br", "on"), ("zstd", "off")] {
        let location = format!(
            "location / {{ proxy_buffering {buffering}; proxy_max_temp_file_size 0; proxy_pass {}; }}",
            upstream.url()
        );
        let nginx = builder(1).http(&narrow(&location)).start();
        let base = nginx.worker().vm_rss();
        let clients = slow_clients(&nginx, "/", coding);
        // What is copied of bodies to wait for threads is bounded by them, too.
        let (most, bound) = (nginx.vm_hwm(), bound(base, long_share(coding) + (64 << 10)));
        println!("upstream, {coding}: {} MiB of {} MiB", most >> 20, bound >> 20);
        assert!(most <= bound, "{coding}: {most} bytes, more than {bound}");
        drop(clients);
    }
}

/// What all connections of the upstream wait for.
#[derive(Default)]
struct Round {
    number: Mutex<usize>,
    begins: Condvar,
}

#[test]
fn a_thousand_event_streams() {
    if !has_threads() || locate::is_sanitized() {
        return;
    }
    const STREAMS: usize = 64 * MIB;
    const ROUNDS: usize = 3;
    for coding in CODINGS {
        let round = Arc::new(Round::default());
        let begins = round.clone();
        let upstream = Upstream::start(move |mut conn| {
            conn.read_request();
            conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
            for i in 0..ROUNDS {
                let number = begins.number.lock().unwrap();
                drop(begins.begins.wait_while(number, |number| *number <= i).unwrap());
                conn.send_chunk(event(i).as_bytes());
            }
            conn.send_last_chunk();
        });
        let location = format!(
            "location / {{ proxy_buffering off; proxy_http_version 1.1; proxy_pass {}; }}",
            upstream.url()
        );
        let nginx = builder(6).http("compress_stream_memory 64m;").server(&location).start();
        let base = nginx.worker().vm_rss();
        let mut streams: Vec<_> = (0..CLIENTS).map(|_| Stream::open(&nginx, coding)).collect();
        let mut want = String::new();
        for i in 0..ROUNDS {
            *round.number.lock().unwrap() = i + 1;
            round.begins.notify_all();
            want += &event(i);
            for stream in &mut streams {
                stream.read_until(&want);
            }
        }
        // Each keeps the last 32 KiB of its body at most, to go on with another encoder.
        let (most, bound) = (nginx.vm_hwm(), bound(base, 32 << 10) + STREAMS as u64);
        println!("streams, {coding}: {} MiB of {} MiB", most >> 20, bound >> 20);
        assert!(most <= bound, "{coding}: {most} bytes, more than {bound}");
    }
}

struct Stream {
    client: Connection,
    coding: &'static str,
    has_head: bool,
    body: Vec<u8>,
}

impl Stream {
    fn open(nginx: &Nginx, coding: &'static str) -> Self {
        let client = Connection::get(nginx.port(), "/", coding).unwrap();
        Self { client, coding, has_head: false, body: Vec::new() }
    }

    fn read_until(&mut self, want: &str) {
        if !self.has_head {
            assert_eq!(self.client.read_head("GET").unwrap().coding(), self.coding);
            self.has_head = true;
        }
        while decode::decode_prefix(self.coding, &self.body).unwrap() != want.as_bytes() {
            self.body.extend(self.client.read_piece().unwrap().expect("the event arrives"));
        }
    }
}

fn event(i: usize) -> String {
    let text = String::from_utf8(corpus::text(2000)).unwrap();
    format!("id: {i}\ndata: {text}\n\n")
}
