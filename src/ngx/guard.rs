//! The panic boundary of every callback and job.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

use nginx_sys::NGX_LOG_ALERT;

use super::log;

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps the words of a panic for whoever catches it, instead of writing them to stderr. Each NGINX module that is
/// written in Rust has its own standard library, so the hook sees panics of this one only.
pub fn keep_panic_messages() {
    panic::set_hook(Box::new(|info| {
        let words = info.to_string().replace('\n', " ");
        LAST.with(|last| *last.borrow_mut() = words);
    }));
}

/// What `f` gives, or the words of its panic.
pub fn catch<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(f)).map_err(|_| LAST.with(RefCell::take))
}

/// What `f` gives; if it panics, that is logged, and `failed` is given.
pub fn guard<T>(failed: T, f: impl FnOnce() -> T) -> T {
    catch(f).unwrap_or_else(|words| {
        log::cycle(NGX_LOG_ALERT, format_args!("http compress {words}"));
        failed
    })
}
