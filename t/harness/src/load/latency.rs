//! The latency of small requests at a constant rate.
//!
//! It counts from the moment at which a request was to be sent, not from when a connection was free for it: a server
//! that stalls does not get fewer requests to answer late.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::Client;

/// The requests that are sent.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// What is asked for, uncompressed.
    pub path: &'static str,
    /// Requests a second.
    pub per_second: u32,
    /// For how long they are sent.
    pub time: Duration,
    /// How much longer answers are waited for.
    pub patience: Duration,
    /// Connections, each with one request at a time.
    pub connections: usize,
}

/// Latencies that were seen. An answer that had not come when the measurement ended counts with what it had taken
/// by then.
#[derive(Clone, Debug)]
pub struct Latencies {
    microseconds: Histogram<u64>,
    /// The least of those without an answer.
    unanswered: Option<u64>,
}

/// A latency, or what it is at least.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    /// What was seen.
    pub seconds: f64,
    /// Whether the answer had not come by then.
    pub is_bound: bool,
}

impl Rate {
    /// Sends the requests, and waits for their answers.
    ///
    /// # Errors
    /// A connection or an answer failed.
    pub fn measure(&self, port: u16) -> io::Result<Latencies> {
        let clients = (0..self.connections).map(|_| Client::connect(port)).collect::<Result<Vec<_>, _>>()?;
        let next = &AtomicU32::new(0);
        let begin = Instant::now();
        thread::scope(|scope| {
            let spawn = |client| scope.spawn(move || self.send(client, begin, next));
            let threads: Vec<_> = clients.into_iter().map(spawn).collect();
            let mut all = Latencies::none();
            for thread in threads {
                all.add(&thread.join().expect("a client does not panic")?);
            }
            Ok(all)
        })
    }

    /// Sends one request after the other, each the next that no other connection has taken.
    fn send(&self, mut client: Client, begin: Instant, next: &AtomicU32) -> io::Result<Latencies> {
        let end = begin + self.time + self.patience;
        let mut seen = Latencies::none();
        loop {
            let due = Duration::from_secs(1) * next.fetch_add(1, Ordering::Relaxed) / self.per_second;
            if due >= self.time {
                return Ok(seen);
            }
            let due = begin + due;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                seen.record(end - due, false);
                continue;
            }
            client.set_timeout(left)?;
            match client.get(self.path, "identity") {
                Ok(_) => seen.record(due.elapsed(), true),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => seen.record(end - due, false),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Latencies {
    /// No request yet.
    pub fn none() -> Self {
        let microseconds = Histogram::new(3).expect("3 digits are allowed");
        Self { microseconds, unanswered: None }
    }

    /// Takes those of another measurement in.
    pub fn add(&mut self, other: &Self) {
        self.microseconds.add(&other.microseconds).expect("both grow as needed");
        self.unanswered = self.unanswered.into_iter().chain(other.unanswered).min();
    }

    /// How many requests there were.
    pub fn count(&self) -> u64 {
        self.microseconds.len()
    }

    /// The latency that this share of the requests did not exceed; 1 gives the longest.
    pub fn at(&self, quantile: f64) -> Latency {
        let microseconds = self.microseconds.value_at_quantile(quantile);
        Latency {
            seconds: microseconds as f64 / 1e6,
            is_bound: self.unanswered.is_some_and(|least| least <= microseconds),
        }
    }

    fn record(&mut self, latency: Duration, answered: bool) {
        let microseconds = latency.as_micros() as u64;
        self.microseconds.record(microseconds).expect("the histogram grows as needed");
        if !answered {
            self.unanswered = Some(self.unanswered.map_or(microseconds, |least| least.min(microseconds)));
        }
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.is_bound { "> " } else { "" };
        match self.seconds {
            ..1.0 => write!(f, "{more}{:.1} ms", self.seconds * 1000.0),
            _ => write!(f, "{more}{:.1} s", self.seconds),
        }
    }
}
