//! The library's memory, from where all encoders have it.

use std::ffi::c_void;
use std::ptr;

use zstd_sys::ZSTD_customMem;

use crate::codec::ffi::memory::{ALIGNMENT, give, take};

/// What a context takes its memory by.
pub(super) const FUNCTIONS: ZSTD_customMem =
    ZSTD_customMem { customAlloc: Some(allocate), customFree: Some(free), opaque: ptr::null_mut() };

/// Before each piece stands its size: the library does not tell it again.
const HEADER: usize = ALIGNMENT;

unsafe extern "C" fn allocate(_: *mut c_void, size: usize) -> *mut c_void {
    let Some(size) = size.checked_add(HEADER) else { return ptr::null_mut() };
    let piece = take(size);
    if piece.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the piece has room for the header, is aligned for it, and nobody else has it.
    unsafe {
        piece.cast::<usize>().write(size);
        piece.add(HEADER).cast()
    }
}

unsafe extern "C" fn free(_: *mut c_void, address: *mut c_void) {
    if address.is_null() {
        return;
    }
    // SAFETY: the library gives back what `allocate` gave, once: it stands behind the header with the size.
    unsafe {
        let piece = address.cast::<u8>().sub(HEADER);
        give(piece, piece.cast::<usize>().read());
    }
}
