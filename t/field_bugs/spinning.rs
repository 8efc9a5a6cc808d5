//! Workers that spun, and connections that never ended.

use std::io::ErrorKind;
use std::thread::{scope, sleep};
use std::time::Duration;

use harness::{Connection, Http2, Nginx, Upstream, corpus, get};

use super::{on_each, proxy, upstream};

/// Waits a moment, in which the worker has to be idle.
#[track_caller]
fn check_idle(nginx: &Nginx) {
    let before = nginx.cpu_time();
    sleep(Duration::from_millis(600));
    let spent = nginx.cpu_time() - before;
    assert!(spent < Duration::from_millis(100), "{spent:?} of 600 ms");
}

#[test]
fn bug_02_unbuffered_bodies_do_not_spin() {
    let upstream = Upstream::start(|mut conn| {
        let request = conn.read_request().unwrap();
        if request.path == "/length" {
            // A body that does not come in full for a while.
            conn.send_head(200, &["Content-Type: text/plain", "Content-Length: 200"]);
            conn.send(&corpus::text(30));
            conn.pause(Duration::from_millis(1500));
            conn.send(&corpus::text(200)[30..]);
            return;
        }
        conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
        for chunk in corpus::text(1_400_000).chunks(7000) {
            conn.send_chunk(chunk);
        }
        conn.send_last_chunk();
    });
    on_each(
        |builder| {
            builder
                .server(&proxy("/", &upstream.url(), "proxy_buffering off;"))
                .server("location = /small { return 200 small; }")
        },
        |nginx, way| {
            way.check(nginx, "/chunks", &corpus::text(1_400_000));
            scope(|scope| {
                let slow = scope.spawn(|| way.check(nginx, "/length", &corpus::text(200)));
                sleep(Duration::from_millis(300));
                check_idle(nginx);
                assert_eq!(get(nginx, "/small").send().text(), "small");
                slow.join().unwrap();
            });
        },
    );
}

#[test]
fn bug_03_a_header_without_a_body_ends() {
    let upstream = Upstream::start(|mut conn| {
        conn.read_request().unwrap();
        conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
        conn.pause(Duration::from_secs(4));
    });
    on_each(
        |builder| {
            builder.server(&proxy("/on", &upstream.url(), "proxy_read_timeout 2s;")).server(&proxy(
                "/off",
                &upstream.url(),
                "proxy_buffering off; proxy_read_timeout 2s;",
            ))
        },
        |nginx, way| {
            scope(|scope| {
                let both = ["/on", "/off"].map(|path| scope.spawn(move || way.ask(nginx, path).try_send()));
                sleep(Duration::from_millis(700));
                check_idle(nginx);
                for response in both {
                    // It is aborted, which is not to say that nothing more comes.
                    match response.join().unwrap() {
                        Ok(response) => assert!(!response.complete, "{way:?}"),
                        Err(error) => assert_ne!(error.kind(), ErrorKind::TimedOut, "{way:?}: {error}"),
                    }
                }
            });
        },
    );
}

#[test]
fn bug_04_a_slow_reader_costs_nothing() {
    let text = corpus::text(2 << 20);
    on_each(
        |builder| builder.http("brotli_comp_level 1;").file("a.txt", text.clone()),
        |nginx, way| {
            let headers = [("Accept-Encoding", way.coding)];
            if way.http2 {
                let client = Http2::connect_with_window(nginx.http2_port(), 1000).unwrap();
                let mut stream = client.get("/a.txt", &headers).unwrap();
                stream.read_head().unwrap();
                sleep(Duration::from_millis(300));
                check_idle(nginx);
                stream.reset();
            } else {
                let mut client = Connection::connect_with_buffer(nginx.port(), 4096).unwrap();
                client.send_request("GET", "/a.txt", &headers).unwrap();
                client.read_head("GET").unwrap();
                sleep(Duration::from_millis(300));
                check_idle(nginx);
            }
            way.check(nginx, "/a.txt", &text);
        },
    );
}

#[test]
fn bug_26_clients_that_leave_a_cached_response_leave_no_socket() {
    let upstream = Upstream::start(|mut conn| {
        conn.read_request().unwrap();
        conn.send_head(
            200,
            &["Content-Type: text/plain", "Cache-Control: max-age=60", "Transfer-Encoding: chunked"],
        );
        for chunk in corpus::text(500_000).chunks(20_000) {
            conn.send_chunk(chunk);
            conn.pause(Duration::from_millis(2));
        }
        conn.send_last_chunk();
    });
    on_each(
        |builder| {
            builder.http("proxy_cache_path %%PREFIX%%/tmp/cache keys_zone=site:1m;").server(&proxy(
                "/",
                &upstream.url(),
                "proxy_cache site;",
            ))
        },
        |nginx, way| {
            let path = format!("/{}{}", way.coding, way.http2);
            let before = nginx.open_fds();
            for i in 0..10 {
                let headers = [("Accept-Encoding", way.coding)];
                if way.http2 {
                    let client = Http2::connect_with_window(nginx.http2_port(), 10_000).unwrap();
                    let mut stream = client.get(&path, &headers).unwrap();
                    if i % 2 == 0 {
                        stream.read_head().unwrap();
                    }
                    stream.reset();
                } else {
                    let mut client = Connection::connect_with_buffer(nginx.port(), 4096).unwrap();
                    client.send_request("GET", &path, &headers).unwrap();
                    if i % 2 == 0 {
                        client.read_head("GET").unwrap();
                    }
                    client.reset().unwrap();
                }
            }
            way.check(nginx, &path, &corpus::text(500_000));
            harness::wait_until(harness::TIMEOUT, || nginx.open_fds() <= before + 1);
        },
    );
}

#[test]
fn bug_27_every_response_of_many_ends() {
    let upstream = upstream();
    on_each(
        |builder| builder.http("brotli_comp_level 1;").server(&proxy("/", &upstream.url(), "")),
        |nginx, way| {
            scope(|scope| {
                for thread in 0..8 {
                    scope.spawn(move || {
                        for i in 0..40 {
                            let length = 20 + (i * 2417 + thread * 97) % 40_000;
                            way.check(nginx, &format!("/length/{length}"), &corpus::text(length));
                        }
                    });
                }
            });
        },
    );
}
