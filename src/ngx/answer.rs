//! An answer that the module makes itself, as ngx_http_stub_status_handler does it.

use std::ptr;

use nginx_sys::{
    NGX_HTTP_GET, NGX_HTTP_HEAD, NGX_HTTP_INTERNAL_SERVER_ERROR, NGX_HTTP_NOT_ALLOWED, NGX_HTTP_OK,
    ngx_chain_t, ngx_create_temp_buf, ngx_http_arg, ngx_http_discard_request_body, ngx_http_output_filter,
    ngx_http_send_header, ngx_int_t, ngx_str_t, ngx_uint_t,
};

use super::{ERROR, Failed, OK, Request};

/// For handlers.
pub const SERVER_ERROR: ngx_int_t = NGX_HTTP_INTERNAL_SERVER_ERROR as ngx_int_t;

impl Request {
    /// Whether it only reads.
    pub fn reads(self) -> bool {
        self.get().method & (NGX_HTTP_GET | NGX_HTTP_HEAD) as ngx_uint_t != 0
    }

    /// The value of an argument of the URI.
    pub fn argument(self, name: &'static str) -> Option<&'static [u8]> {
        let mut value = ngx_str_t::empty();
        // SAFETY: a live request, in whose memory the value is; the name is only read.
        let code =
            unsafe { ngx_http_arg(self.as_ptr(), name.as_ptr().cast_mut(), name.len(), &raw mut value) };
        // SAFETY: as above.
        (code == OK).then(|| unsafe { std::slice::from_raw_parts(value.data, value.len) })
    }

    /// Refuses the method of a request that does more than read.
    pub fn refuse_method(self) -> ngx_int_t {
        match self.add_header_out("Allow", "GET, HEAD") {
            Ok(()) => NGX_HTTP_NOT_ALLOWED as ngx_int_t,
            Err(Failed) => SERVER_ERROR,
        }
    }

    /// Sends a body that no cache may keep. It can be empty.
    pub fn answer(self, content_type: &'static str, body: &[u8]) -> ngx_int_t {
        let r = self.as_ptr();
        // SAFETY: a live request, in the content phase; references to it are not kept.
        unsafe {
            match ngx_http_discard_request_body(r) {
                OK => {}
                code => return code,
            }
            // Memory for the body before the header is sent: then it is too late to fail.
            let buf = ngx_create_temp_buf(self.pool(), body.len().max(1));
            if buf.is_null() || self.add_header_out("Cache-Control", "no-store").is_err() {
                return SERVER_ERROR;
            }
            ptr::copy_nonoverlapping(body.as_ptr(), (*buf).last, body.len());
            (*buf).last = (*buf).last.add(body.len());
            (*buf).set_last_buf(u32::from(self.is_main()));
            (*buf).set_last_in_chain(1);

            let out = &mut (*r).headers_out;
            out.status = NGX_HTTP_OK as ngx_uint_t;
            out.content_length_n = body.len() as i64;
            out.content_type = ngx_str_t { len: content_type.len(), data: content_type.as_ptr().cast_mut() };
            out.content_type_len = content_type.find(';').unwrap_or(content_type.len());
            out.content_type_lowcase = ptr::null_mut();
            self.send(&mut ngx_chain_t { buf, next: ptr::null_mut() })
        }
    }

    /// Sends the header, and the body unless there is none.
    pub(super) fn send(self, chain: &mut ngx_chain_t) -> ngx_int_t {
        // SAFETY: a live request whose header is complete; filters copy the links that they keep.
        unsafe {
            let code = ngx_http_send_header(self.as_ptr());
            if code == ERROR || code > OK || self.is_header_only() {
                return code;
            }
            ngx_http_output_filter(self.as_ptr(), chain)
        }
    }
}
