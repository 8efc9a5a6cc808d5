//! The C encoders behind functions that are safe to call: the only unsafe code of this crate.
#![allow(unsafe_code)]

mod blocks;
pub(super) mod brotli;
pub(super) mod memory;
pub(super) mod zstd;
