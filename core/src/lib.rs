//! What the module decides and encodes, without NGINX: plain data in, plain data out.
//!
//! The way of a response: [`negotiate`] and [`eligible`] say whether and how it is encoded; its [`stream`] takes
//! the body as [`parts`] and cuts it, as [`plan`] says, into [`job`]s; a job runs in a thread with the encoders of
//! that thread's [`workspace`]; [`dispatch`] says which response may send a job next; encoders of bodies that are
//! not at their end wait in [`parked`]. [`status`] counts, and shows the counts.
//!
//! The only unsafe code of this crate calls the C encoders, in `codec::ffi`.
#![deny(unsafe_code)]

pub mod codec;
pub mod dispatch;
pub mod eligible;
pub mod headers;
pub mod job;
pub mod negotiate;
pub mod parked;
pub mod parts;
pub mod plan;
pub mod sidecar;
pub mod status;
pub mod stream;
pub mod workspace;

/// What threads share. `tests/threads.rs` puts a model of it in its place.
mod sync {
    pub use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
}
