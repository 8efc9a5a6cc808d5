//! What is not encoded is answered as by an NGINX without the module.

use harness::{Connection, Nginx, Request, Upstream, corpus, get};

use super::{LENGTH, send, without};
use crate::support::{fields, inline, obedient};

/// Whether an answer is what NGINX without the module sends to a client that sends `Accept-Encoding` too.
#[track_caller]
fn assert_untouched(with: &Nginx, without: &Nginx, path: &str, request: impl Fn(Request) -> Request) {
    for coding in ["br", "zstd", "gzip, br, zstd"] {
        let ask = |nginx| request(get(nginx, path).accept(coding)).send();
        let (ours, stock) = (ask(with), ask(without));
        assert_eq!(ours.status, stock.status, "{path} {coding}");
        assert_eq!(fields(&ours), fields(&stock), "{path} {coding}");
        assert!(ours.body == stock.body && ours.complete == stock.complete, "{path} {coding}");
    }
}

/// Lines of `X-Status`, `X-Fields`, `X-Coding`.
const UNTOUCHED: [(&str, &str, &str); 15] = [
    ("201", "", ""),
    ("202", "", ""),
    ("204", "", ""),
    ("205", "", ""),
    ("206", "Content-Range: bytes 0-19999/50000", ""),
    ("206", "Content-Type: multipart/byteranges; boundary=x", ""),
    ("301", "Location: /", ""),
    ("401", "", ""),
    ("500", "", ""),
    ("503", "Retry-After: 1", ""),
    ("304", "Content-Type: image/png | ETag: \"tag\"", ""),
    ("200", "Cache-Control: public, no-transform | Content-Digest: x", ""),
    ("200", "Content-MD5: x | Repr-Digest: x", "br"),
    ("200", "Vary: Accept-Encoding", "gzip"),
    ("200", "Content-Type: image/png | Digest: x", ""),
];

#[test]
fn what_is_not_to_be_encoded_is_untouched() {
    let upstream = obedient();
    let location = format!("location /up/ {{ proxy_http_version 1.1; proxy_pass {}; }}", upstream.url());
    let ours = inline().server(&location).start();
    let stock = Nginx::builder().without_module().server(&location).start();
    for (status, sent, coding) in UNTOUCHED {
        if status == "206" {
            // It has the Vary of the 200 that it is a part of (RFC 9110, 15.3.7).
            let ask =
                |nginx| get(nginx, "/up/").accept("br").header("X-Status", "206").header("X-Fields", sent);
            let (ours, stock) = (ask(&ours).send(), ask(&stock).send());
            assert_eq!(without(&fields(&ours), "Vary"), fields(&stock));
            assert!(ours.body == stock.body);
            continue;
        }
        assert_untouched(&ours, &stock, "/up/", |request| {
            request.header("X-Status", status).header("X-Fields", sent).header("X-Coding", coding)
        });
    }
}

#[test]
fn more_statuses_are_encoded_if_so_configured() {
    let upstream = obedient();
    let location = format!("location /up/ {{ proxy_http_version 1.1; proxy_pass {}; }}", upstream.url());
    let ours = inline().http("compress_statuses 200 2xx 3xx 5xx;").server(&location).start();
    let stock = Nginx::builder().without_module().server(&location).start();
    for coding in ["br", "zstd"] {
        for status in ["200", "201", "207", "302", "500", "503"] {
            let response = send(get(&ours, "/up/").accept(coding).header("X-Status", status));
            assert_eq!((response.status.to_string().as_str(), response.coding()), (status, coding));
        }
    }
    for status in ["204", "205", "404"] {
        assert_untouched(&ours, &stock, "/up/", |request| request.header("X-Status", status));
    }
}

#[test]
fn bug_54_an_upgraded_connection_is_a_tunnel() {
    let upstream = Upstream::start(|mut conn| {
        assert_eq!(conn.read_request().unwrap().header("Upgrade"), Some("websocket"));
        let fields = ["Upgrade: websocket", "Connection: Upgrade", "Content-Type: text/plain"];
        conn.send_head(101, &fields);
        conn.send(&corpus::text(LENGTH));
        conn.close();
    });
    let location = format!(
        "location / {{ proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade;
         proxy_set_header Connection upgrade; proxy_pass {}; }}",
        upstream.url()
    );
    let nginx = inline().http("compress_statuses 2xx;").server(&location).start();
    let mut connection = Connection::connect(nginx.port()).unwrap();
    let upgrade = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Accept-Encoding", "br, zstd")];
    connection.send_request("GET", "/", &upgrade).unwrap();
    let raw = connection.read_raw_to_end().unwrap();
    let head = String::from_utf8_lossy(&raw[..raw.len() - LENGTH]).to_lowercase();
    assert!(head.starts_with("http/1.1 101 ") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(!head.contains("content-encoding") && !head.contains("vary"), "{head}");
    assert!(raw.ends_with(&corpus::text(LENGTH)));
}
