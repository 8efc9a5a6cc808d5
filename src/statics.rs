//! `brotli_static` and `zstd_static`: files that were compressed beforehand.

use compress_core::codec::{Coding, Dictionary};
use compress_core::negotiate::{Offer, Offers, Preferences};
use compress_core::sidecar::{self, Frame, SidecarError};
use nginx_sys::{NGX_HTTP_NOT_FOUND, NGX_LOG_CRIT, NGX_LOG_WARN, ngx_http_request_t, ngx_int_t};

use crate::conf::{LocConf, Serve};
use crate::hooks;
use crate::ngx::answer::SERVER_ERROR;
use crate::ngx::guard::guard;
use crate::ngx::open_file::Sidecar;
use crate::ngx::{DECLINED, Failed, Request};
use crate::response::Fate;

/// The handler in the content phase.
///
/// # Safety
/// A callback of NGINX.
pub unsafe extern "C" fn handler(raw: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: NGINX calls with a request, which lives during the call.
    let request = unsafe { Request::from_raw(raw) };
    guard(SERVER_ERROR, || {
        hooks::point("static_handler");
        serve(request).unwrap_or(SERVER_ERROR)
    })
}

/// Sends the best file that there is, or leaves the request to the handlers that follow.
fn serve(request: Request) -> Result<ngx_int_t, Failed> {
    if !request.asks_for_file() {
        return Ok(DECLINED);
    }
    let search = Search { request, conf: request.location() };
    let candidates = search.candidates();
    if candidates.is_empty() {
        return Ok(DECLINED);
    }
    let found = search.look(&candidates)?;
    if found.varies {
        request.attach_plain(Fate::Varies)?;
    }
    match found.file {
        None => Ok(DECLINED),
        Some((_, file)) if !file.is_regular() => {
            file.log(NGX_LOG_CRIT, "is not a regular file");
            Ok(NGX_HTTP_NOT_FOUND as ngx_int_t)
        }
        Some((coding, file)) => {
            request.decline_gzip();
            Ok(file.send(coding.token()))
        }
    }
}

/// The search for the file of one request.
struct Search<'a> {
    request: Request,
    conf: &'a LocConf,
}

/// A coding whose file may be there.
struct Candidate {
    coding: Coding,
    /// Whether the client may have it. The files of the others matter to `Vary`.
    fits: bool,
}

/// What a search came to.
#[derive(Default)]
struct Found {
    file: Option<(Coding, Sidecar)>,
    /// Whether another client would get something else.
    varies: bool,
}

impl Search<'_> {
    /// The codings to look for, the best first: what the client prefers, then what goes to all clients, then what
    /// goes to others only.
    fn candidates(&self) -> Vec<Candidate> {
        let order = self.conf.order();
        let codings = order.iter().filter_map(|offer| match offer {
            Offer::Encode(coding) => Some(coding),
            Offer::Gzip => None,
        });
        let mut left: Vec<_> = codings.filter(|coding| self.looks_for(*coding)).collect();
        if left.is_empty() {
            return Vec::new();
        }
        let preferences = Preferences::parse(self.request.headers_in(b"accept-encoding"));
        let choose = |left: &[Coding]| {
            let (zstd, brotli) = (left.contains(&Coding::Zstd), left.contains(&Coding::Brotli));
            preferences.choose(&Offers { order, zstd, brotli, gzip: false })
        };
        let mut candidates = Vec::new();
        while let Some(Offer::Encode(coding)) = choose(&left) {
            left.retain(|other| *other != coding);
            candidates.push(Candidate { coding, fits: true });
        }
        let for_all = |coding| self.conf.coding(coding).serve() == Serve::Always;
        left.sort_by_key(|&coding| (!for_all(coding), !preferences.accepts(Offer::Encode(coding))));
        candidates.extend(left.into_iter().map(|coding| Candidate { coding, fits: for_all(coding) }));
        candidates
    }

    /// With `on` a sub-request gets no coding, as from gzip_static: its body goes into another's.
    fn looks_for(&self, coding: Coding) -> bool {
        match self.conf.coding(coding).serve() {
            Serve::Off => false,
            Serve::On => self.request.is_main(),
            Serve::Always => true,
        }
    }

    /// Looks for files until it is clear which is sent, and whether `Vary` has to say so.
    fn look(&self, candidates: &[Candidate]) -> Result<Found, Failed> {
        let wants_vary = self.conf.sets_vary() && self.request.is_main();
        let mut found = Found::default();
        for &Candidate { coding, fits } in candidates {
            let is_served = found.file.is_some();
            if (is_served || !fits) && (found.varies || !wants_vary) {
                continue;
            }
            let Some(file) = self.open(coding)? else { continue };
            // A file that all clients get makes no difference to them, unless there is another.
            let differs = is_served || self.conf.coding(coding).serve() == Serve::On;
            found.varies |= wants_vary && differs && file.is_regular();
            if fits && !is_served {
                found.file = Some((coding, file));
            }
        }
        Ok(found)
    }

    fn check(&self, file: &Sidecar) -> Result<Frame, SidecarError> {
        let held = self.conf.dictionary(Coding::Zstd).and_then(Dictionary::id);
        sidecar::check(|buffer, offset| file.read_at(buffer, offset))?.needs_only(held)
    }

    /// The file with this coding, if it is there and clients can read it.
    fn open(&self, coding: Coding) -> Result<Option<Sidecar>, Failed> {
        let suffix = match coding {
            Coding::Zstd => ".zst",
            Coding::Brotli => ".br",
        };
        let Some(file) = Sidecar::open(self.request, suffix)? else { return Ok(None) };
        if coding == Coding::Zstd
            && file.is_regular()
            && let Err(error) = self.check(&file)
        {
            file.log(NGX_LOG_WARN, format_args!("is not served: it {error}"));
            return Ok(None);
        }
        Ok(Some(file))
    }
}
