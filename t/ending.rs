//! Workers that end while responses are in flight: each response is whole, or aborted where there is a time limit.

use std::time::Duration;

use harness::{Connection, Daemon, Http2, Http2Stream, Nginx, Signal, TIMEOUT, corpus, wait_until};

use crate::support::{Hooks, has_threads, inline, pooled};

const CODINGS: [&str; 2] = ["br", "zstd"];

/// A response that has begun.
enum Begun {
    Http1(Connection),
    Http2(Http2Stream, Http2),
}

impl Begun {
    /// A client with a small window that read the header, on each protocol; one of HTTP/1.0, too, whose body is
    /// complete if the connection just ends.
    fn each(port: u16, http2_port: u16, coding: &str) -> Vec<Self> {
        let mut clients: Vec<_> = ["1.1", "1.0"]
            .map(|version| {
                let mut client = Connection::connect_with_buffer(port, 4096).unwrap();
                let fields = format!("Host: localhost\r\nAccept-Encoding: {coding}\r\nConnection: close");
                client.send(format!("GET /a.txt HTTP/{version}\r\n{fields}\r\n\r\n").as_bytes()).unwrap();
                assert_eq!(client.read_head("GET").unwrap().coding(), coding);
                Self::Http1(client)
            })
            .into();
        let client = Http2::connect_with_window(http2_port, 10_000).unwrap();
        let mut stream = client.get("/a.txt", &[("Accept-Encoding", coding)]).unwrap();
        assert_eq!(stream.read_head().unwrap().coding(), coding);
        clients.push(Self::Http2(stream, client));
        clients
    }

    /// Reads to the end; none if the body was cut off.
    fn finish(self, coding: &str) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        match self {
            Self::Http1(mut client) => loop {
                match client.read_piece() {
                    Ok(Some(piece)) => body.extend(piece),
                    Ok(None) => break,
                    Err(error) if error.kind() == std::io::ErrorKind::TimedOut => panic!("{error}"),
                    Err(_) => return None,
                }
            },
            Self::Http2(mut stream, client) => {
                loop {
                    match stream.read_piece() {
                        Ok(Some(piece)) => body.extend(piece),
                        Ok(None) => break,
                        Err(error) if error.kind() == std::io::ErrorKind::TimedOut => panic!("{error}"),
                        Err(_) => return None,
                    }
                }
                drop(client);
            }
        }
        Some(harness::decode::decode(coding, &body).unwrap())
    }
}

fn begun(nginx: &Nginx) -> Vec<(&'static str, Begun)> {
    let each = |coding| Begun::each(nginx.port(), nginx.http2_port(), coding).into_iter();
    CODINGS.into_iter().flat_map(|coding| each(coding).map(move |client| (coding, client))).collect()
}

fn starts() -> Vec<harness::Builder> {
    if has_threads() { vec![inline(), pooled()] } else { vec![inline()] }
}

#[test]
fn a_worker_that_ends_gracefully_finishes_its_responses() {
    let noise = corpus::random(4 << 20);
    for builder in starts() {
        let mut nginx = builder.file("a.txt", noise.clone()).start();
        let clients = begun(&nginx);
        nginx.signal(Signal::QUIT);
        nginx.wait_for_log("gracefully shutting down");
        for (coding, client) in clients {
            assert!(client.finish(coding).is_some_and(|body| body == noise), "{coding}");
        }
        assert!(nginx.wait(TIMEOUT).success());
    }
}

#[test]
fn worker_shutdown_timeout_aborts_what_is_in_flight() {
    let noise = corpus::random(16 << 20);
    for builder in starts() {
        let mut nginx = builder.main("worker_shutdown_timeout 500ms;").file("a.txt", noise.clone()).start();
        let clients = begun(&nginx);
        nginx.signal(Signal::QUIT);
        // Without the limit it would wait for clients that read nothing until `send_timeout`, 60 s.
        assert!(nginx.wait(TIMEOUT / 2).success());
        for (coding, client) in clients {
            assert!(client.finish(coding).is_none(), "{coding}: it looks whole");
        }
    }
}

/// A job that runs when the time is over has to come back before its request can go.
#[test]
fn worker_shutdown_timeout_waits_for_jobs_alone() {
    if !has_threads() {
        return;
    }
    let hooks = Hooks::new();
    hooks.order("hold");
    let builder = hooks.watch(pooled()).main("worker_shutdown_timeout 300ms;");
    let mut nginx = builder.file("a.txt", corpus::text(1 << 20)).start();
    let mut clients = CODINGS.map(|coding| Connection::get(nginx.port(), "/a.txt", coding).unwrap());
    hooks.wait_for_job(0);
    nginx.signal(Signal::QUIT);
    nginx.wait_for_log("gracefully shutting down");
    std::thread::sleep(Duration::from_millis(900));
    assert!(nginx.master().is_running());
    hooks.release("hold");
    assert!(nginx.wait(TIMEOUT).success());
    for client in &mut clients {
        assert!(!client.read_response("GET").is_ok_and(|response| response.complete));
    }
}

#[test]
fn an_upgrade_of_the_binary_lets_both_finish() {
    let noise = corpus::random(2 << 20);
    for builder in starts() {
        let hooks = Hooks::new();
        let builder = hooks.watch(builder).log_format("$pid").file("a.txt", noise.clone());
        let mut nginx = Daemon::start(&builder);
        let begin = |nginx: &Daemon| {
            CODINGS.map(|coding| (coding, Begun::each(nginx.port(), nginx.http2_port(), coding)))
        };
        let before = begin(&nginx);
        let (old, new) = nginx.upgrade();
        let (old_worker, new_worker) = (old.workers()[0], new.workers()[0]);
        // The old workers take no more connections, and the old master waits in case it is needed again.
        old.signal(Signal::WINCH);
        wait_until(TIMEOUT, || old.workers().is_empty());
        let after = begin(&nginx);
        for (coding, clients) in before.into_iter().chain(after) {
            for client in clients {
                assert!(client.finish(coding).is_some_and(|body| body == noise), "{coding}");
            }
        }
        old.signal(Signal::QUIT);
        wait_until(TIMEOUT, || !old.is_running());
        assert!(new.is_running());
        let served = |worker: harness::Process| {
            nginx.access_log().lines().filter(|line| *line == worker.pid.to_string()).count()
        };
        wait_until(TIMEOUT, || served(old_worker) + served(new_worker) == 12);
        assert_eq!((served(old_worker), served(new_worker)), (6, 6));
    }
}
