//! Fields and variables as text, case by case.

use compress_core::headers::{
    TagForm, brotli_ratio, cache_control_no_transform, if_none_match_form, vary_covers_accept_encoding,
    vary_with_accept_encoding, vary_without_accept_encoding, weak_etag, zstd_ratio,
};

#[test]
fn no_transform() {
    #[rustfmt::skip]
    let cases: &[(&[&str], bool)] = &[
        (&[], false),
        (&[""], false),
        (&["no-transform"], true),
        (&["No-Transform"], true),
        (&["max-age=60, no-transform"], true),
        (&["no-transform,max-age=60"], true),
        (&["public ,\tno-transform\t, max-age=60"], true),
        (&["max-age=60", "no-transform"], true),
        (&[",,no-transform,,"], true),
        (&["no-transform=1"], true),
        (&["no-transform=\"a, b\""], true),
        (&["no-transform "], true),
        (&["no-store"], false),
        (&["no-transformx"], false),
        (&["x-no-transform"], false),
        (&["xno-transform"], false),
        (&["no-transform-not"], false),
        (&["x=no-transform"], false),
        (&["private=\"no-transform\""], false),
        (&["private=\"a, no-transform, b\""], false),
        (&["private=\"a\\\", no-transform\""], false),
        (&["private=\"a\", no-transform"], true),
        (&["private=\"a\\\\\", no-transform"], true),
        (&["\"no-transform\""], false),
        (&["no transform"], false),
        (&["no_transform"], false),
        (&["max-age=60; no-transform"], false),
    ];
    for (lines, expected) in cases {
        assert_eq!(cache_control_no_transform(bytes(lines)), *expected, "{lines:?}");
    }
}

#[test]
fn vary_covers() {
    #[rustfmt::skip]
    let cases: &[(&[&str], bool)] = &[
        (&[], false),
        (&[""], false),
        (&["Accept-Encoding"], true),
        (&["accept-encoding"], true),
        (&["ACCEPT-ENCODING"], true),
        (&["*"], true),
        (&["Origin, *"], true),
        (&["Origin"], false),
        (&["Origin, Accept-Encoding"], true),
        (&["Origin,Accept-Encoding,Cookie"], true),
        (&["Origin", "Accept-Encoding"], true),
        (&["Origin", "*"], true),
        (&["Origin ,\tAccept-Encoding\t"], true),
        (&["Accept-Encoding-X"], false),
        (&["X-Accept-Encoding"], false),
        (&["Accept"], false),
        (&["Accept Encoding"], false),
        (&["Accept, Encoding"], false),
        (&["**"], false),
    ];
    for (lines, expected) in cases {
        assert_eq!(vary_covers_accept_encoding(bytes(lines)), *expected, "{lines:?}");
    }
}

#[test]
fn vary_with() {
    let cases = [
        ("", "Accept-Encoding"),
        (" , ", "Accept-Encoding"),
        ("Origin", "Origin, Accept-Encoding"),
        ("Origin,Cookie", "Origin, Cookie, Accept-Encoding"),
        ("Origin, ", "Origin, Accept-Encoding"),
    ];
    for (line, expected) in cases {
        let merged = vary_with_accept_encoding(line.as_bytes());
        assert_eq!(text(&merged), expected);
        assert!(vary_covers_accept_encoding([&merged[..]]));
    }
}

#[test]
fn vary_without() {
    let cases = [
        ("Accept-Encoding", None),
        ("accept-encoding", None),
        (" Accept-Encoding ,", None),
        ("Accept-Encoding, accept-encoding", None),
        ("Accept-Encoding, Origin", Some("Origin")),
        ("Origin, Accept-Encoding", Some("Origin")),
        ("Origin,Accept-Encoding,Cookie", Some("Origin, Cookie")),
        ("Origin, Accept-Encoding, Accept-Encoding, Cookie", Some("Origin, Cookie")),
        // As it was, to the byte.
        ("Origin,Cookie", Some("Origin,Cookie")),
        ("Origin , ,Cookie", Some("Origin , ,Cookie")),
        ("*", Some("*")),
        ("", Some("")),
        ("X-Accept-Encoding", Some("X-Accept-Encoding")),
        ("*, Accept-Encoding", Some("*")),
        ("\"a,b\", Accept-Encoding", Some("\"a,b\"")),
    ];
    for (line, expected) in cases {
        let rest = vary_without_accept_encoding(line.as_bytes());
        assert_eq!(rest.as_deref().map(text), expected, "{line}");
    }
}

#[test]
fn weak_etags() {
    let cases = [
        ("\"a\"", Some("W/\"a\"")),
        ("\"\"", Some("W/\"\"")),
        ("\"6a-5f\"", Some("W/\"6a-5f\"")),
        ("W/\"a\"", Some("W/\"a\"")),
        // NGINX looks no further than the beginning.
        ("W/a", Some("W/a")),
        ("\"a", Some("W/\"a")),
        ("\"", Some("W/\"")),
        ("W/", None),
        ("w/\"a\"", None),
        ("a", None),
        ("W", None),
        (" \"a\"", None),
        ("", None),
    ];
    for (etag, expected) in cases {
        assert_eq!(weak_etag(etag.as_bytes()).as_deref().map(text), expected, "{etag}");
    }
}

#[test]
fn if_none_match_forms() {
    const STRONG: Option<TagForm> = Some(TagForm::Strong);
    const WEAK: Option<TagForm> = Some(TagForm::Weak);
    #[rustfmt::skip]
    let cases = [
        ("\"a\"", "\"a\"", STRONG),
        ("W/\"a\"", "\"a\"", WEAK),
        ("\"a\"", "W/\"a\"", STRONG),
        ("W/\"a\"", "W/\"a\"", WEAK),
        ("\"b\"", "\"a\"", None),
        ("\"b\", W/\"a\"", "\"a\"", WEAK),
        ("W/\"b\", \"a\"", "\"a\"", STRONG),
        ("W/\"b\",\"a\",W/\"c\"", "\"a\"", STRONG),
        (" \t, W/\"a\" ,", "\"a\"", WEAK),
        // Both forms: the field does not tell.
        ("\"a\", W/\"a\"", "\"a\"", None),
        ("W/\"a\", \"b\", \"a\"", "\"a\"", None),
        ("W/\"a\", W/\"a\"", "\"a\"", WEAK),
        ("*", "\"a\"", None),
        ("", "\"a\"", None),
        // The whole tag, and nothing else.
        ("\"ab\"", "\"a\"", None),
        ("\"a\"b", "\"a\"", None),
        ("x\"a\"", "\"a\"", None),
        ("w/\"a\"", "\"a\"", None),
        ("W/ \"a\"", "\"a\"", None),
        ("W/a", "\"a\"", None),
        ("a", "\"a\"", None),
        ("\"A\"", "\"a\"", None),
        ("\"a", "\"a\"", None),
        ("W/W/\"a\"", "\"a\"", None),
        ("\"a\" \"b\"", "\"a\"", None),
        // A comma or a backslash in a tag is of the tag.
        ("\"x,\"a\"\"", "\"a\"", None),
        ("\"x, W/\", \"a\"", "\"a\"", STRONG),
        ("W/\"a,b\"", "\"a,b\"", WEAK),
        ("\"x\\\", \"a\"", "\"a\"", STRONG),
        ("\"a\\\"", "\"a\\\"", STRONG),
        // What is broken does not hide what follows.
        ("b, W/\"a\"", "\"a\"", WEAK),
        ("b\"c, W/\"a\"", "\"a\"", WEAK),
        ("\"\"", "\"\"", STRONG),
        // A tag without quotes is never named.
        ("a", "a", None),
        ("W/\"a\"", "", None),
    ];
    for (field, etag, expected) in cases {
        assert_eq!(if_none_match_form(field.as_bytes(), etag.as_bytes()), expected, "{field} {etag}");
    }
}

/// 1 MB of what could make it look again and again at the same bytes.
#[test]
fn if_none_match_is_linear() {
    for filler in ["\"", "\"a", "\"a\",", "W/", "W/\"", ",", "a,", "\"a\" b"] {
        let field = filler.repeat((1 << 20) / filler.len());
        if_none_match_form(field.as_bytes(), b"\"x\"");
    }
}

#[test]
fn ratios() {
    #[rustfmt::skip]
    let cases = [
        // in, out, $brotli_ratio, $zstd_ratio
        (0, 1, "0.00", "0.000"),
        (0, 9, "0.00", "0.000"),
        (1, 1, "1.00", "1.000"),
        (3, 1, "3.00", "3.000"),
        (1000, 333, "3.00", "3.003"),
        (2125, 1000, "2.13", "2.125"),
        (2124, 1000, "2.12", "2.124"),
        (21249, 10000, "2.12", "2.124"),
        (999, 1000, "1.00", "0.999"),
        (994, 1000, "0.99", "0.994"),
        (995, 1000, "1.00", "0.995"),
        (2995, 1000, "3.00", "2.995"),
        (1, 3, "0.33", "0.333"),
        (2, 3, "0.67", "0.666"),
        (1, 100_000, "0.00", "0.000"),
        (4, 1000, "0.00", "0.004"),
        (5, 1000, "0.01", "0.005"),
        (10_050, 1000, "10.05", "10.050"),
        (u64::MAX, 1, "18446744073709551615.00", "18446744073709551615.000"),
        (u64::MAX, u64::MAX, "1.00", "1.000"),
        (1, u64::MAX, "0.00", "0.000"),
    ];
    for (bytes_in, bytes_out, brotli, zstd) in cases {
        assert_eq!(brotli_ratio(bytes_in, bytes_out).as_deref(), Some(brotli), "{bytes_in} {bytes_out}");
        assert_eq!(zstd_ratio(bytes_in, bytes_out).as_deref(), Some(zstd), "{bytes_in} {bytes_out}");
    }
    assert_eq!(brotli_ratio(5, 0), None);
    assert_eq!(zstd_ratio(5, 0), None);
}

/// `ngx_http_gzip_ratio_variable`, line by line.
#[test]
fn brotli_ratio_as_gzip_ratio() {
    let gzip_ratio = |zin: u64, zout: u64| {
        let mut zint = zin / zout;
        let mut zfrac = (zin * 100 / zout) % 100;
        if (zin * 1000 / zout) % 10 > 4 {
            zfrac += 1;
            if zfrac > 99 {
                zint += 1;
                zfrac = 0;
            }
        }
        format!("{zint}.{zfrac:02}")
    };
    for bytes_in in 0..700 {
        for bytes_out in 1..300 {
            assert_eq!(brotli_ratio(bytes_in, bytes_out), Some(gzip_ratio(bytes_in, bytes_out)));
        }
    }
}

fn bytes<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = &'a [u8]> {
    lines.iter().map(|line| line.as_bytes())
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
