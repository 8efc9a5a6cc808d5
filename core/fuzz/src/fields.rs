//! Fields that are lists, and the header of a frame.

use compress_core::headers::{
    TagForm, cache_control_no_transform, if_none_match_form, vary_covers_accept_encoding,
    vary_with_accept_encoding, vary_without_accept_encoding, weak_etag,
};
use compress_core::sidecar::{self, Head, SidecarError, WINDOW_LIMIT};
use ruzstd::decoding::FrameDecoder;

/// `If-None-Match`, a line end, and an `ETag`.
pub fn tags(text: &[u8]) {
    let (field, etag) = halves(text);
    if let Some(weak) = weak_etag(etag) {
        assert!(weak.starts_with(b"W/") && weak_etag(&weak).as_deref() == Some(&*weak));
    }
    let opaque = etag.strip_prefix(b"W/").unwrap_or(etag);
    let form = if_none_match_form(field, etag);
    assert_eq!(form, if_none_match_form(field, opaque), "the form of the response's own tag does not matter");
    if let Some(form) = form {
        let written = [if form == TagForm::Weak { &b"W/"[..] } else { b"" }, opaque].concat();
        assert!(field.windows(written.len()).any(|part| part == written), "the tag is named in that form");
    }
    let is_tag = opaque.len() >= 2 && opaque.iter().filter(|&&byte| byte == b'"').count() == 2;
    if is_tag && opaque.starts_with(b"\"") && opaque.ends_with(b"\"") {
        let before = |tag: &[u8]| if_none_match_form(&[tag, b", ", field].concat(), etag);
        let another = [&opaque[..opaque.len() - 1], b"x\""].concat();
        assert_eq!(before(&another), form, "another tag before it does not matter");
        let strong = before(opaque);
        assert!(
            strong == Some(TagForm::Strong) && form != Some(TagForm::Weak)
                || strong.is_none() && form != Some(TagForm::Strong)
        );
    }
}

/// Lines of `Vary`.
pub fn vary(text: &[u8]) {
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let covers = vary_covers_accept_encoding(lines.iter().copied());
    // What is quoted is not of this field: then all that matters is that there is an end to it.
    let is_plain = !text.contains(&b'"');
    if is_plain {
        let names = |line: &&[u8]| elements(line).any(|name| name == "*" || name == "accept-encoding");
        assert_eq!(covers, lines.iter().any(names));
    }
    for line in lines {
        let with = vary_with_accept_encoding(line);
        let without = vary_without_accept_encoding(line);
        if is_plain {
            assert!(vary_covers_accept_encoding([&with[..]]));
            assert!(elements(&with).eq(elements(line).chain(["accept-encoding".to_owned()])));
            let rest = without.unwrap_or_default();
            assert!(elements(&rest).eq(elements(line).filter(|name| name != "accept-encoding")));
        }
    }
}

/// Lines of `Cache-Control`.
pub fn no_transform(text: &[u8]) {
    let lines = || text.split(|&byte| byte == b'\n');
    let found = cache_control_no_transform(lines());
    assert!(!found || contains(text, b"no-transform"));
    if !text.contains(&b'"') {
        let token = |directive: String| {
            let end = directive.find(|c: char| !c.is_ascii_alphanumeric() && !"!#$%&'*+-.^_`|~".contains(c));
            directive[..end.unwrap_or(directive.len())].to_owned()
        };
        assert_eq!(found, lines().flat_map(elements).any(|directive| token(directive) == "no-transform"));
    }
}

/// The beginning of a `.zst` file.
pub fn frame(file: &[u8]) {
    let read_at = |buffer: &mut [u8], offset: u64| {
        let rest = usize::try_from(offset).ok().and_then(|offset| file.get(offset..)).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    };
    let checked = sidecar::check(read_at);
    let head = sidecar::head(file);
    match &checked {
        Ok(frame) => assert_eq!(head.ok(), Some(Head::Frame(*frame))),
        Err(SidecarError::Window(window)) => {
            assert!(matches!(head, Ok(Head::Frame(frame)) if frame.window == *window));
        }
        Err(_) => {}
    }
    // Longer beginnings do not change what shorter ones show.
    for length in 0..file.len().min(64) {
        if let Ok(Head::Frame(frame)) = sidecar::head(&file[..length]) {
            assert_eq!(sidecar::head(file).ok(), Some(Head::Frame(frame)));
        }
    }
    // The decoder below knows neither dictionaries, nor that the reserved bit makes a frame of another format.
    let is_plain = matches!(file, [0x28, 0xb5, 0x2f, 0xfd, descriptor, ..] if descriptor & 0b1011 == 0);
    if !is_plain {
        return;
    }
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(WINDOW_LIMIT);
    if decoder.init(file).is_ok() {
        assert!(checked.is_ok(), "a decoder for the coding takes it");
    }
}

fn halves(text: &[u8]) -> (&[u8], &[u8]) {
    let at = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
    (&text[..at], text.get(at + 1..).unwrap_or_default())
}

/// The elements of a list without quotes, in lower case, one character a byte.
fn elements(line: &[u8]) -> impl Iterator<Item = String> {
    line.split(|&byte| byte == b',')
        .map(|element| element.iter().map(|&byte| char::from(byte.to_ascii_lowercase())).collect::<String>())
        .map(|element| element.trim_matches([' ', '\t']).to_owned())
        .filter(|element| !element.is_empty())
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}
