//! Jobs on a thread pool: the loop stays free, the order is kept, nothing is lost under load.

use std::thread;
use std::time::{Duration, Instant};

use harness::{Connection, TIMEOUT, corpus, get, wait_until};

use crate::support::{Hooks, has_threads, pooled};

const CODINGS: [&str; 2] = ["br", "zstd"];

#[test]
fn a_small_request_completes_while_a_job_is_held() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(300_000);
    for coding in CODINGS {
        let hooks = Hooks::new();
        hooks.order("hold");
        let nginx = hooks.watch(pooled()).file("large.txt", text.clone()).file("small.txt", "small").start();
        thread::scope(|scope| {
            let large = scope.spawn(|| get(&nginx, "/large.txt").accept(coding).send());
            hooks.wait_for_job(0);
            assert_eq!(get(&nginx, "/small.txt").send().text(), "small");
            assert!(!large.is_finished());
            hooks.release("hold");
            assert_eq!(large.join().unwrap().decoded().unwrap(), text);
        });
    }
}

#[test]
fn jobs_that_finish_in_reverse_come_out_in_order() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(3 << 20);
    for coding in CODINGS {
        let hooks = Hooks::new();
        hooks.order("hold.0");
        hooks.order("hold.1");
        let nginx = hooks.watch(pooled()).file("large.txt", text.clone()).start();
        thread::scope(|scope| {
            let large = scope.spawn(|| get(&nginx, "/large.txt").accept(coding).send());
            // Both threads have a segment of the one response.
            hooks.wait_for_job(0);
            hooks.wait_for_job(1);
            hooks.release("hold.1");
            // The second thread goes on with the later segments, all of which are before the first.
            thread::sleep(Duration::from_millis(300));
            assert!(!large.is_finished());
            hooks.release("hold.0");
            let response = large.join().unwrap();
            assert_eq!(response.coding(), coding);
            assert!(response.decoded().unwrap() == text, "{coding}");
        });
    }
}

#[test]
fn a_full_queue_loses_nothing() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(2 << 20);
    let nginx = pooled()
        .main("thread_pool narrow threads=1 max_queue=1;")
        .http("brotli_comp_level 5;")
        .server("location /large { alias %%PREFIX%%/html/large.txt; brotli_thread_pool narrow; zstd_thread_pool narrow; }")
        .file("large.txt", text.clone())
        .allow_log("thread pool \"narrow\" queue overflow")
        .start();
    thread::scope(|scope| {
        let clients: Vec<_> = (0..20)
            .map(|i| {
                let nginx = &nginx;
                scope.spawn(move || get(nginx, "/large").accept(CODINGS[i % 2]).send())
            })
            .collect();
        for client in clients {
            assert!(client.join().unwrap().decoded().unwrap() == text);
        }
    });
    // The event loop did none of the work: its thread is the first.
    let times = nginx.worker().thread_times();
    let all: Duration = times.iter().map(|thread| thread.time).sum();
    assert!(times[0].time < all / 4, "{:?} of {all:?} in the event loop", times[0].time);
}

#[test]
fn a_client_does_not_time_out_while_jobs_are_held() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(300_000);
    for http2 in [false, true] {
        let hooks = Hooks::new();
        hooks.order("hold");
        let nginx = hooks.watch(pooled()).http("send_timeout 1s;").file("large.txt", text.clone()).start();
        thread::scope(|scope| {
            let clients: Vec<_> = CODINGS
                .map(|coding| {
                    let request = get(&nginx, "/large.txt").accept(coding);
                    scope.spawn(|| if http2 { request.http2().send() } else { request.send() })
                })
                .into();
            thread::sleep(Duration::from_secs(3));
            hooks.release("hold");
            for client in clients {
                assert_eq!(client.join().unwrap().decoded().unwrap(), text);
            }
        });
    }
}

/// The best of three tries: other tests want the processors too.
#[test]
fn term_ends_the_worker_at_once() {
    if has_threads() {
        let times: Vec<_> = (0..3).map(|_| time_to_end()).collect();
        assert!(times.iter().min() < Some(&Duration::from_secs(1)), "{times:?}");
    }
}

/// How long a worker with 50 responses at level 11 takes to end.
fn time_to_end() -> Duration {
    let hooks = Hooks::new();
    hooks.order("hold");
    let mut nginx = hooks
        .watch(pooled())
        .http("brotli_comp_level 11; compress_thread_priority off;")
        .file("large.txt", corpus::text(2 << 20))
        .allow_log("exited on signal 9")
        .start();
    let clients: Vec<_> =
        (0..50).map(|_| Connection::get(nginx.port(), "/large.txt", "br").unwrap()).collect();
    hooks.wait_for_job(0);
    hooks.release("hold");
    let worker = nginx.worker();
    let before = worker.cpu_time();
    wait_until(TIMEOUT, || worker.cpu_time() > before + Duration::from_millis(100));
    let begin = Instant::now();
    nginx.terminate_and_wait(TIMEOUT);
    drop(clients);
    begin.elapsed()
}

#[test]
fn bug_68_a_client_that_goes_away_cancels_its_jobs() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(2 << 20);
    let hooks = Hooks::new();
    hooks.order("hold");
    let nginx = hooks.watch(pooled()).file("large.txt", text.clone()).start();
    let pid = nginx.worker_pid();
    for _ in 0..10 {
        let client = Connection::get(nginx.port(), "/large.txt", "br").unwrap();
        hooks.wait_for_job(0);
        client.reset().unwrap();
    }
    hooks.release("hold");
    assert!(get(&nginx, "/large.txt").accept("zstd").send().decoded().unwrap() == text);
    assert_eq!(nginx.worker_pid(), pid);
}

#[test]
fn a_panic_in_a_job_aborts_the_response_alone() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(300_000);
    for http2 in [false, true] {
        let hooks = Hooks::new();
        hooks.order("panic.job");
        let nginx = hooks.watch(pooled()).file("large.txt", text.clone()).allow_log("ordered at job").start();
        let pid = nginx.worker_pid();
        let ask = || {
            let request = get(&nginx, "/large.txt").accept("br");
            if http2 { request.http2() } else { request }
        };
        assert!(!ask().try_send().is_ok_and(|response| response.complete));
        hooks.release("panic.job");
        assert_eq!(ask().send().decoded().unwrap(), text);
        assert_eq!(nginx.worker_pid(), pid);
        assert_eq!(nginx.error_log().matches("ordered at job").count(), 1);
    }
}

#[test]
fn when_too_many_wait_others_are_sent_as_they_are() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(300_000);
    let hooks = Hooks::new();
    hooks.order("hold");
    let nginx = hooks
        .watch(pooled())
        .http("compress_max_waiting 1;")
        .log_format("$compress_skip")
        .file("large.txt", text.clone())
        .start();
    let ask = || {
        let mut client = Connection::connect(nginx.port()).unwrap();
        let headers = [("Accept-Encoding", "br"), ("Connection", "close")];
        client.send_request("GET", "/large.txt", &headers).unwrap();
        client
    };
    // As many as the pool takes, and then more than may wait; those that wait come first.
    let waiting: Vec<_> = (0..6).map(|_| ask()).collect();
    hooks.wait_for_job(0);
    wait_until(TIMEOUT, || get(&nginx, "/large.txt").accept("br").send().coding().is_empty());
    hooks.release("hold");
    for mut client in waiting {
        assert_eq!(client.read_response("GET").unwrap().decoded().unwrap(), text);
    }
    wait_until(TIMEOUT, || nginx.access_log().lines().any(|line| line == "busy"));
    assert_eq!(nginx.error_log().matches("responses wait for a thread").count(), 1);
}

#[test]
fn pool_threads_go_behind_the_event_loop() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(300_000);
    for (line, nice) in [("", 10), ("compress_thread_priority off;", 0), ("compress_thread_priority 5;", 5)] {
        let nginx = pooled().http(line).file("large.txt", text.clone()).start();
        assert_eq!(get(&nginx, "/large.txt").accept("br").send().decoded().unwrap(), text);
        let threads = nginx.worker().thread_times();
        assert_eq!(threads[0].nice, 0, "the event loop");
        let lowest = threads.iter().map(|thread| thread.nice).max();
        assert_eq!(lowest, Some(nice), "{line}");
    }
}
