//! The table of metrics: names, labels, and the place of each value.

use std::ops::Range;

use crate::codec::Coding;
use crate::eligible::Skip;

/// A metric: a value for each set of values of its labels.
#[derive(Debug)]
pub struct Metric {
    /// Its name, without the module's prefix and the suffix of a counter.
    pub name: &'static str,
    /// What it counts.
    pub help: &'static str,
    /// Whether it only grows.
    pub is_counter: bool,
    /// Whether its values are nanoseconds, which are shown in seconds.
    pub is_time: bool,
    /// What its values are told apart by.
    pub labels: &'static [Label],
    first: usize,
}

/// A label, and the values that it can have.
#[derive(Debug)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub values: &'static [&'static str],
}

/// The words of `$compress_skip`.
pub(super) const REASONS: [&str; 11] = [
    Skip::Off.as_str(),
    Skip::Subrequest.as_str(),
    Skip::Status.as_str(),
    Skip::Encoded.as_str(),
    Skip::Range.as_str(),
    Skip::Length.as_str(),
    Skip::Type.as_str(),
    Skip::NoTransform.as_str(),
    Skip::Bypass.as_str(),
    Skip::Client.as_str(),
    Skip::Busy.as_str(),
];

const CODING: Label = Label { name: "coding", values: &[Coding::Brotli.token(), Coding::Zstd.token()] };
const MODE: Label = Label { name: "mode", values: &["inline", "pool"] };
const RESULT: Label = Label { name: "result", values: &["done", "cancelled", "failed"] };
const REASON: Label = Label { name: "reason", values: &REASONS };

// The counters, each behind the one before.
pub(super) const RESPONSES: Metric =
    counter("responses", "Responses that were compressed, from their begin.", &[CODING], 0);
pub(super) const ABORTED: Metric = counter(
    "responses_aborted",
    "Compressed responses that ended early: the client or the source of the body went away.",
    &[CODING],
    RESPONSES.places().end,
);
pub(super) const FAILED: Metric = counter(
    "responses_failed",
    "Compressed responses that ended early by a failure to compress them.",
    &[CODING],
    ABORTED.places().end,
);
pub(super) const BYTES_IN: Metric =
    counter("bytes_in", "Bytes of bodies before their compression.", &[CODING], FAILED.places().end);
pub(super) const BYTES_OUT: Metric =
    counter("bytes_out", "Bytes of bodies after their compression.", &[CODING], BYTES_IN.places().end);
pub(super) const SECONDS: Metric = Metric {
    is_time: true,
    ..counter(
        "encoder_seconds",
        "Processor time of compression, in the event loop (inline) and in threads (pool).",
        &[CODING, MODE],
        BYTES_OUT.places().end,
    )
};
pub(super) const JOBS: Metric =
    counter("jobs", "Jobs that ended.", &[CODING, MODE, RESULT], SECONDS.places().end);
pub(super) const OVERFLOWED: Metric = counter(
    "jobs_overflowed",
    "Jobs that a full queue of a thread pool refused; they are posted again.",
    &[],
    JOBS.places().end,
);
pub(super) const SKIPPED: Metric = counter(
    "responses_skipped",
    "Responses that were not compressed, by reason.",
    &[REASON],
    OVERFLOWED.places().end,
);

/// Values of all counters.
pub(super) const COUNT: usize = SKIPPED.places().end;

/// In the order in which they are shown.
pub(super) static COUNTERS: [Metric; 9] =
    [RESPONSES, ABORTED, FAILED, SKIPPED, BYTES_IN, BYTES_OUT, SECONDS, JOBS, OVERFLOWED];

/// What a [`Process`](super::Process) keeps, in its order.
pub(super) static GAUGES: [Metric; 3] = [
    gauge("responses_waiting", "Responses that wait to post a job.", 0),
    gauge("jobs_queued", "Jobs in the queues of thread pools.", 1),
    gauge("jobs_running", "Jobs that threads of pools work on.", 2),
];

const fn counter(name: &'static str, help: &'static str, labels: &'static [Label], first: usize) -> Metric {
    Metric { name, help, is_counter: true, is_time: false, labels, first }
}

const fn gauge(name: &'static str, help: &'static str, first: usize) -> Metric {
    Metric { name, help, is_counter: false, is_time: false, labels: &[], first }
}

impl Metric {
    /// Where its values are. Those of the last label are next to each other.
    pub(super) const fn places(&self) -> Range<usize> {
        let (mut values, mut i) = (1, 0);
        while i < self.labels.len() {
            values *= self.labels[i].values.len();
            i += 1;
        }
        self.first..self.first + values
    }

    /// The place for the values of its labels with these numbers.
    pub(super) fn place(&self, labels: &[usize]) -> usize {
        debug_assert_eq!(labels.len(), self.labels.len());
        let inner =
            self.labels.iter().zip(labels).fold(0, |place, (label, i)| place * label.values.len() + i);
        self.first + inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_of_one_value() {
        let mut places: Vec<_> = COUNTERS.iter().flat_map(Metric::places).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..COUNT));
        assert!(GAUGES.iter().flat_map(Metric::places).eq(0..GAUGES.len()));
        assert_eq!(JOBS.place(&[1, 1, 2]), JOBS.places().end - 1);
        assert_eq!(JOBS.place(&[0, 0, 0]), JOBS.places().start);
        assert_eq!(JOBS.place(&[0, 1, 0]), JOBS.places().start + 3);
    }
}
