//! google/brotli's encoder.

use std::ptr::{self, NonNull};

use super::blocks::{Blocks, allocate, release};
use crate::codec::EncodeError;

// With more names than are used here: the enumerations come whole.
#[allow(dead_code, missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals)]
mod c {
    include!(concat!(env!("OUT_DIR"), "/brotli_bindings.rs"));
}

/// What an encoder is told before it begins.
pub(in crate::codec) struct Parameters {
    /// 0 to 11.
    pub quality: u32,
    /// 10 to 24.
    pub window_log: u32,
    /// About how many bytes come, with the history; 0 if unknown.
    pub size_hint: u32,
}

/// What is to be done with the input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::codec) enum Operation {
    /// Output comes when there is enough for a block.
    Process,
    /// All output comes, up to a byte boundary.
    Flush,
    /// All output comes, and the end of the stream.
    Finish,
}

/// An encoder of one stream, or one segment of it, after the other. The memory of one serves the next.
pub(in crate::codec) struct Stream {
    state: Option<NonNull<c::BrotliEncoderState>>,
    blocks: Blocks,
}

// SAFETY: the C encoder has no ties to a thread (its only static data are constant), all its memory is in `blocks`,
// and every use of it takes `&mut self`.
unsafe impl Send for Stream {}

impl Stream {
    pub fn new() -> Self {
        Self { state: None, blocks: Blocks::new() }
    }

    /// Begins a stream, in place of the one before.
    pub fn start(&mut self, parameters: &Parameters) -> Result<(), EncodeError> {
        self.stop();
        // SAFETY: the functions are a pair and take this opaque pointer, which is valid until `self.blocks` is dropped;
        // `Drop` destroys the encoder before.
        let state =
            unsafe { c::BrotliEncoderCreateInstance(Some(allocate), Some(release), self.blocks.opaque()) };
        self.state = Some(NonNull::new(state).ok_or(EncodeError::Memory)?);
        self.set(c::BROTLI_PARAM_QUALITY, parameters.quality);
        self.set(c::BROTLI_PARAM_LGWIN, parameters.window_log);
        self.hint_size(parameters.size_hint);
        Ok(())
    }

    /// Says about how many bytes come, if the encoder has not begun.
    pub fn hint_size(&mut self, bytes: u32) {
        self.set(c::BROTLI_PARAM_SIZE_HINT, bytes);
    }

    /// Values out of range are put in range by the encoder itself when it begins; it takes none after that.
    fn set(&mut self, parameter: c::BrotliEncoderParameter, value: u32) {
        if let Some(state) = self.state {
            // SAFETY: the encoder is valid until `stop`, and `&mut self` makes this its only user.
            unsafe { c::BrotliEncoderSetParameter(state.as_ptr(), parameter, value) };
        }
    }

    /// Goes on with the stream at `offset`, which must not be 0, after `history`. Nothing was encoded since
    /// [`start`](Self::start).
    pub fn continue_at(
        &mut self,
        offset: u64,
        history: &[u8],
        every_position: bool,
    ) -> Result<(), EncodeError> {
        let state = self.state()?;
        let (first, length) = (history.as_ptr(), history.len());
        // SAFETY: the encoder is valid, see `set`; `history` is copied before the function returns.
        let done =
            unsafe { c::BrotliSegmentContinue(state, offset, first, length, i32::from(every_position)) };
        if done == 0 { Err(EncodeError::Memory) } else { Ok(()) }
    }

    /// Encodes `data` and appends what output there is to `out`. Stops soon after `cancelled` answers yes, which is
    /// asked whenever the encoder wants memory: at level 11 it works on a block for half a second.
    pub fn encode(
        &mut self,
        data: &[u8],
        operation: Operation,
        out: &mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EncodeError> {
        let state = self.state()?;
        let operation = match operation {
            Operation::Process => c::BROTLI_OPERATION_PROCESS,
            Operation::Flush => c::BROTLI_OPERATION_FLUSH,
            Operation::Finish => c::BROTLI_OPERATION_FINISH,
        };
        let (mut next_in, mut available_in) = (data.as_ptr(), data.len());
        // The encoder stops as soon as it has output, with input left or with a flush only half done. It is through
        // when it gives no more, and not before.
        loop {
            let (mut next_out, mut available_out) = (ptr::null_mut(), 0);
            // SAFETY: the encoder is valid, see `set`; `next_in` has `available_in` bytes left, since only the encoder
            // moves both; no room for output, so it writes none.
            let (done, refused) = self.blocks.with_cancel(cancelled, || unsafe {
                c::BrotliEncoderCompressStream(
                    state,
                    operation,
                    &mut available_in,
                    &mut next_in,
                    &mut available_out,
                    &mut next_out,
                    ptr::null_mut(),
                )
            });
            if refused {
                return Err(EncodeError::Cancelled);
            }
            if done == 0 {
                return Err(self.error(state));
            }
            if self.take_output(state, out)? == 0 && available_in == 0 {
                return Ok(());
            }
        }
    }

    /// Appends what output the encoder has ready, and says how much.
    fn take_output(
        &mut self,
        state: *mut c::BrotliEncoderState,
        out: &mut Vec<u8>,
    ) -> Result<usize, EncodeError> {
        let mut size = 0;
        // SAFETY: the encoder is valid, see `set`; a size of 0 asks for all.
        let output = unsafe { c::BrotliEncoderTakeOutput(state, &mut size) };
        if size > 0 {
            out.try_reserve(size).map_err(|_| EncodeError::Memory)?;
            // SAFETY: the output is in the encoder's memory until its next call, which comes after this.
            out.extend_from_slice(unsafe { std::slice::from_raw_parts(output, size) });
        }
        Ok(size)
    }

    fn state(&self) -> Result<*mut c::BrotliEncoderState, EncodeError> {
        self.state.map(NonNull::as_ptr).ok_or(EncodeError::Library("no segment is open"))
    }

    fn error(&self, state: *const c::BrotliEncoderState) -> EncodeError {
        // SAFETY: the encoder is valid, see `set`.
        if unsafe { c::BrotliSegmentOutOfMemory(state) } != 0 {
            EncodeError::Memory
        } else {
            EncodeError::Library("the Brotli encoder refused its input")
        }
    }

    /// Ends the stream, finished or not. Its memory is kept for the next.
    pub fn stop(&mut self) {
        if let Some(state) = self.state.take() {
            // SAFETY: the encoder is valid and was just forgotten.
            unsafe { c::BrotliEncoderDestroyInstance(state.as_ptr()) };
        }
    }

    /// Bytes held for this stream and the next.
    pub fn memory(&self) -> usize {
        self.blocks.held()
    }

    /// Gives the memory back that the last streams did without.
    pub fn end_segment(&mut self) {
        self.blocks.end_segment();
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn never() -> bool {
        false
    }

    /// Whenever it comes, a cancellation ends the work, and the encoder serves again.
    #[test]
    fn a_cancelled_encoder_stops_at_its_next_allocation() {
        let data: Vec<u8> = (0..20_000_u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for quality in [0, 2, 5, 9, 11] {
            let mut asked = 0_u32;
            loop {
                let (left, mut stream) = (Cell::new(asked), Stream::new());
                let cancelled = || left.replace(left.get().saturating_sub(1)) == 0;
                let mut encode = |cancelled: &dyn Fn() -> bool| {
                    stream.start(&Parameters { quality, window_log: 18, size_hint: 0 })?;
                    stream.encode(&data, Operation::Finish, &mut Vec::new(), cancelled)
                };
                match encode(&cancelled) {
                    Ok(()) => break,
                    Err(error) => {
                        assert_eq!(error, EncodeError::Cancelled, "quality {quality}, question {asked}")
                    }
                }
                encode(&never).unwrap();
                asked += 1 + asked / 4;
            }
            assert!(asked > 1, "quality {quality}");
        }
    }

    /// Wherever the memory ends, that is the error, and the encoder serves again when there is memory.
    #[test]
    fn want_of_memory_is_an_error_and_no_more() {
        let data: Vec<u8> = (0..20_000_u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for quality in [0, 1, 2, 4, 5, 9, 10] {
            let mut needed = 0;
            loop {
                let mut stream = Stream::new();
                stream.blocks.limit(needed);
                let mut encode = |out: &mut Vec<u8>| {
                    stream.start(&Parameters { quality, window_log: 18, size_hint: 0 })?;
                    stream.continue_at(40_000, &data[..40_000], true)?;
                    stream.encode(&data[40_000..], Operation::Finish, out, &never)
                };
                match encode(&mut Vec::new()) {
                    Ok(()) => break,
                    Err(error) => assert_eq!(error, EncodeError::Memory, "quality {quality}, block {needed}"),
                }
                stream.blocks.limit(usize::MAX);
                stream.start(&Parameters { quality: 5, window_log: 18, size_hint: 0 }).unwrap();
                stream.encode(&data[..1000], Operation::Finish, &mut Vec::new(), &never).unwrap();
                needed += 1;
            }
            assert!(needed > 1, "quality {quality}");
        }
    }

    /// What the encoders' slices rest on.
    #[test]
    fn with_the_size_hinted_slices_give_the_same_bytes_as_the_whole() {
        let data: Vec<u8> = (0..75_000_u32).flat_map(|i| (i.wrapping_mul(i) / 977).to_le_bytes()).collect();
        for quality in 2..=10 {
            let outputs = [data.len(), 128 * 1024].map(|slice| {
                let mut stream = Stream::new();
                let mut out = Vec::new();
                let size_hint = data.len() as u32;
                stream.start(&Parameters { quality, window_log: 19, size_hint }).unwrap();
                let mut rest = data.as_slice();
                while rest.len() > slice {
                    stream.encode(&rest[..slice], Operation::Process, &mut out, &never).unwrap();
                    rest = &rest[slice..];
                }
                stream.encode(rest, Operation::Finish, &mut out, &never).unwrap();
                out
            });
            assert!(outputs[0] == outputs[1], "quality {quality}");
        }
    }
}
