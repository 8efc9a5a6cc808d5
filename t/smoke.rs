//! Whether the harness works, with NGINX alone.

use std::process::Command;
use std::time::Duration;

use harness::{
    Connection, Http2, Nginx, Signal, TIMEOUT, Upstream, Version, corpus, curl, gate, get, head, locate,
    post, wait_until,
};

#[test]
fn serves_a_file_over_every_version() {
    let text = corpus::text(300_000);
    let nginx = Nginx::builder().without_module().tls().file("dir/a.txt", text.clone()).start();
    for (request, version) in [
        (get(&nginx, "/dir/a.txt").http10(), Version::Http10),
        (get(&nginx, "/dir/a.txt"), Version::Http11),
        (get(&nginx, "/dir/a.txt").http2(), Version::Http2),
        (get(&nginx, "/dir/a.txt").tls(), Version::Http11),
        (get(&nginx, "/dir/a.txt").tls().http2(), Version::Http2),
    ] {
        let response = request.clone().send();
        assert_eq!(response.status, 200, "{request:?}");
        assert_eq!(response.header("content-type"), Some("text/plain"), "{request:?}");
        assert_eq!(response.decoded().unwrap(), text, "{request:?}");
        // NGINX answers HTTP/1.0 with a status line of 1.1.
        assert_eq!(response.version, if version == Version::Http10 { Version::Http11 } else { version });
    }
    assert_eq!(nginx.access_log_lines(5).len(), 5);
}

#[test]
fn undoes_gzip_and_chunks() {
    let json = corpus::json(50_000);
    let conf = "gzip on; gzip_types *; gzip_min_length 1;";
    let nginx = Nginx::builder().without_module().http(conf).file("a.json", json.clone()).start();
    let response = get(&nginx, "/a.json").accept("gzip").send();
    assert_eq!((response.coding(), response.header("Transfer-Encoding")), ("gzip", Some("chunked")));
    assert_eq!(response.decoded().unwrap(), json);
    let response = head(&nginx, "/a.json").send();
    assert!(response.complete && response.body.is_empty());
}

#[test]
fn sees_a_body_that_was_cut_off() {
    let upstream = Upstream::start(|mut conn| {
        let request = conn.read_request().unwrap();
        conn.send_head(200, &["Transfer-Encoding: chunked"]);
        conn.send_chunk(b"half");
        conn.pause(Duration::from_millis(50));
        if request.path == "/whole" {
            conn.send_last_chunk();
        } else {
            conn.reset();
        }
    });
    let location = format!("location / {{ proxy_http_version 1.1; proxy_pass {}; }}", upstream.url());
    let nginx = Nginx::builder().without_module().server(&location).start();
    for http2 in [false, true] {
        let ask = |path| if http2 { get(&nginx, path).http2() } else { get(&nginx, path) };
        assert_eq!(ask("/whole").send().decoded().unwrap(), b"half");
        let cut = ask("/cut").send();
        assert!(!cut.complete && cut.decoded().is_err());
        assert_eq!(cut.body, b"half");
    }
    assert_eq!(upstream.connections(), 4);
}

#[test]
fn reads_pieces_as_they_come() {
    let (key, barrier) = gate();
    let upstream = Upstream::start(move |mut conn| {
        assert_eq!(conn.read_request().unwrap().body, b"question");
        conn.send_head(200, &["Content-Length: 6"]);
        conn.send(b"one");
        barrier.wait();
        conn.send(b"two");
    });
    let location = format!("location / {{ proxy_buffering off; proxy_pass {}; }}", upstream.url());
    let nginx = Nginx::builder().without_module().server(&location).start();

    let mut connection = Connection::connect(nginx.port()).unwrap();
    connection.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nquestion").unwrap();
    connection.read_head("POST").unwrap();
    assert_eq!(connection.read_piece().unwrap().unwrap(), b"one");
    key.open();
    assert_eq!(connection.read_piece().unwrap().unwrap(), b"two");
    assert!(connection.read_piece().unwrap().is_none());

    let client = Http2::connect(nginx.http2_port()).unwrap();
    let mut stream = client.request("POST", "/", &[], b"question").unwrap();
    assert_eq!(stream.read_head().unwrap().status, 200);
    assert_eq!(stream.read_piece().unwrap().unwrap(), b"one");
    key.open();
    assert_eq!(stream.read_piece().unwrap().unwrap(), b"two");
    assert!(stream.read_piece().unwrap().is_none());
}

#[test]
fn a_slow_reader_holds_nginx_back() {
    let body = corpus::random(4 << 20);
    let nginx = Nginx::builder()
        .without_module()
        .http("sendfile on;")
        .file("a.bin", body.clone())
        .log_format("$bytes_sent")
        .start();

    let client = Http2::connect_with_window(nginx.http2_port(), 70_000).unwrap();
    let mut slow = client.get("/a.bin", &[]).unwrap();
    slow.read_head().unwrap();
    // Another stream is served while the first waits for its window.
    assert_eq!(client.get("/a.bin", &[]).unwrap().finish().unwrap().body, body);
    slow.reset();

    let mut connection = Connection::connect_with_buffer(nginx.port(), 4096).unwrap();
    connection.send_request("GET", "/a.bin", &[]).unwrap();
    connection.read_head("GET").unwrap();
    connection.reset().unwrap();
    let sent: Vec<usize> = nginx.access_log_lines(3).iter().map(|line| line.parse().unwrap()).collect();
    assert_eq!(sent.iter().filter(|sent| **sent >= body.len()).count(), 1, "{sent:?}");
}

#[test]
fn reload_quit_and_what_proc_tells() {
    let mut nginx = Nginx::builder().without_module().workers(2).file("a.txt", b"a").start();
    let old = nginx.worker_pids();
    assert_eq!(old.len(), 2);
    nginx.reload();
    assert!(nginx.worker_pids().iter().all(|pid| !old.contains(pid)));
    wait_until(TIMEOUT, || nginx.master().children().len() == 2);
    let worker = nginx.workers()[0];
    assert!(worker.vm_hwm() >= worker.vm_rss() && worker.vm_rss() > 1 << 20);
    assert!(worker.open_fds() > 3 && worker.thread_times().len() == 1);
    assert_eq!(get(&nginx, "/a.txt").send().text(), "a");
    assert!(nginx.quit_and_wait(TIMEOUT).success());
    assert!(!worker.is_running());
}

#[test]
fn checks_configurations() {
    let good = Nginx::builder().without_module().server("location / { return 204; }").check();
    good.assert_ok();
    let bad = Nginx::builder().without_module().http("gzip_comp_level 12;").check();
    bad.assert_refused("value must be between 1 and 9", "gzip_comp_level 12");
}

#[test]
fn a_crash_fails_the_test_unless_it_was_allowed() {
    let crash = |nginx: &Nginx| {
        let worker = nginx.worker();
        Command::new("kill").args(["-SEGV", &worker.pid.to_string()]).status().unwrap();
        nginx.wait_for_log("exited on signal 11");
        wait_until(TIMEOUT, || nginx.workers().len() == 1);
    };
    let mut nginx = Nginx::builder().without_module().start();
    crash(&nginx);
    nginx.allow_log("exited on signal 11");
    drop(nginx);

    let unexpected = std::panic::catch_unwind(|| {
        let nginx = Nginx::builder().without_module().start();
        crash(&nginx);
    });
    let message = unexpected.unwrap_err();
    assert!(message.downcast_ref::<String>().unwrap().contains("exited on signal 11"));
}

#[test]
fn further_servers_and_ports() {
    let http = "server { listen 127.0.0.1:%%PORT2%%%%LISTEN_HTTP2%%; %%HTTP2_ON%%
        location / { return 200 %%PORT2%%; } }";
    let nginx = Nginx::builder().without_module().http(http).start();
    let port = nginx.port_of("PORT2");
    assert_eq!(get(&nginx, "/").port(port).http2().send().text(), port.to_string());
}

#[test]
fn a_request_body_arrives() {
    let upstream = Upstream::start(|mut conn| {
        let request = conn.read_request().unwrap();
        conn.send_head(200, &[]);
        conn.send(request.header("X-Test").unwrap().as_bytes());
        conn.send(&request.body);
    });
    let location = format!("location / {{ proxy_pass {}; }}", upstream.url());
    let nginx = Nginx::builder().without_module().tls().server(&location).start();
    let ask = || post(&nginx, "/", "body").header("X-Test", "field+");
    for response in [ask().send(), ask().http2().send(), ask().tls().send(), ask().tls().http2().send()] {
        assert_eq!(response.text(), "field+body");
    }
}

#[test]
fn a_port_that_is_taken_meanwhile_is_replaced() {
    let nginx: Vec<Nginx> = std::thread::scope(|scope| {
        let start =
            || Nginx::builder().without_module().server("location / { return 200 %%PORT%%; }").start();
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for nginx in &nginx {
        assert_eq!(get(nginx, "/").send().text(), nginx.port().to_string());
    }
}

#[test]
fn nginx_is_found_and_curl_runs() {
    assert!(locate::nginx_version() >= (1, 22, 0));
    assert!(locate::nginx_has("--with-http_v2_module"));
    assert!(corpus::nginx_source_text(100_000).starts_with(b"\n/*"));
    assert!(!curl::run(&["http://127.0.0.1:1/"]).unwrap().status.success());
    let _ = Signal::HUP;
}
