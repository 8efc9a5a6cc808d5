//! Bodies cut in any way, each piece encoded in any way, by encoders that are used again: always one stream.

use compress_core::codec::{Coding, End, Settings};
use proptest::prelude::*;

use crate::support::segments::{Way, encode, encode_all};
use crate::support::{Contents, bytes, decode};

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn segments_of_any_kind_make_one_stream(plan in plan()) {
        let length = plan.segments.iter().map(|(length, _)| length).sum();
        let body = bytes(plan.contents, length, plan.seed);
        encode_all(&plan.settings, &plan.segments, plan.terminator, &body);
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
