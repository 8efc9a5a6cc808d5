//! The chain of output filters.

use nginx_sys::{
    ngx_chain_t, ngx_http_output_body_filter_pt, ngx_http_output_header_filter_pt, ngx_http_request_t,
    ngx_http_top_body_filter, ngx_http_top_header_filter, ngx_int_t,
};

use super::{ERROR, Request};

type HeaderFilter = unsafe extern "C" fn(*mut ngx_http_request_t) -> ngx_int_t;
type BodyFilter = unsafe extern "C" fn(*mut ngx_http_request_t, *mut ngx_chain_t) -> ngx_int_t;

/// The filters that follow ours. A reload builds the same chain again: the modules that are linked or loaded
/// before ours are the same as long as the library is.
static mut NEXT: (ngx_http_output_header_filter_pt, ngx_http_output_body_filter_pt) = (None, None);

/// Puts both filters at the top of the chain.
pub fn install(header: HeaderFilter, body: BodyFilter) {
    // SAFETY: called while the configuration is read, in the only thread that there is then.
    unsafe {
        NEXT = (ngx_http_top_header_filter, ngx_http_top_body_filter);
        ngx_http_top_header_filter = Some(header);
        ngx_http_top_body_filter = Some(body);
    }
}

/// Passes the header on.
pub fn next_header(request: Request) -> ngx_int_t {
    // SAFETY: `NEXT` is written only while the configuration is read; the filter is NGINX's, the request lives.
    unsafe { NEXT.0.map_or(ERROR, |filter| filter(request.as_ptr())) }
}

/// Passes a chain of buffers on.
///
/// # Safety
/// `chain` is NULL or a chain of valid buffers.
pub unsafe fn next_body(request: Request, chain: *mut ngx_chain_t) -> ngx_int_t {
    // SAFETY: as above; the caller vouches for the chain.
    unsafe { NEXT.1.map_or(ERROR, |filter| filter(request.as_ptr(), chain)) }
}
