//! The connection of a request: what keeps it open, what lets it go on, and what ends it.

use std::ptr;

use nginx_sys::{
    NGX_HTTP_GZIP_BUFFERED, NGX_HTTP_VERSION_20, NGX_HTTP_WRITE_BUFFERED, NGX_LOWLEVEL_BUFFERED,
    ngx_add_timer, ngx_del_timer, ngx_http_finalize_request, ngx_http_log_ctx_t,
    ngx_http_run_posted_requests, ngx_uint_t,
};

use super::{ERROR, Request};

impl Request {
    /// Keeps the request's memory until [`release`](Self::release): jobs are out. Once per request, since NGINX
    /// counts in 8 bits.
    pub fn hold(self) {
        // SAFETY: the main request lives as long as this one.
        unsafe { (*self.get().main).set_blocked((*self.get().main).blocked() + 1) };
    }

    /// The jobs are back.
    pub fn release(self) {
        // SAFETY: as `hold`.
        unsafe { (*self.get().main).set_blocked((*self.get().main).blocked() - 1) };
    }

    /// Says whether the filter holds something back, so that NGINX keeps the request open and calls again. The bit
    /// is gzip's, which has nothing to do with this response.
    pub fn set_buffered(self, buffered: bool) {
        let connection = self.connection();
        let bits = connection.buffered();
        let bit = NGX_HTTP_GZIP_BUFFERED;
        connection.set_buffered(if buffered { bits | bit } else { bits & !bit });
    }

    /// Whether NGINX encrypts what it sends, and not the kernel, which would take files.
    #[cfg(ngx_feature = "http_ssl")]
    pub fn is_encrypted(self) -> bool {
        // SAFETY: NULL, or the state of the connection's TLS.
        unsafe { self.connection().ssl.as_ref() }.is_some_and(|ssl| ssl.sendfile() == 0)
    }

    /// Whether something waits below: in the write filter, or in TLS or HTTP/2, which keep bytes that the write filter
    /// knows nothing of any more.
    pub fn is_write_buffered(self) -> bool {
        self.connection().buffered() & (NGX_HTTP_WRITE_BUFFERED | NGX_LOWLEVEL_BUFFERED) != 0
    }

    /// Whether the connection failed, or the request was terminated and waits for its jobs.
    pub fn is_terminated(self) -> bool {
        self.connection().error() != 0
    }

    /// Lets the log lines that follow name this request (ngx_http_set_log_request).
    pub fn set_log_request(self) {
        // SAFETY: the log of an HTTP connection has this context.
        unsafe { (*(*self.log()).data.cast::<ngx_http_log_ctx_t>()).current_request = self.as_ptr() };
    }

    /// Runs what the connection's write event would run. The request may be freed by it.
    pub fn run_write_handler(self) {
        let write = self.connection().write;
        // SAFETY: a connection has a write event; nothing of the request is used after the call.
        unsafe {
            if let Some(handler) = (*write).handler {
                handler(write);
            }
        }
    }

    /// Aborts the request: no body that misses something ends as if it were whole. The request may be freed by it.
    pub fn abort(self) {
        let connection = ptr::from_mut(self.connection());
        // SAFETY: a live request; nothing of it is used after the calls, the connection's memory stays.
        unsafe {
            // A reference of its own, as ngx_http_request_handler takes one: the cleanup of an upstream gives one up,
            // and the last one frees the request although jobs are out.
            let main = self.get().main;
            (*main).set_count((*main).count() + 1);
            (*connection).set_error(1);
            ngx_http_finalize_request(self.as_ptr(), ERROR);
            ngx_http_run_posted_requests(connection);
        }
    }

    /// Makes the end of the connection an error for the client, where nothing else would: without chunks or frames
    /// the end of the connection is the end of the body.
    pub fn reset_if_unframed(self) {
        if self.is_unframed() {
            // SAFETY: a live connection; a descriptor that is closed already makes the call fail, no more.
            unsafe { linger_off(self.connection().fd) };
        }
    }

    /// Whether nothing but the end of the connection ends the body.
    pub fn is_unframed(self) -> bool {
        self.get().chunked() == 0 && self.get().http_version < NGX_HTTP_VERSION_20 as ngx_uint_t
    }

    /// Whether an upstream server began the response, and is gone. If it broke off, NGINX flushes what came, and ends
    /// the response like any other (ngx_http_upstream_finalize_request).
    pub fn has_lost_upstream(self) -> bool {
        // SAFETY: NULL, or the upstream of the request, which lives as long.
        let upstream = unsafe { self.get().upstream.as_ref() };
        upstream.is_some_and(|upstream| upstream.header_sent() != 0 && upstream.peer.connection.is_null())
    }

    /// Gives the client its `send_timeout` anew, if it runs.
    pub fn rearm_send_timeout(self) {
        let write = self.connection().write;
        // SAFETY: the write event lives with the connection; its timer is in the tree if it is set.
        unsafe {
            if (*write).timer_set() != 0 && (*write).delayed() == 0 {
                ngx_del_timer(write);
                ngx_add_timer(write, self.send_timeout());
            }
        }
    }
}

/// `SO_LINGER` with 0 seconds: closing sends a reset.
unsafe fn linger_off(fd: i32) {
    let linger = nginx_sys::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: the option's value is as long as said.
    unsafe {
        nginx_sys::setsockopt(
            fd,
            nginx_sys::SOL_SOCKET as i32,
            nginx_sys::SO_LINGER as i32,
            (&raw const linger).cast(),
            size_of::<nginx_sys::linger>() as u32,
        );
    }
}
