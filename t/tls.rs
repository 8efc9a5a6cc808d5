//! Over TLS, jobs read files themselves, as they do without.

use harness::{Builder, Nginx, corpus, curl, decode, get, locate};

use crate::support::{has_threads, inline, pooled};

/// What NGINX logs of a file that the event loop reads (ngx_read_file).
const READ: &str = " read: ";

#[test]
fn a_file_is_not_read_in_the_event_loop() {
    for builder in starts() {
        for (server, path, coding, reads) in [
            ("", "/a.txt", "br", false),
            ("", "/a.txt", "zstd", false),
            // Without an encoding there is nothing but TLS that needs the file.
            ("", "/a.txt", "identity", true),
            ("", "/a.bin", "br", true),
            ("location = /sub.txt { auth_request /auth; } location /auth { }", "/sub.txt", "br", false),
            // Others need it too.
            ("ssi on; ssi_types text/plain;", "/a.txt", "br", true),
            ("sub_filter_types text/plain; sub_filter gcc gcc;", "/a.txt", "br", true),
            ("sendfile off;", "/a.txt", "br", true),
            ("directio 4k;", "/a.txt", "br", true),
        ] {
            let Some(nginx) = start(builder.clone(), server) else { return };
            for http2 in [false, true] {
                let before = nginx.error_log().matches(READ).count();
                let ask = get(&nginx, path).tls().accept(coding);
                let response = if http2 { ask.http2() } else { ask }.send();
                let case = format!("{server} {path} {coding} {http2}");
                assert_eq!(response.decoded().unwrap(), text(), "{case}");
                let encoded = path.ends_with(".txt") && coding != "identity";
                assert_eq!(response.coding(), if encoded { coding } else { "" }, "{case}");
                assert_eq!(nginx.error_log().matches(READ).count() > before, reads, "{case}");
            }
        }
    }
}

#[test]
fn sub_requests_and_error_pages_are_whole() {
    let server = "
        location = /page.txt { ssi on; ssi_types text/plain; }
        location = /added.txt { addition_types text/plain; add_after_body /a.txt; }
        location = /plain.bin { addition_types *; add_after_body /a.txt; }
        error_page 404 /a.txt;";
    let page = b"<!--#include virtual=\"/a.txt\" -->.<!--#include virtual=\"/a.txt\" -->".to_vec();
    for builder in starts() {
        let builder =
            builder.file("page.txt", page.clone()).file("added.txt", text()).file("plain.bin", text());
        let Some(nginx) = start(builder, server) else { return };
        let twice = [text(), text()].concat();
        let joined = [text(), b".".to_vec(), text()].concat();
        for (path, body) in
            [("/page.txt", &joined), ("/added.txt", &twice), ("/plain.bin", &twice), ("/missing", &text())]
        {
            for coding in ["br", "zstd", "identity"] {
                for http2 in [false, true] {
                    let ask = get(&nginx, path).tls().accept(coding);
                    let response = if http2 { ask.http2() } else { ask }.send();
                    assert!(response.decoded().unwrap() == *body, "{path} {coding} {http2}");
                }
            }
        }
    }
}

#[test]
fn it_works_after_reloads() {
    let Some(nginx) = start(inline(), "") else { return };
    for _ in 0..3 {
        nginx.reload();
        assert_eq!(get(&nginx, "/a.txt").tls().accept("br").send().decoded().unwrap(), text());
    }
}

/// TLS and HTTP/2 take the last bytes from the write filter before the socket does: they go out when it has room.
#[test]
fn a_slow_reader_gets_the_last_bytes() {
    let hex: Vec<u8> =
        corpus::random(1_000_000).iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect();
    for builder in starts() {
        let nginx = builder
            .tls()
            .server("listen 127.0.0.1:%%PORT_NARROW%% ssl sndbuf=8k; send_timeout 20s;")
            .file("a.txt", hex.clone())
            .start();
        for (coding, version) in
            [("br", "--http1.1"), ("zstd", "--http1.1"), ("br", "--http2"), ("zstd", "--http2")]
        {
            let url = format!("https://127.0.0.1:{}/a.txt", nginx.port_of("PORT_NARROW"));
            let accept = format!("Accept-Encoding: {coding}");
            let output = curl::run(&[version, "--limit-rate", "1M", "-H", &accept, &url]).unwrap();
            let reason = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{coding} {version}: {reason}");
            assert_eq!(decode::decode(coding, &output.stdout).unwrap(), hex, "{coding} {version}");
        }
    }
}

fn starts() -> Vec<Builder> {
    if has_threads() { vec![inline(), pooled()] } else { vec![inline()] }
}

fn start(builder: Builder, server: &str) -> Option<Nginx> {
    // Only an NGINX with `--with-debug` tells what it reads.
    locate::nginx_has("--with-debug").then(|| {
        builder
            .tls()
            .file("a.txt", text())
            .file("a.bin", text())
            .file("sub.txt", text())
            .file("auth", "")
            .server(server)
            .log_level("debug")
            .start()
    })
}

fn text() -> Vec<u8> {
    corpus::text(300_000)
}
