//! Decoders of content codings, none of which shares code with an encoder under test. They are strict: the whole
//! input must be one stream or frame, and a `zstd` window may not be over 8 MiB (RFC 9659).

use std::fmt;
use std::io::Read;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

const ZSTD_MAX_WINDOW: u64 = 8 << 20;

/// Why a body does not decode.
#[derive(Debug)]
pub struct DecodeError(pub(crate) String);

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

/// Undoes a content coding.
///
/// # Errors
///
/// If `body` is not exactly one complete stream of that coding.
pub fn decode(coding: &str, body: &[u8]) -> Result<Vec<u8>, DecodeError> {
    match coding {
        "br" => whole(brotli(body)?, body.len()),
        "zstd" => whole(zstd(body)?, body.len()),
        "gzip" | "x-gzip" => gzip(body),
        "deflate" => {
            let mut decoder = flate2::bufread::ZlibDecoder::new(body);
            read_all(&mut decoder, "deflate")
        }
        "" | "identity" => Ok(body.to_vec()),
        _ => Err(DecodeError(format!("unknown content coding {coding:?}"))),
    }
}

/// Decodes as much as the beginning of a `br` or `zstd` body tells: what a client can show after a flush.
///
/// # Errors
///
/// If it is not the beginning of a stream of that coding.
pub fn decode_prefix(coding: &str, prefix: &[u8]) -> Result<Vec<u8>, DecodeError> {
    match coding {
        "br" => Ok(brotli(prefix)?.bytes),
        "zstd" => zstd_prefix(prefix),
        _ => Err(DecodeError(format!("no incremental decoder for {coding:?}"))),
    }
}

struct Decoded {
    bytes: Vec<u8>,
    used: usize,
    ended: bool,
}

fn whole(decoded: Decoded, len: usize) -> Result<Vec<u8>, DecodeError> {
    let Decoded { bytes, used, ended } = decoded;
    if !ended {
        return Err(DecodeError(format!("the stream does not end; {} bytes of content so far", bytes.len())));
    }
    if used != len {
        return Err(DecodeError(format!("{} bytes follow the end of the stream", len - used)));
    }
    Ok(bytes)
}

fn brotli(input: &[u8]) -> Result<Decoded, DecodeError> {
    let mut state =
        BrotliState::new_strict(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default());
    let (mut left, mut used, mut total) = (input.len(), 0, 0);
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let (mut room, mut filled) = (buffer.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut used,
            input,
            &mut room,
            &mut filled,
            &mut buffer,
            &mut total,
            &mut state,
        );
        bytes.extend_from_slice(&buffer[..filled]);
        match result {
            BrotliResult::NeedsMoreOutput => {}
            // There may be more output than the buffer had room for.
            BrotliResult::NeedsMoreInput if room == 0 => {}
            BrotliResult::ResultSuccess => return Ok(Decoded { bytes, used, ended: true }),
            BrotliResult::NeedsMoreInput => return Ok(Decoded { bytes, used, ended: false }),
            BrotliResult::ResultFailure => {
                return Err(DecodeError(format!("not brotli at byte {used}: {:?}", state.error_code)));
            }
        }
    }
}

fn zstd(input: &[u8]) -> Result<Decoded, DecodeError> {
    let (mut decoder, mut rest) = zstd_begin(input)?;
    let mut bytes = Vec::new();
    loop {
        let ended = decoder.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBytes(1 << 20));
        let ended = ended.map_err(|err| zstd_error(&decoder, &err))?;
        bytes.extend(decoder.collect().unwrap_or_default());
        if ended {
            break;
        }
    }
    if let Some(sum) = decoder.get_checksum_from_data()
        && decoder.get_calculated_checksum() != Some(sum)
    {
        return Err(DecodeError("the checksum of the zstd frame is wrong".into()));
    }
    // Zero may also mean that the frame tells none.
    let told = decoder.content_size();
    if told != 0 && told != bytes.len() as u64 {
        return Err(DecodeError(format!("the zstd frame tells {told} bytes and has {}", bytes.len())));
    }
    Ok(Decoded { bytes, used: input.len() - rest.len(), ended: true })
}

fn zstd_begin(input: &[u8]) -> Result<(FrameDecoder, &[u8]), DecodeError> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(ZSTD_MAX_WINDOW);
    let mut rest = input;
    decoder.reset(&mut rest).map_err(|err| zstd_error(&decoder, &err))?;
    Ok((decoder, rest))
}

fn zstd_error(decoder: &FrameDecoder, err: &dyn fmt::Display) -> DecodeError {
    DecodeError(format!("not zstd at byte {}: {err}", decoder.bytes_read_from_source()))
}

// ruzstd keeps back a window's worth until the frame ends, so the complete blocks are ended with an empty last one.
fn zstd_prefix(prefix: &[u8]) -> Result<Vec<u8>, DecodeError> {
    const EMPTY_LAST_BLOCK: [u8; 3] = [1, 0, 0];
    let Ok((mut decoder, mut rest)) = zstd_begin(prefix) else { return Ok(Vec::new()) };
    let mut complete = prefix.len() - rest.len();
    while !rest.is_empty() {
        match decoder.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBlocks(1)) {
            Ok(true) => return Ok(zstd(prefix)?.bytes),
            Ok(false) => complete = prefix.len() - rest.len(),
            Err(_) => break,
        }
    }
    let (mut decoder, _) = zstd_begin(prefix)?;
    let header = prefix.len() - zstd_begin(prefix)?.1.len();
    // Four bytes more, should the frame have a checksum: nothing checks it here.
    let ended = [&prefix[header..complete], &EMPTY_LAST_BLOCK, &[0; 4]].concat();
    decoder
        .decode_blocks(ended.as_slice(), BlockDecodingStrategy::All)
        .map_err(|err| zstd_error(&decoder, &err))?;
    Ok(decoder.collect().unwrap_or_default())
}

fn gzip(body: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut decoder = flate2::bufread::GzDecoder::new(body);
    let bytes = read_all(&mut decoder, "gzip")?;
    match decoder.into_inner().len() {
        0 => Ok(bytes),
        left => Err(DecodeError(format!("{left} bytes follow the end of the gzip member"))),
    }
}

fn read_all(decoder: &mut impl Read, coding: &str) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = Vec::new();
    decoder.read_to_end(&mut bytes).map_err(|err| DecodeError(format!("not {coding}: {err}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{corpus, tools};

    #[test]
    fn agrees_with_the_programs() {
        let text = corpus::text(300_000);
        for (coding, encoded) in [("br", tools::brotli_encode(&text)), ("zstd", tools::zstd_encode(&text))] {
            assert_eq!(decode(coding, &encoded).unwrap(), text, "{coding}");
            let trailing = [encoded.as_slice(), b"x"].concat();
            assert!(
                decode(coding, &trailing).unwrap_err().to_string().contains("1 bytes follow"),
                "{coding}"
            );
            let cut = &encoded[..encoded.len() - 1];
            assert!(decode(coding, cut).is_err(), "{coding}");
        }
    }

    #[test]
    fn a_prefix_decodes_to_the_beginning_of_the_content() {
        let text = corpus::text(600_000);
        for (coding, encoded) in [("br", tools::brotli_encode(&text)), ("zstd", tools::zstd_encode(&text))] {
            let half = decode_prefix(coding, &encoded[..encoded.len() / 2]).unwrap();
            assert!(half.len() > 100_000 && text.starts_with(&half), "{coding}: {}", half.len());
            assert_eq!(decode_prefix(coding, &[]).unwrap(), b"", "{coding}");
            assert_eq!(decode_prefix(coding, &encoded).unwrap(), text, "{coding}");
        }
    }

    #[test]
    fn a_window_that_http_forbids_is_refused() {
        // A frame header (no single segment, no checksum) with window log 24, and an empty last block.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, (24 - 10) << 3, 1, 0, 0];
        assert!(decode("zstd", &frame).is_err());
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, (23 - 10) << 3, 1, 0, 0];
        assert_eq!(decode("zstd", &frame).unwrap(), b"");
    }
}
