//! The encoders against decoders that share nothing with them.

mod dictionary;
mod properties;
#[path = "../codec_support/mod.rs"]
mod support;

use std::cell::Cell;
use std::thread;

use compress_core::codec::{Coding, EncodeError, Encoder, End, Segment, Settings, window_for};
use support::{Contents, bytes, check_frame, decode};

const NEVER: &dyn Fn() -> bool = &|| false;
const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

fn settings(coding: Coding, level: i32, length: Option<usize>) -> Settings {
    let window_log = window_for(coding, level, None, length.map(|length| length as u64));
    Settings { coding, level, window_log, dictionary: None }
}

fn segment(range: &std::ops::Range<usize>, end: End) -> Segment {
    Segment { offset: range.start as u64, length: Some(range.len() as u64), end }
}

/// One whole body in one call.
fn encode_whole(encoder: &mut dyn Encoder, settings: &Settings, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let whole = segment(&(0..body.len()), End::Finish);
    encoder.encode(settings, &whole, body, 0, &mut out, NEVER).unwrap();
    assert!(out.capacity() <= out.len() + (out.len() / 4).max(4096), "{} of {}", out.len(), out.capacity());
    out
}

/// A body in equal parts, each with the window before it as its history, except that every third has none.
fn encode_parts(encoder: &mut dyn Encoder, settings: &Settings, body: &[u8], parts: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for part in 0..parts {
        let range = body.len() * part / parts..body.len() * (part + 1) / parts;
        let history = if part % 3 == 2 { 0 } else { range.start.min(1 << settings.window_log) };
        let end = if part + 1 == parts { End::Finish } else { End::Flush };
        let buffer = &body[range.start - history..range.end];
        encoder.encode(settings, &segment(&range, end), buffer, history, &mut out, NEVER).unwrap();
        encoder.reset();
    }
    out
}

fn check(coding: Coding, level: i32, body: &[u8], parts: usize) {
    let mut encoder = coding.encoder();
    let fitted = settings(coding, level, Some(body.len()));
    let whole = encode_whole(encoder.as_mut(), &fitted, body);
    assert!(decode(coding, &whole) == body, "{coding:?} {level}: {} bytes in one", body.len());
    let cut = encode_parts(encoder.as_mut(), &fitted, body, parts);
    assert!(decode(coding, &cut) == body, "{coding:?} {level}: {} bytes in {parts}", body.len());
    if coding == Coding::Zstd && parts > 1 {
        assert_eq!(check_frame(&whole).content_size, Some(body.len() as u64));
        let header = check_frame(&cut);
        assert_eq!((header.content_size, header.window), (None, 1 << fitted.window_log));
    }
}

#[test]
fn every_level_gives_back_small_bodies() {
    for length in [1, 2, 3, 20, 4096] {
        let body = bytes(Contents::Text, length, 1);
        for level in 0..=11 {
            check(Coding::Brotli, level, &body, length.min(4));
        }
        for level in [-131_072, -5, -1].into_iter().chain(1..=22) {
            check(Coding::Zstd, level, &body, length.min(4));
        }
    }
}

#[test]
fn every_level_gives_back_bodies_about_a_block_long() {
    for (level, length) in (0..=11).zip([128 * KIB - 1, 128 * KIB, 128 * KIB + 1].into_iter().cycle()) {
        check(Coding::Brotli, level, &bytes(Contents::Text, length, 2), 3);
    }
    let levels = [-5, -1].into_iter().chain(1..=19).chain([22]);
    for (level, length) in levels.zip([128 * KIB - 1, 128 * KIB, 128 * KIB + 1].into_iter().cycle()) {
        check(Coding::Zstd, level, &bytes(Contents::Text, length, 3), 3);
    }
}

#[test]
fn brotli_levels_of_each_kind_give_back_large_bodies() {
    for (level, length) in [(0, MIB - 1), (1, MIB), (4, 3 * MIB + 17), (6, MIB + 1), (9, MIB), (11, MIB + 1)]
    {
        check(Coding::Brotli, level, &bytes(Contents::Text, length, 4), 3);
    }
}

#[test]
fn zstd_levels_of_each_kind_give_back_large_bodies() {
    for (level, length) in
        [(-5, MIB - 1), (1, MIB), (3, 3 * MIB + 17), (9, MIB + 1), (16, MIB), (19, MIB + 1)]
    {
        check(Coding::Zstd, level, &bytes(Contents::Text, length, 5), 3);
    }
}

#[test]
fn what_can_not_be_compressed_hardly_grows_and_repetitions_shrink() {
    for (coding, levels) in [(Coding::Brotli, [0, 1, 5, 9, 10]), (Coding::Zstd, [-5, 1, 3, 9, 19])] {
        for level in levels {
            let noise = bytes(Contents::Noise, 300_000, 6);
            check(coding, level, &noise, 3);
            let settings = settings(coding, level, Some(noise.len()));
            let whole = encode_whole(coding.encoder().as_mut(), &settings, &noise);
            assert!(whole.len() < noise.len() + 200, "{coding:?} {level}: {}", whole.len());

            let same = bytes(Contents::Repetition, 300_000, 7);
            check(coding, level, &same, 3);
            let whole = encode_whole(coding.encoder().as_mut(), &settings, &same);
            assert!(whole.len() < same.len() / 50, "{coding:?} {level}: {}", whole.len());
        }
    }
}

#[test]
fn history_is_used_and_no_history_is_valid() {
    // Noise twice: only a reference back to its first half can make the second one small.
    let half = bytes(Contents::Noise, 200_000, 8);
    let body = [half.as_slice(), &half].concat();
    let range = half.len()..body.len();
    for (coding, levels) in
        [(Coding::Brotli, [2, 3, 4, 5, 8, 9, 10]), (Coding::Zstd, [1, 3, 6, 9, 13, 16, 19])]
    {
        for level in levels {
            let settings = settings(coding, level, None);
            let mut encoder = coding.encoder();
            let mut size = |history: usize| {
                let mut out = Vec::new();
                let first = segment(&(0..half.len()), End::Flush);
                encoder.encode(&settings, &first, &half, 0, &mut out, NEVER).unwrap();
                let first = out.len();
                let buffer = &body[range.start - history..];
                let second = segment(&range, End::Finish);
                encoder.encode(&settings, &second, buffer, history, &mut out, NEVER).unwrap();
                assert!(decode(coding, &out) == body, "{coding:?} {level}");
                out.len() - first
            };
            let (without, with) = (size(0), size(half.len()));
            assert!(without > half.len() && with < half.len() / 50, "{coding:?} {level}: {without}, {with}");
        }
    }
}

#[test]
fn a_flush_gives_all_bytes_so_far_and_a_terminator_ends_it() {
    let body = bytes(Contents::Text, 100_000, 9);
    for (coding, levels) in [(Coding::Brotli, [0, 1, 2, 5, 9, 11]), (Coding::Zstd, [-1, 1, 3, 9, 16, 19])] {
        for level in levels {
            let settings = Settings { window_log: 18, ..settings(coding, level, None) };
            let mut encoder = coding.encoder();
            let mut out = Vec::new();
            encoder.open(&settings, &Segment { offset: 0, length: None, end: End::Finish }, &[]).unwrap();
            let mut sent = 0;
            for piece in [1, 1, 2, 0, 3, 1000, 70_000, 0, 5] {
                encoder.write(&body[sent..sent + piece], End::Flush, &mut out, NEVER).unwrap();
                sent += piece;
                let ended = [out.as_slice(), coding.terminator()].concat();
                assert!(decode(coding, &ended) == body[..sent], "{coding:?} {level}: {sent} bytes");
            }
            encoder.write(&body[sent..], End::Finish, &mut out, NEVER).unwrap();
            assert!(decode(coding, &out) == body, "{coding:?} {level}");
        }
    }
}

#[test]
fn an_empty_body_has_a_constant_encoding() {
    for coding in [Coding::Brotli, Coding::Zstd] {
        assert!(decode(coding, coding.empty()).is_empty());
        // What an encoder makes of nothing is valid too.
        for end in [End::Flush, End::Finish] {
            let nothing = segment(&(0..0), end);
            let mut out = Vec::new();
            let settings = settings(coding, 3, None);
            coding.encoder().encode(&settings, &nothing, &[], 0, &mut out, NEVER).unwrap();
            if end == End::Flush {
                out.extend_from_slice(coding.terminator());
            }
            assert!(decode(coding, &out).is_empty());
        }
    }
}

#[test]
fn an_encoder_stops_between_slices_and_serves_again() {
    let body = bytes(Contents::Text, 2 * MIB, 10);
    for coding in [Coding::Brotli, Coding::Zstd] {
        let settings = settings(coding, 4, None);
        let mut encoder = coding.encoder();
        let looks = Cell::new(0);
        let third = || {
            looks.set(looks.get() + 1);
            looks.get() == 3
        };
        let whole = segment(&(0..body.len()), End::Finish);
        let result = encoder.encode(&settings, &whole, &body, 0, &mut Vec::new(), &third);
        assert_eq!((result, looks.get()), (Err(EncodeError::Cancelled), 3));
        encoder.open(&settings, &whole, &[]).unwrap();
        let result = encoder.write(&body, End::Finish, &mut Vec::new(), &|| true);
        assert_eq!(result, Err(EncodeError::Cancelled));
        encoder.reset();
        let out = encode_whole(encoder.as_mut(), &settings, &body[..100_000]);
        assert!(decode(coding, &out) == body[..100_000]);
    }
}

#[test]
fn writing_to_a_closed_segment_is_an_error() {
    for coding in [Coding::Brotli, Coding::Zstd] {
        let mut encoder = coding.encoder();
        let result = encoder.write(b"abc", End::Flush, &mut Vec::new(), NEVER);
        assert!(matches!(result, Err(EncodeError::Library(_))), "{coding:?}: {result:?}");
        encode_whole(encoder.as_mut(), &settings(coding, 4, None), b"abc");
        let result = encoder.write(b"abc", End::Flush, &mut Vec::new(), NEVER);
        assert!(matches!(result, Err(EncodeError::Library(_))), "{coding:?}: {result:?}");
    }
}

#[test]
fn a_used_encoder_gives_what_a_new_one_gives() {
    let body = bytes(Contents::Text, 400_000, 11);
    let uses = [
        (11, 24, 150_000),
        (1, 10, 400_000),
        (9, 19, 400_000),
        (5, 16, 30_000),
        (9, 22, 400_000),
        (2, 18, 7),
    ];
    for coding in [Coding::Brotli, Coding::Zstd] {
        let mut used = coding.encoder();
        for (level, window_log, length) in uses {
            let settings = Settings { coding, level, window_log: window_log.min(23), dictionary: None };
            let body = &body[..length];
            let new = encode_parts(coding.encoder().as_mut(), &settings, body, 3);
            assert!(encode_parts(used.as_mut(), &settings, body, 3) == new, "{coding:?} {level}");
            assert!(decode(coding, &new) == body, "{coding:?} {level}");
        }
    }
}

#[test]
fn memory_is_kept_for_the_next_segment_but_not_for_ever() {
    let body = bytes(Contents::Text, MIB, 12);
    for (coding, large, small) in [(Coding::Brotli, 9, 2), (Coding::Zstd, 19, 1)] {
        let mut encoder = coding.encoder();
        assert!(encoder.memory() < 8 * KIB);
        encode_whole(encoder.as_mut(), &settings(coding, large, None), &body);
        encoder.reset();
        let kept = encoder.memory();
        assert!((10 * MIB..64 * MIB).contains(&kept), "{coding:?}: {kept}");
        for _ in 0..2 {
            encode_whole(encoder.as_mut(), &settings(coding, large, None), &body);
            encoder.reset();
        }
        assert!(encoder.memory() <= kept + kept / 4, "{coding:?}: {kept}, then {}", encoder.memory());
        for _ in 0..4 {
            encode_whole(encoder.as_mut(), &settings(coding, small, Some(10_000)), &body[..10_000]);
            encoder.reset();
        }
        assert!(encoder.memory() < 4 * MIB, "{coding:?}: {}", encoder.memory());
    }
}

#[test]
fn an_open_segment_goes_on_in_another_thread() {
    let body = bytes(Contents::Text, 200_000, 13);
    for coding in [Coding::Brotli, Coding::Zstd] {
        let settings = settings(coding, 5, None);
        let mut out = Vec::new();
        let mut encoder = coding.encoder();
        encoder
            .encode(&settings, &segment(&(0..50_000), End::Flush), &body[..50_000], 0, &mut out, NEVER)
            .unwrap();
        encoder.open(&settings, &segment(&(50_000..200_000), End::Finish), &body[..50_000]).unwrap();
        for at in (50_000..200_000).step_by(30_000) {
            let piece = body[at..at + 30_000].to_vec();
            let end = if at + 30_000 == body.len() { End::Finish } else { End::Flush };
            (encoder, out) = thread::spawn(move || {
                encoder.write(&piece, end, &mut out, NEVER).unwrap();
                (encoder, out)
            })
            .join()
            .unwrap();
        }
        assert!(decode(coding, &out) == body, "{coding:?}");
    }
}

#[test]
fn levels_out_of_range_are_taken_for_the_nearest() {
    for coding in [Coding::Brotli, Coding::Zstd] {
        for (level, window_log) in [(100, 17), (-1000, 17), (5, 24)] {
            let settings = Settings { coding, level, window_log, dictionary: None };
            let out = encode_whole(coding.encoder().as_mut(), &settings, b"out of range, out of range");
            assert_eq!(decode(coding, &out), b"out of range, out of range");
        }
    }
}
