//! What fields and variables say, as text: pure functions on bytes.

mod etag;
pub(crate) mod list;
mod ratio;
mod vary;

pub use self::{
    etag::{TagForm, if_none_match_form, weak_etag},
    ratio::{brotli_ratio, zstd_ratio},
    vary::{vary_covers_accept_encoding, vary_with_accept_encoding, vary_without_accept_encoding},
};

/// Does `Cache-Control` forbid to change the body (RFC 9111, 5.2.1.6 in a request, 5.2.2.6 in a response)?
///
/// The directive has no argument; with one it counts all the same, because who sends it wants the body left
/// alone.
pub fn cache_control_no_transform<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> bool {
    list::elements(lines)
        .any(|directive| list::split_token(directive).0.eq_ignore_ascii_case(b"no-transform"))
}
