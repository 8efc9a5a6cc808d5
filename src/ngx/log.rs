//! The error log.

use std::fmt::Arguments;
use std::mem::MaybeUninit;

use nginx_sys::{ngx_err_t, ngx_uint_t};
use ngx::log::{LOG_BUFFER_SIZE, log_error, ngx_cycle_log, write_fmt};
use ngx::{ngx_log_debug_mask, ngx_log_error};

use super::Request;

/// A line for one request, with its client, server and request line.
pub fn request(level: u32, request: Request, message: Arguments) {
    ngx_log_error!(level as ngx_uint_t, request.log(), "{message}");
}

/// As [`request`], with an error of the system.
pub fn request_errno(level: u32, request: Request, errno: ngx_err_t, message: Arguments) {
    let log = request.log();
    let mut buffer = [const { MaybeUninit::uninit() }; LOG_BUFFER_SIZE];
    // SAFETY: the log lives as long as the connection.
    unsafe {
        if level as ngx_uint_t <= (*log).log_level {
            log_error(level as ngx_uint_t, log, errno, write_fmt(&mut buffer, message));
        }
    }
}

/// A line for the worker.
pub fn cycle(level: u32, message: Arguments) {
    ngx_log_error!(level as ngx_uint_t, ngx_cycle_log().as_ptr(), "{message}");
}

/// A line that only an NGINX built with `--with-debug` writes, at `error_log ... debug`.
pub fn debug(request: Request, message: Arguments) {
    ngx_log_debug_mask!(DebugMask::Http, request.log(), "{message}");
}
