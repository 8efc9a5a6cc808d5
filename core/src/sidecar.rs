//! The frame header of a `.zst` file (RFC 8878, 3.1.1.1): may it be sent with the coding `zstd`?
//!
//! A browser refuses a frame whose declared window is larger than 8 MiB, however short the body (RFC 9659, 3),
//! and `zstd --ultra` or `--long` makes such frames.

use std::num::NonZeroU32;
use std::{fmt, io};

/// The largest window that a frame may declare with the coding `zstd` (RFC 9659, 3).
pub const WINDOW_LIMIT: u64 = 8 << 20;

/// The length of the longest frame header with its magic number: this many bytes are always enough to read one.
pub const HEADER_MAX: usize = 18;

/// More skippable frames than this at the beginning of a file are not looked through.
const SKIPPED_MAX: usize = 16;

const MAGIC: u32 = 0xfd2f_b528;
/// The last 4 bits of a skippable frame's magic number are free (RFC 8878, 3.1.2).
const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;

/// What a frame header declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The memory that a decoder needs: `Window_Size` in bytes.
    pub window: u64,
    /// The dictionary that a decoder must hold, by its number.
    pub dictionary: Option<u32>,
}

/// What the beginning of a file shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// The header of the first frame that is not skippable.
    Frame(Frame),
    /// The header is not, or not wholly, in these bytes: read [`HEADER_MAX`] bytes from this offset, counted
    /// from the first of them.
    Seek(u64),
}

/// Why a file is not served.
#[derive(Debug)]
pub enum SidecarError {
    /// It has no Zstandard frame, or ends before one.
    NotZstd,
    /// The frame declares a window of this many bytes.
    Window(u64),
    /// A client needs the dictionary with this number.
    Dictionary(u32),
    /// It cannot be read.
    Read(io::Error),
}

impl fmt::Display for SidecarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotZstd => f.write_str("is not a Zstandard frame"),
            Self::Window(bytes) => write!(
                f,
                "declares a window of {bytes} bytes, but browsers refuse more than {WINDOW_LIMIT}: \
                 compress it with a window log of at most 23"
            ),
            Self::Dictionary(id) => {
                write!(f, "needs the dictionary with ID {id}, which is not that of \"zstd_dict_file\"")
            }
            Self::Read(error) => write!(f, "cannot be read: {error}"),
        }
    }
}

impl std::error::Error for SidecarError {}

impl Frame {
    /// Refuses a frame that needs another dictionary than the one that clients `hold`, by its number.
    ///
    /// # Errors
    /// [`SidecarError::Dictionary`].
    pub fn needs_only(self, hold: Option<NonZeroU32>) -> Result<Self, SidecarError> {
        match self.dictionary {
            Some(id) if NonZeroU32::new(id) != hold => Err(SidecarError::Dictionary(id)),
            _ => Ok(self),
        }
    }
}

/// Looks at the first frame of a file. `read_at` is `pread`: it fills the buffer from an offset of the file and
/// says how much it had. The frames after the first are not looked at.
///
/// # Errors
/// The file must not be served, see [`SidecarError`].
pub fn check(mut read_at: impl FnMut(&mut [u8], u64) -> io::Result<usize>) -> Result<Frame, SidecarError> {
    let mut buffer = [0; HEADER_MAX];
    let mut offset = 0_u64;

    for _ in 0..=SKIPPED_MAX {
        let length = read_at(&mut buffer, offset).map_err(SidecarError::Read)?;
        match head(&buffer[..length.min(HEADER_MAX)])? {
            Head::Frame(frame) if frame.window > WINDOW_LIMIT => {
                return Err(SidecarError::Window(frame.window));
            }
            Head::Frame(frame) => return Ok(frame),
            // With whole buffers every step goes forward: the file ends here.
            Head::Seek(0) => return Err(SidecarError::NotZstd),
            Head::Seek(step) => offset = offset.checked_add(step).ok_or(SidecarError::NotZstd)?,
        }
    }

    Err(SidecarError::NotZstd)
}

/// Reads the header of the first frame that is not skippable, from the bytes at the beginning of a file.
///
/// # Errors
/// [`SidecarError::NotZstd`].
pub fn head(prefix: &[u8]) -> Result<Head, SidecarError> {
    let mut frame = prefix;
    let mut offset = 0_u64;

    loop {
        let Some((magic, after)) = frame.split_first_chunk::<4>() else { return Ok(Head::Seek(offset)) };

        match u32::from_le_bytes(*magic) {
            MAGIC => return Ok(frame_header(after)?.map_or(Head::Seek(offset), Head::Frame)),
            magic if magic & !0xf == SKIPPABLE_MAGIC => {}
            _ => return Err(SidecarError::NotZstd),
        }

        let Some((size, after)) = after.split_first_chunk::<4>() else { return Ok(Head::Seek(offset)) };
        let size = u32::from_le_bytes(*size);
        offset += 8 + u64::from(size);
        frame = usize::try_from(size).ok().and_then(|size| after.get(size..)).unwrap_or_default();
    }
}

/// RFC 8878, 3.1.1.1, without the magic number; `None` if `header` is too short.
fn frame_header(header: &[u8]) -> Result<Option<Frame>, SidecarError> {
    let Some((&descriptor, fields)) = header.split_first() else { return Ok(None) };
    if descriptor & 0b1000 != 0 {
        // Reserved_Bit: a later version of the format, which decoders must refuse.
        return Err(SidecarError::NotZstd);
    }
    Ok(frame_fields(descriptor, fields))
}

fn frame_fields(descriptor: u8, fields: &[u8]) -> Option<Frame> {
    let single_segment = descriptor & 0b10_0000 != 0;
    let (window, fields) = if single_segment { (None, fields) } else { take(fields, 1)? };
    let (dictionary, fields) = take(fields, [0, 1, 2, 4][usize::from(descriptor & 0b11)])?;
    let size_length = match descriptor >> 6 {
        0 => usize::from(single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let (size, _) = take(fields, size_length)?;

    // A single segment has no window but itself; sizes of 2 bytes begin at 256.
    let window = match window {
        Some(descriptor) => window_size(descriptor),
        None => size.unwrap_or(0) + if size_length == 2 { 256 } else { 0 },
    };
    let dictionary = dictionary.and_then(|number| u32::try_from(number).ok()).filter(|&number| number != 0);
    Some(Frame { window, dictionary })
}

/// RFC 8878, 3.1.1.1.2: an exponent of 5 bits and eighths in 3.
const fn window_size(descriptor: u64) -> u64 {
    let base = 1 << (10 + (descriptor >> 3));
    base + base / 8 * (descriptor & 7)
}

/// A little-endian number of that many bytes, `None` for 0 bytes, and what follows it.
fn take(bytes: &[u8], length: usize) -> Option<(Option<u64>, &[u8])> {
    let (number, rest) = bytes.split_at_checked(length)?;
    let value = number.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
    Some(((length > 0).then_some(value), rest))
}
