//! The counters are those of all workers, and outlive them; what a worker has on its hands goes with it.

use std::collections::BTreeSet;

use harness::{Connection, Nginx, Signal, TIMEOUT, corpus, get, wait_until};

use super::{LOCATION, count, number, shown};
use crate::support::{Hooks, has_threads, inline, pooled};

const NOW: [&str; 3] = ["/jobs_running", "/jobs_queued", "/responses_waiting"];

/// What all workers have on their hands.
fn now(nginx: &Nginx) -> [u64; 3] {
    let shown = shown(nginx);
    NOW.map(|name| number(&shown, name))
}

fn ask(nginx: &Nginx) -> Connection {
    let mut client = Connection::connect(nginx.port()).unwrap();
    let headers = [("Accept-Encoding", "br"), ("Connection", "close")];
    client.send_request("GET", "/a.txt", &headers).unwrap();
    client
}

#[test]
fn two_workers_have_one_count() {
    let text = corpus::text(300_000);
    let nginx = inline()
        .workers(2)
        .http("brotli_comp_level 9;")
        .log_format("$pid $compress_bytes_out $uri")
        .server(LOCATION)
        .file("a.txt", text.clone())
        .start();
    let mut responses = 0;
    let mut bytes = 0;
    wait_until(TIMEOUT, || {
        // While one is busy the other one takes connections.
        let clients: Vec<_> = (0..8).map(|_| ask(&nginx)).collect();
        for mut client in clients {
            let response = client.read_response("GET").unwrap();
            assert!(response.decoded().unwrap() == text);
            bytes += response.body.len() as u64;
            responses += 1;
        }
        let log = nginx.access_log_lines(responses);
        let pids: BTreeSet<_> = log.iter().map(|line| line.split(' ').next().unwrap()).collect();
        pids.len() == 2
    });
    for _ in 0..4 {
        let shown = shown(&nginx);
        assert_eq!(number(&shown, "/responses/br"), responses as u64);
        assert_eq!(number(&shown, "/bytes_in/br"), responses as u64 * 300_000);
        assert_eq!(number(&shown, "/bytes_out/br"), bytes);
        assert_eq!(number(&shown, "/jobs/br/inline/done"), responses as u64);
    }
}

#[test]
fn counts_go_on_over_a_reload_unless_the_zone_changes() {
    let builder =
        |lines: &str, server: &str| inline().http(lines).server(server).file("a.txt", corpus::text(1000));
    let mut nginx = builder("", LOCATION).start();
    let ask = |nginx: &Nginx| assert_eq!(get(nginx, "/a.txt").accept("br").send().coding(), "br");
    for round in 1..=3 {
        ask(&nginx);
        assert_eq!(count(&nginx, "/responses/br"), round);
        nginx.reload();
        assert_eq!(count(&nginx, "/responses/br"), round);
    }
    for (size, before) in [("10m", 0), ("10m", 1), ("32k", 0), ("32k", 1)] {
        nginx.rewrite_config(builder(&format!("compress_status_zone {size};"), LOCATION));
        nginx.reload();
        assert_eq!(count(&nginx, "/responses/br"), before, "{size}");
        ask(&nginx);
        assert_eq!(count(&nginx, "/responses/br"), before + 1);
    }
    nginx.rewrite_config(builder("", ""));
    nginx.reload();
    ask(&nginx);
    assert_eq!(get(&nginx, "/status").send().status, 404);
    nginx.rewrite_config(builder("", LOCATION));
    nginx.reload();
    assert_eq!(count(&nginx, "/responses/br"), 0);
    ask(&nginx);
    assert_eq!(count(&nginx, "/responses/br"), 1);
}

#[test]
fn a_worker_that_shuts_down_is_seen_until_it_is_gone() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(300_000);
    let hooks = Hooks::new();
    hooks.order("hold");
    let nginx = hooks
        .watch(pooled())
        .http("brotli_parallel_tasks 1;")
        .server(LOCATION)
        .file("a.txt", text.clone())
        .start();
    let mut clients: Vec<_> = (0..2).map(|_| ask(&nginx)).collect();
    wait_until(TIMEOUT, || now(&nginx) == [2, 0, 0]);
    nginx.reload();
    assert_eq!(now(&nginx), [2, 0, 0], "the old worker goes on");
    // The new worker has the number of the old one among the workers, and not its place.
    clients.extend((0..2).map(|_| ask(&nginx)));
    wait_until(TIMEOUT, || now(&nginx) == [4, 0, 0]);
    hooks.release("hold");
    for mut client in clients {
        assert!(client.read_response("GET").unwrap().decoded().unwrap() == text);
    }
    wait_until(TIMEOUT, || now(&nginx) == [0, 0, 0]);
    assert_eq!(count(&nginx, "/jobs/br/pool/done"), 4);
}

#[test]
fn a_worker_that_is_killed_leaves_its_counts_and_nothing_at_hand() {
    if !has_threads() {
        return;
    }
    let hooks = Hooks::new();
    hooks.order("hold");
    let nginx = hooks
        .watch(pooled())
        .http("brotli_parallel_tasks 1;")
        .server(LOCATION)
        .file("a.txt", corpus::text(300_000))
        .allow_log("exited on signal 9")
        .start();
    let start = || -> Vec<_> {
        let before = count(&nginx, "/responses/br");
        let clients = (0..6).map(|_| ask(&nginx)).collect();
        wait_until(TIMEOUT, || count(&nginx, "/responses/br") == before + 6 && now(&nginx)[0] == 2);
        let [running, queued, waiting] = now(&nginx);
        assert_eq!(running + queued + waiting, 6);
        assert!(queued > 0 && waiting > 0);
        clients
    };
    // One that NGINX replaces, in its place.
    let clients = start();
    let killed = nginx.worker();
    killed.signal(Signal::KILL);
    wait_until(TIMEOUT, || nginx.workers().iter().any(|worker| *worker != killed));
    assert_eq!(now(&nginx), [0, 0, 0]);
    assert_eq!(count(&nginx, "/responses/br"), 6);
    drop(clients);

    // One that is not replaced, since it shuts down.
    let clients = start();
    let killed = nginx.worker();
    nginx.reload();
    assert_eq!(now(&nginx)[0], 2);
    killed.signal(Signal::KILL);
    wait_until(TIMEOUT, || now(&nginx) == [0, 0, 0]);
    assert_eq!(count(&nginx, "/responses/br"), 12);
    drop(clients);
}
