//! What several of the tests need: the usual configuration, and orders for jobs (src/hooks.rs).

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use harness::{Builder, Nginx, TIMEOUT, locate, wait_until};

/// The directory of orders of one NGINX.
pub struct Hooks(PathBuf);

impl Hooks {
    /// No orders yet.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("compress-hooks-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(name);
        fs::create_dir(&dir).unwrap();
        Self(dir)
    }

    /// Lets `builder`'s NGINX follow the orders.
    pub fn watch(&self, builder: Builder) -> Builder {
        builder.env("COMPRESS_TEST_HOOKS", self.0.to_str().unwrap()).main("env COMPRESS_TEST_HOOKS;")
    }

    /// Gives an order, such as `hold` or `panic.job`.
    pub fn order(&self, name: &str) {
        fs::write(self.0.join(name), "").unwrap();
    }

    /// Takes an order back.
    pub fn release(&self, name: &str) {
        fs::remove_file(self.0.join(name)).unwrap();
    }

    /// Waits until job `id` is held in its thread.
    pub fn wait_for_job(&self, id: u64) {
        wait_until(TIMEOUT, || self.is_here(id));
    }

    /// Whether job `id` is or was held in its thread.
    pub fn is_here(&self, id: u64) -> bool {
        self.0.join(format!("here.{id}")).exists()
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An NGINX with a pool of two threads, which both codings use for all types.
pub fn pooled() -> Builder {
    inline()
        .main("thread_pool compress threads=2;")
        .http("brotli_thread_pool compress; zstd_thread_pool compress;")
}

/// An NGINX that encodes in its event loop.
pub fn inline() -> Builder {
    Nginx::builder().http(
        "sendfile on; brotli on; zstd on;
         brotli_types text/plain application/json; zstd_types text/plain application/json;",
    )
}

/// Whether there are pools to test.
pub fn has_threads() -> bool {
    locate::nginx_has("--with-threads")
}
