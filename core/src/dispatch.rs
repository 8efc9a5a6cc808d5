//! Who may send the next job to a thread pool.
//!
//! A pool's queue is first come, first served, and serves others too. So a worker keeps no more of its jobs there
//! than the threads can soon take, and the responses that have more to do wait here, one after the other, without
//! a copy of their body or an encoder.

mod threads;

use std::collections::VecDeque;

pub use threads::Threads;

/// Jobs that a pool is given beyond one for each of its threads, so that no thread waits for the event loop.
const AHEAD: usize = 2;

/// The responses of one worker that use one pool; `T` stands for a response.
pub struct Dispatch<T> {
    waiting: VecDeque<T>,
    out: usize,
    /// The pool refused a job: its queue is full of the work of others.
    full: bool,
}

impl<T: Copy + PartialEq> Default for Dispatch<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), out: 0, full: false }
    }
}

impl<T: Copy + PartialEq> Dispatch<T> {
    /// Whether the pool may be given one more job.
    pub fn has_room(&self, threads: &Threads) -> bool {
        !self.full && self.out < threads.known() + AHEAD
    }

    /// Whether a response that did not wait may go first: there is room, and nobody waits.
    pub fn is_open(&self, threads: &Threads) -> bool {
        self.waiting.is_empty() && self.has_room(threads)
    }

    /// Puts a response at the end of the line, unless it stands in it.
    pub fn wait(&mut self, response: T) {
        if !self.waiting.contains(&response) {
            self.waiting.push_back(response);
        }
    }

    /// Takes a response out of the line.
    pub fn leave(&mut self, response: T) {
        self.waiting.retain(|other| *other != response);
    }

    /// The response whose turn it is, if there is room for its job; it leaves the line.
    pub fn next(&mut self, threads: &Threads) -> Option<T> {
        if self.has_room(threads) { self.waiting.pop_front() } else { None }
    }

    /// How many responses wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How many jobs are in the pool.
    pub fn out(&self) -> usize {
        self.out
    }

    /// A job was posted.
    pub fn posted(&mut self) {
        self.out += 1;
    }

    /// A job came back.
    pub fn returned(&mut self) {
        self.out -= 1;
        self.full = false;
    }

    /// A job was refused. No other is tried until one came back, or until [`retry`](Self::retry).
    pub fn refused(&mut self) {
        self.full = true;
    }

    /// Some time has passed since a job was refused.
    pub fn retry(&mut self) {
        self.full = false;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn goes_round_and_never_beyond_the_room() {
        let (mut dispatch, threads) = (Dispatch::default(), Threads::default());
        threads.job_started(true);
        threads.job_started(true);
        for _ in 0..4 {
            assert!(dispatch.is_open(&threads));
            dispatch.posted();
        }
        assert!(!dispatch.has_room(&threads));
        for response in ['a', 'b', 'c', 'a'] {
            dispatch.wait(response);
        }
        assert_eq!((dispatch.waiting(), dispatch.next(&threads)), (3, None));
        dispatch.returned();
        assert!(!dispatch.is_open(&threads), "a newcomer does not pass those that wait");
        dispatch.leave('b');
        assert_eq!(dispatch.next(&threads), Some('a'));
        assert_eq!(dispatch.next(&threads), Some('c'));
        assert_eq!(dispatch.next(&threads), None);
    }

    #[test]
    fn expects_one_thread_more_until_a_job_was_seen_waiting() {
        let threads = Threads::default();
        assert_eq!((threads.known(), threads.idle()), (1, 2));
        threads.job_posted();
        threads.job_posted();
        assert_eq!(threads.idle(), 0);
        threads.job_started(true);
        threads.job_done(Duration::from_millis(1));
        assert_eq!((threads.known(), threads.idle()), (1, 1), "a short job shows nothing");
        threads.job_posted();
        threads.job_started(false);
        threads.job_done(Duration::from_millis(10));
        assert_eq!(threads.idle(), 0, "one is queued, and there is one thread");
        threads.job_started(false);
        threads.job_done(Duration::from_millis(10));
        assert_eq!(threads.idle(), 1);
    }

    #[test]
    fn after_a_refused_post_nobody_tries_until_something_changed() {
        let (mut dispatch, threads) = (Dispatch::default(), Threads::default());
        dispatch.posted();
        dispatch.refused();
        dispatch.wait('a');
        assert_eq!(dispatch.next(&threads), None);
        dispatch.returned();
        assert_eq!(dispatch.next(&threads), Some('a'));
        dispatch.refused();
        dispatch.wait('a');
        dispatch.retry();
        assert_eq!(dispatch.next(&threads), Some('a'));
    }

    #[test]
    fn a_refused_post_leaves_no_trace() {
        let threads = Threads::default();
        threads.job_posted();
        threads.job_refused();
        assert_eq!(threads.idle(), 2);
    }
}
