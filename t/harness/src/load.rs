//! Load on a server, and what is measured beside it: for the demo and the benches.

mod client;
mod downloads;
mod latency;
mod machine;

pub use client::Client;
pub use downloads::{Downloads, Finished, fetch};
pub use latency::{Latencies, Latency, Rate};
pub use machine::{processor, processors};
