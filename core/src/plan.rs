//! How a body is cut: pure arithmetic over lengths, levels and load.

use crate::codec::Coding;

/// The settings of a location that bound the work on one response.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The aimed length of a segment, in bytes (`*_parallel_segment_size`).
    pub segment: u64,
    /// Jobs of one response at once (`*_parallel_tasks`).
    pub tasks: usize,
    /// Bytes of output that may wait for the client before no new job starts (`*_buffers`).
    pub output: u64,
}

/// What the worker is like at the moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// Threads that would start a job at once; 0 without a pool.
    pub idle: usize,
    /// Whether the copies of bodies in this worker have reached their bound: take less at once, keep less history.
    pub tight: bool,
    /// Bytes of output of this response that wait for the client.
    pub unsent: u64,
}

/// The history that is kept for the next segment when memory is short, or when a flush may come at any time.
pub const SHORT_HISTORY: u64 = 32 * 1024;

/// The largest window of a body that is flushed as it goes: its tables stay with the response.
pub const STREAM_WINDOW_LOG: u32 = 18;

/// The room that must be left for parked encoders before a body that does not flush keeps its encoder from one job
/// to the next: those that flush need it more.
pub const OPEN_ROOM: usize = 16 << 20;

/// Segments of one body that are encoded before others that are as long have a turn: its encoder may be gone after that.
pub const TURN: u64 = 8;

/// The length of the parts of `length` bytes when `threads` of them are encoded side by side: equal parts, as many
/// as keep all threads busy, none much longer than a segment. A short tail would cost a whole priming.
pub fn part(length: u64, segment: u64, threads: usize) -> u64 {
    let parts = length.div_ceil(segment + segment / 4).max(1);
    if parts == 1 {
        return length;
    }
    length.div_ceil(parts.next_multiple_of(threads.max(1) as u64))
}

/// The length of the next job when no thread is idle: all if that is not much, a segment otherwise.
pub fn serial(length: u64, segment: u64) -> u64 {
    if length <= 2 * segment { length } else { segment }
}

/// How many bytes before a segment its encoder is primed with. Brotli gains little beyond a segment's length and
/// cannot be primed below level 2; Zstandard takes the whole window.
pub fn history(coding: Coding, level: i32, window_log: u32, segment: u64) -> u64 {
    let window = 1 << window_log;
    match coding {
        Coding::Brotli if level < 2 => 0,
        Coding::Brotli => segment.min(window),
        Coding::Zstd => window,
    }
}

/// Whether a body of known length costs so little that it is encoded in the event loop even with a pool: sending
/// it to a thread and back would cost as much.
pub fn is_small(coding: Coding, level: i32, length: u64) -> bool {
    length.saturating_mul(nanoseconds_per_byte(coding, level)) <= HAND_OFF
}

/// Nanoseconds of event loop that a small body may take.
const HAND_OFF: u64 = 100_000;

/// About what an encoder takes for text, rounded up.
fn nanoseconds_per_byte(coding: Coding, level: i32) -> u64 {
    match (coding, level) {
        (Coding::Brotli, ..=1) => 8,
        (Coding::Brotli, 2..=4) => 25,
        (Coding::Brotli, 5..=6) => 48,
        (Coding::Brotli, 7..=9) => 90,
        (Coding::Brotli, 10) => 800,
        (Coding::Brotli, _) => 2000,
        (Coding::Zstd, ..=3) => 8,
        (Coding::Zstd, 4..=9) => 30,
        (Coding::Zstd, 10..=15) => 100,
        (Coding::Zstd, _) => 400,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn parts_are_even_and_near_the_segment_size() {
        for (length, threads, parts) in [
            (1, 2, 1),
            (MIB, 2, 1),
            (MIB + MIB / 4, 2, 1),
            (MIB * 3 / 2, 2, 2),
            (MIB * 2 + 100, 2, 2),
            (MIB * 3, 2, 4),
            (MIB * 3, 1, 3),
            (MIB * 8, 2, 8),
            (MIB * 20, 64, 64),
        ] {
            let part = part(length, MIB, threads);
            assert_eq!(length.div_ceil(part), parts, "{length} on {threads}");
            assert!(part * parts - length < parts);
        }
    }

    #[test]
    fn without_idle_threads_a_body_stays_whole_up_to_two_segments() {
        assert_eq!(serial(2 * MIB, MIB), 2 * MIB);
        assert_eq!(serial(2 * MIB + 1, MIB), MIB);
    }

    #[test]
    fn history_fits_the_coding() {
        assert_eq!(history(Coding::Brotli, 1, 19, MIB), 0);
        assert_eq!(history(Coding::Brotli, 6, 19, MIB), 512 * 1024);
        assert_eq!(history(Coding::Brotli, 6, 22, MIB), MIB);
        assert_eq!(history(Coding::Zstd, 19, 23, MIB), 8 * MIB);
    }

    #[test]
    fn small_depends_on_the_level() {
        assert!(is_small(Coding::Brotli, 6, 2048) && !is_small(Coding::Brotli, 6, 4096));
        assert!(is_small(Coding::Zstd, 1, 12_000) && !is_small(Coding::Brotli, 11, 100));
    }
}
