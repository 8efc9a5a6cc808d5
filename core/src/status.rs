//! What the module counts, and how `compress_status` shows it.
//!
//! The counters are in memory that all workers share. What only grows is in [`Counters`]: there are several, so that
//! workers do not wait for each other's cache lines, and their sums are shown. What goes up and down is kept for each
//! process ([`Process`]): one that is killed cannot take its share back, so it is left out.

mod format;
mod metric;
mod text;

pub use self::format::Format;
pub use self::metric::{Label, Metric};

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use self::metric::{
    ABORTED, BYTES_IN, BYTES_OUT, COUNT, COUNTERS, FAILED, GAUGES, JOBS, OVERFLOWED, REASONS, RESPONSES,
    SECONDS, SKIPPED,
};
use crate::codec::Coding;
use crate::eligible::Skip;
use crate::job::JobError;

/// Where a job ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the event loop.
    Inline,
    /// In a thread of a pool.
    Pool,
}

/// How a response ended that did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// The client went away, or what makes the body broke off.
    Aborted,
    /// A job failed, or there was no memory.
    Failed,
}

/// What has happened since NGINX started. All zero is a value.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Counters([AtomicU64; COUNT]);

impl Default for Counters {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; COUNT])
    }
}

impl Counters {
    /// A response is going to be encoded.
    pub fn began(&self, coding: Coding) {
        self.add(&RESPONSES, &[index(coding)], 1);
    }

    /// Some more of a body was given to jobs, and has come back from them.
    pub fn moved(&self, coding: Coding, bytes_in: u64, bytes_out: u64) {
        self.add(&BYTES_IN, &[index(coding)], bytes_in);
        self.add(&BYTES_OUT, &[index(coding)], bytes_out);
    }

    /// A response that began ended before its time.
    pub fn ended(&self, coding: Coding, how: Unfinished) {
        let metric = match how {
            Unfinished::Aborted => &ABORTED,
            Unfinished::Failed => &FAILED,
        };
        self.add(metric, &[index(coding)], 1);
    }

    /// A response is not encoded.
    pub fn skipped(&self, skip: Skip) {
        let reason = REASONS.iter().position(|word| *word == skip.as_str());
        debug_assert!(reason.is_some(), "{skip:?} is one of the reasons");
        self.add(&SKIPPED, &[reason.unwrap_or(0)], 1);
    }

    /// A job came to its end, after so much processor time.
    pub fn ran<T>(&self, coding: Coding, mode: Mode, result: &Result<T, JobError>, time: Duration) {
        let result = match result {
            Ok(_) => 0,
            Err(JobError::Cancelled) => 1,
            Err(JobError::Read(_) | JobError::Encode(_) | JobError::Panicked(_)) => 2,
        };
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.add(&JOBS, &[index(coding), mode as usize, result], 1);
        self.add(&SECONDS, &[index(coding), mode as usize], nanoseconds);
    }

    /// A pool refused a job: its queue is full.
    pub fn overflowed(&self) {
        self.add(&OVERFLOWED, &[], 1);
    }

    fn add(&self, metric: &Metric, labels: &[usize], n: u64) {
        if n > 0 {
            self.0[metric.place(labels)].fetch_add(n, Relaxed);
        }
    }
}

/// What one process has on its hands now. All zero is a value: no process.
#[derive(Debug, Default)]
#[repr(C, align(16))]
pub struct Process {
    pid: AtomicI32,
    waiting: AtomicI32,
    queued: AtomicI32,
    running: AtomicI32,
}

impl Process {
    /// A process takes this place, which no other has that runs.
    pub fn begin(&self, pid: i32) {
        // The counts of the one before go first: it is gone, and must not be taken for this one.
        for gauge in [&self.waiting, &self.queued, &self.running] {
            gauge.store(0, Relaxed);
        }
        self.pid.store(pid, Relaxed);
    }

    /// The number of responses in a line has changed.
    pub fn waits(&self, before: usize, now: usize) {
        self.waiting.fetch_add(now as i32 - before as i32, Relaxed);
    }

    /// A job is about to be posted.
    pub fn posted(&self) {
        self.queued.fetch_add(1, Relaxed);
    }

    /// The post was refused.
    pub fn refused(&self) {
        self.queued.fetch_sub(1, Relaxed);
    }

    /// A thread has begun with the job.
    pub fn started(&self) {
        self.queued.fetch_sub(1, Relaxed);
        self.running.fetch_add(1, Relaxed);
    }

    /// The thread is done with it.
    pub fn done(&self) {
        self.running.fetch_sub(1, Relaxed);
    }

    /// In the order of the gauges; `None` if there is nothing to count.
    fn gauges(&self) -> Option<[u64; GAUGES.len()]> {
        // A reader may come between two steps of a change.
        let value = |gauge: &AtomicI32| u64::try_from(gauge.load(Relaxed)).unwrap_or(0);
        let gauges = [&self.waiting, &self.queued, &self.running].map(value);
        (gauges != [0; GAUGES.len()]).then_some(gauges)
    }
}

/// The sums over all workers, as they were at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    counts: [u64; COUNT],
    gauges: [u64; GAUGES.len()],
}

impl Snapshot {
    /// Adds up. `runs` says whether there is a process of this number.
    pub fn take(counters: &[Counters], processes: &[Process], runs: impl Fn(i32) -> bool) -> Self {
        let mut snapshot = Self { counts: [0; COUNT], gauges: [0; GAUGES.len()] };
        for Counters(counts) in counters {
            for (sum, count) in snapshot.counts.iter_mut().zip(counts) {
                *sum = sum.wrapping_add(count.load(Relaxed));
            }
        }
        for process in processes {
            if let Some(gauges) = process.gauges()
                && runs(process.pid.load(Relaxed))
            {
                snapshot.gauges.iter_mut().zip(gauges).for_each(|(sum, gauge)| *sum += gauge);
            }
        }
        snapshot
    }

    /// All that there is to show: each metric with its values, one for each set of labels.
    pub fn metrics(&self) -> impl Iterator<Item = (&'static Metric, &[u64])> {
        let counters = COUNTERS.iter().map(|metric| (metric, &self.counts[metric.places()]));
        let gauges = GAUGES.iter().map(|metric| (metric, &self.gauges[metric.places()]));
        counters.chain(gauges)
    }
}

const fn index(coding: Coding) -> usize {
    match coding {
        Coding::Brotli => 0,
        Coding::Zstd => 1,
    }
}
