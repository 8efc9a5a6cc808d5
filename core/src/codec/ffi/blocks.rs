//! Memory for a C encoder: blocks that it gives back are kept and used again.
//!
//! An encoder of level 9 takes a table of 32 MiB for every body; from the system, its page faults cost more than a
//! small body does.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use super::memory;

/// Smaller blocks, header included, go back to the system. To leave those of up to 32 KiB to it cost 5 % of the processor
/// time of a body of 2 KB.
const KEPT_FROM: usize = 1024;
/// A free block is dropped when as many segments in a row did not use it.
const UNUSED_SEGMENTS: u32 = 2;

/// What stands before the memory that the encoder sees. Its alignment is that of the memory: a cache line.
#[repr(C, align(64))]
struct Header {
    /// The next free block; of no meaning while the block is in use.
    next: *mut Header,
    /// The size of the block, this header included.
    size: usize,
    /// The number of the segment that used it last.
    segment: u32,
}

const HEADER: usize = size_of::<Header>();
const _: () = assert!(align_of::<Header>() == memory::ALIGNMENT);

/// The blocks of one encoder.
///
/// They are reached from C by the address that [`opaque`](Self::opaque) gives, so what that points to is held by raw
/// pointer and does not move when this does.
pub(super) struct Blocks(NonNull<Kept>);

struct Kept {
    /// Blocks that are not in use, linked by their headers.
    free: *mut Header,
    /// Bytes of all blocks, in use or not.
    held: usize,
    /// Counts the segments.
    segment: u32,
    /// Asked whenever the encoder wants memory, which it does many times between two looks at its input.
    cancelled: Option<NonNull<dyn Fn() -> bool>>,
    /// Whether memory was refused because that answered yes.
    refused: bool,
    /// How many more blocks the system gives.
    #[cfg(test)]
    left: usize,
}

// SAFETY: the blocks are plain memory of the global allocator, which any thread may use and free, and nothing else
// points to them but the encoder that they are for; `Blocks` is not `Sync`, and its owner moves with that encoder.
unsafe impl Send for Blocks {}

impl Blocks {
    pub(super) fn new() -> Self {
        let kept = Kept {
            free: ptr::null_mut(),
            held: 0,
            segment: 0,
            cancelled: None,
            refused: false,
            #[cfg(test)]
            left: usize::MAX,
        };
        Self(NonNull::from(Box::leak(Box::new(kept))))
    }

    /// What [`allocate`] and [`release`] must be given; valid until this is dropped.
    pub(super) fn opaque(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    /// Bytes of all blocks, those in use and those kept.
    pub(super) fn held(&self) -> usize {
        // SAFETY: `self.0` is valid as long as `self`, and C, the only other user, is not running while Rust is.
        unsafe { (*self.0.as_ptr()).held }
    }

    /// Ends a segment: gives the blocks back that the last segments did without.
    pub(super) fn end_segment(&mut self) {
        // SAFETY: as in `held`.
        let kept = unsafe { self.0.as_mut() };
        let segment = kept.segment;
        kept.drop_free(|header| segment.wrapping_sub(header.segment) >= UNUSED_SEGMENTS);
        kept.segment = segment.wrapping_add(1);
    }

    /// Runs `f`, in which the encoder gets no more memory once `cancelled` answers yes. Says what `f` gave, and
    /// whether that happened.
    pub(super) fn with_cancel<T>(
        &mut self,
        cancelled: &dyn Fn() -> bool,
        f: impl FnOnce() -> T,
    ) -> (T, bool) {
        /// Forgets the borrow, also when `f` panics.
        struct Armed(NonNull<Kept>);
        impl Drop for Armed {
            fn drop(&mut self) {
                // SAFETY: as in `held`.
                unsafe { (*self.0.as_ptr()).cancelled = None };
            }
        }
        // SAFETY: only the lifetime changes; `Armed` forgets the pointer before the borrow ends.
        let cancelled = unsafe {
            std::mem::transmute::<NonNull<dyn Fn() -> bool + '_>, NonNull<dyn Fn() -> bool + 'static>>(
                NonNull::from(cancelled),
            )
        };
        // SAFETY: as in `held`.
        unsafe {
            let kept = self.0.as_ptr();
            (*kept).cancelled = Some(cancelled);
            (*kept).refused = false;
        }
        let armed = Armed(self.0);
        let result = f();
        drop(armed);
        // SAFETY: as in `held`.
        (result, unsafe { (*self.0.as_ptr()).refused })
    }

    /// From now on the system gives only so many blocks.
    #[cfg(test)]
    pub(super) fn limit(&mut self, blocks: usize) {
        // SAFETY: as in `held`.
        unsafe { self.0.as_mut() }.left = blocks;
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        // SAFETY: it came from a box in `new`, and the owner drops the encoder, which alone has the address, before.
        let mut kept = unsafe { Box::from_raw(self.0.as_ptr()) };
        kept.drop_free(|_| true);
        debug_assert_eq!(kept.held, 0, "an encoder did not give back its memory");
    }
}

impl Kept {
    /// A free block of at least `size` bytes, and not of more than twice as many: the smallest.
    fn take_free(&mut self, size: usize) -> *mut Header {
        let mut best: *mut *mut Header = ptr::null_mut();
        let mut best_size = size.saturating_mul(2);
        let mut link: *mut *mut Header = &mut self.free;
        // SAFETY: `link` points to `self.free` or to the `next` of a free block, and the free blocks are valid: only
        // `release` links them, and `drop_free` and this unlink them before they are freed or given away.
        unsafe {
            while !(*link).is_null() {
                let header = *link;
                if (*header).size >= size && (*header).size <= best_size {
                    best = link;
                    best_size = (*header).size;
                }
                link = &raw mut (*header).next;
            }
            if best.is_null() {
                return ptr::null_mut();
            }
            let header = *best;
            *best = (*header).next;
            header
        }
    }

    /// A new block of `size` bytes, null if there is no memory.
    fn allocate(&mut self, size: usize) -> *mut Header {
        #[cfg(test)]
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => return ptr::null_mut(),
        }
        let header: *mut Header = memory::take(size).cast();
        if !header.is_null() {
            // SAFETY: just allocated, large enough and aligned for a header.
            unsafe { header.write(Header { next: ptr::null_mut(), size, segment: 0 }) };
            self.held += size;
        }
        header
    }

    /// Gives the free blocks that `which` names back to the system.
    fn drop_free(&mut self, which: impl Fn(&Header) -> bool) {
        let mut link: *mut *mut Header = &mut self.free;
        // SAFETY: as in `take_free`; each block was taken with its size.
        unsafe {
            while !(*link).is_null() {
                let header = *link;
                if which(&*header) {
                    *link = (*header).next;
                    self.free(header);
                } else {
                    link = &raw mut (*header).next;
                }
            }
        }
    }

    /// # Safety
    /// - `header` came from [`allocate`](Self::allocate) and is in no list, and nobody uses it any more.
    unsafe fn free(&mut self, header: *mut Header) {
        // SAFETY: the block is valid, as the caller promises.
        let size = unsafe { (*header).size };
        self.held -= size;
        // SAFETY: `allocate` took it with this size, and nobody uses it any more.
        unsafe { memory::give(header.cast(), size) };
    }
}

/// The size of a block for `size` bytes. The encoder's sizes vary a little from body to body: rounded up by at most an
/// eighth, they fit the blocks that are there.
fn block_size(size: usize) -> Option<usize> {
    let step = if size < KEPT_FROM { HEADER } else { 1 << (size.ilog2() - 3) };
    size.checked_next_multiple_of(step)?.checked_add(HEADER)
}

/// Gives the encoder memory, with whatever it contains; null if there is none (a `brotli_alloc_func`).
///
/// # Safety
/// - `opaque` is that of a [`Blocks`] that lives, and no other thread uses that one meanwhile.
pub(super) unsafe extern "C" fn allocate(opaque: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: as the caller promises; the reference ends before this returns.
    let kept = unsafe { &mut *opaque.cast::<Kept>() };
    // SAFETY: `with_cancel` forgets the function before it goes.
    if kept.cancelled.is_some_and(|cancelled| unsafe { cancelled.as_ref()() }) {
        kept.refused = true;
        return ptr::null_mut();
    }
    let Some(size) = block_size(size) else { return ptr::null_mut() };
    let mut header = if size < KEPT_FROM { ptr::null_mut() } else { kept.take_free(size) };
    if header.is_null() {
        header = kept.allocate(size);
    }
    if header.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the block is valid, of more than `HEADER` bytes, and nobody else has it.
    unsafe {
        (*header).segment = kept.segment;
        header.cast::<u8>().add(HEADER).cast()
    }
}

/// Takes memory back from the encoder (a `brotli_free_func`).
///
/// # Safety
/// - `opaque` is that of a [`Blocks`] that lives, and no other thread uses that one meanwhile.
/// - `address` is null or came from [`allocate`] with the same `opaque`, and is not used any more.
pub(super) unsafe extern "C" fn release(opaque: *mut c_void, address: *mut c_void) {
    if address.is_null() {
        return;
    }
    // SAFETY: as the caller promises; the reference ends before this returns.
    let kept = unsafe { &mut *opaque.cast::<Kept>() };
    // SAFETY: `allocate` gave an address that is one header past the beginning of its block.
    unsafe {
        let header: *mut Header = address.cast::<u8>().sub(HEADER).cast();
        if (*header).size < KEPT_FROM {
            kept.free(header);
        } else {
            (*header).next = kept.free;
            kept.free = header;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(blocks: &Blocks, size: usize) -> *mut c_void {
        // SAFETY: `blocks` lives, and this is the only thread that uses it.
        unsafe { allocate(blocks.opaque(), size) }
    }

    fn give_back(blocks: &Blocks, address: *mut c_void) {
        // SAFETY: as in `get`; the tests give back what they got, once.
        unsafe { release(blocks.opaque(), address) };
    }

    #[test]
    fn a_block_is_used_again_and_dropped_after_two_segments_without_use() {
        let mut blocks = Blocks::new();
        let large = get(&blocks, 1 << 20);
        give_back(&blocks, large);
        assert_eq!(get(&blocks, (1 << 20) - 5000), large);
        give_back(&blocks, large);
        let held = blocks.held();
        assert_eq!(held, (1 << 20) + HEADER);
        blocks.end_segment();
        blocks.end_segment();
        assert_eq!(blocks.held(), held);
        blocks.end_segment();
        assert_eq!(blocks.held(), 0);
    }

    #[test]
    fn a_much_larger_block_is_left_for_those_who_need_it() {
        let blocks = Blocks::new();
        let (small, large) = (get(&blocks, 100_000), get(&blocks, 1_000_000));
        give_back(&blocks, small);
        give_back(&blocks, large);
        assert_eq!(get(&blocks, 900_000), large);
        assert_eq!(get(&blocks, 90_000), small);
        let other = get(&blocks, 90_000);
        assert_ne!(other, small);
        for address in [small, large, other] {
            give_back(&blocks, address);
        }
    }

    #[test]
    fn small_blocks_are_not_kept_and_sizes_without_end_are_refused() {
        let blocks = Blocks::new();
        let small = get(&blocks, 100);
        assert_eq!(small.addr() % 64, 0);
        give_back(&blocks, small);
        assert_eq!(blocks.held(), 0);
        assert!(get(&blocks, usize::MAX - 10).is_null());
        assert!(get(&blocks, isize::MAX as usize - 10).is_null());
    }
}
