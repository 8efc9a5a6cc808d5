//! Entity tags (RFC 9110, 8.8.3): an encoded body has the weak form of the tag of the body that it was made
//! from.

use std::borrow::Cow;

/// How an entity tag is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagForm {
    /// `"..."`, the tag of the body as it is.
    Strong,
    /// `W/"..."`, the tag of an encoded body.
    Weak,
}

/// The tag in its weak form, as `ngx_http_weak_etag` makes it; `None` if it is not quoted and has to be
/// removed.
pub fn weak_etag(etag: &[u8]) -> Option<Cow<'_, [u8]>> {
    match etag {
        [b'W', b'/', _, ..] => Some(Cow::Borrowed(etag)),
        [b'"', ..] => Some(Cow::Owned([b"W/", etag].concat())),
        _ => None,
    }
}

/// In which form `If-None-Match` names the tag of the response, weak and strong being equal there (RFC 9110,
/// 13.1.2).
///
/// A 304 says of which stored response it speaks by its tag, so it has to use the form that the client holds.
/// `None` if the field does not tell: it is `*`, lacks the tag, or has it in both forms. Then the tag is that
/// of the response which the client would get now.
pub fn if_none_match_form(if_none_match: &[u8], etag: &[u8]) -> Option<TagForm> {
    let etag = etag.strip_prefix(b"W/").unwrap_or(etag);

    let mut named = None;
    for (form, tag) in (Tags { rest: if_none_match }) {
        if tag != etag {
            continue;
        }
        if named.is_some_and(|named| named != form) {
            return None;
        }
        named = Some(form);
    }
    named
}

/// The entity tags of a list. They may hold commas, and a backslash in them escapes nothing (RFC 9110, 8.8.3).
struct Tags<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Tags<'a> {
    /// The form, and the tag with its quotes.
    type Item = (TagForm, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while let [b' ' | b'\t' | b',', rest @ ..] = self.rest {
                self.rest = rest;
            }

            let (form, text) = match self.rest {
                [] => return None,
                [b'W', b'/', text @ ..] => (TagForm::Weak, text),
                text => (TagForm::Strong, text),
            };

            let tag = quoted(text);
            let after = tag.map_or(text, |tag| &text[tag.len()..]);
            let comma = after.iter().position(|&byte| byte == b',').unwrap_or(after.len());
            self.rest = &after[comma..];

            // What is not a tag, or goes on after it, is left out.
            if let Some(tag) = tag
                && after[..comma].iter().all(|byte| matches!(byte, b' ' | b'\t'))
            {
                return Some((form, tag));
            }
        }
    }
}

/// The opaque tag at the beginning of `text`, with its quotes.
fn quoted(text: &[u8]) -> Option<&[u8]> {
    let inner = text.strip_prefix(b"\"")?;
    let end = inner.iter().position(|&byte| byte == b'"')?;
    Some(&text[..end + 2])
}
