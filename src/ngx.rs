//! Safe wrappers over `nginx-sys`. With the `extern "C"` callbacks, the only unsafe code of this crate.
//!
//! One rule holds for all of them: a [`Request`] and what it gives is used in the event loop only, and not after
//! the request was freed. Threads get a [`task::Work`], which owns all that it touches.

pub mod answer;
pub mod attach;
pub mod chain;
pub mod clock;
pub mod conf;
mod connection;
pub mod event;
pub mod file;
pub mod filter;
pub mod guard;
pub mod gzip;
mod headers;
pub mod log;
pub mod open_file;
pub mod phase;
pub mod process;
pub mod request;
pub mod shared;
#[cfg(ngx_feature = "threads")]
pub mod task;
pub mod variable;

pub use request::Request;

use nginx_sys::{NGX_AGAIN, NGX_DECLINED, NGX_ERROR, NGX_OK, ngx_int_t, ngx_module_t};

/// NGINX's return codes, in the type that its functions return.
pub const OK: ngx_int_t = NGX_OK as ngx_int_t;
/// As [`OK`].
pub const ERROR: ngx_int_t = NGX_ERROR as ngx_int_t;
/// As [`OK`].
pub const AGAIN: ngx_int_t = NGX_AGAIN as ngx_int_t;
/// As [`OK`].
pub const DECLINED: ngx_int_t = NGX_DECLINED as ngx_int_t;

/// For NGINX's callbacks.
pub fn code(result: Result<(), Failed>) -> ngx_int_t {
    if result.is_ok() { OK } else { ERROR }
}

/// The module, as NGINX numbered it.
pub fn this_module() -> &'static ngx_module_t {
    let module = &raw const crate::ngx_http_compress_module;
    // SAFETY: NGINX writes it only while the configuration is read, in the only thread that there is then.
    unsafe { &*module }
}

/// The work on a response cannot go on, and the reason has been logged.
#[derive(Debug)]
pub struct Failed;
