//! libzstd's digested dictionaries.

use std::fmt;
use std::num::NonZeroU32;
use std::ptr::NonNull;
use std::sync::Arc;

use zstd_sys as c;

use crate::codec::EncodeError;

/// A dictionary for Zstandard, digested for one level. Clones are the same dictionary, which no two others are.
#[derive(Clone)]
pub struct Dictionary(Arc<Digest>);

/// The library's digest, with its own copy of the bytes.
struct Digest {
    digest: NonNull<c::ZSTD_CDict>,
    length: usize,
}

// SAFETY: a digest has no ties to a thread, and only `drop` changes it, which has it alone.
unsafe impl Send for Digest {}
// SAFETY: as above: all other uses only read it.
unsafe impl Sync for Digest {}

/// A dictionary that was trained begins with this (RFC 8878, 5); any other is content only.
const MAGIC: &[u8] = &[0x37, 0xa4, 0x30, 0xec];
/// The library ignores a dictionary that is shorter.
const SHORTEST: usize = 8;

impl Dictionary {
    /// Digests a dictionary, trained or content only, for a level of the encoder.
    ///
    /// # Errors
    /// It is too short or malformed, or there is no memory.
    pub fn new(bytes: &[u8], level: i32) -> Result<Self, EncodeError> {
        if bytes.is_empty() {
            return Err(EncodeError::Library("is empty"));
        }
        if bytes.len() < SHORTEST {
            return Err(EncodeError::Library("is shorter than 8 bytes"));
        }
        // SAFETY: the library reads the bytes and keeps a copy; it gives a valid digest or null.
        let digest = unsafe { c::ZSTD_createCDict(bytes.as_ptr().cast(), bytes.len(), level) };
        match NonNull::new(digest) {
            Some(digest) => Ok(Self(Arc::new(Digest { digest, length: bytes.len() }))),
            None if bytes.starts_with(MAGIC) => {
                Err(EncodeError::Library("is malformed: train it anew, or there is no memory"))
            }
            None => Err(EncodeError::Memory),
        }
    }

    /// The number by which frames say that they need it (`Dictionary_ID`); content only has none.
    pub fn id(&self) -> Option<NonZeroU32> {
        // SAFETY: the digest is valid, and is only looked at.
        NonZeroU32::new(unsafe { c::ZSTD_getDictID_fromCDict(self.as_ptr()) })
    }

    /// The bytes that it was made of.
    pub(in crate::codec) fn length(&self) -> usize {
        self.0.length
    }

    /// The digest, valid as long as `self` or a clone is.
    pub(super) fn as_ptr(&self) -> *const c::ZSTD_CDict {
        self.0.digest.as_ptr()
    }
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary").field("id", &self.id()).field("length", &self.0.length).finish()
    }
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Dictionary {}

impl Drop for Digest {
    fn drop(&mut self) {
        // SAFETY: the digest is valid, and nobody else has it any more.
        unsafe { c::ZSTD_freeCDict(self.digest.as_ptr()) };
    }
}
