//! The processor time of a thread.

use std::time::Duration;

use nginx_sys::{CLOCK_THREAD_CPUTIME_ID, clock_gettime, timespec};

/// What `f` gives, and the processor time that this thread spent on it.
pub fn timed<T>(f: impl FnOnce() -> T) -> (T, Duration) {
    let begin = thread_time();
    let result = f();
    (result, thread_time().saturating_sub(begin))
}

fn thread_time() -> Duration {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock writes one `timespec`; if there is no such clock, it stays 0.
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID as _, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
