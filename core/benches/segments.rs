//! What it costs to encode a body in segments: size and CPU against one encoder from end to end.
//!
//! `cargo bench -p compress_core --bench segments [FILE...]`: takes the first 3 MiB of the files, one after the other
//! and all over again if they are shorter; without files, of a text it makes up.

mod measure;

use std::env;
use std::fs;
use std::hint::black_box;
use std::time::Duration;

use compress_core::codec::{Coding, Encoder, End, Segment, Settings, window_for};

use measure::{made_up, measure};

const MIB: usize = 1024 * 1024;
const LENGTH: usize = 3 * MIB;
const PARTS: usize = 3;
const NEVER: &dyn Fn() -> bool = &|| false;

fn main() {
    let body = body();
    println!(
        "{:<9} {:>9} {:>8} | {:>7} {:>6} | {:>7} {:>6} | {:>7} {:>6} | {:>6} {:>7}",
        "", "bytes", "CPU ms", "parts", "CPU", "no hist", "CPU", "pieces", "CPU", "fresh", "MiB"
    );
    for (coding, levels) in [(Coding::Brotli, &[1, 4, 6, 9, 11][..]), (Coding::Zstd, &[1, 3, 6, 9, 15, 19])] {
        for level in levels {
            compare(coding, *level, &body);
        }
    }
    println!(
        "\nparts: {PARTS} equal parts, each after its window; no hist: after nothing; pieces: one open segment, written \
         in pieces of 1 MiB.\nSizes and CPU are ratios to the first columns, one whole body by an encoder that is used \
         again; fresh: the CPU ratio of a new encoder.\nMiB: memory of an encoder after its part."
    );
}

fn compare(coding: Coding, level: i32, body: &[u8]) {
    let length = Some(body.len() as u64);
    let window_log = window_for(coding, level, None, length);
    let settings = Settings { coding, level, window_log, dictionary: None };
    let window = 1 << settings.window_log;
    let mut encoder = coding.encoder();
    let (size, time) = measure(|| encode_parts(encoder.as_mut(), &settings, body, 1, 0));
    let (fresh, fresh_time) = measure(|| encode_parts(coding.encoder().as_mut(), &settings, body, 1, 0));
    assert_eq!(fresh, size);
    let mut encoder = coding.encoder();
    let parts = measure(|| encode_parts(encoder.as_mut(), &settings, body, PARTS, window));
    let memory = encoder.memory();
    let alone = measure(|| encode_parts(encoder.as_mut(), &settings, body, PARTS, 0));
    let pieces = measure(|| encode_pieces(encoder.as_mut(), &settings, body));
    let ratio = |(part, part_time): (usize, Duration)| {
        let size_ratio = part as f64 / size as f64 - 1.0;
        format!("{:>+6.2}% {:>6.2}", 100.0 * size_ratio, part_time.as_secs_f64() / time.as_secs_f64())
    };
    println!(
        "{:<9} {:>9} {:>8.1} | {} | {} | {} | {:>6.2} {:>7.1}",
        format!("{} {level}", coding.token()),
        size,
        time.as_secs_f64() * 1e3,
        ratio(parts),
        ratio(alone),
        ratio(pieces),
        fresh_time.as_secs_f64() / time.as_secs_f64(),
        memory as f64 / MIB as f64,
    );
}

fn encode_parts(
    encoder: &mut dyn Encoder,
    settings: &Settings,
    body: &[u8],
    parts: usize,
    window: usize,
) -> usize {
    let mut size = 0;
    for part in 0..parts {
        let (start, stop) = (body.len() * part / parts, body.len() * (part + 1) / parts);
        let history = start.min(window);
        let end = if part + 1 == parts { End::Finish } else { End::Flush };
        let segment = Segment { offset: start as u64, length: Some((stop - start) as u64), end };
        let mut out = Vec::new();
        encoder
            .encode(settings, &segment, &body[start - history..stop], history, &mut out, NEVER)
            .expect("encodes");
        encoder.reset();
        size += black_box(out).len();
    }
    size
}

fn encode_pieces(encoder: &mut dyn Encoder, settings: &Settings, body: &[u8]) -> usize {
    let segment = Segment { offset: 0, length: Some(body.len() as u64), end: End::Finish };
    encoder.open(settings, &segment, &[]).expect("opens");
    let mut size = 0;
    for (index, piece) in body.chunks(MIB).enumerate() {
        let end = if (index + 1) * MIB >= body.len() { End::Finish } else { End::Flush };
        let mut out = Vec::new();
        encoder.write(piece, end, &mut out, NEVER).expect("encodes");
        size += black_box(out).len();
    }
    encoder.reset();
    size
}

fn body() -> Vec<u8> {
    let files: Vec<_> = env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let mut text = Vec::new();
    for file in &files {
        text.extend(fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}")));
    }
    if text.is_empty() {
        text = made_up(LENGTH);
    }
    text.into_iter().cycle().take(LENGTH).collect()
}
