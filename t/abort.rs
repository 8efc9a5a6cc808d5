//! A body that misses something never ends as if it were whole, and what went wrong harms nobody else.

use std::fs;

use harness::{Connection, Nginx, Upstream, corpus, get};

use crate::support::{Hooks, has_threads, inline, pooled};

const CODINGS: [&str; 2] = ["br", "zstd"];

fn both() -> Vec<harness::Builder> {
    if has_threads() { vec![inline(), pooled()] } else { vec![inline()] }
}

#[test]
fn bug_71_an_upstream_that_dies_ends_the_response_as_incomplete() {
    let text = corpus::text(400_000);
    let half = text.clone();
    let upstream = Upstream::start(move |mut conn| {
        let request = conn.read_request().unwrap();
        let length = format!("Content-Length: {}", half.len() * 2);
        let framing = if request.path.contains("length") { &*length } else { "Transfer-Encoding: chunked" };
        conn.send_head(200, &["Content-Type: text/plain", framing]);
        if request.path.contains("length") {
            conn.send(&half)
        } else {
            conn.send_chunk(&half)
        }
        if request.path.contains("reset") { conn.reset() } else { conn.close() }
    });
    let lines = [
        ("on", "proxy_buffering on;"),
        ("off", "proxy_buffering off;"),
        ("lingering", "lingering_close always;"),
    ]
    .map(|(name, line)| {
        format!("location /{name}/ {{ {line} proxy_http_version 1.1; proxy_pass {}; }}", upstream.url())
    });
    for builder in both() {
        let nginx = builder.server(&lines.concat()).tls().start();
        let pid = nginx.worker_pid();
        for coding in CODINGS {
            for path in [
                "/on/length",
                "/on/chunks",
                "/on/chunks-reset",
                "/off/length",
                "/off/chunks",
                "/off/length-reset",
                "/lingering/length",
                "/lingering/chunks-reset",
            ] {
                for request in [
                    get(&nginx, path),
                    get(&nginx, path).http2(),
                    get(&nginx, path).http10(),
                    get(&nginx, path).http10().tls(),
                ] {
                    let what = format!("{request:?}");
                    if let Ok(response) = request.accept(coding).try_send() {
                        assert_eq!(response.status, 200, "{what}");
                        assert!(!response.complete, "{what}: {} bytes look whole", response.body.len());
                    }
                }
            }
        }
        assert_eq!(nginx.worker_pid(), pid);
    }
}

#[test]
fn a_file_that_becomes_shorter_is_an_error_once() {
    if !has_threads() {
        return;
    }
    let hooks = Hooks::new();
    hooks.order("hold");
    let nginx = hooks.watch(pooled()).file("large.txt", corpus::text(600_000)).start();
    let path = nginx.served("large.txt");
    let mut client = Connection::get(nginx.port(), "/large.txt", "br").unwrap();
    hooks.wait_for_job(0);
    fs::File::options().write(true).open(path).unwrap().set_len(1000).unwrap();
    hooks.release("hold");
    assert!(!client.read_response("GET").is_ok_and(|response| response.complete));
    nginx.wait_for_log("the file became shorter while it was read");
    assert_eq!(nginx.error_log().matches("http compress").count(), 1);
    let text = fs::read(nginx.served("large.txt")).unwrap();
    assert_eq!(get(&nginx, "/large.txt").accept("br").send().decoded().unwrap(), text);
}

/// The request of a client that left has no timer but ours until its job is back.
#[test]
fn a_worker_that_ends_waits_for_the_jobs_of_clients_that_left() {
    if !has_threads() {
        return;
    }
    let hooks = Hooks::new();
    hooks.order("hold");
    let upstream = Upstream::start(|mut conn| {
        conn.read_request().unwrap();
        conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
        conn.send_chunk(&corpus::text(100_000));
        conn.wait_closed(harness::TIMEOUT);
    });
    let location = format!(
        "location / {{ proxy_buffering off; proxy_http_version 1.1; proxy_pass {}; }}",
        upstream.url()
    );
    let mut nginx = hooks.watch(pooled()).server(&location).start();
    let client = Connection::get(nginx.port(), "/", "br").unwrap();
    // A flush of the header alone may have had the number 0.
    harness::wait_until(harness::TIMEOUT, || hooks.is_here(0) || hooks.is_here(1));
    client.reset().unwrap();
    nginx.wait_for_log("prematurely closed connection");
    nginx.signal(harness::Signal::QUIT);
    nginx.wait_for_log("gracefully shutting down");
    // Without a timer the worker would be on its way out by now, and leave the connection open: an alert.
    std::thread::sleep(std::time::Duration::from_millis(300));
    hooks.release("hold");
    assert!(nginx.wait(harness::TIMEOUT).success());
}

#[test]
fn a_panic_in_a_callback_ends_its_request_alone() {
    for builder in both() {
        let hooks = Hooks::new();
        let text = corpus::text(300_000);
        let nginx = hooks.watch(builder).file("a.txt", text.clone()).allow_log("ordered at").start();
        let pid = nginx.worker_pid();
        for point in ["header_filter", "body_filter", "job", "completion"] {
            hooks.order(&format!("panic.{point}"));
            for coding in CODINGS {
                for request in [get(&nginx, "/a.txt"), get(&nginx, "/a.txt").http2()] {
                    let response = request.accept(coding).try_send();
                    // Without a pool there is no completion.
                    let whole = response.is_ok_and(|response| response.complete && response.status == 200);
                    assert!(!whole || point == "completion", "{point} {coding}");
                }
            }
            hooks.release(&format!("panic.{point}"));
            assert_eq!(get(&nginx, "/a.txt").accept("br").send().decoded().unwrap(), text, "{point}");
        }
        assert_eq!(nginx.worker_pid(), pid);
    }
}

#[test]
fn clients_that_leave_at_any_time_leave_nothing_behind() {
    let text = corpus::text(4 << 20);
    for builder in both() {
        let nginx = builder.file("large.txt", text.clone()).start();
        let pid = nginx.worker_pid();
        assert!(get(&nginx, "/large.txt").accept("br").send().decoded().unwrap() == text);
        let fds = nginx.open_fds();
        for i in 0..30 {
            leave(&nginx, i);
        }
        assert!(get(&nginx, "/large.txt").accept("zstd").send().decoded().unwrap() == text);
        harness::wait_until(harness::TIMEOUT, || nginx.open_fds() <= fds);
        assert_eq!(nginx.worker_pid(), pid);
    }
}

/// Leaves after the request, the header, or some pieces of the body.
fn leave(nginx: &Nginx, i: usize) {
    let mut client = Connection::connect_with_buffer(nginx.port(), 8192).unwrap();
    client.send_request("GET", "/large.txt", &[("Accept-Encoding", CODINGS[i % 2])]).unwrap();
    if !i.is_multiple_of(3) {
        client.read_head("GET").unwrap();
    }
    for _ in 0..i / 3 {
        client.read_piece().unwrap();
    }
    client.reset().unwrap();
}

/// The output that waits for a slow client stops the work on its response; it has to go on when the client took it.
#[test]
fn a_client_that_reads_in_bursts_gets_the_whole_body() {
    let noise = corpus::random(6 << 20);
    for builder in both() {
        let nginx =
            builder.http("brotli_buffers 4 4k; zstd_buffers 4 4k;").file("a.txt", noise.clone()).start();
        for coding in CODINGS {
            let mut client = Connection::connect_with_buffer(nginx.port(), 64 << 10).unwrap();
            let headers = [("Accept-Encoding", coding), ("Connection", "close")];
            client.send_request("GET", "/a.txt", &headers).unwrap();
            let mut response = client.read_head("GET").unwrap();
            let mut burst = 0;
            while let Some(piece) = client.read_piece().unwrap() {
                burst += piece.len();
                response.body.extend(piece);
                if burst > 1 << 20 {
                    burst = 0;
                    std::thread::sleep(std::time::Duration::from_millis(200));
                }
            }
            response.complete = true;
            assert!(response.decoded().is_ok_and(|decoded| decoded == noise), "{coding}");
        }
    }
}

/// The last reference of a proxied request must not go with its upstream while a job is out.
#[test]
fn a_client_that_leaves_a_proxied_stream_leaves_no_request() {
    let upstream = Upstream::start(|mut conn| {
        conn.read_request().unwrap();
        conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
        for chunk in corpus::text(100_000).chunks(5000) {
            conn.send_chunk(chunk);
            conn.pause(std::time::Duration::from_millis(20));
        }
        conn.send_last_chunk();
    });
    let location = format!(
        "location / {{ proxy_buffering off; proxy_ignore_client_abort on; proxy_http_version 1.1; proxy_pass {}; }}",
        upstream.url()
    );
    for builder in both() {
        let nginx = builder.server(&location).log_format("$status").start();
        let pid = nginx.worker_pid();
        for connection in ["close", "keep-alive"].repeat(4) {
            let mut client = Connection::connect(nginx.port()).unwrap();
            let headers = [("Accept-Encoding", "zstd"), ("Connection", connection)];
            client.send_request("GET", "/", &headers).unwrap();
            client.read_head("GET").unwrap();
            client.read_piece().unwrap();
            client.reset().unwrap();
        }
        // A request that leaked is not logged; a count below zero is an alert, which fails the test.
        assert_eq!(nginx.access_log_lines(8).len(), 8);
        assert_eq!(nginx.worker_pid(), pid);
    }
}
