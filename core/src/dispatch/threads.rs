//! What the event loop and the threads of a pool tell each other of how busy they are.

use std::time::Duration;

use crate::sync::{AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed};

/// A job that ran this long and found another one still queued has shown that no thread was idle.
const BUSY: Duration = Duration::from_millis(2);

/// What is known of the threads of a pool. NGINX does not say how many there are, so they are counted as they run
/// jobs of ours.
#[derive(Default)]
pub struct Threads {
    seen: AtomicUsize,
    posted: AtomicUsize,
    started: AtomicUsize,
    done: AtomicUsize,
    all_seen: AtomicBool,
}

impl Threads {
    /// The threads that there are at least.
    pub fn known(&self) -> usize {
        self.seen.load(Relaxed).max(1)
    }

    /// How many threads would probably start a job at once. Until a job was seen to wait in the queue there may be
    /// one thread more than those that were seen.
    pub fn idle(&self) -> usize {
        let out = self.posted.load(Relaxed).wrapping_sub(self.done.load(Relaxed));
        let more = usize::from(!self.all_seen.load(Relaxed));
        (self.known() + more).saturating_sub(out)
    }

    /// In the event loop, before a job is posted.
    pub fn job_posted(&self) {
        self.posted.fetch_add(1, Relaxed);
    }

    /// In the event loop, when the post was refused.
    pub fn job_refused(&self) {
        self.posted.fetch_sub(1, Relaxed);
    }

    /// In the pool thread, before a job runs; `first` says that it is this thread's first.
    pub fn job_started(&self, first: bool) {
        self.started.fetch_add(1, Relaxed);
        if first {
            self.seen.fetch_add(1, Relaxed);
        }
    }

    /// In the pool thread, after a job ran for `time`.
    pub fn job_done(&self, time: Duration) {
        // `posted` is read first: both grow, so a job that is posted and started in between is not taken for queued.
        let posted = self.posted.load(Acquire);
        if time >= BUSY && posted > self.started.load(Relaxed) {
            self.all_seen.store(true, Relaxed);
        }
        self.done.fetch_add(1, Relaxed);
    }
}
