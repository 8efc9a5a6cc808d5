//! Brotli's highest levels by the crate mbrotli, a port of google/brotli's encoder to Rust that takes less time there.
//!
//! It encodes segments that are given whole and begin a stream. Those that go on with one, and segments that are written
//! piece by piece, are google/brotli's: the port takes no history, and does not tell how much memory a stream holds.

use mbrotli::{
    Compressor, EncodeError as Error, EncoderConfig, EncoderStatus, InputSize, Operation, Quality, Window,
};

use super::{BrotliEncoder, EncodeError, Encoder, End, Segment, Settings, trim};

/// Bytes between two looks at `cancelled`: a block, of twice as much, takes about 0.3 seconds at level 11.
const SLICE: usize = 128 * 1024;
/// Bytes of output that are taken at once.
const ROOM: usize = 16 * 1024;

/// Encodes Brotli by mbrotli where it can.
#[derive(Default)]
pub struct MbrotliEncoder {
    /// For all else.
    google: BrotliEncoder,
    /// Its memory serves one segment after the other.
    compressor: Option<Compressor>,
    /// Whether this segment used it, and the one before.
    used: (bool, bool),
}

impl MbrotliEncoder {
    fn encode_beginning(
        &mut self,
        config: EncoderConfig,
        data: &[u8],
        end: End,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError> {
        let size = match end {
            End::Finish => InputSize::Exact(data.len() as u64),
            End::Flush => InputSize::Unknown,
        };
        let mut session = self.compressor(config)?.start(size.into()).map_err(|error| refused(&error))?;
        let mut room = [0; ROOM];
        let mut rest = data;
        loop {
            if cancelled() {
                return Err(EncodeError::Cancelled);
            }
            let (input, operation) = match end {
                _ if rest.len() > SLICE => (&rest[..SLICE], Operation::Process),
                End::Flush => (rest, Operation::Flush),
                End::Finish => (rest, Operation::Finish),
            };
            let progress = session.process(input, &mut room, operation).map_err(|error| refused(&error))?;
            out.try_reserve(progress.produced).map_err(|_| EncodeError::Memory)?;
            out.extend_from_slice(&room[..progress.produced]);
            rest = &rest[progress.consumed..];
            if operation != Operation::Process && progress.status != EncoderStatus::NeedsOutput {
                break;
            }
        }
        trim(out);
        Ok(())
    }

    fn compressor(&mut self, config: EncoderConfig) -> Result<&mut Compressor, EncodeError> {
        let refused = |_| EncodeError::Library("mbrotli refused its settings");
        self.used.0 = true;
        let mut compressor = match self.compressor.take() {
            Some(kept) => kept,
            None => Compressor::new(config).map_err(refused)?,
        };
        compressor.reconfigure(config).map_err(refused)?;
        Ok(self.compressor.insert(compressor))
    }
}

impl Encoder for MbrotliEncoder {
    fn encode(
        &mut self,
        settings: &Settings,
        segment: &Segment,
        buffer: &[u8],
        history: usize,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError> {
        match config(settings) {
            Some(config) if segment.offset == 0 => {
                self.encode_beginning(config, &buffer[history..], segment.end, out, cancelled)
            }
            _ => self.google.encode(settings, segment, buffer, history, out, cancelled),
        }
    }

    fn open(&mut self, settings: &Settings, segment: &Segment, history: &[u8]) -> Result<(), EncodeError> {
        self.google.open(settings, segment, history)
    }

    fn write(
        &mut self,
        data: &[u8],
        end: End,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError> {
        self.google.write(data, end, out, cancelled)
    }

    fn memory(&self) -> usize {
        self.google.memory() + self.compressor.as_ref().map_or(0, Compressor::retained_bytes)
    }

    fn reset(&mut self) {
        self.google.reset();
        if self.used == (false, false) {
            self.compressor = None;
        }
        self.used = (false, self.used.0);
    }
}

/// The port's settings, at the levels where it takes less time than the original (docs/benchmarks.md).
fn config(settings: &Settings) -> Option<EncoderConfig> {
    let quality = match settings.level {
        10 => Quality::Q10,
        11 => Quality::Q11,
        _ => return None,
    };
    let window = u8::try_from(settings.window_log).ok().and_then(|log| Window::standard(log).ok())?;
    Some(EncoderConfig::new().with_quality(quality).with_window(window))
}

fn refused(error: &Error) -> EncodeError {
    match error {
        Error::AllocationFailed { .. } => EncodeError::Memory,
        _ => EncodeError::Library("mbrotli refused its input"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Coding;

    /// Both are the same encoder in two languages, so what one makes proves that the other was asked as it should be.
    #[test]
    fn the_port_makes_the_same_bytes() {
        let data: Vec<u8> = (0..75_000_u32).flat_map(|i| (i.wrapping_mul(i) / 977).to_le_bytes()).collect();
        for level in [10, 11] {
            for end in [End::Flush, End::Finish] {
                let settings = Settings { coding: Coding::Brotli, level, window_log: 18, dictionary: None };
                let segment = Segment { offset: 0, length: Some(data.len() as u64), end };
                let [google, port] =
                    [Box::new(BrotliEncoder::new()) as Box<dyn Encoder>, Box::<MbrotliEncoder>::default()]
                        .map(|mut encoder| {
                            let mut out = Vec::new();
                            encoder.encode(&settings, &segment, &data, 0, &mut out, &|| false).unwrap();
                            out
                        });
                assert!(google == port, "level {level}, {end:?}: {} and {} bytes", google.len(), port.len());
            }
        }
    }

    #[test]
    fn its_memory_is_kept_for_the_next_segment_but_one() {
        let mut encoder = MbrotliEncoder::default();
        let mut encode = |level| {
            let settings = Settings { coding: Coding::Brotli, level, window_log: 18, dictionary: None };
            let segment = Segment { offset: 0, length: Some(1000), end: End::Finish };
            encoder.encode(&settings, &segment, &[7; 1000], 0, &mut Vec::new(), &|| false).unwrap();
            encoder.reset();
            encoder.compressor.is_some()
        };
        assert_eq!([11, 5, 5, 10].map(&mut encode), [true, true, false, true]);
    }
}
