//! A body in segments, each encoded in a way of its own.

use compress_core::codec::{Encoder, End, Segment, Settings};

use super::{decode, decode_with_dictionary};

/// How a segment is encoded.
#[derive(Clone, Debug)]
pub enum Way {
    /// In one call, with as many bytes of history as there are, at most so many.
    Whole(usize),
    /// Opened with at most so much history; written in pieces of these lengths, over and over.
    Pieces { history: usize, pieces: Vec<usize>, length_known: bool },
}

/// Encodes a body whose segments have these lengths, by two encoders in turns, and checks that each part so far, and all
/// of it, decodes to what went in. With a `terminator` the last segment is flushed too, and the end of the stream comes
/// after it.
pub fn encode_all(settings: &Settings, segments: &[(usize, Way)], terminator: bool, body: &[u8]) {
    let coding = settings.coding;
    let decode = |encoded: &[u8]| match settings.dictionary {
        Some(_) => decode_with_dictionary(encoded),
        None => decode(coding, encoded),
    };
    let mut encoders = [coding.encoder(), coding.encoder()];
    let mut out = Vec::new();
    let mut start = 0;
    for (index, (length, way)) in segments.iter().enumerate() {
        let last = index + 1 == segments.len() && !terminator;
        let place = (start, *length, if last { End::Finish } else { End::Flush });
        encode(encoders[index % 2].as_mut(), settings, way, body, place, &mut out);
        start += length;
        let so_far = [out.as_slice(), coding.terminator()].concat();
        assert!(last || decode(&so_far) == body[..start]);
    }
    if terminator {
        out.extend_from_slice(coding.terminator());
    }
    assert!(decode(&out) == body);
}

/// Encodes the `length` bytes of `body` at `start` in the planned way.
pub fn encode(
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
            encoder.encode(settings, &segment, buffer, history, out, &|| false).unwrap();
        }
        Way::Pieces { history, pieces, length_known } => {
            segment.length = length_known.then_some(length as u64);
            encoder.open(settings, &segment, &body[start - start.min(*history)..start]).unwrap();
            let mut rest = &body[start..start + length];
            for piece in pieces.iter().cycle() {
                let data;
                (data, rest) = rest.split_at(rest.len().min(*piece));
                let end = if rest.is_empty() { end } else { End::Flush };
                encoder.write(data, end, out, &|| false).unwrap();
                if rest.is_empty() {
                    break;
                }
            }
        }
    }
    encoder.reset();
}
