//! The event loop and a pool, in many of the orders that their steps can have: shuttle runs the threads of this model one
//! step at a time, and the counts that they share are its own.

/// In place of the crate's, for `threads.rs`.
mod sync {
    pub use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
}

#[path = "../src/dispatch/threads.rs"]
mod threads;

use std::collections::VecDeque;
use std::time::Duration;

use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::thread;
use threads::Threads;

const JOBS: usize = 6;

/// A pool as NGINX's: a queue of at most so many jobs, and what came back.
struct Pool {
    max_queue: usize,
    state: Mutex<State>,
    changed: Condvar,
    threads: Threads,
}

#[derive(Default)]
struct State {
    queue: VecDeque<usize>,
    done: Vec<usize>,
    closed: bool,
}

impl Pool {
    fn post(&self, job: usize) -> bool {
        self.threads.job_posted();
        let mut state = self.state.lock().unwrap();
        if state.queue.len() == self.max_queue {
            drop(state);
            self.threads.job_refused();
            return false;
        }
        state.queue.push_back(job);
        self.changed.notify_all();
        true
    }

    fn run(&self, time: Duration) {
        let mut first = true;
        loop {
            let state = self.state.lock().unwrap();
            let mut state =
                self.changed.wait_while(state, |state| state.queue.is_empty() && !state.closed).unwrap();
            let Some(job) = state.queue.pop_front() else { return };
            drop(state);
            self.threads.job_started(std::mem::take(&mut first));
            thread::yield_now();
            self.threads.job_done(time);
            self.state.lock().unwrap().done.push(job);
            self.changed.notify_all();
        }
    }

    /// What came back, once there is something.
    fn take_done(&self) -> Vec<usize> {
        let state = self.state.lock().unwrap();
        let mut state = self.changed.wait_while(state, |state| state.done.is_empty()).unwrap();
        std::mem::take(&mut state.done)
    }
}

/// Posts all jobs, those that are refused again when others came back, and looks at the counts after each step.
fn model(pool_threads: usize, max_queue: usize, time: Duration) {
    let pool = Arc::new(Pool {
        max_queue,
        state: Mutex::default(),
        changed: Condvar::new(),
        threads: Threads::default(),
    });
    let workers: Vec<_> = (0..pool_threads)
        .map(|_| {
            let pool = pool.clone();
            thread::spawn(move || pool.run(time))
        })
        .collect();
    let (mut next, mut back) = (0, Vec::new());
    while back.len() < JOBS {
        while next < JOBS && pool.post(next) {
            next += 1;
            // A count below zero would look like ever so many jobs, and no thread would be idle again.
            let (known, idle) = (pool.threads.known(), pool.threads.idle());
            assert!(known <= pool_threads && idle <= pool_threads + 1);
        }
        back.extend(pool.take_done());
    }
    pool.state.lock().unwrap().closed = true;
    pool.changed.notify_all();
    for worker in workers {
        worker.join().unwrap();
    }
    back.sort_unstable();
    assert_eq!(back, (0..JOBS).collect::<Vec<_>>());
    let (known, idle) = (pool.threads.known(), pool.threads.idle());
    assert!(idle == known || idle == known + 1, "{idle} of {known} idle, and no job is left");
}

#[test]
fn every_job_comes_back_and_every_thread_is_idle_then() {
    for (pool_threads, max_queue) in [(1, 1), (2, 1), (2, 4), (3, 2)] {
        for time in [Duration::ZERO, Duration::from_millis(5)] {
            shuttle::check_random(move || model(pool_threads, max_queue, time), 300);
        }
    }
}

/// Short jobs never show that no thread is idle.
#[test]
fn one_more_thread_is_expected_while_jobs_are_short() {
    shuttle::check_random(
        || {
            let threads = Arc::new(Threads::default());
            let worker = {
                let threads = threads.clone();
                thread::spawn(move || {
                    threads.job_started(true);
                    threads.job_done(Duration::from_millis(1));
                })
            };
            threads.job_posted();
            worker.join().unwrap();
            assert_eq!((threads.known(), threads.idle()), (1, 2));
        },
        100,
    );
}
