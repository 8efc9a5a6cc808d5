//! What of a response is left to the event loop, by the way that its file comes in and its output goes out.

use std::process::Command;
use std::time::Duration;

use crate::results::{Metric, Results, Row};
use crate::scale::Scale;
use crate::server::{Extra, Load, Server, Variant, br};
use crate::setup::{REACT, Setup};

pub const PART: &str = "loop";

const FILE: &str = REACT;
const LOAD: Load = br(6);
const CONNECTIONS: u64 = 8;

/// A name, the lines of the server, and whether it speaks TLS and HTTP/2.
const WAYS: [(&str, &str, bool, bool); 4] = [
    (PLAIN, "", false, false),
    ("HTTP, sendfile off", "sendfile off;", false, false),
    ("TLS", "", true, false),
    ("TLS, HTTP/2", "", true, true),
];
const PLAIN: &str = "HTTP, sendfile on";

pub fn measure(setup: &Setup, scale: &Scale, results: &mut Results) -> Result<(), String> {
    let servers = WAYS.map(|(setting, lines, tls, http2)| {
        let extra = Extra { server: lines.into(), tls, ..Extra::default() };
        (
            Row::new(PART, FILE, LOAD, setting),
            Server::start_with(setup, Variant::Pool(2), &[LOAD], &extra),
            tls,
            http2,
        )
    });
    for _ in 0..scale.rounds {
        for (row, server, tls, http2) in &servers {
            let count = if scale.quick { 32 } else { 128 };
            let before = server.times();
            fetch(server, *tls, *http2, count)?;
            let after = server.times();
            let each = |time: Duration| time.as_secs_f64() * 1000.0 / count as f64;
            results.add(row, server.variant, Metric::CpuPerResponse, each(after.0 - before.0));
            results.add(row, server.variant, Metric::LoopCpuPerResponse, each(after.1 - before.1));
        }
    }
    Ok(())
}

/// The row of the figures over HTTP with files that the jobs read themselves.
pub fn plain_row() -> Row {
    Row::new(PART, FILE, LOAD, PLAIN)
}

/// Fetches so many responses by the program `h2load`.
fn fetch(server: &Server, tls: bool, http2: bool, count: u64) -> Result<(), String> {
    let (scheme, port) = if tls { ("https", server.nginx.tls_port()) } else { ("http", server.nginx.port()) };
    let mut command = Command::new("h2load");
    if !http2 {
        command.arg("--h1");
    }
    let output = command
        .args(["--requests", &count.to_string(), "--clients", &CONNECTIONS.to_string()])
        .args(["--header", &format!("Accept-Encoding: {}", LOAD.coding)])
        .arg(format!("{scheme}://127.0.0.1:{port}{}", LOAD.path(FILE)))
        .output()
        .map_err(|error| format!("h2load: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text.contains(&format!(" {count} succeeded")) {
        Ok(())
    } else {
        Err(format!("h2load: {text}{}", String::from_utf8_lossy(&output.stderr)))
    }
}
