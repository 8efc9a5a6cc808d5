//! Server-Sent Events, at the pace of a real server: each is decoded before the next is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use harness::{Nginx, Upstream, decode, gate};

use super::{CODINGS, Pieces};
use crate::support::{has_threads, inline, pooled};

const EVENTS: usize = 50;
const PAUSE: Duration = Duration::from_millis(100);

#[test]
fn bug_53_fifty_events_are_each_decoded_before_the_next_is_sent() {
    thread::scope(|scope| {
        for pool in [has_threads(), false] {
            for coding in CODINGS {
                for http2 in [false, true] {
                    scope.spawn(move || follow(pool, coding, http2));
                }
            }
        }
    });
}

/// The upstream sends an event, waits, and then until the client has decoded it.
fn follow(pool: bool, coding: &str, http2: bool) {
    let sent = Arc::new(AtomicUsize::new(0));
    let (key, gate) = gate();
    let counter = sent.clone();
    let upstream = Upstream::start(move |mut conn| {
        conn.read_request().unwrap();
        conn.send_head(200, &["Content-Type: text/event-stream", "Transfer-Encoding: chunked"]);
        for i in 0..EVENTS {
            counter.fetch_add(1, Ordering::SeqCst);
            conn.send_chunk(event(i).as_bytes());
            conn.pause(PAUSE);
            gate.wait();
        }
        conn.send_last_chunk();
    });
    let nginx = start(pool, &upstream);
    let mut pieces = Pieces::open(&nginx, coding, http2, || ());
    let mut body = Vec::new();
    let mut want = String::new();
    for i in 0..EVENTS {
        want += &event(i);
        while decode::decode_prefix(coding, &body).unwrap() != want.as_bytes() {
            body.extend(pieces.next().expect("the event arrives"));
        }
        assert_eq!(sent.load(Ordering::SeqCst), i + 1);
        key.open();
    }
    while let Some(piece) = pieces.next() {
        body.extend(piece);
    }
    assert_eq!(decode::decode(coding, &body).unwrap(), want.as_bytes());
    // What all events have in common is sent once.
    assert!(body.len() < want.len() / 2, "{coding}: {} of {}", body.len(), want.len());
}

fn start(pool: bool, upstream: &Upstream) -> Nginx {
    let builder = if pool { pooled() } else { inline() };
    let location = format!(
        "location / {{ proxy_buffering off; proxy_http_version 1.1; proxy_pass {};
         brotli_types text/event-stream; zstd_types text/event-stream; }}",
        upstream.url()
    );
    builder.server(&location).start()
}

fn event(i: usize) -> String {
    format!(
        "id: {i}\nevent: price\ndata: {{\"symbol\":\"ACME\",\"price\":{}.{:02}}}\n\n",
        100 + i,
        i * 7 % 100
    )
}
