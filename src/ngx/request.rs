//! A request and what the filter reads and changes of it.

use std::ffi::c_void;
use std::ptr;

use nginx_sys::{
    NGX_HTTP_GET, NGX_HTTP_GZIP_BUFFERED, NGX_HTTP_HEAD, NGX_HTTP_VERSION_20, NGX_HTTP_WRITE_BUFFERED, ngx_add_timer, ngx_array_t,
    ngx_buf_tag_t, ngx_connection_t, ngx_del_timer, ngx_hash_t, ngx_http_cleanup_add,
    ngx_http_core_loc_conf_t, ngx_http_core_module, ngx_http_finalize_request, ngx_http_log_ctx_t,
    ngx_http_request_t, ngx_http_run_posted_requests, ngx_http_test_content_type, ngx_http_test_predicates,
    ngx_http_weak_etag, ngx_list_part_t, ngx_list_push, ngx_list_t, ngx_log_t, ngx_msec_t, ngx_palloc,
    ngx_pool_cleanup_add, ngx_pool_t, ngx_str_t, ngx_table_elt_t, ngx_uint_t,
};

use super::{ERROR, Failed, OK, guard, this_module};
use crate::response::Fate;

/// A request, in the event loop, while it lives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Request(*mut ngx_http_request_t);

/// What stays with a request until it is freed.
pub trait Attached {
    /// The request ends, maybe before its time. Jobs may still run; the value is dropped when the last came back.
    fn ended(&mut self);
}

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

    /// Whether it reads something whose name is not that of a directory.
    pub fn asks_for_file(self) -> bool {
        let methods = (NGX_HTTP_GET | NGX_HTTP_HEAD) as ngx_uint_t;
        self.get().method & methods != 0 && self.get().uri.as_bytes().last() != Some(&b'/')
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

    /// The values of the client's headers of this name, which is in lower case.
    pub fn headers_in(self, name: &'static [u8]) -> impl Iterator<Item = &'static [u8]> {
        values(&self.get().headers_in.headers, name)
    }

    /// The values of the response's headers of this name, which is in lower case.
    pub fn headers_out(self, name: &'static [u8]) -> impl Iterator<Item = &'static [u8]> {
        values(&self.get().headers_out.headers, name)
    }

    /// Adds `Content-Encoding`, and takes away what an encoded body has not: its length, ranges, a strong ETag.
    ///
    /// # Errors
    /// No memory.
    pub fn set_content_encoding(self, token: &'static str) -> Result<(), Failed> {
        let header = self.push_header_out("Content-Encoding", token)?;
        let out = &mut self.get_mut().headers_out;
        out.content_encoding = header;
        out.content_length_n = -1;
        clear(&mut out.content_length);
        self.get_mut().set_allow_ranges(0);
        clear(&mut out.accept_ranges);
        self.weaken_etag();
        Ok(())
    }

    /// Adds a header to the response.
    ///
    /// # Errors
    /// No memory.
    pub fn add_header_out(self, name: &'static str, value: &'static str) -> Result<(), Failed> {
        self.push_header_out(name, value).map(drop)
    }

    /// As [`add_header_out`](Self::add_header_out), and gives the header's place in the list.
    pub(super) fn push_header_out(
        self,
        name: &'static str,
        value: &'static str,
    ) -> Result<*mut ngx_table_elt_t, Failed> {
        // SAFETY: the list is the request's; a new element is written in full.
        unsafe {
            let header: *mut ngx_table_elt_t = ngx_list_push(&mut self.get_mut().headers_out.headers).cast();
            if header.is_null() {
                return Err(Failed);
            }
            let mut element: ngx_table_elt_t = std::mem::zeroed();
            element.hash = 1;
            element.key = static_str(name);
            element.value = static_str(value);
            header.write(element);
            Ok(header)
        }
    }

    /// Replaces the values of the response's headers of this name, which is in lower case; `None` removes one.
    ///
    /// # Errors
    /// No memory.
    pub fn change_headers_out(
        self,
        name: &'static [u8],
        mut change: impl FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<(), Failed> {
        for header in named(&self.get().headers_out.headers, name) {
            // SAFETY: the element lives in the request's list, and nobody else looks at it now.
            let header = unsafe { &mut *header };
            let value = change(header.value.as_bytes());
            match value {
                None => header.hash = 0,
                Some(value) if value == header.value.as_bytes() => {}
                // SAFETY: the pool is the request's.
                Some(value) => unsafe {
                    header.value = ngx_str_t::from_bytes(self.pool(), &value).ok_or(Failed)?;
                },
            }
        }
        Ok(())
    }

    /// The value of `ETag`.
    pub fn etag(self) -> Option<&'static [u8]> {
        // SAFETY: NULL, or the header's place in the list.
        unsafe { self.get().headers_out.etag.as_ref() }.map(|header| header.value.as_bytes())
    }

    /// Makes a strong `ETag` a weak one.
    pub fn weaken_etag(self) {
        // SAFETY: a live request.
        unsafe { ngx_http_weak_etag(self.0) };
    }

    /// Removes the response's headers of this name, which is in lower case.
    pub fn remove_header_out(self, name: &'static [u8]) {
        for header in named(&self.get().headers_out.headers, name) {
            // SAFETY: the element lives in the request's list, and nobody else looks at it now.
            unsafe { (*header).hash = 0 };
        }
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

    /// What the module attached to the request.
    pub fn attachment(self) -> Option<&'static mut Fate> {
        // SAFETY: only the two functions below write the module's place, with a `Fate`, which lives as long as the
        // request; the event loop has one user of it at a time.
        unsafe { (*self.context()).cast::<Fate>().as_mut() }
    }

    /// Attaches a fate that needs no drop.
    ///
    /// # Errors
    /// No memory.
    pub fn attach_plain(self, fate: Fate) -> Result<(), Failed> {
        // SAFETY: the pool is the request's; the place is written in full.
        unsafe {
            let place: *mut Fate = ngx_palloc(self.pool(), size_of::<Fate>()).cast();
            if place.is_null() {
                return Err(Failed);
            }
            place.write(fate);
            *self.context() = place.cast();
        }
        Ok(())
    }

    /// Attaches a value, until the request is freed.
    ///
    /// # Errors
    /// No memory.
    pub fn attach<T: Attached>(self, value: Box<T>, fate: fn(*mut T) -> Fate) -> Result<*mut T, Failed> {
        // SAFETY: the two cleanups get the same pointer: the first to run borrows, the second, with the pool, owns.
        unsafe {
            let freed = ngx_pool_cleanup_add(self.pool(), 0);
            let ended = ngx_http_cleanup_add(self.0, 0);
            if freed.is_null() || ended.is_null() {
                return Err(Failed);
            }
            let raw = Box::into_raw(value);
            (*freed).handler = Some(free::<T>);
            (*freed).data = raw.cast();
            (*ended).handler = Some(end::<T>);
            (*ended).data = raw.cast();
            self.attach_plain(fate(raw))?;
            Ok(raw)
        }
    }

    /// The module's place in the request.
    fn context(self) -> *mut *mut c_void {
        // SAFETY: a request has a place for each module.
        unsafe { self.get().ctx.add(this_module().ctx_index) }
    }

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

    /// Whether the write filter holds something back.
    pub fn is_write_buffered(self) -> bool {
        self.connection().buffered() & NGX_HTTP_WRITE_BUFFERED != 0
    }

    /// Whether the connection failed, or the request was terminated and waits for its jobs.
    pub fn is_terminated(self) -> bool {
        self.connection().error() != 0
    }

    /// Lets the log lines that follow name this request (ngx_http_set_log_request).
    pub fn set_log_request(self) {
        // SAFETY: the log of an HTTP connection has this context.
        unsafe { (*(*self.log()).data.cast::<ngx_http_log_ctx_t>()).current_request = self.0 };
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
            (*connection).set_error(1);
            ngx_http_finalize_request(self.0, ERROR);
            ngx_http_run_posted_requests(connection);
        }
    }

    /// Makes the end of the connection an error for the client, where nothing else would: without chunks or frames
    /// the end of the connection is the end of the body.
    pub fn reset_if_unframed(self) {
        if self.get().chunked() == 0 && self.get().http_version < NGX_HTTP_VERSION_20 as ngx_uint_t {
            // SAFETY: a live connection; a descriptor that is closed already makes the call fail, no more.
            unsafe { linger_off(self.connection().fd) };
        }
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

    fn connection(self) -> &'static mut ngx_connection_t {
        // SAFETY: a live request has a connection; references to it are short and in one thread.
        unsafe { &mut *self.get().connection }
    }

    fn get(self) -> &'static ngx_http_request_t {
        // SAFETY: the contract of `from_raw`.
        unsafe { &*self.0 }
    }

    fn get_mut(self) -> &'static mut ngx_http_request_t {
        // SAFETY: the contract of `from_raw`; references are short and in one thread.
        unsafe { &mut *self.0 }
    }
}

fn clear(header: &mut *mut ngx_table_elt_t) {
    // SAFETY: NULL, or the header's place in the request's list.
    if let Some(element) = unsafe { header.as_mut() } {
        element.hash = 0;
    }
    *header = ptr::null_mut();
}

fn static_str(text: &'static str) -> ngx_str_t {
    ngx_str_t { len: text.len(), data: text.as_ptr().cast_mut() }
}

fn values(list: &'static ngx_list_t, name: &'static [u8]) -> impl Iterator<Item = &'static [u8]> {
    // SAFETY: the value lives in the request's memory.
    named(list, name).map(|header| unsafe { (*header).value.as_bytes() })
}

/// The elements of a list of headers that have this name, which is in lower case, and were not removed.
fn named(list: &ngx_list_t, name: &'static [u8]) -> impl Iterator<Item = *mut ngx_table_elt_t> + use<> {
    let mut part: *const ngx_list_part_t = &raw const list.part;
    let mut parts = std::iter::from_fn(move || {
        // SAFETY: the parts of a list are linked and end with NULL.
        let this = unsafe { part.as_ref() }?;
        part = this.next;
        Some((this.elts.cast::<ngx_table_elt_t>(), this.nelts))
    });
    let mut rest = (ptr::null_mut::<ngx_table_elt_t>(), 0);
    std::iter::from_fn(move || {
        loop {
            while rest.1 == 0 {
                rest = parts.next()?;
            }
            let header = rest.0;
            // SAFETY: a part has as many elements as it says.
            unsafe {
                rest = (header.add(1), rest.1 - 1);
                if (*header).hash != 0 && (*header).key.as_bytes().eq_ignore_ascii_case(name) {
                    return Some(header);
                }
            }
        }
    })
}

unsafe extern "C" fn end<T: Attached>(data: *mut c_void) {
    // SAFETY: `attach` put a `T` there, which lives until `free`.
    let value = unsafe { &mut *data.cast::<T>() };
    guard::guard((), || value.ended());
}

unsafe extern "C" fn free<T>(data: *mut c_void) {
    // SAFETY: `attach` gave the value up to this cleanup, which runs once.
    let value = unsafe { Box::from_raw(data.cast::<T>()) };
    guard::guard((), || drop(value));
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
