//! `Accept-Encoding` against a second implementation.

mod negotiate_support;

use compress_core::{
    codec::Coding,
    headers::{cache_control_no_transform, vary_covers_accept_encoding, vary_without_accept_encoding},
    negotiate::{Offer, Offers, Order, lists_any, negotiate},
};
use negotiate_support::{naive, real};
use proptest::{collection::vec, prelude::*, sample::select};

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
