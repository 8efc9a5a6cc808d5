//! Bodies cut in any way, each piece encoded in any way, by encoders that are used again: always one stream.

use compress_core::codec::{Coding, Encoder, End, Segment, Settings};
use proptest::prelude::*;

use crate::NEVER;
use crate::support::{Contents, bytes, decode};

/// How a segment is encoded.
#[derive(Clone, Debug)]
enum Way {
    /// In one call, with as many bytes of history as there are, at most so many.
    Whole(usize),
    /// Opened with at most so much history; written in pieces of these lengths, over and over.
    Pieces { history: usize, pieces: Vec<usize>, length_known: bool },
}

#[derive(Clone, Debug)]
struct Plan {
    settings: Settings,
    contents: Contents,
    seed: u64,
    segments: Vec<(usize, Way)>,
    /// Whether the last segment is flushed too, and the end of the stream comes after it.
    terminator: bool,
}

fn way() -> impl Strategy<Value = Way> {
    let history = || prop_oneof![Just(0), 1..20_usize, 1000..100_000_usize, Just(usize::MAX)];
    let piece = prop_oneof![0..5_usize, 50..5000_usize, 100_000..200_000_usize];
    let pieces = (history(), prop::collection::vec(piece, 1..6), any::<bool>());
    prop_oneof![
        history().prop_map(Way::Whole),
        pieces.prop_map(|(history, mut pieces, length_known)| {
            pieces.push(10_000);
            Way::Pieces { history, pieces, length_known }
        }),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let brotli = (prop_oneof![6 => 0..=9, 1 => 10..=11], 10..=24_u32).prop_map(|(level, window_log)| {
        Settings { coding: Coding::Brotli, level, window_log, dictionary: None }
    });
    let zstd = (prop_oneof![-7..=-1, 1..=12, 13..=22], 10..=23_u32).prop_map(|(level, window_log)| {
        Settings { coding: Coding::Zstd, level, window_log, dictionary: None }
    });
    prop_oneof![brotli, zstd]
}

fn plan() -> impl Strategy<Value = Plan> {
    let contents = prop_oneof![
        4 => Just(Contents::Text),
        2 => Just(Contents::Mixture),
        1 => Just(Contents::Noise),
        1 => Just(Contents::Repetition),
    ];
    let length = prop_oneof![4 => 1..200_usize, 4 => 1000..50_000_usize, 1 => 131_000..131_200_usize];
    let segments = prop::collection::vec((length, way()), 1..6);
    (settings(), contents, any::<u64>(), segments, any::<bool>()).prop_map(
        |(settings, contents, seed, segments, terminator)| Plan {
            settings,
            contents,
            seed,
            segments,
            terminator,
        },
    )
}

/// Encodes the `length` bytes of `body` at `start` in the planned way.
fn encode(
    encoder: &mut dyn Encoder,
    settings: &Settings,
    way: &Way,
    body: &[u8],
    (start, length, end): (usize, usize, End),
    out: &mut Vec<u8>,
) {
    let mut segment = Segment { offset: start as u64, length: Some(length as u64), end };
    match way {
        Way::Whole(history) => {
            let history = start.min(*history);
            let buffer = &body[start - history..start + length];
            encoder.encode(settings, &segment, buffer, history, out, NEVER).unwrap();
        }
        Way::Pieces { history, pieces, length_known } => {
            segment.length = length_known.then_some(length as u64);
            encoder.open(settings, &segment, &body[start - start.min(*history)..start]).unwrap();
            let mut rest = &body[start..start + length];
            for piece in pieces.iter().cycle() {
                let data;
                (data, rest) = rest.split_at(rest.len().min(*piece));
                let end = if rest.is_empty() { end } else { End::Flush };
                encoder.write(data, end, out, NEVER).unwrap();
                if rest.is_empty() {
                    break;
                }
            }
        }
    }
    encoder.reset();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn segments_of_any_kind_make_one_stream(plan in plan()) {
        let coding = plan.settings.coding;
        let length = plan.segments.iter().map(|(length, _)| length).sum();
        let body = bytes(plan.contents, length, plan.seed);
        let mut encoders = [coding.encoder(), coding.encoder()];
        let mut out = Vec::new();
        let mut start = 0;
        for (index, (length, way)) in plan.segments.iter().enumerate() {
            let last = index + 1 == plan.segments.len() && !plan.terminator;
            let place = (start, *length, if last { End::Finish } else { End::Flush });
            encode(encoders[index % 2].as_mut(), &plan.settings, way, &body, place, &mut out);
            start += length;
            let so_far = [out.as_slice(), coding.terminator()].concat();
            prop_assert!(last || decode(coding, &so_far) == body[..start]);
        }
        if plan.terminator {
            out.extend_from_slice(coding.terminator());
        }
        prop_assert!(decode(coding, &out) == body);
    }

    /// Small windows, so that they are passed many times over.
    #[test]
    fn an_open_segment_outlives_its_window(
        settings in settings(),
        window_log in 10..=14_u32,
        contents in prop_oneof![Just(Contents::Text), Just(Contents::Mixture)],
        seed in any::<u64>(),
        pieces in prop::collection::vec(1..30_000_usize, 1..6),
        history in 0..100_000_usize,
        length in 100_000..700_000_usize,
    ) {
        let settings = Settings { window_log, level: settings.level.min(9), ..settings };
        let body = bytes(contents, history + length, seed);
        let mut encoder = settings.coding.encoder();
        let mut out = Vec::new();
        if history > 0 {
            let place = (0, history, End::Flush);
            encode(encoder.as_mut(), &settings, &Way::Whole(0), &body, place, &mut out);
        }
        let way = Way::Pieces { history, pieces, length_known: false };
        encode(encoder.as_mut(), &settings, &way, &body, (history, length, End::Finish), &mut out);
        prop_assert!(decode(settings.coding, &out) == body);
    }
}
