//! The variables, mostly for `log_format`: what became of a response, and what it cost.

use compress_core::codec::Coding;
use compress_core::eligible::Skip;
use compress_core::headers::{brotli_ratio, zstd_ratio};
use nginx_sys::ngx_conf_t;

use crate::conf::LocConf;
use crate::ngx::variable::{Variable, add};
use crate::ngx::{Failed, Request};
use crate::response::{Fate, Totals};

static VARIABLES: [Variable; 7] = [
    Variable { name: "brotli_ratio", is_cacheable: true, get: ratio_of_brotli },
    Variable { name: "zstd_ratio", is_cacheable: false, get: ratio_of_zstd },
    Variable { name: "compress_encoding", is_cacheable: false, get: encoding },
    Variable { name: "compress_bytes_in", is_cacheable: false, get: bytes_in },
    Variable { name: "compress_bytes_out", is_cacheable: false, get: bytes_out },
    Variable { name: "compress_time", is_cacheable: false, get: time },
    Variable { name: "compress_skip", is_cacheable: false, get: skip },
];

/// Makes the variables known.
///
/// # Errors
/// As [`add`].
///
/// # Safety
/// `cf` is that of the `http` block, in preconfiguration.
pub unsafe fn register(cf: *mut ngx_conf_t) -> Result<(), Failed> {
    // SAFETY: the caller vouches for the configuration.
    unsafe { add(cf, &VARIABLES) }
}

fn ratio_of_brotli(request: Request) -> Option<String> {
    let totals = finished(request, Coding::Brotli)?;
    brotli_ratio(totals.bytes_in, totals.bytes_out)
}

fn ratio_of_zstd(request: Request) -> Option<String> {
    let totals = finished(request, Coding::Zstd)?;
    zstd_ratio(totals.bytes_in, totals.bytes_out)
}

fn encoding(request: Request) -> Option<String> {
    Some(totals(request)?.coding.token().into())
}

fn bytes_in(request: Request) -> Option<String> {
    Some(totals(request)?.bytes_in.to_string())
}

fn bytes_out(request: Request) -> Option<String> {
    Some(totals(request)?.bytes_out.to_string())
}

/// Seconds, cut off after the milliseconds as NGINX has its times.
fn time(request: Request) -> Option<String> {
    let time = totals(request)?.time;
    Some(format!("{}.{:03}", time.as_secs(), time.subsec_millis()))
}

/// Why the response is not encoded; nothing if it is, or if that was never asked.
fn skip(request: Request) -> Option<String> {
    let conf: &LocConf = request.location();
    let is_off = ![Coding::Zstd, Coding::Brotli].iter().any(|coding| conf.coding(*coding).is_enabled());
    let skip = match request.attachment() {
        Some(Fate::Skipped(skip)) => *skip,
        Some(Fate::Encoded(_)) => return None,
        Some(Fate::Varies) | None if is_off => Skip::Off,
        Some(Fate::Varies) | None if !request.is_main() => Skip::Subrequest,
        Some(Fate::Varies) | None => return None,
    };
    Some(skip.as_str().into())
}

fn finished(request: Request, coding: Coding) -> Option<Totals> {
    totals(request).filter(|totals| totals.is_finished && totals.coding == coding)
}

fn totals(request: Request) -> Option<Totals> {
    match request.attachment() {
        // SAFETY: the response lives as long as its request, which still does when it is logged.
        Some(Fate::Encoded(response)) => Some(unsafe { (**response).totals() }),
        _ => None,
    }
}
