//! The calls that make blocks, and some questions to the library.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use zstd_sys as c;
use zstd_sys::ZSTD_cParameter as Parameter;

use super::{Length, Parameters};
use crate::codec::{EncodeError, End};

unsafe extern "C" {
    /// Makes the first block not use the repeat offsets that a frame begins with.
    ///
    /// Not in the library's headers; its multithreaded compression, another file of it, uses this for the same
    /// purpose. So it is there in a static library of the pinned version.
    fn ZSTD_invalidateRepCodes(context: *mut c::ZSTD_CCtx);
}

/// The longest frame header.
const LONGEST_HEADER: usize = 18;
/// What the end of a frame can add to the bound of its last bytes: an empty last block.
const EPILOGUE: usize = 16;

/// A body of unknown length that is longer is not encoded with a dictionary's own tables, which are small, but the
/// dictionary is loaded into tables of the level: as the library does with a known length.
const LONG: u64 = 128 * 1024;

const FORCE_MAX_WINDOW: Parameter = Parameter::ZSTD_c_experimentalParam3;
const FORCE_ATTACH_DICT: Parameter = Parameter::ZSTD_c_experimentalParam4;
const SOURCE_SIZE_HINT: Parameter = Parameter::ZSTD_c_experimentalParam7;
const STABLE_INPUT_BUFFER: Parameter = Parameter::ZSTD_c_experimentalParam9;
const STABLE_OUTPUT_BUFFER: Parameter = Parameter::ZSTD_c_experimentalParam10;

/// Sets the context up for a frame or a part of one, and enters `history` into its tables. Appends the header of a
/// frame of declared length to `out`.
///
/// # Safety
/// - `context` is valid, and nobody else uses it.
/// - Until it is set up anew or freed, `history` stays where it is and the dictionary lives whenever the context
///   compresses.
pub(super) unsafe fn begin(
    context: *mut c::ZSTD_CCtx,
    parameters: &Parameters,
    history: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let mut header = [0_u8; LONGEST_HEADER];
    let mut no_input = c::ZSTD_inBuffer { src: ptr::null(), size: 0, pos: 0 };
    let mut no_output = c::ZSTD_outBuffer { dst: ptr::null_mut(), size: 0, pos: 0 };
    // SAFETY: the caller answers for the context, the history and the dictionary. The first compression, of nothing and
    // with no room for output, makes the parameters take effect; the second gives the header, which fits.
    let written = unsafe {
        set(context, parameters, history)?;
        let all = c::ZSTD_EndDirective::ZSTD_e_flush;
        check(c::ZSTD_compressStream2(context, &mut no_output, &mut no_input, all))?;
        let room = header.as_mut_ptr().cast();
        check(c::ZSTD_compressContinue(context, room, header.len(), ptr::null::<c_void>(), 0))?
    };
    if matches!(parameters.length, Length::Declared(_)) {
        reserve(out, written)?;
        out.extend_from_slice(&header[..written]);
    }
    if parameters.continued {
        // A decoder's are those of blocks that this context knows nothing of.
        // SAFETY: the caller answers for the context, and it has compressed no block yet.
        unsafe { ZSTD_invalidateRepCodes(context) };
    }
    Ok(())
}

/// # Safety
/// As [`begin`].
unsafe fn set(
    context: *mut c::ZSTD_CCtx,
    parameters: &Parameters,
    history: &[u8],
) -> Result<(), EncodeError> {
    let set = |parameter, value: i32| {
        // SAFETY: the caller answers for the context.
        check(unsafe { c::ZSTD_CCtx_setParameter(context, parameter, value) }).map(drop)
    };
    // SAFETY: the caller answers for the context.
    check(unsafe { c::ZSTD_CCtx_reset(context, c::ZSTD_ResetDirective::ZSTD_reset_session_and_parameters) })?;
    set(Parameter::ZSTD_c_compressionLevel, parameters.level)?;
    set(Parameter::ZSTD_c_windowLog, parameters.window_log.cast_signed())?;
    set(Parameter::ZSTD_c_contentSizeFlag, matches!(parameters.length, Length::Declared(_)).into())?;
    // Else the whole history could be referred to as long as the window reaches its last byte.
    set(FORCE_MAX_WINDOW, (!history.is_empty()).into())?;
    // No buffers of the context's own.
    set(STABLE_INPUT_BUFFER, 1)?;
    set(STABLE_OUTPUT_BUFFER, 1)?;
    match parameters.length {
        Length::Declared(length) | Length::Exact(length) => {
            // SAFETY: the caller answers for the context.
            check(unsafe { c::ZSTD_CCtx_setPledgedSrcSize(context, length) })?;
        }
        Length::Hint(length) => set(SOURCE_SIZE_HINT, length.min(c_int::MAX as u64) as c_int)?,
        Length::Unknown => {}
    }
    if let Some(dictionary) = &parameters.dictionary {
        let load = match parameters.length {
            Length::Hint(length) => length > LONG,
            Length::Unknown => true,
            // The library decides by the length.
            Length::Declared(_) | Length::Exact(_) => false,
        };
        if load {
            set(FORCE_ATTACH_DICT, c::ZSTD_dictAttachPref_e::ZSTD_dictForceLoad as i32)?;
        }
        // SAFETY: the caller answers for the context and the dictionary.
        check(unsafe { c::ZSTD_CCtx_refCDict(context, dictionary.as_ptr()) })?;
    } else {
        // SAFETY: the caller answers for the context and the history.
        check(unsafe { c::ZSTD_CCtx_refPrefix(context, history.as_ptr().cast(), history.len()) })?;
    }
    Ok(())
}

/// Compresses `data` into whole blocks, the last one of the frame or not, and appends them to `out`.
///
/// Not by `ZSTD_compressStream2`: it takes 128 KiB at a time, and ends a block there whatever the block splitter says.
///
/// # Safety
/// - `context` is valid and set up by [`begin`], and nobody else uses it.
/// - Until it is set up anew or freed, `data` stays where it is whenever the context compresses; it may be overwritten
///   with the data of a later call.
pub(super) unsafe fn compress(
    context: *mut c::ZSTD_CCtx,
    data: &[u8],
    end: End,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    reserve(out, data.len())?;
    let room = out.spare_capacity_mut();
    let (to, size) = (room.as_mut_ptr().cast(), room.len());
    let (from, length) = (data.as_ptr().cast(), data.len());
    // SAFETY: the caller answers for the context and the data; `to` has room for `size` bytes.
    let written = check(unsafe {
        match end {
            End::Flush => c::ZSTD_compressContinue(context, to, size, from, length),
            End::Finish => c::ZSTD_compressEnd(context, to, size, from, length),
        }
    })?;
    // SAFETY: the library has written so many bytes to the room.
    unsafe { out.set_len(out.len() + written) };
    Ok(())
}

/// Makes room for what `length` bytes can become at most.
fn reserve(out: &mut Vec<u8>, length: usize) -> Result<(), EncodeError> {
    // SAFETY: a pure function.
    let bound = unsafe { c::ZSTD_compressBound(length) };
    out.try_reserve(bound.saturating_add(EPILOGUE)).map_err(|_| EncodeError::Memory)
}

/// The binary logarithm of the level's window, for a body of unknown length.
pub(in crate::codec) fn level_window_log(level: i32) -> u32 {
    // SAFETY: a pure function.
    unsafe { c::ZSTD_getCParams(level, 0, 0) }.windowLog
}

/// About how many bytes a context needs for a segment of `length` bytes after `history`.
pub(in crate::codec) fn estimate(level: i32, window_log: u32, length: u64, history: usize) -> usize {
    // SAFETY: pure functions.
    unsafe {
        let mut parameters = c::ZSTD_getCParams(level, length, history);
        parameters.windowLog = window_log;
        c::ZSTD_estimateCCtxSize_usingCParams(c::ZSTD_adjustCParams(parameters, length, history))
    }
}

fn check(result: usize) -> Result<usize, EncodeError> {
    // SAFETY: pure functions; the name is a constant of the library.
    unsafe {
        if c::ZSTD_isError(result) == 0 {
            Ok(result)
        } else if c::ZSTD_getErrorCode(result) == c::ZSTD_ErrorCode::ZSTD_error_memory_allocation {
            Err(EncodeError::Memory)
        } else {
            let name = CStr::from_ptr(c::ZSTD_getErrorName(result));
            Err(EncodeError::Library(name.to_str().unwrap_or("unknown error")))
        }
    }
}
