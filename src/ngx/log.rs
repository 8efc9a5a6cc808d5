//! The error log.

use std::fmt::Arguments;

use nginx_sys::ngx_uint_t;
use ngx::log::ngx_cycle_log;
use ngx::{ngx_log_debug_mask, ngx_log_error};

use super::Request;

/// A line for one request, with its client, server and request line.
pub fn request(level: u32, request: Request, message: Arguments) {
    ngx_log_error!(level as ngx_uint_t, request.log(), "{message}");
}

/// A line for the worker.
pub fn cycle(level: u32, message: Arguments) {
    ngx_log_error!(level as ngx_uint_t, ngx_cycle_log().as_ptr(), "{message}");
}

/// A line that only an NGINX built with `--with-debug` writes, at `error_log ... debug`.
pub fn debug(request: Request, message: Arguments) {
    ngx_log_debug_mask!(DebugMask::Http, request.log(), "{message}");
}
