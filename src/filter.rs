//! The header and the body filter: facts in, decisions of the core out.

use compress_core::codec::Coding;
use compress_core::eligible::{Facts, Limits, Skip, Statuses, eligible, varies};
use compress_core::headers::cache_control_no_transform;
use compress_core::negotiate::{Offer, Offers, negotiate};
use compress_core::stream::Body;
use nginx_sys::{ngx_chain_t, ngx_http_request_t, ngx_int_t};

use crate::conf::{LocConf, MainConf};
use crate::hooks;
use crate::ngx::guard::guard;
use crate::ngx::{ERROR, Failed, Request, filter};
use crate::response::{Fate, Response};
use crate::{status, vary};

const CODINGS: [Coding; 2] = [Coding::Zstd, Coding::Brotli];

/// The header filter.
///
/// # Safety
/// A callback of NGINX.
pub unsafe extern "C" fn header(raw: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: NGINX calls with a request, which lives during the call.
    let request = unsafe { Request::from_raw(raw) };
    let prepared = guard(Err(Failed), || {
        hooks::point("header_filter");
        prepare(request)
    });
    #[cfg(ngx_feature = "http_ssl")]
    crate::tls::settle(request);
    match prepared {
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
        match request.attachment() {
            // The body of a sub-request comes here as its own and, after the postpone filter, as the main one's.
            Some(Fate::Encoded(response)) if request.is_main() => {
                let response = &mut **response;
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
fn prepare(request: Request) -> Result<(), Failed> {
    let conf: &LocConf = request.location();
    let has_files = matches!(request.attachment(), Some(Fate::Varies));
    if has_files {
        vary::add_accept_encoding(request)?;
        if request.status() == 304 {
            vary::name_tag_as_client(request, || false);
        }
    }
    let is_on = CODINGS.iter().any(|coding| conf.coding(*coding).is_enabled());
    if !request.is_main() || !is_on {
        let skip = if is_on { Skip::Subrequest } else { Skip::Off };
        status::count(|counters| counters.skipped(skip));
        return Ok(());
    }
    let mut judge = Judge::new(request, conf);
    let choice = judge.choose();
    if conf.sets_vary() && judge.varies() {
        vary::add_accept_encoding(request)?;
        if request.status() == 304 {
            vary::name_tag_as_client(request, || !has_files && judge.as_ok().choose().is_ok());
        }
    }
    match choice {
        Ok(coding) => encode(request, conf, coding),
        Err(skip) => {
            status::count(|counters| counters.skipped(skip));
            request.attach_plain(Fate::Skipped(skip))
        }
    }
}

/// Changes the header, and gives the request a response that encodes.
fn encode(request: Request, conf: &LocConf, coding: Coding) -> Result<(), Failed> {
    let length = request.content_length();
    request.decline_gzip();
    request.set_content_encoding(coding.token())?;
    // Digests of the body that is not sent (RFC 9530, 6.5; RFC 1864).
    for name in [&b"content-digest"[..], b"repr-digest", b"digest", b"content-md5"] {
        request.remove_header_out(name);
    }
    if request.is_header_only() {
        return Ok(());
    }
    let settings = conf.coding(coding);
    let body = Body {
        coding,
        level: settings.level(),
        window_log: settings.window_log(),
        length,
        dictionary: conf.dictionary(coding).cloned(),
    };
    let response = Box::new(Response::new(request, body, settings.limits()));
    #[cfg_attr(not(ngx_feature = "threads"), expect(unused_variables))]
    let response = request.attach(response, Fate::Encoded)?;
    status::count(|counters| counters.began(coding));
    #[cfg(ngx_feature = "threads")]
    if let Some(pool) = settings.thread_pool()
        && !length.is_some_and(|length| conf.is_inline(coding, length))
    {
        // SAFETY: just attached, and not yet seen by anybody else.
        unsafe { (*response).queue = Some(crate::job::Queue::new(pool, response, request)) };
    }
    Ok(())
}

/// A response before its header is sent, and what is asked of it.
struct Judge<'a> {
    request: Request,
    conf: &'a LocConf,
    statuses: Statuses,
    /// For each of [`CODINGS`].
    facts: [Facts; 2],
}

impl<'a> Judge<'a> {
    fn new(request: Request, conf: &'a LocConf) -> Self {
        let common = Facts {
            enabled: false,
            main_request: request.is_main(),
            tunnel: request.is_tunnel(),
            status: request.status(),
            encoded: request.has_content_encoding(),
            partial: request.is_partial(),
            length: request.content_length(),
            type_matched: None,
            response_no_transform: cache_control_no_transform(request.headers_out(b"cache-control")),
            request_no_transform: cache_control_no_transform(request.headers_in(b"cache-control")),
            bypass: false,
        };
        let facts = CODINGS.map(|coding| match conf.coding(coding) {
            conf if conf.is_enabled() => Facts {
                enabled: true,
                type_matched: request.type_is_one_of(conf.types()),
                bypass: conf.is_bypassed(request),
                ..common
            },
            _ => common,
        });
        Self { request, conf, statuses: conf.statuses(), facts }
    }

    /// The coding that the response can have, and that the client prefers; or why there is none.
    fn choose(&self) -> Result<Coding, Skip> {
        let [zstd, brotli] = self.with_limits(eligible);
        if let (Err(a), Err(b)) = (zstd, brotli) {
            return Err(a.max(b));
        }
        let gzip = self.request.main_conf::<MainConf>().gzip();
        let offers = Offers {
            order: self.conf.order(),
            zstd: zstd.is_ok(),
            brotli: brotli.is_ok(),
            gzip: gzip.is_some_and(|gzip| gzip.would_encode(self.request)),
        };
        match negotiate(self.request.headers_in(b"accept-encoding"), &offers) {
            Some(Offer::Encode(coding)) if self.is_overloaded(coding) => Err(Skip::Busy),
            Some(Offer::Encode(coding)) => Ok(coding),
            Some(Offer::Gzip) | None => Err(Skip::Client),
        }
    }

    /// Whether the response depends on `Accept-Encoding`.
    fn varies(&self) -> bool {
        self.with_limits(varies).contains(&true)
    }

    /// As if the response were the 200 that a 304 stands for.
    fn as_ok(&mut self) -> &Self {
        for facts in &mut self.facts {
            facts.status = 200;
        }
        self
    }

    /// The answers of a function of the core for each of [`CODINGS`].
    fn with_limits<T>(&self, ask: fn(&Facts, &Limits) -> T) -> [T; 2] {
        let limits = CODINGS.map(|coding| {
            let conf = self.conf.coding(coding);
            Limits { statuses: &self.statuses, min_length: conf.min_length(), max_length: conf.max_length() }
        });
        [ask(&self.facts[0], &limits[0]), ask(&self.facts[1], &limits[1])]
    }

    #[cfg(ngx_feature = "threads")]
    fn is_overloaded(&self, coding: Coding) -> bool {
        self.conf
            .coding(coding)
            .thread_pool()
            .is_some_and(|pool| crate::worker::Pool::of(pool).is_overloaded(self.request))
    }

    #[cfg(not(ngx_feature = "threads"))]
    fn is_overloaded(&self, _: Coding) -> bool {
        false
    }
}
