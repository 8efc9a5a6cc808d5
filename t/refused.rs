//! What is refused to the module: memory, reads of a file, a place in the queue of a pool. A response whose work cannot
//! go on is aborted, alone; none ends as if it were whole.

use harness::{Nginx, TIMEOUT, corpus, get, wait_until};

use crate::support::{Hooks, has_threads, inline, pooled};

const CODINGS: [&str; 2] = ["br", "zstd"];

/// With a pool, if there are pools, and without.
fn starts(hooks: &Hooks) -> Vec<harness::Builder> {
    let narrow = inline()
        .main("thread_pool narrow threads=1;")
        .http("brotli_thread_pool narrow; zstd_thread_pool narrow;");
    let builders = if has_threads() { vec![inline(), narrow] } else { vec![inline()] };
    builders.into_iter().map(|builder| hooks.watch(builder)).collect()
}

/// Refuses `what` the first time that it is asked for, then the second, and so on, until a response does not ask for
/// it so often. Gives the number of refusals.
#[track_caller]
fn refuse_each(hooks: &Hooks, nginx: &Nginx, what: &str, ask: impl Fn() -> harness::Request) -> usize {
    let order = format!("refuse.{what}");
    for n in 1.. {
        hooks.order_with(&order, &n.to_string());
        let lines = nginx.error_log().matches("http compress: ").count();
        let response = ask().try_send();
        let refused = !hooks.is_ordered(&order);
        match response {
            Ok(response) if response.complete => {
                assert!(!refused, "{what} {n}: whole without it: {}", response.status);
                assert!(response.decoded().unwrap() == body(), "{what} {n}");
                hooks.release(&order);
                return n - 1;
            }
            _ => assert!(refused, "{what} {n}: aborted for no reason"),
        }
        // NGINX itself tells of its pools.
        if what != "pool" {
            wait_until(TIMEOUT, || nginx.error_log().matches("http compress: ").count() > lines);
            assert_eq!(nginx.error_log().matches("http compress: ").count(), lines + 1, "{what} {n}");
        }
    }
    unreachable!()
}

fn body() -> Vec<u8> {
    corpus::text(600_000)
}

fn refuse_everywhere(what: &str, at_least: usize) {
    let hooks = Hooks::new();
    for builder in starts(&hooks) {
        let nginx = builder.file("a.txt", body()).start();
        let pid = nginx.worker_pid();
        for coding in CODINGS {
            // The first of them may leave an encoder that needs no more memory.
            let refusals = [false, true].map(|http2| {
                refuse_each(&hooks, &nginx, what, || {
                    let request = get(&nginx, "/a.txt").accept(coding);
                    if http2 { request.http2() } else { request }
                })
            });
            assert!(refusals[0] >= at_least, "{what}, {coding}: refused {refusals:?} times");
        }
        assert_eq!(nginx.worker_pid(), pid);
    }
}

#[test]
fn memory_of_nginx() {
    refuse_everywhere("pool", 5);
}

#[test]
fn memory_of_an_encoder() {
    refuse_everywhere("encoder", 1);
}

#[test]
fn a_read_of_a_file() {
    refuse_everywhere("read", 1);
}

/// A response whose job is refused again and again goes on when there is room, and the others with it.
#[test]
fn a_place_in_the_queue() {
    if !has_threads() {
        return;
    }
    let hooks = Hooks::new();
    let location = "location = /status { compress_status; brotli off; zstd off; }";
    let nginx = hooks.watch(pooled()).server(location).file("a.txt", body()).start();
    let overflows = || {
        let shown: serde_json::Value = serde_json::from_str(&get(&nginx, "/status").send().text()).unwrap();
        shown["jobs_overflowed"].as_u64().unwrap()
    };
    for coding in CODINGS {
        let before = overflows();
        hooks.order("full");
        std::thread::scope(|scope| {
            let clients = [false, true, false].map(|http2| {
                let request = get(&nginx, "/a.txt").accept(coding);
                scope.spawn(move || if http2 { request.http2().send() } else { request.send() })
            });
            wait_until(TIMEOUT, || overflows() >= before + 5);
            assert!(clients.iter().all(|client| !client.is_finished()));
            hooks.release("full");
            for client in clients {
                assert!(client.join().unwrap().decoded().unwrap() == body(), "{coding}");
            }
        });
    }
}
