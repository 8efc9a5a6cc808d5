//! Who may send the next job to a thread pool.
//!
//! A pool's queue is first come, first served, and serves others too. So a worker keeps no more of its jobs there
//! than the threads can soon take, and the responses that have more to do wait here, one after the other, without
//! a copy of their body or an encoder.
//!
//! Those with one job left and those with more take turns. Among the latter, one whose encoder waits for it goes first:
//! if all took turns, so many encoders would wait that there is no memory for them, and to begin in the middle of a
//! body costs as much as to encode the bytes before.

mod threads;

use std::collections::VecDeque;

pub use threads::Threads;

/// Jobs that a pool is given beyond one for each of its threads, so that no thread waits for the event loop.
const AHEAD: usize = 2;

/// Where a response waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One job of it is left.
    LastJob,
    /// More are, and its encoder waits for it.
    GoesOn,
    /// More are, and nothing is lost if others go first.
    InLine,
}

/// The responses of one worker that use one pool; `T` stands for a response.
pub struct Dispatch<T> {
    /// In the order of [`Place`].
    waiting: [VecDeque<T>; 3],
    /// Whether the last turn was that of a response with one job left.
    last_job_went: bool,
    out: usize,
    /// The pool refused a job: its queue is full of the work of others.
    full: bool,
}

impl<T: Copy + PartialEq> Default for Dispatch<T> {
    fn default() -> Self {
        Self { waiting: Default::default(), last_job_went: false, out: 0, full: false }
    }
}

impl<T: Copy + PartialEq> Dispatch<T> {
    /// Whether the pool may be given one more job.
    pub fn has_room(&self, threads: &Threads) -> bool {
        !self.full && self.out < threads.known() + AHEAD
    }

    /// Whether a response that did not wait may go first: there is room, and nobody waits.
    pub fn is_open(&self, threads: &Threads) -> bool {
        self.waiting() == 0 && self.has_room(threads)
    }

    /// Puts a response at the end of those of its place, unless it waits already.
    pub fn wait(&mut self, response: T, place: Place) {
        if !self.waiting.iter().any(|line| line.contains(&response)) {
            self.waiting[place as usize].push_back(response);
        }
    }

    /// A response waits no more.
    pub fn leave(&mut self, response: T) {
        for line in &mut self.waiting {
            line.retain(|other| *other != response);
        }
    }

    /// The response whose turn it is, if there is room for its job; it waits no more.
    pub fn next(&mut self, threads: &Threads) -> Option<T> {
        if !self.has_room(threads) {
            return None;
        }
        let [last_job, goes_on, in_line] = &mut self.waiting;
        let more = if goes_on.is_empty() { in_line } else { goes_on };
        let turn_of_last_job = more.is_empty() || !self.last_job_went && !last_job.is_empty();
        self.last_job_went = turn_of_last_job;
        if turn_of_last_job { last_job.pop_front() } else { more.pop_front() }
    }

    /// How many responses wait.
    pub fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
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
            dispatch.wait(response, Place::InLine);
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
    fn short_and_long_bodies_take_turns_and_an_encoder_that_waits_goes_first() {
        let (mut dispatch, threads) = (Dispatch::default(), Threads::default());
        for (response, place) in [
            ('a', Place::InLine),
            ('b', Place::InLine),
            ('c', Place::GoesOn),
            ('d', Place::LastJob),
            ('e', Place::LastJob),
            ('f', Place::LastJob),
            ('c', Place::InLine),
        ] {
            dispatch.wait(response, place);
        }
        assert_eq!(dispatch.waiting(), 6);
        let order: String = std::iter::from_fn(|| dispatch.next(&threads)).collect();
        assert_eq!(order, "dceafb");
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
        dispatch.wait('a', Place::InLine);
        assert_eq!(dispatch.next(&threads), None);
        dispatch.returned();
        assert_eq!(dispatch.next(&threads), Some('a'));
        dispatch.refused();
        dispatch.wait('a', Place::InLine);
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
