//! Workers that crashed, mostly when a client left.

use std::fs;
use std::thread::scope;
use std::time::Duration;

use harness::{Connection, Http2, Upstream, corpus, curl, decode, get, locate};

use super::{on_each, proxy, upstream};
use crate::support::{Hooks, has_threads, pooled};

#[test]
fn bug_11_a_client_that_leaves_in_the_middle_harms_nobody() {
    let noise = corpus::random(20 << 20);
    on_each(
        |builder| {
            builder
                .http("brotli_comp_level 1;")
                .file("noise.txt", noise.clone())
                .file("a.txt", corpus::text(5000))
        },
        |nginx, way| {
            let logged = nginx.access_log().lines().count();
            for pieces in [0, 1, 20] {
                let headers = [("Accept-Encoding", way.coding)];
                if way.http2 {
                    let client = Http2::connect_with_window(nginx.http2_port(), 70_000).unwrap();
                    let mut stream = client.get("/noise.txt", &headers).unwrap();
                    stream.read_head().unwrap();
                    (0..pieces).for_each(|_| drop(stream.read_piece().unwrap()));
                    stream.reset();
                } else {
                    let mut client = Connection::connect_with_buffer(nginx.port(), 8192).unwrap();
                    client.send_request("GET", "/noise.txt", &headers).unwrap();
                    client.read_head("GET").unwrap();
                    (0..pieces).for_each(|_| drop(client.read_piece().unwrap()));
                    client.reset().unwrap();
                }
            }
            // Each of them ends, and the worker goes on.
            nginx.access_log_lines(logged + 3);
            way.check(nginx, "/a.txt", &corpus::text(5000));
        },
    );
}

#[test]
fn bug_12_output_outlives_the_queue_of_http2_over_tls() {
    let upstream = upstream();
    let body = corpus::text(2 << 20);
    on_each(
        |builder| builder.tls().http("brotli_comp_level 1;").server(&proxy("/", &upstream.url(), "")),
        |nginx, way| {
            let url = format!("https://127.0.0.1:{}/{}", nginx.tls_port(), body.len());
            let accept = format!("Accept-Encoding: {}", way.coding);
            let version = if way.http2 { "--http2" } else { "--http1.1" };
            let run =
                |more: &[&str]| curl::run(&[&["-sk", version, "-H", &accept, &url], more].concat()).unwrap();
            scope(|scope| {
                for limit in ["0.02", "0.05", "0.1", "0.2"] {
                    scope.spawn(move || run(&["--limit-rate", "200k", "--max-time", limit]));
                }
            });
            let slow = run(&["--limit-rate", "2m"]);
            assert!(slow.status.success(), "{way:?}");
            assert!(decode::decode(way.coding, &slow.stdout).unwrap() == body, "{way:?}");
        },
    );
}

/// The encoders choose instructions when they run; a build for this very processor would not run on an older one.
#[test]
fn bug_14_the_build_is_for_no_processor_in_particular() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in
        ["core/build.rs", "build.rs", "Cargo.toml", "core/Cargo.toml", "Makefile", "config", "config.make"]
    {
        let text = fs::read_to_string(root.join(file)).unwrap();
        assert!(!text.contains("march") && !text.contains("target-cpu"), "{file}");
    }
    assert!(!root.join(".cargo/config.toml").exists());
}

#[test]
fn bug_15_level_16_for_many_clients_keeps_to_its_threads() {
    if !has_threads() || locate::is_sanitized() {
        return;
    }
    let text = corpus::text(100_000);
    let nginx = pooled().http("zstd_comp_level 16;").file("a.txt", text.clone()).start();
    assert!(get(&nginx, "/a.txt").accept("zstd").send().decoded().unwrap() == text);
    let one = nginx.vm_hwm();
    let mut clients: Vec<_> =
        (0..400).map(|_| Connection::get(nginx.port(), "/a.txt", "zstd").unwrap()).collect();
    for client in &mut clients {
        // The last of them waits for all the others.
        client.set_timeout(Duration::from_secs(60)).unwrap();
        assert!(client.read_response("GET").unwrap().decoded().unwrap() == text);
    }
    // One more thread has an encoder; a client costs a connection.
    let most = one * 2 + 400 * (64 << 10);
    assert!(nginx.vm_hwm() <= most, "{} bytes, more than {most}", nginx.vm_hwm());
}

#[test]
fn bug_58_nothing_follows_a_header_of_the_module() {
    on_each(
        |builder| {
            builder
                .http("gzip_vary on; add_header X-Test $sent_http_content_type;")
                .log_format("$request $status $bytes_sent [$sent_http_content_encoding] [$sent_http_vary]")
                .file("a.txt", corpus::text(5000))
        },
        |nginx, way| {
            let lines = nginx.access_log().lines().count();
            let response = way.check(nginx, "/a.txt", &corpus::text(5000));
            assert_eq!(response.header("X-Test"), Some("text/plain"));
            let log = nginx.access_log_lines(lines + 1);
            assert!(log.last().unwrap().contains(&format!("[{}]", way.coding)), "{log:?}");
        },
    );
}

/// The old configuration, and its dictionary, stay until the last of its jobs is back.
#[test]
fn bug_60_a_dictionary_outlives_a_reload() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(300_000);
    let hooks = Hooks::new();
    let nginx = hooks
        .watch(pooled())
        .http("zstd_dict_file html/words; zstd_comp_level 6;")
        .file("words", corpus::text(20_000))
        .file("a.txt", text.clone())
        .start();
    hooks.order("hold");
    scope(|scope| {
        let held = scope.spawn(|| get(&nginx, "/a.txt").accept("zstd").send());
        hooks.wait_for_job(0);
        for _ in 0..3 {
            nginx.reload();
        }
        hooks.release("hold");
        let response = held.join().unwrap();
        let words = nginx.served("words");
        let decoded =
            harness::tools::filter("zstd", &["-dcq", "-D", words.to_str().unwrap()], &response.body).unwrap();
        assert!(response.complete && decoded == text);
    });
}

/// The client leaves while the cache is filled in the background and a job is out.
#[test]
fn bug_61_a_background_update_and_a_job_end_in_any_order() {
    if !has_threads() {
        return;
    }
    let upstream = Upstream::start(|mut conn| {
        while conn.read_request().is_some() {
            conn.send_head(
                200,
                &["Content-Type: text/plain", "Cache-Control: max-age=1", "Content-Length: 300000"],
            );
            conn.send(&corpus::text(300_000));
        }
    });
    let hooks = Hooks::new();
    let lines = "proxy_cache site; proxy_cache_use_stale updating; proxy_cache_background_update on;";
    let nginx = hooks
        .watch(pooled())
        .http("proxy_cache_path %%PREFIX%%/tmp/cache keys_zone=site:1m;")
        .server(&proxy("/", &upstream.url(), lines))
        .start();
    let pid = nginx.worker_pid();
    let fetch = || get(&nginx, "/").accept("br").send().decoded().unwrap();
    assert!(fetch() == corpus::text(300_000));
    for leaves in [true, false] {
        std::thread::sleep(Duration::from_millis(2100));
        hooks.order("hold");
        let client = Connection::get(nginx.port(), "/", "br").unwrap();
        hooks.wait_for_job(0);
        if leaves {
            client.reset().unwrap();
        }
        hooks.release("hold");
        assert!(fetch() == corpus::text(300_000));
    }
    assert_eq!(nginx.worker_pid(), pid);
}

#[test]
fn bug_62_jobs_of_many_streams_of_one_connection() {
    let text = corpus::text(400_000);
    on_each(
        |builder| builder.http("brotli_comp_level 4;").file("a.txt", text.clone()),
        |nginx, way| {
            let client = Http2::connect_with_window(nginx.http2_port(), 30_000).unwrap();
            let headers = [("Accept-Encoding", way.coding)];
            let streams: Vec<_> = (0..20).map(|_| client.get("/a.txt", &headers).unwrap()).collect();
            scope(|scope| {
                for stream in streams {
                    let text = &text;
                    scope.spawn(move || assert!(stream.finish().unwrap().decoded().unwrap() == *text));
                }
            });
        },
    );
}
