//! Streams of real kinds of backends: FastCGI, an upstream that switches buffering off itself, messages with a length.

use harness::{FastCgi, Nginx, Upstream, decode, gate};

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
