//! A request: the facts that the filter asks for, and the configuration that it came under.
//!
//! Its header lines are in `headers`, its connection in `connection`, what the module keeps with it in `attach`.

use std::ffi::c_void;
use std::ptr;

use nginx_sys::{
    NGX_HTTP_HEAD, ngx_array_t, ngx_buf_tag_t, ngx_connection_t, ngx_hash_t, ngx_http_core_loc_conf_t,
    ngx_http_core_module, ngx_http_request_t, ngx_http_test_content_type, ngx_http_test_predicates,
    ngx_log_t, ngx_msec_t, ngx_pool_t, ngx_uint_t,
};

use super::{OK, this_module};

/// A request, in the event loop, while it lives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Request(*mut ngx_http_request_t);

impl Request {
    /// # Safety
    /// `raw` is a request, and neither it nor what comes from it is used outside the event loop or after the
    /// request was freed.
    pub unsafe fn from_raw(raw: *mut ngx_http_request_t) -> Self {
        Self(raw)
    }

    /// For NGINX's functions.
    pub fn as_ptr(self) -> *mut ngx_http_request_t {
        self.0
    }

    /// Whether it is the client's request, not a sub-request.
    pub fn is_main(self) -> bool {
        ptr::eq(self.get().main, self.0)
    }

    /// The client's request.
    #[cfg(ngx_feature = "http_ssl")]
    pub fn main(self) -> Self {
        Self(self.get().main)
    }

    /// Whether it reads something whose name is not that of a directory.
    pub fn asks_for_file(self) -> bool {
        self.reads() && self.get().uri.as_bytes().last() != Some(&b'/')
    }

    /// Whether the client wants no body. That of `HEAD` is told by the method until the last header filter has run.
    pub fn is_header_only(self) -> bool {
        self.get().header_only() != 0 || self.get().method == NGX_HTTP_HEAD as ngx_uint_t
    }

    /// The status of the response.
    pub fn status(self) -> u16 {
        u16::try_from(self.get().headers_out.status).unwrap_or(0)
    }

    /// `Content-Length` of the response.
    pub fn content_length(self) -> Option<u64> {
        u64::try_from(self.get().headers_out.content_length_n).ok()
    }

    /// Whether the response has a `Content-Encoding`.
    pub fn has_content_encoding(self) -> bool {
        // SAFETY: NULL, or the header's place in the list.
        unsafe { self.get().headers_out.content_encoding.as_ref() }.is_some_and(|header| header.value.len > 0)
    }

    /// Whether the response is a part of a body, whose offsets are those of the whole.
    pub fn is_partial(self) -> bool {
        let out = &self.get().headers_out;
        !out.content_range.is_null() || out.content_type.as_bytes().starts_with(b"multipart/byteranges")
    }

    /// Whether the connection becomes a tunnel: an upgrade that was granted.
    pub fn is_tunnel(self) -> bool {
        self.status() == 101
    }

    /// Whether the type of the response is one of `types`; `None` if it has no type. A 304 has lost its type, but
    /// not its length (ngx_http_not_modified_header_filter).
    pub fn type_is_one_of(self, types: &ngx_hash_t) -> Option<bool> {
        let out = &mut self.get_mut().headers_out;
        let shown = out.content_type.len;
        if self.status() == 304 {
            out.content_type.len = out.content_type_len;
        }
        let matched = (out.content_type.len > 0).then(|| self.has_type(types));
        out.content_type.len = shown;
        matched
    }

    /// Whether the type of the response is one of `types`.
    pub fn has_type(self, types: &ngx_hash_t) -> bool {
        // SAFETY: the hash was built by ngx_http_merge_types; NGINX does not change it.
        unsafe { !ngx_http_test_content_type(self.0, ptr::from_ref(types).cast_mut()).is_null() }
    }

    /// Whether NGINX is to read files before the filters of the body get them.
    #[cfg(ngx_feature = "http_ssl")]
    pub fn set_needs_memory(self, needs: bool) {
        self.get_mut().set_main_filter_need_in_memory(needs.into());
    }

    /// Tells the stock gzip filter that this response is not for it.
    pub fn decline_gzip(self) {
        let request = self.get_mut();
        request.set_gzip_tested(1);
        request.set_gzip_ok(0);
    }

    /// Whether `gzip_vary` is on.
    pub fn has_gzip_vary(self) -> bool {
        self.core_location().gzip_vary == 1
    }

    /// Lets NGINX add `Vary: Accept-Encoding` if `gzip_vary` is on.
    pub fn set_gzip_vary(self) {
        self.get_mut().set_gzip_vary(1);
    }

    /// Whether one of the strings of `predicates` (NULL: none) is neither empty nor "0".
    pub fn has_predicate(self, predicates: *mut ngx_array_t) -> bool {
        // SAFETY: a live request, and an array that ngx_http_set_predicate_slot made.
        !predicates.is_null() && unsafe { ngx_http_test_predicates(self.0, predicates) } != OK
    }

    /// `send_timeout` of the location.
    pub fn send_timeout(self) -> ngx_msec_t {
        self.core_location().send_timeout
    }

    /// The configuration of NGINX itself in this location.
    pub(super) fn core_location(self) -> &'static ngx_http_core_loc_conf_t {
        // SAFETY: every location has a configuration of the core module.
        unsafe { &*self.location_of(ngx_http_core_module.ctx_index).cast() }
    }

    /// The configuration of this module in this location.
    pub fn location<T>(self) -> &'static T {
        // SAFETY: NGINX made a `T` by the module's create_loc_conf for every location.
        unsafe { &*self.location_of(this_module().ctx_index).cast::<T>() }
    }

    /// The configuration of any module in this location, by its place.
    pub fn location_of(self, context: ngx_uint_t) -> *const c_void {
        // SAFETY: every location has a place for each module.
        unsafe { *self.get().loc_conf.add(context) }
    }

    /// The main configuration of this module.
    pub fn main_conf<T>(self) -> &'static T {
        // SAFETY: NGINX made a `T` by the module's create_main_conf.
        unsafe { &*(*self.get().main_conf.add(this_module().ctx_index)).cast::<T>() }
    }

    /// The request's memory.
    pub fn pool(self) -> *mut ngx_pool_t {
        self.get().pool
    }

    /// The connection's log.
    pub fn log(self) -> *mut ngx_log_t {
        self.connection().log
    }

    /// Marks buffers as this module's.
    pub fn tag(self) -> ngx_buf_tag_t {
        std::ptr::from_ref(this_module()) as ngx_buf_tag_t
    }

    pub(super) fn connection(self) -> &'static mut ngx_connection_t {
        // SAFETY: a live request has a connection; references to it are short and in one thread.
        unsafe { &mut *self.get().connection }
    }

    pub(super) fn get(self) -> &'static ngx_http_request_t {
        // SAFETY: the contract of `from_raw`.
        unsafe { &*self.0 }
    }

    pub(super) fn get_mut(self) -> &'static mut ngx_http_request_t {
        // SAFETY: the contract of `from_raw`; references are short and in one thread.
        unsafe { &mut *self.0 }
    }
}
