//! What caches need to know of a response that could have been encoded, or not: `Vary`, and the tag of a 304.

use compress_core::headers::{
    TagForm, if_none_match_form, vary_covers_accept_encoding, vary_with_accept_encoding,
    vary_without_accept_encoding,
};

use crate::ngx::{Failed, Request};

const VARY: &[u8] = b"vary";

/// Lets the response name `Accept-Encoding` in `Vary`, once (RFC 9110, 12.5.5).
///
/// # Errors
/// No memory.
pub fn add_accept_encoding(request: Request) -> Result<(), Failed> {
    if request.has_gzip_vary() {
        // NGINX prints a line of its own, which would be the second.
        request.set_gzip_vary();
        return request.change_headers_out(VARY, |line| {
            vary_without_accept_encoding(line).map(std::borrow::Cow::into_owned)
        });
    }
    if vary_covers_accept_encoding(request.headers_out(VARY)) {
        return Ok(());
    }
    let mut named = false;
    request.change_headers_out(VARY, |line| {
        let first = !std::mem::replace(&mut named, true);
        Some(if first { vary_with_accept_encoding(line) } else { line.to_vec() })
    })?;
    if named { Ok(()) } else { request.add_header_out("Vary", "Accept-Encoding") }
}

/// A 304 speaks of the response that the client holds, so it has the tag in the form in which the client named it:
/// the weak one of an encoded body, or the strong one (RFC 9110, 15.4.5). Where the client named none, `encodes` says
/// whether the 200 would be encoded.
pub fn name_tag_as_client(request: Request, encodes: impl FnOnce() -> bool) {
    let Some(etag) = request.etag() else { return };
    let named = request.headers_in(b"if-none-match").find_map(|named| if_none_match_form(named, etag));
    if named.map_or_else(encodes, |form| form == TagForm::Weak) {
        request.weaken_etag();
    }
}
