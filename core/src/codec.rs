//! The encoders, behind one trait.
//!
//! A body is encoded in *segments*. The segments of a body, one after the other, are one Brotli stream or one
//! Zstandard frame, whichever encoder made them and in whatever order. A segment begins at a byte boundary of the
//! output, may refer to the bytes before it (its *history*), and ends at a byte boundary: flushed, or finished.

mod brotli;
mod ffi;
mod level;
#[cfg(feature = "mbrotli")]
mod mbrotli;
mod window;
mod zstd;

pub use self::{
    brotli::BrotliEncoder,
    ffi::zstd::Dictionary,
    level::{LevelError, parse_level},
    window::{brotli_window_log, window_for},
    zstd::ZstdEncoder,
};

#[cfg(feature = "test-hooks")]
pub use self::ffi::memory::refuse_if as refuse_memory_if;

/// A content coding that the module produces (the IANA registry's names).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// `br`, RFC 7932.
    Brotli,
    /// `zstd`, RFC 8878.
    Zstd,
}

impl Coding {
    /// The token of `Content-Encoding` and `Accept-Encoding`.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// The whole encoding of an empty body.
    pub const fn empty(self) -> &'static [u8] {
        match self {
            // WBITS 16, ISLAST, ISLASTEMPTY (RFC 7932, 9.1 and 9.2).
            Self::Brotli => &[0x06],
            // Magic number, single segment with content size 0, a last raw block of 0 bytes (RFC 8878, 3.1.1).
            Self::Zstd => &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x00, 0x01, 0x00, 0x00],
        }
    }

    /// What ends a body whose last segment was flushed.
    pub const fn terminator(self) -> &'static [u8] {
        match self {
            // ISLAST, ISLASTEMPTY.
            Self::Brotli => &[0x03],
            // A last raw block of 0 bytes.
            Self::Zstd => &[0x01, 0x00, 0x00],
        }
    }

    /// A new encoder, which holds no memory of note before its first segment.
    pub fn encoder(self) -> Box<dyn Encoder> {
        match self {
            #[cfg(feature = "mbrotli")]
            Self::Brotli => Box::<self::mbrotli::MbrotliEncoder>::default(),
            #[cfg(not(feature = "mbrotli"))]
            Self::Brotli => Box::new(BrotliEncoder::new()),
            Self::Zstd => Box::new(ZstdEncoder::new()),
        }
    }
}

/// What all segments of a body have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The content coding.
    pub coding: Coding,
    /// The quality: 0 to 11 for Brotli; −131072 to 22 without 0 for Zstandard.
    pub level: i32,
    /// Binary logarithm of the window in bytes: 10 to 24 for Brotli, 10 to 23 for Zstandard (RFC 9659).
    pub window_log: u32,
    /// What a decoder must hold, and the body may refer to; digested for `level`. Brotli takes none.
    pub dictionary: Option<Dictionary>,
}

/// One segment of a body. It has at least one byte: what an empty body becomes is [`Coding::empty`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The position of its first byte in the body. The segment at 0 writes the header of the stream.
    pub offset: u64,
    /// How many bytes it has, if that is known; [`Encoder::encode`] knows it from its input.
    pub length: Option<u64>,
    /// How the segment ends, if that is known when it begins; with `Finish` at offset 0 it is the whole body.
    pub end: End,
}

/// How the output ends after some input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At a byte boundary, so that a decoder can give back all the input so far.
    Flush,
    /// With the end of the stream or frame.
    Finish,
}

/// Why a segment could not be encoded. The stream is of no use after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// Memory for the encoder or its output could not be had.
    Memory,
    /// `cancelled` answered yes.
    Cancelled,
    /// The library refused, with its own words.
    Library(&'static str),
}

impl std::fmt::Display for EncodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory => f.write_str("out of memory"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Library(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for EncodeError {}

/// An encoder that is used again and again: its memory stays with it from one segment to the next.
pub trait Encoder: Send {
    /// Encodes one whole segment. `buffer` is the history (`history` bytes, as much of it as the window reaches is
    /// used) followed by the segment, in one piece. Appends to `out`; looks at `cancelled` between slices.
    ///
    /// # Errors
    /// See [`EncodeError`]; what was appended to `out` is then worthless.
    fn encode(
        &mut self,
        settings: &Settings,
        segment: &Segment,
        buffer: &[u8],
        history: usize,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError>;

    /// Begins a segment whose bytes come by [`write`](Self::write), one piece after the other.
    ///
    /// # Errors
    /// See [`EncodeError`].
    fn open(&mut self, settings: &Settings, segment: &Segment, history: &[u8]) -> Result<(), EncodeError>;

    /// Goes on with the segment that [`open`](Self::open) began. After a flush more can be written, after a finish
    /// nothing.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn write(
        &mut self,
        data: &[u8],
        end: End,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError>;

    /// The bytes of memory that the encoder holds now.
    fn memory(&self) -> usize;

    /// Ends the segment, finished or not, and gives memory back that neither it nor the one before needed; the rest is
    /// kept for the next. Called once after each segment.
    fn reset(&mut self);
}

/// Gives memory back that the output does not use, if that is more than a quarter of it.
fn trim(out: &mut Vec<u8>) {
    const WORTH_A_COPY: usize = 4096;
    if out.capacity() - out.len() > WORTH_A_COPY.max(out.len() / 4) {
        out.shrink_to_fit();
    }
}
