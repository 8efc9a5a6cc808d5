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

/// The filter that follows [`install_first`]'s.
#[cfg(ngx_feature = "http_ssl")]
static mut SECOND: ngx_http_output_header_filter_pt = None;

/// Puts a header filter in front of all others, when the chain of a cycle is complete.
#[cfg(ngx_feature = "http_ssl")]
pub fn install_first(header: HeaderFilter) {
    // SAFETY: called by init_module, in the only thread that there is then.
    unsafe {
        // The chain is built anew with each `http` block, so it is there once, unless this cycle has no such block.
        if ngx_http_top_header_filter.is_none_or(|top| !std::ptr::fn_addr_eq(top, header)) {
            SECOND = ngx_http_top_header_filter;
            ngx_http_top_header_filter = Some(header);
        }
    }
}

/// Passes the header on to the filter that follows the first.
#[cfg(ngx_feature = "http_ssl")]
pub fn after_first_header(request: Request) -> ngx_int_t {
    // SAFETY: `SECOND` is written only by init_module; the filter is NGINX's, the request lives.
    unsafe { SECOND.map_or(ERROR, |filter| filter(request.as_ptr())) }
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
