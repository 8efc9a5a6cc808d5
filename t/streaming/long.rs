//! Streams that go on for hours do not make the worker grow.

use harness::{Nginx, Upstream, gate, locate};

use super::{CODINGS, Pieces};
use crate::support::{has_threads, inline, pooled};

/// As many as a stream of 70 a second has in an hour.
const CHUNKS: usize = 250_000;

#[test]
fn bug_21_an_hour_of_flushed_chunks_does_not_grow_the_worker() {
    if locate::is_sanitized() {
        return;
    }
    std::thread::scope(|scope| {
        for (pool, coding) in [(has_threads(), CODINGS[0]), (false, CODINGS[1])] {
            scope.spawn(move || run(pool, coding));
        }
    });
}

fn run(pool: bool, coding: &str) {
    let (key, gate) = gate();
    let upstream = Upstream::start(move |mut conn| {
        conn.read_request().unwrap();
        conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
        let event = "an event of a stream that goes on and on";
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        for i in 0..CHUNKS {
            conn.send(chunk.as_bytes());
            if i == CHUNKS / 10 {
                gate.wait();
            }
        }
        conn.send_last_chunk();
    });
    let location = format!(
        "location / {{ proxy_buffering off; proxy_buffer_size 1k; proxy_http_version 1.1; proxy_pass {}; }}",
        upstream.url()
    );
    let builder = if pool { pooled() } else { inline() };
    let nginx = builder.http("brotli_comp_level 1;").server(&location).start();
    let mut pieces = Pieces::open(&nginx, coding, false, || ());
    let mut early = 0;
    let mut bytes = 0;
    while let Some(piece) = pieces.next() {
        bytes += piece.len();
        if early == 0 && bytes > 10_000 {
            early = nginx.worker().vm_rss();
            key.open();
        }
    }
    let late = nginx.worker().vm_rss();
    assert!(early > 0 && late < early + (1 << 20), "{coding}: {early} bytes grew to {late}");
    flushes(&nginx);
}

/// The stream was one of many flushes, not of a few large pieces.
fn flushes(nginx: &Nginx) {
    let sent: usize = nginx.access_log_lines(1)[0].rsplit(' ').next().unwrap().parse().unwrap();
    assert!(sent > CHUNKS / 10, "only {sent} bytes were sent");
}
