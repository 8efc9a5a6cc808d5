//! Streams of real kinds of backends: FastCGI, an upstream that switches buffering off itself, messages with a length.

use harness::{Connection, FastCgi, Http2, Nginx, TIMEOUT, Upstream, decode, gate, get, wait_until};

use super::{CODINGS, Pieces};
use crate::support::{has_threads, inline, pooled};

/// Prints a line each 200 ms, the next when the last was decoded.
const SCRIPT: &str = r#"
printf 'Content-Type: text/plain\r\n\r\n'
i=0
while [ $i -lt 6 ]; do
    echo "line $i of a program that prints a line each 200 ms"
    sleep 0.2
    while [ ! -e "$ACK/$i" ]; do sleep 0.02; done
    i=$((i + 1))
done
"#;

#[test]
fn lines_of_a_fastcgi_program_arrive_one_by_one() {
    let program = FastCgi::start(SCRIPT);
    for pool in [has_threads(), false] {
        let builder = if pool { pooled() } else { inline() };
        let server = format!("location / {{ fastcgi_buffering off; {} }}", program.location());
        let nginx = builder.server(&server).start();
        std::thread::scope(|scope| {
            for coding in CODINGS {
                for http2 in [false, true] {
                    let (nginx, program) = (&nginx, &program);
                    scope.spawn(move || {
                        let run = format!("{pool}{coding}{http2}");
                        let lines: Vec<_> = (0..6)
                            .map(|i| format!("line {i} of a program that prints a line each 200 ms\n"))
                            .collect();
                        let path = format!("/?ack={run}");
                        let pieces = Pieces::open_path(nginx, &path, coding, http2, || ());
                        follow(pieces, coding, &lines, |i| program.acknowledge(&run, &i.to_string()));
                    });
                }
            }
        });
    }
}

/// Prints a body in pieces, so that clients leave while it is cached.
const CACHED: &str = r#"
echo ran >>"$RUNS"
printf 'Content-Type: text/plain\r\nCache-Control: max-age=60\r\n\r\n'
i=0
while [ $i -lt 10 ]; do
    seq 1 8000
    sleep 0.02
    i=$((i + 1))
done
"#;

/// What [`CACHED`] prints.
fn cached() -> Vec<u8> {
    (1..=8000).map(|i| format!("{i}\n")).collect::<String>().repeat(10).into_bytes()
}

#[test]
fn a_fastcgi_cache_serves_whole_bodies_and_clients_that_leave_let_go_of_it() {
    for pool in [has_threads(), false] {
        let program = FastCgi::start(CACHED);
        let builder = if pool { pooled() } else { inline() };
        let server = format!(
            "location / {{ fastcgi_cache site; fastcgi_cache_key $uri; fastcgi_cache_valid 1m; {}
             add_header X-Cache $upstream_cache_status; }}",
            program.location()
        );
        let nginx = builder
            .http("fastcgi_cache_path %%PREFIX%%/tmp/cache keys_zone=site:1m;")
            .server(&server)
            .start();
        let (pid, fds) = (nginx.worker_pid(), nginx.open_fds());
        // While the cache is filled, and when it was.
        for path in ["/a", "/a", "/b"] {
            for i in 0..8 {
                leave(&nginx, path, CODINGS[i % 2], i);
            }
        }
        for http2 in [false, true] {
            for coding in CODINGS {
                let runs = program.runs();
                let ask = |path| {
                    let request = get(&nginx, path).accept(coding);
                    let response = if http2 { request.http2().send() } else { request.send() };
                    assert_eq!(response.coding(), coding);
                    assert!(response.decoded().unwrap() == cached(), "{path} {coding} {http2}");
                    response.header("X-Cache").map(str::to_owned)
                };
                let path = format!("/{coding}{http2}");
                assert_eq!(ask(&path).as_deref(), Some("MISS"));
                assert_eq!(ask(&path).as_deref(), Some("HIT"));
                assert_eq!(program.runs(), runs + 1);
                // What was cached for clients that left is whole, too.
                ask("/a");
                wait_until(TIMEOUT, || ask("/b").as_deref() == Some("HIT"));
            }
        }
        assert!(get(&nginx, "/a").send().body == cached());
        wait_until(TIMEOUT, || nginx.open_fds() <= fds + 1);
        assert_eq!(nginx.worker_pid(), pid);
    }
}

/// Leaves after the request, the header, or a piece of the body.
fn leave(nginx: &Nginx, path: &str, coding: &str, i: usize) {
    let headers = [("Accept-Encoding", coding)];
    if i.is_multiple_of(3) {
        let client = Http2::connect_with_window(nginx.http2_port(), 10_000).unwrap();
        let mut stream = client.get(path, &headers).unwrap();
        if i > 4 {
            stream.read_head().unwrap();
        }
        stream.reset();
        return;
    }
    let mut client = Connection::connect_with_buffer(nginx.port(), 4096).unwrap();
    client.send_request("GET", path, &headers).unwrap();
    if i > 2 {
        client.read_head("GET").unwrap();
        client.read_piece().unwrap();
    }
    client.reset().unwrap();
}

#[test]
fn an_upstream_can_switch_buffering_off() {
    let lines: Vec<_> = (0..10).map(|i| format!("line {i}\n")).collect();
    stream(
        &lines,
        &["Content-Type: text/plain", "X-Accel-Buffering: no", "Transfer-Encoding: chunked"],
        "proxy_buffering on;",
    );
}

/// As gRPC does: five bytes before each message, lengths of all kinds.
#[test]
fn messages_of_odd_lengths_arrive_one_by_one() {
    let messages: Vec<_> = [0, 1, 4, 5, 100, 4091, 4096, 9000, 65_531, 3, 200_000, 17]
        .iter()
        .map(|length| {
            let text = String::from_utf8(harness::corpus::text(*length)).unwrap();
            format!("\0{:04x}{text}", length & 0xffff)
        })
        .collect();
    stream(
        &messages,
        &["Content-Type: application/json", "Transfer-Encoding: chunked"],
        "proxy_buffering off;",
    );
}

/// Each of the messages is decoded before the next is sent.
fn stream(messages: &[String], head: &'static [&'static str], lines: &str) {
    for pool in [has_threads(), false] {
        for coding in CODINGS {
            for http2 in [false, true] {
                let (key, gate) = gate();
                let sent = messages.to_vec();
                let upstream = Upstream::start(move |mut conn| {
                    conn.read_request().unwrap();
                    conn.send_head(200, head);
                    for message in &sent {
                        conn.send_chunk(message.as_bytes());
                        gate.wait();
                    }
                    conn.send_last_chunk();
                });
                let nginx = start(pool, &upstream, lines);
                let pieces = Pieces::open(&nginx, coding, http2, || ());
                follow(pieces, coding, messages, |_| key.open());
            }
        }
    }
}

fn start(pool: bool, upstream: &Upstream, lines: &str) -> Nginx {
    let location = format!("location / {{ {lines} proxy_http_version 1.1; proxy_pass {}; }}", upstream.url());
    let builder = if pool { pooled() } else { inline() };
    builder.server(&location).start()
}

fn follow(mut pieces: Pieces, coding: &str, messages: &[String], decoded: impl Fn(usize)) {
    let mut body = Vec::new();
    let mut want = String::new();
    for (i, message) in messages.iter().enumerate() {
        want += message;
        while decode::decode_prefix(coding, &body).unwrap() != want.as_bytes() {
            body.extend(pieces.next().unwrap_or_else(|| panic!("message {i} does not arrive")));
        }
        decoded(i);
    }
    while let Some(piece) = pieces.next() {
        body.extend(piece);
    }
    assert!(decode::decode(coding, &body).unwrap() == want.as_bytes());
}
