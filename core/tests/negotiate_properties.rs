//! `Accept-Encoding` against a second implementation, which is slow and simple and shares nothing with the
//! first: it joins the lines, blanks what is quoted, splits at commas and semicolons, and looks weights up in a
//! list of all.

use std::{collections::HashMap, sync::LazyLock};

use compress_core::{
    codec::Coding,
    headers::{cache_control_no_transform, vary_covers_accept_encoding, vary_without_accept_encoding},
    negotiate::{Offer, Offers, Order, lists_any, negotiate},
};
use proptest::{collection::vec, prelude::*, sample::select};

fn naive(lines: &[Vec<u8>], order: &[&str], offered: &[&str]) -> Option<String> {
    let listed = naive_entries(lines);
    let lowest = |names: &[&str]| {
        listed.iter().filter(|(name, _)| names.contains(&name.as_str())).map(|&(_, weight)| weight).min()
    };

    let mut ranked = Vec::new();
    for (place, &coding) in order.iter().enumerate().filter(|(_, coding)| offered.contains(coding)) {
        let names = if coding == "gzip" { vec!["gzip", "x-gzip"] } else { vec![coding] };
        let weight = lowest(&names).or(lowest(&["*"])).unwrap_or(0);
        ranked.push((weight, 9 - place, Some(coding.to_owned())));
    }
    ranked.push((lowest(&["identity"]).unwrap_or(0), 0, None));
    ranked.retain(|&(weight, ..)| weight > 0);
    ranked.into_iter().max().and_then(|(_, _, coding)| coding)
}

/// The tokens, in lower case, with their weights in thousandths.
fn naive_entries(lines: &[Vec<u8>]) -> Vec<(String, u32)> {
    let mut entries = Vec::new();

    for element in blank_quoted(&lines.join(&b","[..])).split(|&byte| byte == b',') {
        // One character a byte, so that nothing is lost.
        let element: String = element.iter().map(|&byte| char::from(byte)).collect();
        let parts: Vec<&str> = element.split(';').map(|part| part.trim_matches([' ', '\t'])).collect();

        let tchar = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let token: String = parts[0].chars().take_while(|&c| tchar(c)).collect();
        let weight = match parts[1..] {
            _ if token != parts[0] => None,
            [] => Some(1000),
            [weight] => weight.strip_prefix(['q', 'Q']).and_then(|rest| QVALUES.get(rest).copied()),
            _ => None,
        };
        entries.push((token.to_lowercase(), weight.unwrap_or(0)));
    }
    entries
}

/// Every way to write a weight there is, with the "=".
static QVALUES: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
    let mut weights = HashMap::new();
    for unit in ["0", "1"] {
        weights.insert(format!("={unit}"), unit.parse::<u32>().unwrap() * 1000);
        weights.insert(format!("={unit}."), unit.parse::<u32>().unwrap() * 1000);
    }
    for thousandths in 0..=1000 {
        let text = format!("={}.{:03}", thousandths / 1000, thousandths % 1000);
        for cut in 0..3 {
            if text[text.len() - cut..].bytes().all(|digit| digit == b'0') {
                weights.insert(text[..text.len() - cut].to_owned(), thousandths);
            }
        }
    }
    weights
});

/// Puts a quote in the place of every byte of a quoted string.
fn blank_quoted(text: &[u8]) -> Vec<u8> {
    let mut blanked = text.to_vec();
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'"' {
            let mut end = at + 1;
            while end < text.len() && text[end] != b'"' {
                end += if text[end] == b'\\' { 2 } else { 1 };
            }
            let end = (end + 1).min(text.len());
            blanked[at..end].fill(b'"');
            at = end;
        } else {
            at += 1;
        }
    }
    blanked
}

/// A field as clients write it, well-formed or nearly.
fn structured() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(element(), 0..6).prop_map(|elements| elements.join(",").into_bytes()), 0..4)
}

fn element() -> impl Strategy<Value = String> {
    let space = || select(vec!["", "", "", " ", "\t", "  ", " \t"]);
    let parts = (space(), token(), space(), parameters(), space());
    parts.prop_map(|(a, token, b, parameters, c)| format!("{a}{token}{b}{parameters}{c}"))
}

fn token() -> impl Strategy<Value = &'static str> {
    let ours =
        select(vec!["br", "zstd", "gzip", "x-gzip", "identity", "*", "BR", "Zstd", "GZip", "Identity"]);
    let others = select(vec![
        "", "deflate", "brx", "xbr", "zstd-x", "dcz", "x=\"a", "zstd\"", "\"br\"", "br\0", "br x",
    ]);
    prop_oneof![4 => ours, 1 => others]
}

fn parameters() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        3 => (0..=1000_u32).prop_map(|weight| format!(";q={}.{:03}", weight / 1000, weight % 1000)),
        2 => select(vec![";q=0", ";q=1", "; q=0.5", ";Q=0.5", ";\tq=0.0", " ; q=1.", ";q=0."]).prop_map(str::to_owned),
        1 => select(vec![
            ";", ";;", ";q", ";q=", ";q=2", ";q=1.001", ";q=0.0000", ";q=\"1\"", ";x=1", ";q=1;x=1", ";q=0;q=1", "=1",
            ";x=\"a, br\"", ";x=\"\\\", zstd\"", ";x=\"", ";q= 1", ";q =1", ";q=1e0",
        ])
        .prop_map(str::to_owned),
    ]
}

/// Any bytes, mostly those that matter.
fn raw() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let byte = prop_oneof![9 => select(b"brzstdgip-x*,;q=01.\" \t\\".to_vec()), 1 => any::<u8>()];
    let piece = prop_oneof![
        2 => vec(byte, 1..4),
        3 => select(vec!["br", "zstd", "gzip", ",", ";q=0", ";q=0.5", "*", "\"", "identity"])
            .prop_map(|piece| piece.as_bytes().to_vec()),
    ];
    vec(vec(piece, 0..12).prop_map(|pieces| pieces.concat()), 0..4)
}

fn orders() -> impl Strategy<Value = Vec<&'static str>> {
    Just(vec!["zstd", "br", "gzip"]).prop_shuffle()
}

fn offered() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(vec!["zstd", "br", "gzip"], 0..=3)
}

fn real(lines: &[Vec<u8>], order: &[&str], offered: &[&str]) -> Option<String> {
    let order = Order::from_tokens(order.iter().map(|token| token.as_bytes())).unwrap();
    let has = |name| offered.contains(&name);
    let offers = Offers { order, zstd: has("zstd"), brotli: has("br"), gzip: has("gzip") };
    negotiate(lines.iter().map(Vec::as_slice), &offers).map(|offer| offer.token().to_owned())
}

const ALL: [&str; 3] = ["zstd", "br", "gzip"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn structured_as_naive(lines in structured(), order in orders(), offered in offered()) {
        prop_assert_eq!(real(&lines, &order, &offered), naive(&lines, &order, &offered));
    }

    #[test]
    fn raw_as_naive(lines in raw(), order in orders(), offered in offered()) {
        prop_assert_eq!(real(&lines, &order, &offered), naive(&lines, &order, &offered));
    }

    /// RFC 9110, 5.3: several lines mean what they mean joined.
    #[test]
    fn lines_are_joined(lines in prop_oneof![structured(), raw()]) {
        let joined = [lines.join(&b","[..])];
        prop_assert_eq!(real(&lines, &ALL, &ALL), real(&joined, &ALL, &ALL));
    }

    #[test]
    fn case_does_not_matter(lines in prop_oneof![structured(), raw()]) {
        let upper: Vec<_> = lines.iter().map(|line| line.to_ascii_uppercase()).collect();
        prop_assert_eq!(real(&lines, &ALL, &ALL), real(&upper, &ALL, &ALL));
    }

    /// Neither the place of an entry nor that of its duplicate matters.
    #[test]
    fn place_does_not_matter(elements in vec(element(), 0..8)) {
        let elements: Vec<_> = elements.into_iter().filter(|element| !element.contains('"')).collect();
        let mut reversed = elements.clone();
        reversed.reverse();
        let lines = |elements: Vec<String>| [elements.join(",").into_bytes()];
        prop_assert_eq!(real(&lines(elements), &ALL, &ALL), real(&lines(reversed), &ALL, &ALL));
    }

    /// To take away an offer that was not chosen changes nothing.
    #[test]
    fn other_offers_do_not_matter(lines in structured(), offered in offered()) {
        let chosen = real(&lines, &ALL, &offered);
        for other in offered.iter().filter(|&&other| Some(other) != chosen.as_deref()) {
            let fewer: Vec<_> = offered.iter().copied().filter(|offer| offer != other).collect();
            prop_assert_eq!(&real(&lines, &ALL, &fewer), &chosen);
        }
    }

    #[test]
    fn no_panic(lines in vec(vec(any::<u8>(), 0..200), 0..4)) {
        let slices = || lines.iter().map(Vec::as_slice);
        let chosen = real(&lines, &ALL, &ALL);
        prop_assert!(lists_any(slices()) || chosen.is_none());
        cache_control_no_transform(slices());
        vary_covers_accept_encoding(slices());
        slices().for_each(|line| drop(vary_without_accept_encoding(line)));
    }
}

/// NGINX's largest header line by default, and far beyond: quadratic time would not end.
#[test]
fn long_fields() {
    let offers = Offers { order: Order::default(), zstd: true, brotli: true, gzip: true };
    for length in [8 << 10, 1 << 20] {
        for filler in
            ["x,", ",", " ", "\"", "\"\"", "\"\\", "br;", "br;q=0.5,", "br;q=0.5 ", ";q=", "*", "\\\"", "a "]
        {
            let mut line = filler.repeat(length / filler.len());
            negotiate([line.as_bytes()], &offers);
            line.push_str("\",zstd");
            negotiate([line.as_bytes()], &offers);
        }
        let last = format!("{}zstd", "x;q=0.5 , ".repeat(length / 10));
        assert_eq!(negotiate([last.as_bytes()], &offers), Some(Offer::Encode(Coding::Zstd)));

        let lines = vec![&b"br;q=0.5"[..]; length / 8];
        assert_eq!(negotiate(lines, &offers), Some(Offer::Encode(Coding::Brotli)));
    }
}
