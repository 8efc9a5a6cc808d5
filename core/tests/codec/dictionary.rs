//! Zstandard with a dictionary: all ways to encode decode with it, and small bodies profit.

use compress_core::codec::{Coding, Dictionary, EncodeError, Encoder, End, Segment, Settings, window_for};
use compress_core::sidecar::{self, Frame, Head};

use super::support::{DICTIONARY, decode_with_dictionary, records};
use super::{KIB, MIB, NEVER, encode_parts, encode_whole};

const ID: [u8; 4] = [DICTIONARY[4], DICTIONARY[5], DICTIONARY[6], DICTIONARY[7]];

fn settings(dictionary: &Dictionary, level: i32, window_log: Option<u32>, length: Option<usize>) -> Settings {
    let window_log = window_for(Coding::Zstd, level, window_log, length.map(|length| length as u64));
    Settings { coding: Coding::Zstd, level, window_log, dictionary: Some(dictionary.clone()) }
}

/// One open segment, flushed after each piece.
fn encode_pieces(encoder: &mut dyn Encoder, settings: &Settings, body: &[u8], piece: usize) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.open(settings, &Segment { offset: 0, length: None, end: End::Finish }, &[]).unwrap();
    for piece in body.chunks(piece) {
        encoder.write(piece, End::Flush, &mut out, NEVER).unwrap();
    }
    encoder.write(&[], End::Finish, &mut out, NEVER).unwrap();
    encoder.reset();
    out
}

#[track_caller]
fn check(way: &str, frame: &[u8], body: &[u8]) {
    let Head::Frame(Frame { dictionary, .. }) = sidecar::head(frame).unwrap() else { panic!("no header") };
    assert_eq!(dictionary, Some(u32::from_le_bytes(ID)), "{way}");
    assert!(decode_with_dictionary(frame) == body, "{way}");
}

#[test]
fn every_way_to_encode_decodes_with_the_dictionary() {
    for level in [-7, 1, 3, 5, 6, 9, 13, 16, 19, 22] {
        let dictionary = Dictionary::new(DICTIONARY, level).unwrap();
        let mut encoder = Coding::Zstd.encoder();
        for length in [1, 300, 5000, 300 * KIB, 3 * MIB] {
            if length == 3 * MIB && level > 9 {
                continue;
            }
            let body = records(length, 7);
            for window_log in [None, Some(10), Some(17)] {
                let way = |way| format!("{way}, {length} bytes, level {level}, window {window_log:?}");
                let fitted = settings(&dictionary, level, window_log, Some(length));
                check(&way("whole"), &encode_whole(encoder.as_mut(), &fitted, &body), &body);
                let parts = length.min(4);
                check(&way("parts"), &encode_parts(encoder.as_mut(), &fitted, &body, parts), &body);
                let open = settings(&dictionary, level, window_log, None);
                check(&way("pieces"), &encode_pieces(encoder.as_mut(), &open, &body, 70_000), &body);
            }
        }
    }
}

#[test]
fn a_dictionary_that_is_gone_leaves_no_trace_in_the_encoder() {
    let body = records(2000, 3);
    let mut encoder = Coding::Zstd.encoder();
    let dictionary = Dictionary::new(DICTIONARY, 3).unwrap();
    let with = settings(&dictionary, 3, None, Some(body.len()));
    let without = Settings { dictionary: None, ..with.clone() };
    drop(dictionary);
    let first = encode_whole(encoder.as_mut(), &with, &body);
    drop(with);
    let after = encode_whole(encoder.as_mut(), &without, &body);
    let fresh = encode_whole(Coding::Zstd.encoder().as_mut(), &without, &body);
    assert!(after == fresh && after != first);
    assert!(super::support::decode(Coding::Zstd, &after) == body);
}

#[test]
fn small_bodies_are_much_smaller_and_large_ones_no_larger() {
    for level in [1, 3, 9, 19] {
        let dictionary = Dictionary::new(DICTIONARY, level).unwrap();
        for (length, most) in [(300, 0.65), (1000, 0.85), (300 * KIB, 1.02), (2 * MIB, 1.02)] {
            let body = records(length, 11);
            for open in [false, true] {
                let with = settings(&dictionary, level, None, (!open).then_some(length));
                let without = Settings { dictionary: None, ..with.clone() };
                let [with, without] = [with, without].map(|settings| {
                    let mut encoder = Coding::Zstd.encoder();
                    match open {
                        true => encode_pieces(encoder.as_mut(), &settings, &body, usize::MAX).len(),
                        false => encode_whole(encoder.as_mut(), &settings, &body).len(),
                    }
                });
                let sizes = format!("level {level}, {length} bytes, open {open}: {with} for {without}");
                assert!(with as f64 <= without as f64 * most, "{sizes}");
                println!("{sizes}");
            }
        }
    }
}

#[test]
fn one_dictionary_serves_many_threads() {
    let dictionary = Dictionary::new(DICTIONARY, 3).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let settings = settings(&dictionary, 3, None, None);
            scope.spawn(move || {
                let mut encoder = Coding::Zstd.encoder();
                for length in (1..40).map(|n| n * 500) {
                    let body = records(length, seed);
                    check("thread", &encode_whole(encoder.as_mut(), &settings, &body), &body);
                }
            });
        }
    });
}

#[test]
fn content_only_has_no_number_and_bad_ones_are_refused() {
    let raw = Dictionary::new(&records(4000, 1), 3).unwrap();
    assert_eq!(raw.id(), None);
    assert_eq!(Dictionary::new(DICTIONARY, 3).unwrap().id().unwrap().get(), u32::from_le_bytes(ID));
    for bad in [&b""[..], b"short", &DICTIONARY[..40]] {
        assert!(matches!(Dictionary::new(bad, 3), Err(EncodeError::Library(_))), "{} bytes", bad.len());
    }
    assert_eq!(raw, raw.clone());
    assert_ne!(raw, Dictionary::new(&records(4000, 1), 3).unwrap());
}
