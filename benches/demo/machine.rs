//! What the figures were measured on.

use std::{fs, thread};

use harness::locate;

/// The module, NGINX and the processor, in one line.
pub fn describe() -> String {
    let (major, minor, patch) = locate::nginx_version();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    format!(
        "ngx_http_compress_module {}, NGINX {major}.{minor}.{patch} with one worker and \"thread_pool compress \
         threads=2\"; {processors} processors ({})",
        env!("CARGO_PKG_VERSION"),
        model()
    )
}

fn model() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split_once(": ")).map_or("unknown", |(_, model)| model).to_owned()
}
