//! Segments of a Brotli stream.

use super::ffi::brotli::{Operation, Parameters, Stream};
use super::{EncodeError, Encoder, End, Segment, Settings, trim};

/// Bytes between two looks at `cancelled`: a tenth of a second at level 11. With the size hinted the output does not
/// depend on it.
const SLICE: usize = 128 * 1024;
/// Below this level every piece of input is encoded on its own: pieces cost size, and history is of no use.
const LOWEST_LEVEL_WITH_HISTORY: i32 = 2;
/// From this level on the encoder would enter only every eighth position of a history that it is given whole.
const LOWEST_LEVEL_WITH_SPARSE_STORE: i32 = 10;

/// Encodes Brotli.
pub struct BrotliEncoder {
    stream: Stream,
    /// The level of the open segment.
    level: i32,
    /// Whether the encoder is to take the size of the next input for its size hint.
    hint_from_input: bool,
}

impl BrotliEncoder {
    /// An encoder that holds no memory of note before its first segment.
    pub fn new() -> Self {
        Self { stream: Stream::new(), level: 0, hint_from_input: false }
    }

    fn start(
        &mut self,
        settings: &Settings,
        segment: &Segment,
        length: Option<u64>,
        history: &[u8],
    ) -> Result<(), EncodeError> {
        // The encoder chooses its tables by this, and the history has to fit into them too.
        let size_hint = length.map_or(0, |length| clamp_hint(length.saturating_add(history.len() as u64)));
        let quality = settings.level.clamp(0, 11).unsigned_abs();
        self.stream.start(&Parameters { quality, window_log: settings.window_log, size_hint })?;
        self.level = settings.level;
        self.hint_from_input = length.is_none();
        if segment.offset == 0 {
            return Ok(());
        }
        let every_position = settings.level >= LOWEST_LEVEL_WITH_SPARSE_STORE;
        self.stream.continue_at(segment.offset, history, every_position)
    }

    fn encode_slices(
        &mut self,
        data: &[u8],
        end: End,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError> {
        let last = match end {
            End::Flush => Operation::Flush,
            End::Finish => Operation::Finish,
        };
        let mut rest = data;
        if self.level >= LOWEST_LEVEL_WITH_HISTORY {
            while rest.len() > SLICE {
                let slice;
                (slice, rest) = rest.split_at(SLICE);
                self.stream.encode(slice, Operation::Process, out, cancelled)?;
                if cancelled() {
                    return Err(EncodeError::Cancelled);
                }
            }
        }
        self.stream.encode(rest, last, out, cancelled)?;
        trim(out);
        Ok(())
    }
}

impl Default for BrotliEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder for BrotliEncoder {
    fn encode(
        &mut self,
        settings: &Settings,
        segment: &Segment,
        buffer: &[u8],
        history: usize,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError> {
        let (history, data) = buffer.split_at(history);
        let result = self
            .start(settings, segment, Some(data.len() as u64), history)
            .and_then(|()| self.encode_slices(data, segment.end, out, cancelled));
        self.stream.stop();
        result
    }

    fn open(&mut self, settings: &Settings, segment: &Segment, history: &[u8]) -> Result<(), EncodeError> {
        self.start(settings, segment, segment.length, history)
    }

    fn write(
        &mut self,
        data: &[u8],
        end: End,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError> {
        if std::mem::take(&mut self.hint_from_input) {
            self.stream.hint_size(clamp_hint(data.len() as u64));
        }
        self.encode_slices(data, end, out, cancelled)
    }

    fn memory(&self) -> usize {
        self.stream.memory()
    }

    fn reset(&mut self) {
        self.stream.stop();
        self.stream.end_segment();
    }
}

/// The encoder knows no difference between larger sizes.
fn clamp_hint(bytes: u64) -> u32 {
    bytes.min(1 << 30) as u32
}
