//! Processor time, and a text to spend it on.
// Not every bench that includes this uses all of it.
#![allow(dead_code)]

use std::fs;
use std::time::{Duration, Instant};

/// The least of as many batches counts.
const BATCHES: usize = 3;
/// CPU time of a batch, at least.
const BATCH: Duration = Duration::from_millis(150);

/// The size that `encode` gives, and its CPU time: the least mean of some batches of runs, after one that does not
/// count. The clock may tick only every few milliseconds.
pub fn measure(mut encode: impl FnMut() -> usize) -> (usize, Duration) {
    let size = encode();
    let batch = |_| {
        let start = cpu_time();
        let mut runs = 0;
        loop {
            encode();
            runs += 1;
            let time = cpu_time() - start;
            if time >= BATCH {
                return time / runs;
            }
        }
    };
    (size, (0..BATCHES).map(batch).min().unwrap_or_default())
}

/// CPU time of this thread where the system tells it, elsewhere the time since the first call.
fn cpu_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let nanoseconds = fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Words of a list, the first far more often than the last.
pub fn made_up(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) % limit
    };
    let words: Vec<String> = (0..5000)
        .map(|_| (0..2 + random(9)).map(|_| char::from(b'a' + random(26) as u8)).collect())
        .collect();
    let mut text = Vec::with_capacity(length);
    while text.len() < length {
        let word = random(5000) * random(5000) / 5000 * random(5000) / 5000;
        text.extend_from_slice(words[word as usize].as_bytes());
        text.push(if random(12) == 0 { b'\n' } else { b' ' });
    }
    text.truncate(length);
    text
}
