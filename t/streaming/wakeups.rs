//! The module wakes the writer of a response when there is something for it, and not otherwise.
//!
//! NGINX tells in its debug log what it does: how often the writer of a request ran, and how often something was written
//! to a socket. The module tells there of its jobs, and when it wakes the writer.

use std::thread::sleep;
use std::time::Duration;

use harness::{Connection, Http2, Nginx, TIMEOUT, Upstream, corpus, locate, wait_until};

use super::CODINGS;
use crate::support::{Hooks, has_threads, pooled};

#[derive(Debug)]
struct Counts {
    jobs: usize,
    wakes: usize,
    writer: usize,
    writes: usize,
}

impl Counts {
    fn of(log: &str) -> Self {
        let count =
            |texts: &[&str]| log.lines().filter(|line| texts.iter().any(|text| line.contains(text))).count();
        Self {
            jobs: count(&["http compress job"]),
            wakes: count(&["http compress wakes the writer"]),
            writer: count(&["http writer handler:"]),
            writes: count(&["writev: ", "sendfile: @", " send: fd:"]),
        }
    }

    fn check(&self, what: &str) {
        let most = self.jobs + self.writes + 2;
        assert!(self.jobs > 0 && self.writes > 0, "{what}: {self:?}");
        assert!(self.wakes <= most, "{what}: {self:?}");
        assert!(self.writer <= most, "{what}: {self:?}");
        // Every wake has a job that came back, or room that a client made.
        assert!(self.wakes <= self.jobs + self.writes, "{what}: {self:?}");
    }
}

#[test]
fn the_writer_is_woken_no_more_often_than_there_is_work_for_it() {
    if !has_threads() || !locate::nginx_has("--with-debug") {
        return;
    }
    let text = corpus::text(3 << 20);
    let body = text.clone();
    let upstream = Upstream::start(move |mut conn| {
        let request = conn.read_request().unwrap();
        conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
        let pause = if request.path.contains("events") { 2 } else { 0 };
        let length = if pause > 0 { 20_000 } else { body.len() };
        for chunk in body[..length].chunks(if pause > 0 { 200 } else { 30_000 }) {
            conn.send_chunk(chunk);
            conn.pause(Duration::from_millis(pause));
        }
        conn.send_last_chunk();
    });
    let proxy = |name: &str, buffering: &str| {
        format!(
            "location /{name} {{ proxy_buffering {buffering}; proxy_http_version 1.1; proxy_pass {}; }}",
            upstream.url()
        )
    };
    let server = proxy("buffered", "on") + &proxy("unbuffered", "off") + &proxy("events", "off");
    for path in ["/large.txt", "/buffered", "/unbuffered", "/events"] {
        for coding in CODINGS {
            for (http2, slow) in [(false, false), (true, false), (false, true), (true, true)] {
                let nginx = pooled()
                    .http("brotli_comp_level 4; brotli_buffers 4 4k; zstd_buffers 4 4k;")
                    .server(&server)
                    .file("large.txt", text.clone())
                    .log_level("debug")
                    .start();
                fetch(&nginx, path, coding, http2, slow);
                nginx.access_log_lines(1);
                let what = format!("{path} {coding} http2: {http2} slow: {slow}");
                Counts::of(&nginx.error_log()).check(&what);
            }
        }
    }
}

/// A job that comes back before an earlier one has nothing for the writer.
#[test]
fn the_writer_sleeps_until_the_first_part_is_there() {
    if !has_threads() || !locate::nginx_has("--with-debug") {
        return;
    }
    for coding in CODINGS {
        for http2 in [false, true] {
            let hooks = Hooks::new();
            hooks.order("hold.0");
            let nginx =
                hooks.watch(pooled()).file("large.txt", corpus::text(3 << 20)).log_level("debug").start();
            std::thread::scope(|scope| {
                let client = scope.spawn(|| fetch(&nginx, "/large.txt", coding, http2, false));
                hooks.wait_for_job(0);
                nginx.wait_for_log("http compress job 1 is back");
                assert_eq!(Counts::of(&nginx.error_log()).wakes, 0, "{coding} {http2}");
                hooks.release("hold.0");
                client.join().unwrap();
            });
            let counts = Counts::of(&nginx.error_log());
            assert!(counts.wakes > 0 && counts.wakes < counts.jobs, "{coding} {http2}: {counts:?}");
        }
    }
}

fn fetch(nginx: &Nginx, path: &str, coding: &str, http2: bool, slow: bool) {
    let headers = [("Accept-Encoding", coding), ("X-Test", "wakeups")];
    let pause = || {
        if slow {
            sleep(Duration::from_millis(5));
        }
    };
    if http2 {
        let client =
            Http2::connect_with_window(nginx.http2_port(), if slow { 20_000 } else { 1 << 24 }).unwrap();
        let mut stream = client.get(path, &headers).unwrap();
        assert_eq!(stream.read_head().unwrap().coding(), coding);
        while stream.read_piece().unwrap().is_some() {
            pause();
        }
    } else {
        let mut client = if slow {
            Connection::connect_with_buffer(nginx.port(), 8 << 10).unwrap()
        } else {
            Connection::connect(nginx.port()).unwrap()
        };
        client.send_request("GET", path, &headers).unwrap();
        assert_eq!(client.read_head("GET").unwrap().coding(), coding);
        while client.read_piece().unwrap().is_some() {
            pause();
        }
    }
    wait_until(TIMEOUT, || !nginx.access_log().is_empty());
}
