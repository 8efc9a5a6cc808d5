//! Bodies and decoders for the tests of the encoders, and of what uses them.
// Not every test that includes this uses all of it.
#![allow(dead_code)]

pub mod segments;

use std::io::Read;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use compress_core::codec::Coding;

/// What a body is like.
#[derive(Clone, Copy, Debug)]
pub enum Contents {
    /// Words, the first of a list far more often than the last.
    Text,
    /// Bytes that no encoder can compress.
    Noise,
    /// A few bytes over and over.
    Repetition,
    /// Some of each, in pieces of up to 20,000 bytes.
    Mixture,
}

/// `length` bytes, always the same for a `seed`.
pub fn bytes(contents: Contents, length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    match contents {
        Contents::Text => text(length, &mut random),
        Contents::Noise => (0..length).map(|_| (random.next() >> 32) as u8).collect(),
        Contents::Repetition => (0..length).map(|i| b"abcabcd"[i % 7]).collect(),
        Contents::Mixture => {
            let mut mixture = Vec::with_capacity(length + 20_000);
            while mixture.len() < length {
                let kinds = [Contents::Text, Contents::Noise, Contents::Repetition];
                let kind = kinds[(random.next() >> 16) as usize % 3];
                let piece = (random.next() >> 16) as usize % 20_000;
                mixture.extend(bytes(kind, piece, random.next() % 4));
            }
            mixture.truncate(length);
            mixture
        }
    }
}

/// A xorshift generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Less than `limit`, the small ones far more often.
    fn skewed(&mut self, limit: u64) -> u64 {
        let even = |random: &mut Self| (random.next() >> 16) % limit;
        let (a, b) = (even(self), even(self));
        a * b / limit * even(self) / limit
    }
}

fn text(length: usize, random: &mut Random) -> Vec<u8> {
    let words: Vec<Vec<u8>> = (0..4000)
        .map(|_| {
            let letters = 1 + random.next() % 10;
            (0..letters).map(|_| b"etaoinshrdlucmfwypvbgkjqxz"[random.skewed(26) as usize]).collect()
        })
        .collect();
    let mut text = Vec::with_capacity(length + 16);
    while text.len() < length {
        text.extend_from_slice(&words[random.skewed(words.len() as u64) as usize]);
        text.push(if random.next().is_multiple_of(12) { b'\n' } else { b' ' });
    }
    text.truncate(length);
    text
}

/// Decodes one whole stream or frame, after which nothing may come.
pub fn decode(coding: Coding, encoded: &[u8]) -> Vec<u8> {
    match coding {
        Coding::Brotli => decode_brotli(encoded),
        Coding::Zstd => {
            check_frame(encoded);
            let mut decoded = Vec::new();
            let mut decoder = ruzstd::decoding::StreamingDecoder::new(encoded).unwrap();
            decoder.read_to_end(&mut decoded).unwrap();
            decoded
        }
    }
}

/// A dictionary that the `zstd` program trained on pieces of [`records`].
pub const DICTIONARY: &[u8] = include_bytes!("records.dict");

/// Records as an API sends them.
pub fn records(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut records = Vec::with_capacity(length + 128);
    while records.len() < length {
        let (id, number) = (random.next() >> 48, random.next());
        let state = ["open", "closed", "waiting for review", "draft"][(number >> 60) as usize % 4];
        let (user, price, public) = (number % 500, number >> 16 & 0xffff, number & 0x1000 == 0);
        let line = format!(
            "{{\"id\":{id},\"user\":\"user-{user}\",\"state\":\"{state}\",\"price\":{price},\"public\":{public}}},\n"
        );
        records.extend_from_slice(line.as_bytes());
    }
    records.truncate(length);
    records
}

/// Decodes one whole frame that needs [`DICTIONARY`], after which nothing may come.
pub fn decode_with_dictionary(mut frame: &[u8]) -> Vec<u8> {
    let dictionary = ruzstd::decoding::Dictionary::decode_dict(DICTIONARY).unwrap();
    let mut decoder = ruzstd::decoding::FrameDecoder::new();
    decoder.add_dict(dictionary).unwrap();
    let mut decoded = Vec::new();
    ruzstd::decoding::StreamingDecoder::new_with_decoder(&mut frame, decoder)
        .unwrap()
        .read_to_end(&mut decoded)
        .unwrap();
    assert!(frame.is_empty(), "bytes after the end");
    decoded
}

fn decode_brotli(encoded: &[u8]) -> Vec<u8> {
    let alloc = StandardAlloc::default;
    let mut state = BrotliState::new(alloc(), alloc(), alloc());
    let mut decoded = vec![0; 1 << 16];
    let (mut left, mut at, mut room, mut length, mut total) = (encoded.len(), 0, decoded.len(), 0, 0);
    loop {
        let result = BrotliDecompressStream(
            &mut left,
            &mut at,
            encoded,
            &mut room,
            &mut length,
            &mut decoded,
            &mut total,
            &mut state,
        );
        match result {
            BrotliResult::ResultSuccess => break,
            BrotliResult::NeedsMoreOutput => {
                room += decoded.len();
                decoded.resize(2 * decoded.len(), 0);
            }
            BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => {
                panic!("not a Brotli stream, or not all")
            }
        }
    }
    assert_eq!(left, 0, "bytes after the end");
    decoded.truncate(length);
    decoded
}

/// What the header of a frame declares.
pub struct FrameHeader {
    pub content_size: Option<u64>,
    pub window: u64,
}

/// Walks through a frame (RFC 8878, 3.1.1): one frame, no checksum, no dictionary, at most 8 MiB of window, and nothing
/// after it.
pub fn check_frame(frame: &[u8]) -> FrameHeader {
    assert_eq!(frame[..4], [0x28, 0xb5, 0x2f, 0xfd]);
    let descriptor = frame[4];
    assert_eq!(descriptor & 0x0f, 0, "reserved bit, checksum or dictionary");
    let single_segment = descriptor & 0x20 != 0;
    let mut at = 5;
    let mut window = 0;
    if !single_segment {
        let (exponent, mantissa) = (frame[at] >> 3, frame[at] & 7);
        window = (1 << (10 + exponent)) / 8 * (8 + u64::from(mantissa));
        at += 1;
    }
    let field = [usize::from(single_segment), 2, 4, 8][usize::from(descriptor >> 6)];
    let content_size = (field > 0).then(|| {
        let size = frame[at..at + field].iter().rev().fold(0, |size, byte| size << 8 | u64::from(*byte));
        if field == 2 { size + 256 } else { size }
    });
    if single_segment {
        window = content_size.unwrap();
    }
    assert!(window <= 8 << 20, "{window} bytes of window");
    at += field;
    loop {
        let header = u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], 0]);
        let (last, kind, size) = (header & 1 != 0, header >> 1 & 3, (header >> 3) as usize);
        at += 3 + if kind == 1 { 1 } else { size };
        if last {
            assert_eq!(at, frame.len(), "the frame and the output end together");
            return FrameHeader { content_size, window };
        }
    }
}
