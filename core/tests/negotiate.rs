//! `Accept-Encoding` against what RFC 9110, 12.5.3 asks for, case by case.

use compress_core::{
    codec::Coding,
    negotiate::{Offer, Offers, Order, OrderError, Preferences, lists_any, negotiate},
};

const ZSTD: Option<Offer> = Some(Offer::Encode(Coding::Zstd));
const BR: Option<Offer> = Some(Offer::Encode(Coding::Brotli));
const GZIP: Option<Offer> = Some(Offer::Gzip);
const NONE: Option<Offer> = None;

/// The lines of the field, what is chosen when all codings are offered in the default order, and why.
type Case = (&'static [&'static str], Option<Offer>, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    // What clients send.
    (&[], NONE, "no field: any coding is allowed, identity is the safe one"),
    (&[""], NONE, "an empty field wants no coding"),
    (&["gzip, deflate, br, zstd"], ZSTD, "Chromium and Firefox over https: a tie, zstd is first"),
    (&["gzip, deflate, br"], BR, "Safari before 26"),
    (&["gzip, deflate"], GZIP, "Firefox over http"),
    (&["deflate, gzip, br, zstd"], ZSTD, "curl --compressed"),
    (&["gzip, deflate, br, zstd, dcb, dcz"], ZSTD, "Chromium with a dictionary"),
    (&["gzip"], GZIP, "wget"),
    (&["identity"], NONE, "wget's default"),
    (&["gzip;q=1.0,deflate;q=0.6,identity;q=0.3"], GZIP, "Ruby's net/http"),
    (&["gzip, x-gzip, deflate"], GZIP, "libwww-perl"),
    (&["br;q=1.0, gzip;q=0.9, *;q=0.1"], BR, "Alamofire, nearly"),
    (&["deflate"], NONE, "not on offer"),
    (&["gzip,deflate,compress"], GZIP, "old crawlers"),

    // One coding.
    (&["br"], BR, "br"),
    (&["zstd"], ZSTD, "zstd"),
    (&["x-gzip"], GZIP, "x-gzip is gzip (8.4.1.3)"),
    (&["dcz"], NONE, "not zstd"),
    (&["dcb"], NONE, "not br"),

    // White space.
    (&[" br"], BR, "leading SP"),
    (&["br "], BR, "trailing SP"),
    (&["\tbr"], BR, "leading HTAB: the peer misses it"),
    (&["gzip,\tbr"], BR, "HTAB after a comma"),
    (&["br\t,gzip"], BR, "HTAB before a comma"),
    (&["br ; q=0.5"], BR, "OWS on both sides of the semicolon"),
    (&["br\t;\tq=0"], NONE, "the same with HTAB"),
    (&["br;  q=0"], NONE, "several"),
    (&["   "], NONE, "nothing but SP"),
    (&["\u{b}br"], NONE, "VT is not OWS"),
    (&["\u{c}br"], NONE, "FF is not OWS"),
    (&["\u{a0}br"], NONE, "nor is a no-break space"),

    // Whole tokens, any case.
    (&["BR"], BR, "case-insensitive"),
    (&["ZStd"], ZSTD, "case-insensitive: the peer misses it"),
    (&["GZIP"], GZIP, "case-insensitive"),
    (&["X-GZip"], GZIP, "case-insensitive"),
    (&["brx"], NONE, "longer"),
    (&["xbr"], NONE, "longer"),
    (&["br-x"], NONE, "'-' is of the token"),
    (&["x-br"], NONE, "'-' is of the token"),
    (&["br2, gzip"], GZIP, "longer, beside another"),
    (&["brotli"], NONE, "not the registered name"),
    (&["zstdfoo"], NONE, "longer: the peer takes it"),
    (&["zstd-x"], NONE, "longer: the peer takes it"),
    (&["xzstd, zstd"], ZSTD, "the second is whole: the peer looks at the first alone"),
    (&["zst"], NONE, "shorter"),
    (&["z"], NONE, "shorter"),
    (&["x-zstd"], NONE, "only gzip has an x- name"),
    (&["zstd.1"], NONE, "'.' is of the token"),
    (&["*br"], NONE, "'*' is of the token, too"),
    (&["**"], NONE, "not the wildcard"),
    (&["gzip_br"], NONE, "'_' is of the token"),

    // Position.
    (&["gzip, zstd, br"], ZSTD, "in the middle: the peer's static module misses it"),
    (&["br, gzip, zstd"], ZSTD, "last"),
    (&["zstd, gzip"], ZSTD, "first"),
    (&["br,zstd"], ZSTD, "no white space"),

    // Empty elements (5.6.1.2).
    (&[","], NONE, "nothing"),
    (&[",,,"], NONE, "nothing"),
    (&[",br"], BR, "empty first"),
    (&["br,"], BR, "empty last"),
    (&["gzip, , ,br"], BR, "empty between"),
    (&[";"], NONE, "no token"),
    (&[";q=1"], NONE, "no token"),
    (&["; br"], NONE, "no token"),

    // Weights.
    (&["br;q=0.1, gzip;q=1"], GZIP, "the highest weight"),
    (&["gzip;q=0.1, br;q=1"], BR, "the highest weight"),
    (&["zstd;q=0.5, br;q=0.8, gzip;q=0.7"], BR, "the highest weight"),
    (&["zstd;q=0.5, br;q=0.5"], ZSTD, "a tie"),
    (&["br;q=0.5, gzip;q=0.5"], BR, "a tie"),
    (&["br;q=1.0, zstd"], ZSTD, "no weight is 1: a tie"),
    (&["zstd;q=0.999, br"], BR, "three decimals"),
    (&["zstd;q=0.998, br;q=0.999"], BR, "three decimals"),
    (&["br;q=0.001"], BR, "the lowest that is not 0"),
    (&["br;q=1"], BR, "1"),
    (&["br;q=1."], BR, "1 without decimals"),
    (&["br;q=1.0"], BR, "1"),
    (&["br;q=1.00"], BR, "1"),
    (&["br;q=1.000"], BR, "1"),
    (&["zstd;q=0.8, br;q=0.80"], ZSTD, "the same"),
    (&["br;Q=0.5"], BR, "q is case-insensitive"),
    (&["br;q=0"], NONE, "not acceptable"),
    (&["br; q=0"], NONE, "not acceptable"),
    (&["br;Q=0"], NONE, "not acceptable: the peer compresses"),
    (&["br;q=0."], NONE, "not acceptable"),
    (&["br;q=0.0"], NONE, "not acceptable"),
    (&["br;q=0.00"], NONE, "not acceptable"),
    (&["br;q=0.000"], NONE, "not acceptable"),
    (&["zstd;q=0"], NONE, "not acceptable: the peer compresses"),
    (&["zstd;q=0, br"], BR, "the other"),
    (&["gzip, zstd;q=0"], GZIP, "the other"),
    (&["zstd;q=0, br;q=0, gzip;q=0"], NONE, "none"),
    (&["br ; q=0.5 , gzip ; q=0.4"], BR, "white space everywhere"),

    // Malformed weights decline the entry.
    (&["br;q=1.001"], NONE, "above 1"),
    (&["br;q=1.1"], NONE, "above 1"),
    (&["br;q=2"], NONE, "above 1: the peer compresses"),
    (&["br;q=10"], NONE, "above 1"),
    (&["br;q=0.0000"], NONE, "four decimals"),
    (&["br;q=0.1234"], NONE, "four decimals"),
    (&["br;q=1.0000"], NONE, "four decimals"),
    (&["br;q="], NONE, "no value"),
    (&["br;q"], NONE, "no value"),
    (&["br;"], NONE, "no weight after the semicolon"),
    (&["br;;"], NONE, "nor here"),
    (&["br;;q=1"], NONE, "an empty parameter"),
    (&["br;q=1;"], NONE, "an empty parameter at the end"),
    (&["br;q=\"1\""], NONE, "quoted"),
    (&["br;q=-1"], NONE, "negative"),
    (&["br;q=+1"], NONE, "a sign"),
    (&["br;q=.5"], NONE, "no unit"),
    (&["br;q=00"], NONE, "two digits"),
    (&["br;q=0,5"], NONE, "a decimal comma: br;q=0 and the coding 5"),
    (&["br;q=1e0"], NONE, "an exponent"),
    (&["br;q=0.x"], NONE, "not a digit"),
    (&["br;q=0..1"], NONE, "two points"),
    (&["br;q =1"], NONE, "SP before ="),
    (&["br;q= 1"], NONE, "SP after ="),
    (&["br;qq=1"], NONE, "not q"),
    (&["br;x=1"], NONE, "another parameter"),
    (&["br;x=1;q=1"], NONE, "another parameter first"),
    (&["br;x=1;q=0"], NONE, "another parameter first: the peer compresses"),
    (&["br;q=1;x=1"], NONE, "another parameter last"),
    (&["br;level=11, gzip"], GZIP, "only this entry is declined"),
    (&["zstd;q=0;q=1"], NONE, "two weights"),
    (&["zstd;q=1;q=1"], NONE, "two weights"),
    (&["br q=1"], NONE, "no semicolon"),
    (&["br gzip"], NONE, "no comma"),
    (&["br=1"], NONE, "a value"),
    (&["br/1"], NONE, "not a token's end"),
    (&["br:q=1"], NONE, "not a semicolon"),
    (&["zstd;q=1.5, br;q=0.2"], BR, "the entry that is well-formed"),
    (&["br\0"], NONE, "NUL after the token"),
    (&["br\r\n"], NONE, "CR LF after the token"),
    (&["\0br, zstd"], ZSTD, "NUL before another"),
    (&["br;q=1\u{7f}"], NONE, "DEL"),
    (&["br\u{e9}"], NONE, "obs-text after the token"),

    // The wildcard.
    (&["*"], ZSTD, "every coding: a tie"),
    (&["*;q=0.5"], ZSTD, "every coding"),
    (&["*;q=0"], NONE, "no coding"),
    (&["*;q=0, br"], BR, "none but br"),
    (&["br;q=0, *"], ZSTD, "all but br"),
    (&["zstd;q=0, *"], BR, "all but zstd"),
    (&["zstd;q=0, br;q=0, *"], GZIP, "gzip is left"),
    (&["zstd;q=0, br;q=0, gzip;q=0, *"], NONE, "nothing is left"),
    (&["zstd;q=0.2, *;q=0.5"], BR, "an entry beats *, also downwards"),
    (&["gzip, *;q=0.5"], GZIP, "an entry beats *, also upwards"),
    (&["br, *;q=0.1"], BR, "an entry beats *"),
    (&["*, br;q=0.5"], ZSTD, "wherever * stands"),
    (&["zstd;q=9, *"], BR, "a malformed entry is listed all the same"),
    (&["zstd;x, br;x, *"], GZIP, "a malformed entry is listed all the same"),
    (&["*;q=2"], NONE, "malformed *"),
    (&["*;q=2, br"], BR, "malformed *"),
    (&["*, *;q=0"], NONE, "the lowest of two"),
    (&["x-gzip;q=0, *"], ZSTD, "x-gzip lists gzip"),
    (&["zstd;q=0, br;q=0, x-gzip;q=0, *"], NONE, "x-gzip lists gzip"),
    (&["deflate, *;q=0"], NONE, "what is not on offer does not help"),

    // identity.
    (&["identity, br"], BR, "codings win a tie"),
    (&["br, identity"], BR, "in whatever order"),
    (&["identity;q=1, br;q=0.5"], NONE, "identity outweighs br"),
    (&["identity, br;q=0.999"], NONE, "identity outweighs br"),
    (&["identity;q=0.5, br;q=0.6, zstd;q=0.4"], BR, "br outweighs identity"),
    (&["identity;q=0.5, *;q=0.4"], NONE, "identity outweighs all"),
    (&["identity;q=0.5, *;q=0.5"], ZSTD, "a tie"),
    (&["identity;q=0.001, br;q=0.001"], BR, "a tie"),
    (&["br;q=0.1"], BR, "identity not listed is the last resort"),
    (&["*;q=0.3, br;q=0.1"], ZSTD, "* gives identity no weight"),
    (&["zstd;q=0, gzip;q=0, br;q=0.1, *;q=0.3"], BR, "* gives identity no weight"),
    (&["identity;q=0"], NONE, "nothing acceptable: sent as it is"),
    (&["identity;q=0, br"], BR, "br"),
    (&["identity;q=0, br;q=0.001"], BR, "br, whatever its weight"),
    (&["identity;q=0, *"], ZSTD, "any but identity"),
    (&["identity;q=0, deflate"], NONE, "nothing acceptable on offer: sent as it is"),
    (&["identity;q=0, *;q=0"], NONE, "nothing acceptable: sent as it is"),
    (&["identity;q=7, br;q=0.1"], BR, "malformed: no weight"),
    (&["IDENTITY, br;q=0.5"], NONE, "case-insensitive"),

    // Listed more than once: the lowest weight.
    (&["br;q=0, br"], NONE, "declined once is declined"),
    (&["br, br;q=0"], NONE, "in whatever order"),
    (&["br, br;q=5"], NONE, "malformed is declined"),
    (&["br, br;x=1"], NONE, "malformed is declined"),
    (&["br, br"], BR, "the same twice"),
    (&["br;q=0.2, br;q=0.9, gzip;q=0.5"], GZIP, "the lowest counts"),
    (&["br;q=0.9, br;q=0.6, gzip;q=0.5"], BR, "the lowest counts"),
    (&["BR, br;q=0"], NONE, "case does not tell them apart"),
    (&["gzip, x-gzip;q=0"], NONE, "two names of one coding"),
    (&["identity, identity;q=0, br;q=0.1"], BR, "identity, too"),

    // Several lines are one list.
    (&["gzip", "br"], BR, "joined"),
    (&["gzip, deflate", "br, zstd"], ZSTD, "joined"),
    (&["br", "br;q=0"], NONE, "joined"),
    (&["", "br"], BR, "an empty line"),
    (&["br", ""], BR, "an empty line"),
    (&["*;q=0", "zstd"], ZSTD, "joined"),
    (&["b", "r"], NONE, "a comma is between"),
    (&["br;q=0.5", "q=0"], BR, "a comma is between"),
    (&["zstd;", "q=0"], NONE, "a comma is between: malformed"),

    // Quoted strings hide what is in them.
    (&["x=\"a, zstd\""], NONE, "no phantom"),
    (&["x=\"a, zstd\", br"], BR, "what follows counts"),
    (&["x=\"a\\\", zstd\", br"], BR, "an escaped quote does not end it"),
    (&["x=\"a\\\\\", zstd"], ZSTD, "an escaped backslash does not escape the quote"),
    (&["br;x=\", zstd, \", gzip"], GZIP, "no phantom, and br is malformed"),
    (&["x=\"a, zstd"], NONE, "never closed"),
    (&["br, x=\"a, zstd"], BR, "never closed: what was before counts"),
    (&["x=\"a", "zstd"], NONE, "open over a line"),
    (&["x=\"a", "zstd\", br"], BR, "closed in the next line"),
    (&["\"br\""], NONE, "a quoted string is no token"),
    (&["\"br, zstd\", gzip"], GZIP, "nor are two"),
    (&["\\, br"], BR, "a backslash escapes nothing outside of quotes"),
];

#[test]
fn cases() {
    assert!(CASES.len() >= 120);
    for &(values, expected, why) in CASES {
        assert_eq!(chosen(values, &all()), expected, "{values:?}: {why}");
    }
}

/// What is offered, in which order, for which field, and what is chosen.
#[rustfmt::skip]
const OFFERS: &[(&str, &str, &str, Option<Offer>)] = &[
    ("br", "", "gzip, br, zstd", BR),
    ("zstd", "", "gzip, br, zstd", ZSTD),
    ("gzip", "", "gzip, br, zstd", GZIP),
    ("", "", "gzip, br, zstd, *", NONE),
    ("br gzip", "", "zstd, br;q=0.1, gzip;q=0.2", GZIP),
    ("br", "", "zstd, br;q=0.1", BR),
    ("zstd", "", "br, gzip", NONE),
    ("br zstd", "", "gzip", NONE),
    ("br zstd", "", "*;q=0.5, gzip", ZSTD),
    ("br", "", "*", BR),
    ("gzip", "", "*", GZIP),
    ("br", "", "br;q=0.5, identity;q=0.6, zstd", NONE),
    ("zstd br gzip", "br", "gzip, br, zstd", BR),
    ("zstd gzip", "br", "gzip, br, zstd", ZSTD),
    ("zstd br gzip", "gzip", "gzip, br, zstd", GZIP),
    ("zstd br gzip", "gzip", "br, zstd", ZSTD),
    ("zstd br gzip", "gzip br", "br, zstd", BR),
    ("zstd br gzip", "gzip br zstd", "*", GZIP),
    ("zstd br gzip", "gzip br zstd", "zstd, br, gzip;q=0.9", BR),
    ("zstd br gzip", "zstd br", "br;q=0.9, zstd;q=0.8", BR),
    ("zstd br gzip", "BR", "br, zstd", BR),
];

#[test]
fn offers() {
    for &(offered, order, value, expected) in OFFERS {
        let has = |name| offered.split(' ').any(|offer| offer == name);
        let order = Order::from_tokens(order.split_whitespace().map(str::as_bytes)).unwrap();
        let offers = Offers { order, zstd: has("zstd"), brotli: has("br"), gzip: has("gzip") };
        assert_eq!(chosen(&[value], &offers), expected, "{value:?} of {offers:?}");
    }
}

#[test]
fn orders() {
    let order = |tokens: &str| {
        let order = Order::from_tokens(tokens.split(' ').map(str::as_bytes)).unwrap();
        order.iter().map(Offer::token).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(order("zstd"), "zstd br gzip");
    assert_eq!(order("br"), "br zstd gzip");
    assert_eq!(order("gzip"), "gzip zstd br");
    assert_eq!(order("gzip br"), "gzip br zstd");
    assert_eq!(order("br gzip"), "br gzip zstd");
    assert_eq!(order("gzip zstd br"), "gzip zstd br");
    assert_eq!(Order::from_tokens([]), Ok(Order::default()));

    let refused = |tokens: &[&'static str]| {
        Order::from_tokens(tokens.iter().map(|token| token.as_bytes())).unwrap_err()
    };
    assert_eq!(refused(&["br", "deflate"]), OrderError::Unknown(b"deflate"));
    assert_eq!(refused(&["br", "BR"]), OrderError::Duplicate(b"BR"));
    assert_eq!(refused(&["zstd", "br", "gzip", "zstd"]), OrderError::Duplicate(b"zstd"));
    assert_eq!(refused(&["identity"]).to_string(), "invalid value \"identity\", it must be zstd, br or gzip");
    assert_eq!(refused(&["br", "br"]).to_string(), "duplicate value \"br\"");
}

/// A sidecar that is not there: the offer is taken out, and the next best is chosen.
#[test]
fn next_best() {
    let preferences = Preferences::parse([&b"br, zstd;q=0.9, gzip;q=0.5"[..]]);
    let mut offers = all();
    assert_eq!(preferences.choose(&offers), BR);
    offers.brotli = false;
    assert_eq!(preferences.choose(&offers), ZSTD);
    offers.zstd = false;
    assert_eq!(preferences.choose(&offers), GZIP);
    offers.gzip = false;
    assert_eq!(preferences.choose(&offers), NONE);
}

#[test]
fn accepts() {
    let preferences = Preferences::parse([&b"br;q=0.1, zstd;q=0, identity"[..]]);
    assert!(preferences.accepts(Offer::Encode(Coding::Brotli)));
    assert!(!preferences.accepts(Offer::Encode(Coding::Zstd)));
    assert!(!preferences.accepts(Offer::Gzip));
}

#[test]
fn lists() {
    let lists = |values: &[&str]| lists_any(values.iter().map(|value| value.as_bytes()));
    assert!(!lists(&[]));
    assert!(!lists(&[""]));
    assert!(!lists(&[" ,\t,", ""]));
    assert!(lists(&["br;q=0"]));
    assert!(lists(&["", "x"]));
}

fn all() -> Offers {
    Offers { order: Order::default(), zstd: true, brotli: true, gzip: true }
}

fn chosen(values: &[&str], offers: &Offers) -> Option<Offer> {
    // The table writes a byte as the character of its number, so that obs-text fits in.
    let lines: Vec<Vec<u8>> = values
        .iter()
        .map(|value| value.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect())
        .collect();
    negotiate(lines.iter().map(Vec::as_slice), offers)
}
