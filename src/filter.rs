//! The header and the body filter: facts in, decisions of the core out.

use nginx_sys::{ngx_chain_t, ngx_http_request_t, ngx_int_t};

use compress_core::codec::Coding;
use compress_core::eligible::{Facts, Limits, Statuses, eligible};
use compress_core::headers::cache_control_no_transform;
use compress_core::negotiate::{Offer, Offers, negotiate};
use compress_core::plan;
use compress_core::stream::Body;

use crate::conf::{CodingConf, LocConf};
use crate::hooks;
use crate::ngx::guard::guard;
use crate::ngx::{ERROR, Failed, Request, filter};
use crate::response::Response;

/// The header filter.
///
/// # Safety
/// A callback of NGINX.
pub unsafe extern "C" fn header(raw: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: NGINX calls with a request, which lives during the call.
    let request = unsafe { Request::from_raw(raw) };
    match guard(Err(Failed), || {
        hooks::point("header_filter");
        encode(request)
    }) {
        Ok(()) => filter::next_header(request),
        Err(Failed) => ERROR,
    }
}

/// The body filter.
///
/// # Safety
/// A callback of NGINX.
pub unsafe extern "C" fn body(raw: *mut ngx_http_request_t, chain: *mut ngx_chain_t) -> ngx_int_t {
    // SAFETY: NGINX calls with a request, which lives during the call, and its chain.
    unsafe {
        let request = Request::from_raw(raw);
        match request.attachment::<Response>(module()) {
            Some(response) if request.is_main() => {
                let result = guard(Err(Failed), || {
                    hooks::point("body_filter");
                    response.filter(chain)
                });
                result.unwrap_or_else(|Failed| {
                    response.abort();
                    ERROR
                })
            }
            _ => filter::next_body(request, chain),
        }
    }
}

/// Decides whether the response is encoded, and prepares it for that.
fn encode(request: Request) -> Result<(), Failed> {
    let conf: &LocConf = request.location(module());
    let Some(coding) = choose(request, conf) else { return Ok(()) };
    request.decline_gzip();
    let length = request.content_length();
    request.set_content_encoding(coding.token())?;
    if request.is_header_only() { Ok(()) } else { attach(request, coding, conf.coding(coding), length) }
}

/// The coding that the response can have, and that the client prefers.
fn choose(request: Request, conf: &LocConf) -> Option<Coding> {
    let statuses = Statuses::default();
    let offers = Offers {
        zstd: may_encode(request, conf.coding(Coding::Zstd), &statuses),
        brotli: may_encode(request, conf.coding(Coding::Brotli), &statuses),
        ..Offers::default()
    };
    match negotiate(request.headers_in(b"accept-encoding"), &offers)? {
        Offer::Encode(coding) => Some(coding),
        Offer::Gzip => None,
    }
}

fn may_encode(request: Request, conf: &CodingConf, statuses: &Statuses) -> bool {
    if !conf.is_enabled() || !request.is_main() {
        return false;
    }
    let facts = Facts {
        enabled: true,
        main_request: true,
        tunnel: request.is_tunnel(),
        status: request.status(),
        encoded: request.has_content_encoding(),
        partial: request.is_partial(),
        length: request.content_length(),
        type_matched: request.has_content_type().then(|| request.has_type(conf.types())),
        response_no_transform: cache_control_no_transform(request.headers_out(b"cache-control")),
        request_no_transform: cache_control_no_transform(request.headers_in(b"cache-control")),
        bypass: false,
    };
    eligible(&facts, &Limits { statuses, min_length: conf.min_length(), max_length: 0 }).is_ok()
}

/// Gives the request a response that encodes.
fn attach(request: Request, coding: Coding, conf: &CodingConf, length: Option<u64>) -> Result<(), Failed> {
    let body = Body { coding, level: conf.level(), window_log: conf.window_log(), length };
    let response = Response::new(request, body, conf.limits());
    let response = request.attach(module(), Box::new(response))?;
    #[cfg(ngx_feature = "threads")]
    if let Some(pool) = conf.thread_pool()
        && !length.is_some_and(|length| plan::is_small(coding, conf.level(), length))
    {
        // SAFETY: just attached, and not yet seen by anybody else.
        unsafe { (*response).queue = Some(crate::job::Queue::new(pool, response, request)) };
    }
    #[cfg(not(ngx_feature = "threads"))]
    let _ = response;
    Ok(())
}

fn module() -> *const nginx_sys::ngx_module_t {
    &raw const crate::ngx_http_compress_module
}
