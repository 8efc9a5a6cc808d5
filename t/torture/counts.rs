//! What came of all requests, as a table.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The body came, whole and right.
    Complete,
    /// The client left.
    Aborted,
    /// The upstream server broke off, and the client could see it.
    Short,
    /// NGINX had closed the connection before the request came; it was sent again.
    Again,
    /// It came to an end that it should not have.
    Failed(String),
    /// It ended as if whole, and was not, or was another.
    Mismatch(String),
    /// There was no end.
    Hang(String),
}

/// A fault is printed so many times.
const SHOWN: usize = 20;

/// The counts so far.
#[derive(Default)]
pub struct Counts {
    requests: AtomicU64,
    complete: AtomicU64,
    encoded: AtomicU64,
    bytes: AtomicU64,
    aborted: AtomicU64,
    short: AtomicU64,
    again: AtomicU64,
    failed: AtomicU64,
    mismatches: AtomicU64,
    hangs: AtomicU64,
    crashes: AtomicU64,
    leaks: AtomicU64,
    shown: Mutex<usize>,
    /// When the first request ended.
    begun: OnceLock<Instant>,
}

impl Counts {
    /// A request of `description` ended.
    pub fn add(&self, outcome: &Outcome, description: &str) {
        self.requests.fetch_add(1, Relaxed);
        let begun = self.begun.get_or_init(Instant::now);
        let (count, reason) = match outcome {
            Outcome::Complete => (&self.complete, None),
            Outcome::Aborted => (&self.aborted, None),
            Outcome::Short => (&self.short, None),
            Outcome::Again => (&self.again, None),
            Outcome::Failed(reason) => (&self.failed, Some(reason)),
            Outcome::Mismatch(reason) => (&self.mismatches, Some(reason)),
            Outcome::Hang(reason) => (&self.hangs, Some(reason)),
        };
        count.fetch_add(1, Relaxed);
        if let Some(reason) = reason {
            let mut shown = self.shown.lock().expect("nobody panics with it");
            if *shown < SHOWN {
                *shown += 1;
                println!("{} s: {reason}: {description}", begun.elapsed().as_secs());
            }
        }
    }

    /// A body of so many bytes was right.
    pub fn add_body(&self, length: usize, encoded: bool) {
        self.bytes.fetch_add(length as u64, Relaxed);
        self.encoded.fetch_add(encoded.into(), Relaxed);
    }

    /// A process ended by a signal, or NGINX logged a fault.
    pub fn crash(&self) {
        self.crashes.fetch_add(1, Relaxed);
    }

    /// A descriptor stayed open.
    pub fn leak(&self) {
        self.leaks.fetch_add(1, Relaxed);
    }

    /// Something did not come to its end.
    pub fn hang(&self, what: &str) {
        self.hangs.fetch_add(1, Relaxed);
        println!("{what}");
    }

    pub fn is_good(&self) -> bool {
        let faults = [&self.failed, &self.mismatches, &self.hangs, &self.crashes, &self.leaks];
        faults.iter().all(|count| count.load(Relaxed) == 0) && self.complete.load(Relaxed) > 0
    }

    pub fn print(&self) {
        println!();
        let rows = [
            ("requests", &self.requests),
            ("complete and right", &self.complete),
            ("  of them encoded by br or zstd", &self.encoded),
            ("  megabytes of them, decoded", &self.bytes),
            ("aborted by the client", &self.aborted),
            ("broken off by the upstream server", &self.short),
            ("again: on a connection just closed", &self.again),
            ("failed", &self.failed),
            ("mismatches", &self.mismatches),
            ("hangs", &self.hangs),
            ("crashes and alerts", &self.crashes),
            ("leaked descriptors", &self.leaks),
        ];
        for (name, count) in rows {
            let count = count.load(Relaxed);
            println!("{name:36} {:>9}", if name.contains("megabytes") { count / 1_000_000 } else { count });
        }
    }
}
