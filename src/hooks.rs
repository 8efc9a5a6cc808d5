//! What the tests need to hold a job back or to make a callback fail. Only the build that is tested has it
//! (`--features test-hooks`); in any other these functions are empty.
//!
//! `COMPRESS_TEST_HOOKS` names a directory; files in it are orders:
//! - `hold` keeps all jobs waiting in their threads, `hold.N` the job N of its response;
//! - `panic.NAME` makes the point NAME panic.
//!
//! A job that waits has made `here.N`.

#[cfg(not(feature = "test-hooks"))]
mod points {
    #[inline(always)]
    pub fn point(_: &str) {}

    #[inline(always)]
    #[cfg(ngx_feature = "threads")]
    pub fn job(_: u64) {}
}

#[cfg(feature = "test-hooks")]
mod points {
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::time::Duration;

    use crate::worker;

    /// A place in the code that an order can make panic.
    pub fn point(name: &str) {
        if orders().is_some_and(|orders| orders.join(format!("panic.{name}")).exists()) {
            panic!("ordered at {name}");
        }
    }

    /// The begin of a job in its thread.
    #[cfg(ngx_feature = "threads")]
    pub fn job(id: u64) {
        let Some(orders) = orders() else { return };
        let (all, one) = (orders.join("hold"), orders.join(format!("hold.{id}")));
        let here = orders.join(format!("here.{id}"));
        while (all.exists() || one.exists()) && !worker::is_stopping() {
            // The directory is the test's, which sees it if this fails.
            let _ = std::fs::write(&here, "");
            std::thread::sleep(Duration::from_millis(1));
        }
        point("job");
    }

    fn orders() -> Option<&'static PathBuf> {
        static ORDERS: OnceLock<Option<PathBuf>> = OnceLock::new();
        ORDERS.get_or_init(|| std::env::var_os("COMPRESS_TEST_HOOKS").map(PathBuf::from)).as_ref()
    }
}

pub use points::*;
