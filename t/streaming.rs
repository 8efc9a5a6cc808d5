//! Bodies that come bit by bit: what was flushed reaches the client before more is sent.

mod backends;
mod events;
mod long;
mod wakeups;

use harness::{Connection, Gate, Http2, Nginx, Upstream, decode, gate};

use crate::support::{Hooks, has_threads, inline, pooled};

const CODINGS: [&str; 2] = ["br", "zstd"];

/// Sends events, the next one whenever the gate opens, then ends.
fn events(count: usize, gate: Gate) -> Upstream {
    Upstream::start(move |mut conn| {
        conn.read_request().unwrap();
        conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
        for i in 0..count {
            gate.wait();
            conn.send_chunk(event(i).as_bytes());
        }
        gate.wait();
        conn.send_last_chunk();
    })
}

fn event(i: usize) -> String {
    format!("id: {i}\ndata: event number {i} of the stream\n\n")
}

fn nginx(pool: bool, upstream: &Upstream) -> Nginx {
    let location = format!(
        "location / {{ proxy_buffering off; proxy_http_version 1.1; proxy_pass {}; }}",
        upstream.url()
    );
    let builder = if pool { pooled() } else { inline() };
    builder.server(&location).start()
}

#[test]
fn bug_23_every_event_is_decoded_before_the_next_is_sent() {
    for pool in [has_threads(), false] {
        for coding in CODINGS {
            for http2 in [false, true] {
                let (key, gate) = gate();
                let upstream = events(30, gate);
                let nginx = nginx(pool, &upstream);
                let mut body = Vec::new();
                let mut want = String::new();
                let mut pieces = Pieces::open(&nginx, coding, http2, || key.open());
                for i in 0..30 {
                    want += &event(i);
                    while decode::decode_prefix(coding, &body).unwrap() != want.as_bytes() {
                        body.extend(pieces.next().expect("the event arrives"));
                    }
                    key.open();
                }
                while let Some(piece) = pieces.next() {
                    body.extend(piece);
                }
                assert_eq!(decode::decode(coding, &body).unwrap(), want.as_bytes());
            }
        }
    }
}

/// The pieces of a body as they arrive.
enum Pieces {
    Http1(Connection),
    Http2(harness::Http2Stream, #[expect(dead_code, reason = "keeps the connection")] Http2),
}

impl Pieces {
    /// `first` lets the first event go, without which there is no header.
    fn open(nginx: &Nginx, coding: &str, http2: bool, first: impl Fn()) -> Self {
        Self::open_path(nginx, "/", coding, http2, first)
    }

    /// As `open`, of another path.
    fn open_path(nginx: &Nginx, path: &str, coding: &str, http2: bool, first: impl Fn()) -> Self {
        let headers = [("Accept-Encoding", coding)];
        first();
        if http2 {
            let client = Http2::connect(nginx.http2_port()).unwrap();
            let mut stream = client.get(path, &headers).unwrap();
            assert_eq!(stream.read_head().unwrap().coding(), coding);
            Self::Http2(stream, client)
        } else {
            let mut client = Connection::connect(nginx.port()).unwrap();
            client.send_request("GET", path, &headers).unwrap();
            assert_eq!(client.read_head("GET").unwrap().coding(), coding);
            Self::Http1(client)
        }
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Http1(client) => client.read_piece().unwrap(),
            Self::Http2(stream, _) => stream.read_piece().unwrap(),
        }
    }
}

#[test]
fn a_flush_passes_while_the_pool_is_busy_with_others() {
    if !has_threads() {
        return;
    }
    let hooks = Hooks::new();
    let (key, gate) = gate();
    let upstream = events(3, gate);
    let location = format!(
        "location /events {{ proxy_buffering off; proxy_http_version 1.1; proxy_pass {}; }}",
        upstream.url()
    );
    let text = harness::corpus::text(1 << 20);
    let nginx = hooks.watch(pooled()).server(&location).file("large.txt", text.clone()).start();
    // One of the two threads is held by the job of another response.
    hooks.order("hold");
    let mut large = Connection::connect(nginx.port()).unwrap();
    large.send_request("GET", "/large.txt", &[("Accept-Encoding", "zstd")]).unwrap();
    hooks.wait_for_job(0);
    hooks.release("hold");
    key.open();
    let mut client = Connection::get(nginx.port(), "/events", "br").unwrap();
    client.read_head("GET").unwrap();
    let mut body = Vec::new();
    for i in 0..3 {
        let want: String = (0..=i).map(event).collect();
        while decode::decode_prefix("br", &body).unwrap() != want.as_bytes() {
            body.extend(client.read_piece().unwrap().expect("the event arrives"));
        }
        key.open();
    }
    assert!(large.read_response("GET").unwrap().decoded().unwrap() == text);
}

#[test]
fn bug_30_an_empty_flush_lets_the_header_go() {
    let (key, gate) = gate();
    let upstream = Upstream::start(move |mut conn| {
        conn.read_request().unwrap();
        conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
        gate.wait();
        conn.send_last_chunk();
    });
    for pool in [has_threads(), false] {
        let nginx = nginx(pool, &upstream);
        for (coding, length) in [("br", 1), ("zstd", 9)] {
            let mut client = Connection::get(nginx.port(), "/", coding).unwrap();
            assert_eq!(client.read_head("GET").unwrap().coding(), coding);
            key.open();
            let mut body = Vec::new();
            while let Some(piece) = client.read_piece().unwrap() {
                body.extend(piece);
            }
            assert_eq!((decode::decode(coding, &body).unwrap(), body.len()), (vec![], length));
        }
    }
}
