//! `Vary` (RFC 9110, 12.5.5), which must name `Accept-Encoding` once.

use std::{borrow::Cow, iter};

use super::list::elements;

const ACCEPT_ENCODING: &[u8] = b"Accept-Encoding";

/// Do these lines already say that the response depends on `Accept-Encoding`? `*` says that, and more.
pub fn vary_covers_accept_encoding<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> bool {
    elements(lines).any(|name| name == b"*" || names_accept_encoding(name))
}

/// The line with `Accept-Encoding` as its last element.
pub fn vary_with_accept_encoding(line: &[u8]) -> Vec<u8> {
    join(elements(iter::once(line)).chain(iter::once(ACCEPT_ENCODING)))
}

/// The line without `Accept-Encoding`, for where NGINX prints its own; `None` if nothing is left of it.
pub fn vary_without_accept_encoding(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !elements(iter::once(line)).any(names_accept_encoding) {
        return Some(Cow::Borrowed(line));
    }

    let others = join(elements(iter::once(line)).filter(|name| !names_accept_encoding(name)));
    (!others.is_empty()).then_some(Cow::Owned(others))
}

/// Field names are case-insensitive (RFC 9110, 5.1).
fn names_accept_encoding(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(ACCEPT_ENCODING)
}

fn join<'a>(names: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut line = Vec::new();
    for name in names {
        if !line.is_empty() {
            line.extend_from_slice(b", ");
        }
        line.extend_from_slice(name);
    }
    line
}
