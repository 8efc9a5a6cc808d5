//! Segments of a Zstandard frame.

use std::num::NonZeroU32;

use super::ffi::zstd::{Context, Length, Parameters, estimate};
use super::{Dictionary, EncodeError, Encoder, End, Segment, Settings, trim};

/// Bytes between two looks at `cancelled`: a quarter of a second at level 19. The end of a slice is the end of a block,
/// so small slices cost size.
const SLICE: usize = 512 * 1024;
/// The longest block.
const BLOCK: u64 = 128 * 1024;
/// Up to this window, a body of unknown length is taken for one that fills it: its tables are small, and the level's
/// parameters are those for small bodies.
const SMALL_WINDOW_LOG: u32 = 18;
/// A context with more memory than this times what it needs is dropped, if it was so for two segments.
const WASTEFUL: usize = 3;
/// A context of less memory than this is never dropped.
const SMALL_CONTEXT: usize = 2 * 1024 * 1024;

/// Encodes Zstandard.
pub struct ZstdEncoder {
    context: Context,
    /// What comes before the first bytes of the open segment.
    header: Option<Vec<u8>>,
    /// About the memory that the last segment needed, and the one before.
    needed: [usize; 2],
}

impl ZstdEncoder {
    /// An encoder that holds no memory of note before its first segment.
    pub fn new() -> Self {
        Self { context: Context::new(), header: None, needed: [0; 2] }
    }

    fn need(&mut self, settings: &Settings, length: u64, history: usize) {
        let before = history + settings.dictionary.as_ref().map_or(0, Dictionary::length);
        self.needed = [estimate(settings.level, settings.window_log, length, before), self.needed[0]];
    }
}

impl Default for ZstdEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder for ZstdEncoder {
    fn encode(
        &mut self,
        settings: &Settings,
        segment: &Segment,
        buffer: &[u8],
        history: usize,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError> {
        let length = (buffer.len() - history) as u64;
        let whole = segment.offset == 0 && segment.end == End::Finish;
        let parameters = Parameters {
            level: settings.level,
            window_log: settings.window_log,
            length: if whole { Length::Declared(length) } else { Length::Exact(length) },
            continued: segment.offset > 0,
            dictionary: dictionary(settings, segment),
        };
        if segment.offset == 0 && !whole {
            append(out, &frame_header(settings))?;
        }
        self.need(settings, length, history);
        let between = || if cancelled() { Err(EncodeError::Cancelled) } else { Ok(()) };
        self.context.compress(&parameters, buffer.split_at(history), SLICE, segment.end, out, &between)?;
        trim(out);
        Ok(())
    }

    fn open(&mut self, settings: &Settings, segment: &Segment, history: &[u8]) -> Result<(), EncodeError> {
        let window = 1_u64 << settings.window_log;
        let (length, room) = match segment.length {
            Some(length) => (Length::Hint(length), length.min(window + SLICE as u64)),
            None if settings.window_log <= SMALL_WINDOW_LOG => (Length::Hint(window), window + BLOCK),
            None => (Length::Unknown, window + BLOCK),
        };
        let parameters = Parameters {
            level: settings.level,
            window_log: settings.window_log,
            length,
            continued: segment.offset > 0,
            dictionary: dictionary(settings, segment),
        };
        self.header = (segment.offset == 0).then(|| frame_header(settings));
        self.need(settings, segment.length.unwrap_or(window), history.len());
        let reachable = history.len().min(window as usize);
        self.context.open(parameters, &history[history.len() - reachable..], room as usize)
    }

    fn write(
        &mut self,
        data: &[u8],
        end: End,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError> {
        if let Some(header) = self.header.take() {
            append(out, &header)?;
        }
        let mut rest = data;
        while rest.len() > SLICE {
            let slice;
            (slice, rest) = rest.split_at(SLICE);
            self.context.write(slice, End::Flush, out)?;
            if cancelled() {
                return Err(EncodeError::Cancelled);
            }
        }
        self.context.write(rest, end, out)?;
        if end == End::Finish {
            self.context.close();
        }
        trim(out);
        Ok(())
    }

    fn memory(&self) -> usize {
        self.context.memory()
    }

    fn reset(&mut self) {
        self.context.close();
        let needed = self.needed[0].max(self.needed[1]);
        if self.context.memory() > SMALL_CONTEXT.max(needed.saturating_mul(WASTEFUL)) {
            self.context.release();
        }
    }
}

fn append(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), EncodeError> {
    out.try_reserve(bytes.len()).map_err(|_| EncodeError::Memory)?;
    out.extend_from_slice(bytes);
    Ok(())
}

/// The dictionary of a segment. Those after the first refer to their history instead.
fn dictionary(settings: &Settings, segment: &Segment) -> Option<Dictionary> {
    settings.dictionary.clone().filter(|_| segment.offset == 0)
}

/// The header of a frame of unknown length: magic number, no flags but that of the dictionary, the window descriptor and
/// the dictionary's number (RFC 8878, 3.1.1.1). The library would declare the window that its first segment needs, but
/// those after it need more.
fn frame_header(settings: &Settings) -> Vec<u8> {
    let id = settings.dictionary.as_ref().and_then(Dictionary::id).map_or(0, NonZeroU32::get);
    let (flag, length) = match id {
        0 => (0, 0),
        1..=0xff => (1, 1),
        0x100..=0xffff => (2, 2),
        _ => (3, 4),
    };
    let window = (settings.window_log.clamp(10, 41) as u8 - 10) << 3;
    [&[0x28, 0xb5, 0x2f, 0xfd, flag, window], &id.to_le_bytes()[..length]].concat()
}
