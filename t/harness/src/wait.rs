//! Waiting for a condition, instead of sleeping for a guessed time.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long anything that should be quick may take on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until `condition` holds; says whether it did within `timeout`.
pub fn try_wait_until(timeout: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + timeout;
    let mut pause = Duration::from_millis(1);
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Waits until `condition` holds.
///
/// # Panics
///
/// If it does not within `timeout`.
#[track_caller]
pub fn wait_until(timeout: Duration, condition: impl FnMut() -> bool) {
    assert!(try_wait_until(timeout, condition), "what was waited for did not happen within {timeout:?}");
}
