//! The gates, one by one and in their order, and the statuses.

use compress_core::eligible::{Facts, Limits, Skip, StatusError, Statuses, eligible, varies};

/// A response that may be encoded.
const GOOD: Facts = Facts {
    enabled: true,
    main_request: true,
    tunnel: false,
    status: 200,
    encoded: false,
    partial: false,
    length: Some(1000),
    type_matched: Some(true),
    response_no_transform: false,
    request_no_transform: false,
    bypass: false,
};

/// What shuts a gate, its word, whether `Vary` is needed all the same, and the fact that shuts it.
type Gate = (Skip, &'static str, bool, fn(&mut Facts));

/// All gates, in their order.
#[rustfmt::skip]
const GATES: &[Gate] = &[
    (Skip::Off, "off", false, |facts| facts.enabled = false),
    (Skip::Subrequest, "subrequest", false, |facts| facts.main_request = false),
    (Skip::Status, "status", false, |facts| facts.status = 500),
    (Skip::Encoded, "encoded", false, |facts| facts.encoded = true),
    (Skip::Range, "range", false, |facts| facts.partial = true),
    (Skip::Length, "length", false, |facts| facts.length = Some(1)),
    (Skip::Type, "type", false, |facts| facts.type_matched = Some(false)),
    (Skip::NoTransform, "no-transform", false, |facts| facts.response_no_transform = true),
    (Skip::RequestNoTransform, "no-transform", true, |facts| facts.request_no_transform = true),
    (Skip::Bypass, "bypass", true, |facts| facts.bypass = true),
];

#[test]
fn each_gate() {
    let statuses = Statuses::default();
    assert_eq!(eligible(&GOOD, &limits(&statuses)), Ok(()));
    assert!(varies(&GOOD, &limits(&statuses)));

    for &(skip, word, negotiable, shut) in GATES {
        let mut facts = GOOD;
        shut(&mut facts);
        assert_eq!(eligible(&facts, &limits(&statuses)), Err(skip));
        assert_eq!(varies(&facts, &limits(&statuses)), negotiable, "{skip:?}");
        assert_eq!(skip.as_str(), word);
    }
}

/// With all gates shut the first is told; opened one by one, the next.
#[test]
fn order_of_gates() {
    let statuses = Statuses::default();
    for first in 0..GATES.len() {
        let mut facts = GOOD;
        GATES[first..].iter().for_each(|(.., shut)| shut(&mut facts));
        assert_eq!(eligible(&facts, &limits(&statuses)), Err(GATES[first].0));
    }
}

/// Of the reasons of two codings, `max` is the one that came further.
#[test]
fn later_gate_is_greater() {
    assert!(GATES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert!(Skip::Bypass < Skip::Client && Skip::Client < Skip::Busy);
    assert_eq!(Skip::Off.max(Skip::Type), Skip::Type);
    assert_eq!((Skip::Client.as_str(), Skip::Busy.as_str()), ("client", "busy"));
    assert!(Skip::Client.is_negotiable() && Skip::Busy.is_negotiable());
}

#[test]
fn lengths() {
    #[rustfmt::skip]
    let cases = [
        // min, max, length, allowed
        (20, 0, None, true),
        (20, 0, Some(0), false),
        (20, 0, Some(19), false),
        (20, 0, Some(20), true),
        (20, 0, Some(u64::MAX), true),
        (0, 0, Some(0), true),
        (20, 100, Some(100), true),
        (20, 100, Some(101), false),
        (20, 100, None, true),
        (0, 100, Some(u64::MAX), false),
        (u64::MAX, 0, Some(u64::MAX), true),
        (100, 50, Some(75), false),
    ];
    let statuses = Statuses::default();
    for (min_length, max_length, length, allowed) in cases {
        let limits = Limits { statuses: &statuses, min_length, max_length };
        let expected = if allowed { Ok(()) } else { Err(Skip::Length) };
        assert_eq!(
            eligible(&Facts { length, ..GOOD }, &limits),
            expected,
            "{min_length} {max_length} {length:?}"
        );
    }
}

#[test]
fn no_type_and_tunnels() {
    let statuses = Statuses::default();
    let skip = |facts: Facts| eligible(&facts, &limits(&statuses)).unwrap_err();
    assert_eq!(skip(Facts { type_matched: None, ..GOOD }), Skip::Type);
    assert_eq!(skip(Facts { tunnel: true, ..GOOD }), Skip::Status);
    assert_eq!(skip(Facts { status: 101, tunnel: true, ..GOOD }), Skip::Status);
    assert!(!varies(&Facts { tunnel: true, ..GOOD }, &limits(&statuses)));
}

/// A 304 and a 206 are never encoded, but have the `Vary` of the 200.
#[test]
fn vary_of_conditional_and_partial() {
    let statuses = Statuses::default();
    let none = Facts { type_matched: None, length: None, ..GOOD };
    #[rustfmt::skip]
    let cases = [
        (Facts { status: 304, ..GOOD }, true, "with a type that matches"),
        (Facts { status: 304, type_matched: Some(false), ..GOOD }, false, "with another type"),
        (Facts { status: 304, ..none }, true, "an upstream's own 304: no type"),
        (Facts { status: 304, length: Some(0), ..none }, true, "its length says nothing"),
        (Facts { status: 304, enabled: false, ..none }, false, "no coding is enabled"),
        (Facts { status: 304, encoded: true, ..none }, false, "an upstream's own coding"),
        (Facts { status: 304, response_no_transform: true, ..none }, false, "never encoded"),
        (Facts { status: 304, request_no_transform: true, ..none }, true, "encoded for others"),
        (Facts { status: 206, partial: true, ..GOOD }, true, "a part"),
        (Facts { status: 206, partial: true, length: Some(1), ..GOOD }, true, "a small part"),
        (Facts { status: 206, partial: true, type_matched: Some(false), ..GOOD }, false, "with another type"),
        (Facts { status: 206, partial: true, ..none }, true, "multipart/byteranges"),
        (Facts { status: 204, ..GOOD }, false, "no body"),
        (Facts { status: 500, ..GOOD }, false, "not one of compress_statuses"),
        (none, false, "a 200 without a type"),
    ];
    for (facts, expected, why) in cases {
        assert_eq!(varies(&facts, &limits(&statuses)), expected, "{why}");
    }
    for status in [206, 304] {
        assert_eq!(eligible(&Facts { status, ..GOOD }, &limits(&statuses)), Err(Skip::Status));
    }

    let mut only_404 = Statuses::empty();
    only_404.add(b"404").unwrap();
    assert!(!varies(&Facts { status: 304, ..GOOD }, &limits(&only_404)), "the 200 is not encoded");
}

#[test]
fn statuses() {
    #[rustfmt::skip]
    let cases: &[(&[&str], &[u16])] = &[
        (&["200"], &[200]),
        (&["200", "201", "599"], &[200, 201, 599]),
        (&["200", "200"], &[200]),
        (&["204"], &[]),
        (&["204", "205", "206", "304", "207"], &[207]),
        (&["404", "403"], &[403, 404]),
    ];
    for (arguments, expected) in cases {
        let mut statuses = Statuses::empty();
        arguments.iter().for_each(|argument| statuses.add(argument.as_bytes()).unwrap());
        assert_eq!(codes(&statuses), *expected, "{arguments:?}");
    }

    assert_eq!(codes(&Statuses::default()), [200, 403, 404]);
    assert_eq!(codes(&Statuses::empty()), []);
}

#[test]
fn classes() {
    let mut statuses = Statuses::empty();
    for class in ["2xx", "3xx", "4xx", "5xx"] {
        statuses.add(class.as_bytes()).unwrap();
    }
    let expected: Vec<u16> = (200..=599).filter(|code| ![204, 205, 206, 304].contains(code)).collect();
    assert_eq!(codes(&statuses), expected);

    let mut redirects = Statuses::empty();
    redirects.add(b"3xx").unwrap();
    assert!(redirects.contains(301) && redirects.contains(399) && !redirects.contains(304));
    assert!(!redirects.contains(299) && !redirects.contains(400));
}

#[test]
fn bad_statuses() {
    let invalid =
        ["", "2", "20", "2000", "2x", "2x0", "20x", "xxx", "x00", "2XX", "-20", "+20", "2 0", " 200", "2xxx"];
    let out_of_range = ["100", "101", "199", "1xx", "0xx", "000", "600", "6xx", "999"];

    let mut statuses = Statuses::empty();
    for argument in invalid {
        assert_eq!(statuses.add(argument.as_bytes()), Err(StatusError::Invalid), "{argument}");
    }
    for argument in out_of_range {
        assert_eq!(statuses.add(argument.as_bytes()), Err(StatusError::OutOfRange), "{argument}");
    }
    assert_eq!(statuses, Statuses::empty());
    assert_eq!(StatusError::OutOfRange.to_string(), "must be from 200 to 599");
}

fn codes(statuses: &Statuses) -> Vec<u16> {
    (0..=u16::MAX).filter(|&code| statuses.contains(code)).collect()
}

fn limits(statuses: &Statuses) -> Limits<'_> {
    Limits { statuses, min_length: 20, max_length: 0 }
}
