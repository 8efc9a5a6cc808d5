//! Memory for the encoders' tables and buffers.
//!
//! Large pieces are mapped one by one, so that they go back to the system when they are freed. The C library's `malloc`
//! would put them among small ones that live on, once it has seen that large ones come and go: with a thousand open
//! streams whose encoders were dropped and made anew it held four times what was in use.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr;

/// The alignment of all pieces: a cache line.
pub(super) const ALIGNMENT: usize = 64;
/// Smaller pieces come from the global allocator; all do where a sanitizer watches over it.
const MAPPED_FROM: usize = if cfg!(any(sanitized, fuzzing)) { usize::MAX } else { 128 * 1024 };

/// What a test has memory refused by.
#[cfg(feature = "test-hooks")]
static REFUSES: std::sync::OnceLock<fn() -> bool> = std::sync::OnceLock::new();

/// From now on there is no memory for an encoder whenever `refuses` says so; the first call counts.
#[cfg(feature = "test-hooks")]
pub fn refuse_if(refuses: fn() -> bool) {
    REFUSES.get_or_init(|| refuses);
}

/// A piece of `size` bytes, not 0, with whatever it contains; null if there is no memory.
pub(super) fn take(size: usize) -> *mut u8 {
    #[cfg(feature = "test-hooks")]
    if REFUSES.get().is_some_and(|refuses| refuses()) {
        return ptr::null_mut();
    }
    if size >= MAPPED_FROM {
        return map(size);
    }
    let Ok(layout) = Layout::from_size_align(size, ALIGNMENT) else { return ptr::null_mut() };
    // SAFETY: the size is not 0, as the caller promises.
    unsafe { alloc(layout) }
}

/// Gives a piece back.
///
/// # Safety
/// - `piece` came from [`take`] with the same `size`, and nobody uses it any more.
pub(super) unsafe fn give(piece: *mut u8, size: usize) {
    if size >= MAPPED_FROM {
        // SAFETY: it was mapped with this size, as the caller promises.
        unsafe { libc::munmap(piece.cast(), size) };
    } else if let Ok(layout) = Layout::from_size_align(size, ALIGNMENT) {
        // SAFETY: this is the layout that `take` made of the same size.
        unsafe { dealloc(piece, layout) };
    }
}

fn map(size: usize) -> *mut u8 {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at a place of the system's choice touches nothing that exists.
    let piece = unsafe { libc::mmap(ptr::null_mut(), size, access, kind, -1, 0) };
    if piece == libc::MAP_FAILED { ptr::null_mut() } else { piece.cast() }
}
