//! libzstd's compression context.

mod allocate;
mod calls;
mod dictionary;

use std::ptr::NonNull;

use zstd_sys as c;

pub(in crate::codec) use self::calls::{estimate, level_window_log};
pub use self::dictionary::Dictionary;
use crate::codec::{EncodeError, End};

/// What a frame, or a part of one, is compressed with.
pub(in crate::codec) struct Parameters {
    /// The library's compression level.
    pub level: i32,
    /// No reference goes further back than 2 to the power of this.
    pub window_log: u32,
    /// What is known of the number of bytes to come.
    pub length: Length,
    /// Whether a frame goes on; else it begins.
    pub continued: bool,
    /// What the beginning of a frame may refer to. Not together with a history.
    pub dictionary: Option<Dictionary>,
}

/// What is known of the number of bytes to come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::codec) enum Length {
    /// It is this, and the frame's header says so.
    Declared(u64),
    /// It is this; the frame may go on after it, so its header does not say so.
    Exact(u64),
    /// It is about this.
    Hint(u64),
    /// Nothing.
    Unknown,
}

/// A compression context, used for one frame or part of a frame after the other.
///
/// It refers by address to what it has compressed and to its dictionary, which have to stay where they are until the
/// context is set up anew.
pub(in crate::codec) struct Context {
    context: Option<NonNull<c::ZSTD_CCtx>>,
    /// What the open part refers to, and what it compresses next. It never moves while a part is open.
    ring: Vec<u8>,
    open: Option<Open>,
}

/// A part of a frame whose bytes come piece by piece.
struct Open {
    parameters: Parameters,
    /// Bytes of the ring that are used; its capacity is at least this.
    size: usize,
}

// SAFETY: a context has no ties to a thread, it belongs to this value alone, and every use that changes it takes
// `&mut self`. What it refers to outside is in `ring` and `open`, whose bytes and
// dictionary stay where they are when this moves.
unsafe impl Send for Context {}

impl Context {
    /// A context that takes its memory when it is first used.
    pub fn new() -> Self {
        Self { context: None, ring: Vec::new(), open: None }
    }

    /// Compresses `data`, which may refer to the `history` before it in one buffer, in slices of `slice` bytes, and
    /// appends the blocks to `out`. `between` looks at each slice done, and may stop it. With a declared length the
    /// header of the frame comes first, else there is none.
    pub fn compress(
        &mut self,
        parameters: &Parameters,
        (history, data): (&[u8], &[u8]),
        slice: usize,
        end: End,
        out: &mut Vec<u8>,
        between: &dyn Fn() -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.close();
        let context = self.context()?;
        let mut compress = || {
            // SAFETY: the context is valid. All that it refers to is borrowed for the whole of this function, and with
            // no part open it is set up anew before it compresses again.
            unsafe { calls::begin(context, parameters, history, out) }?;
            let mut rest = data;
            while rest.len() > slice {
                let piece;
                (piece, rest) = rest.split_at(slice);
                // SAFETY: as above.
                unsafe { calls::compress(context, piece, End::Flush, out) }?;
                between()?;
            }
            // SAFETY: as above.
            unsafe { calls::compress(context, rest, end, out) }
        };
        compress()
    }

    /// Begins a part of a frame after `history`, in place of the one before. Its bytes come by [`write`](Self::write),
    /// and `room` bytes of them are kept together to refer to. There is no header.
    pub fn open(&mut self, parameters: Parameters, history: &[u8], room: usize) -> Result<(), EncodeError> {
        self.close();
        let size = history.len().saturating_add(room.max(1));
        self.ring.clear();
        self.ring.try_reserve_exact(size).map_err(|_| EncodeError::Memory)?;
        self.ring.extend_from_slice(history);
        let context = self.context()?;
        // SAFETY: the context is valid. It refers to the ring, which `write` keeps as it has to be while the part is
        // open, and to the dictionary, which `self.open` keeps; after that it is set up anew before it compresses again.
        unsafe { calls::begin(context, &parameters, &self.ring, &mut Vec::new()) }?;
        self.open = Some(Open { parameters, size });
        Ok(())
    }

    /// Goes on with what [`open`](Self::open) began: compresses `data` into whole blocks and appends them to `out`.
    pub fn write(&mut self, data: &[u8], end: End, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let mut rest = data;
        loop {
            let room = self.make_room(!rest.is_empty())?;
            let piece;
            (piece, rest) = rest.split_at(room.min(rest.len()));
            let start = self.ring.len();
            // Does not move the bytes before: there is room.
            self.ring.extend_from_slice(piece);
            let end_of_piece = if rest.is_empty() { end } else { End::Flush };
            let context = self.context()?;
            // SAFETY: the context is valid and set up, since a part is open. The bytes before `start` are those that it
            // has compressed or was given as history, except that after `make_room` began at the front again they are
            // overwritten in order, as the context expects of a ring.
            unsafe { calls::compress(context, &self.ring[start..], end_of_piece, out) }?;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// How many bytes can come into the ring, which is made to be some if that is `wanted`.
    fn make_room(&mut self, wanted: bool) -> Result<usize, EncodeError> {
        let open = self.open.as_ref().ok_or(EncodeError::Library("no segment is open"))?;
        if self.ring.len() < open.size || !wanted {
            return Ok(open.size - self.ring.len());
        }
        if !open.parameters.continued {
            self.ring.clear();
            return Ok(open.size);
        }
        // The ring must not begin at the front again: what is compressed then is in two pieces with what it refers to,
        // and there most of the library's match finders take an invalid repeat offset for a match. So the part begins
        // anew after the bytes so far.
        let history = (open.size / 2).min(1 << open.parameters.window_log);
        let start = self.ring.len() - history;
        self.ring.copy_within(start.., 0);
        self.ring.truncate(history);
        let room = open.size - history;
        let open = self.open.take();
        let context = self.context()?;
        if let Some(open) = open {
            // SAFETY: as in `open`.
            unsafe { calls::begin(context, &open.parameters, &self.ring, &mut Vec::new()) }?;
            self.open = Some(open);
        }
        Ok(room)
    }

    /// Ends what is open, finished or not.
    pub fn close(&mut self) {
        self.open = None;
    }

    /// The context, valid until [`release`](Self::release), with no other user than `self`.
    fn context(&mut self) -> Result<*mut c::ZSTD_CCtx, EncodeError> {
        if let Some(context) = self.context {
            return Ok(context.as_ptr());
        }
        // SAFETY: takes functions that do what the library asks of them, and gives a valid context or null.
        let context = unsafe { c::ZSTD_createCCtx_advanced(allocate::FUNCTIONS) };
        let context = NonNull::new(context).ok_or(EncodeError::Memory)?;
        self.context = Some(context);
        Ok(context.as_ptr())
    }

    /// Gives all memory back; the next use takes it anew.
    pub fn release(&mut self) {
        self.close();
        self.ring = Vec::new();
        if let Some(context) = self.context.take() {
            // SAFETY: the context is valid and was just forgotten.
            unsafe { c::ZSTD_freeCCtx(context.as_ptr()) };
        }
    }

    /// Bytes that are held.
    pub fn memory(&self) -> usize {
        let context = self.context.map_or(0, |context| {
            // SAFETY: the context is valid, and is only looked at.
            unsafe { c::ZSTD_sizeof_CCtx(context.as_ptr()) }
        });
        context + self.ring.capacity()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.release();
    }
}
