//! Runs a real NGINX for the tests, the demo and the benches, and looks at what it sends.
//!
//! ```no_run
//! use harness::{Nginx, get};
//!
//! let nginx = Nginx::builder()
//!     .http("brotli on;")
//!     .file("page.html", harness::corpus::text(10_000))
//!     .start();
//! let response = get(&nginx, "/page.html").header("Accept-Encoding", "br").send();
//! assert_eq!(response.header("Content-Encoding"), Some("br"));
//! assert_eq!(response.decoded().unwrap(), harness::corpus::text(10_000));
//! ```
//!
//! Everything blocks, everything has a time limit, and a mistake in a test ends it with a panic that says what
//! NGINX logged. An [`Nginx`] leaves nothing running, and fails its test if it logged an alert or a crash.

mod check;
mod config;
pub mod corpus;
pub mod curl;
mod daemon;
pub mod decode;
pub mod documents;
mod fastcgi;
mod gate;
pub mod http1;
pub mod http2;
pub mod load;
pub mod locate;
mod log;
mod nginx;
mod ports;
mod process;
mod request;
mod response;
mod spawn;
pub mod tls;
pub mod tools;
mod upstream;
mod wait;

pub use check::ConfigCheck;
pub use config::Builder;
pub use daemon::Daemon;
pub use fastcgi::FastCgi;
pub use gate::{Gate, GateKey, gate};
pub use http1::Connection;
pub use http2::{Http2, Http2Stream};
pub use nginx::{Nginx, Signal};
pub use process::{Process, ThreadTime, raise_descriptor_limit};
pub use request::{Request, get, head, post, request};
pub use response::{Response, Version};
pub use upstream::{Conn, Upstream, UpstreamRequest};
pub use wait::{TIMEOUT, try_wait_until, wait_until};
