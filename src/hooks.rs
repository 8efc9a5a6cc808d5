//! What the tests need to hold a job back, or to make something fail. Only the build that is tested has it
//! (`--features test-hooks`); in any other these functions are empty.
//!
//! `COMPRESS_TEST_HOOKS` names a directory; files in it are orders:
//! - `hold` keeps all jobs waiting in their threads, `hold.N` the job N of its response;
//! - `panic.NAME` makes the point NAME panic;
//! - `refuse.NAME` with a number N in it refuses the Nth time that NAME is asked for, and takes itself back then:
//!   `pool` is memory of NGINX, `encoder` memory of an encoder, `read` a read of a file;
//! - `full` makes the queues of thread pools full.
//!
//! A job that waits has made `here.N`.

#[cfg(not(feature = "test-hooks"))]
mod points {
    #[inline(always)]
    pub fn init() {}

    #[inline(always)]
    pub fn point(_: &str) {}

    #[inline(always)]
    pub fn refuses(_: &str) -> bool {
        false
    }

    #[inline(always)]
    #[cfg(ngx_feature = "threads")]
    pub fn is_full() -> bool {
        false
    }

    #[inline(always)]
    #[cfg(ngx_feature = "threads")]
    pub fn job(_: u64) {}
}

#[cfg(feature = "test-hooks")]
mod points {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::time::Duration;

    use crate::worker;

    /// Lets the encoders follow orders.
    pub fn init() {
        compress_core::codec::refuse_memory_if(|| refuses("encoder"));
    }

    /// A place in the code that an order can make panic.
    pub fn point(name: &str) {
        if orders().is_some_and(|orders| orders.join(format!("panic.{name}")).exists()) {
            panic!("ordered at {name}");
        }
    }

    /// Whether what is asked for must not be had this time. The number in the order counts down.
    pub fn refuses(name: &str) -> bool {
        let Some(orders) = orders() else { return false };
        let order = orders.join(format!("refuse.{name}"));
        let Some(number) = fs::read_to_string(&order).ok().and_then(|text| text.parse::<u32>().ok()) else {
            return false;
        };
        // The directory is the test's, which sees it if these fail.
        if number > 1 {
            let _ = fs::write(order, (number - 1).to_string());
            return false;
        }
        let _ = fs::remove_file(order);
        true
    }

    /// Whether the queues of thread pools count as full.
    #[cfg(ngx_feature = "threads")]
    pub fn is_full() -> bool {
        orders().is_some_and(|orders| orders.join("full").exists())
    }

    /// The begin of a job in its thread.
    #[cfg(ngx_feature = "threads")]
    pub fn job(id: u64) {
        let Some(orders) = orders() else { return };
        let (all, one) = (orders.join("hold"), orders.join(format!("hold.{id}")));
        let here = orders.join(format!("here.{id}"));
        while (all.exists() || one.exists()) && !worker::is_stopping() {
            // The directory is the test's, which sees it if this fails.
            let _ = fs::write(&here, "");
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
