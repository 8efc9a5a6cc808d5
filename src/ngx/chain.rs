//! Chains of buffers: what comes in and waits, what goes out and waits.

use std::collections::VecDeque;
use std::ptr;
use std::slice;

use compress_core::stream::Output;
use nginx_sys::{
    ngx_buf_t, ngx_chain_add_copy, ngx_chain_get_free_buf, ngx_chain_t, ngx_chain_update_chains, ngx_pool_t,
};

use super::{ERROR, Failed, OK, Request, filter};
use crate::hooks;

/// The buffers that a filter was given and has not used up.
pub struct Incoming {
    pool: *mut ngx_pool_t,
    first: *mut ngx_chain_t,
}

/// What a buffer has to offer at its front.
pub enum Content<'a> {
    /// Bytes in memory.
    Memory(&'a [u8]),
    /// A range of a file: descriptor, offset, length.
    File(i32, u64, u64),
    /// Nothing more: the marks that it carries.
    End { flush: bool, last: bool },
}

impl Incoming {
    /// An empty chain of a request.
    pub fn new(request: Request) -> Self {
        Self { pool: request.pool(), first: ptr::null_mut() }
    }

    /// Whether no buffer is left.
    pub fn is_empty(&self) -> bool {
        self.first.is_null()
    }

    /// Appends what the filter was called with; the links are copied, the buffers are not.
    ///
    /// # Errors
    /// No memory.
    ///
    /// # Safety
    /// `chain` is NULL or a chain of valid buffers that stay valid until they are used up.
    pub unsafe fn add(&mut self, chain: *mut ngx_chain_t) -> Result<(), Failed> {
        // SAFETY: the pool is the request's; the caller vouches for the chain.
        match unsafe { ngx_chain_add_copy(self.pool, &mut self.first, chain) } {
            OK if !hooks::refuses("pool") => Ok(()),
            _ => Err(Failed),
        }
    }

    /// What the first buffer has. Memory is preferred where a buffer is in memory and in a file.
    pub fn front(&self) -> Option<Content<'_>> {
        if self.first.is_null() {
            return None;
        }
        // SAFETY: the links were made by `add`, whose caller vouched for the buffers.
        let buf = unsafe { &*(*self.first).buf };
        if is_in_memory(buf) {
            // SAFETY: a buffer in memory has its bytes from `pos` to `last`.
            let bytes = unsafe { slice::from_raw_parts(buf.pos, buf.last.offset_from(buf.pos) as usize) };
            if !bytes.is_empty() {
                return Some(Content::Memory(bytes));
            }
        } else if buf.in_file() != 0 && buf.file_last > buf.file_pos {
            // SAFETY: a buffer in a file has one.
            let fd = unsafe { (*buf.file).fd };
            return Some(Content::File(fd, buf.file_pos as u64, (buf.file_last - buf.file_pos) as u64));
        }
        Some(Content::End { flush: buf.flush() != 0, last: buf.last_buf() != 0 })
    }

    /// The first `n` bytes of the first buffer were used.
    pub fn advance(&mut self, n: usize) {
        // SAFETY: as `front`, which the caller asked for the length.
        unsafe {
            let buf = &mut *(*self.first).buf;
            if is_in_memory(buf) {
                buf.pos = buf.pos.add(n);
            } else {
                buf.file_pos += n as i64;
            }
        }
    }

    /// The first buffer is used up; its link goes back to the pool.
    pub fn pop(&mut self) {
        // SAFETY: the link was made by ngx_chain_add_copy for us alone (ngx_free_chain).
        unsafe {
            let link = self.first;
            self.first = (*link).next;
            (*link).next = (*self.pool).chain;
            (*self.pool).chain = link;
        }
    }
}

fn is_in_memory(buf: &ngx_buf_t) -> bool {
    buf.temporary() != 0 || buf.memory() != 0 || buf.mmap() != 0
}

/// The output that was passed on and may wait for the client.
pub struct Outgoing {
    request: Request,
    busy: *mut ngx_chain_t,
    free: *mut ngx_chain_t,
    /// The bytes of the buffers, in order, until they are sent.
    held: VecDeque<(*mut ngx_buf_t, Vec<u8>)>,
}

impl Outgoing {
    /// Nothing yet.
    pub fn new(request: Request) -> Self {
        Self { request, busy: ptr::null_mut(), free: ptr::null_mut(), held: VecDeque::new() }
    }

    /// Passes output on, or what was passed on before and could not be sent; says whether NGINX was called.
    ///
    /// # Errors
    /// A filter below failed, or there is no memory.
    pub fn send(&mut self, output: impl IntoIterator<Item = Output>) -> Result<bool, Failed> {
        let mut chain = self.link(output)?;
        // With nothing below, the write filter takes an empty chain for a mistake of its caller.
        if chain.is_null() && self.busy.is_null() && !self.request.is_write_buffered() {
            return Ok(false);
        }
        // SAFETY: `link` made the chain; its bytes are in `held` until the buffers are empty.
        let code = unsafe { filter::next_body(self.request, chain) };
        // SAFETY: all links came from the request's pool.
        unsafe {
            ngx_chain_update_chains(
                self.request.pool(),
                &mut self.free,
                &mut self.busy,
                &mut chain,
                self.request.tag(),
            );
        }
        self.drop_sent();
        if code == ERROR { Err(Failed) } else { Ok(true) }
    }

    /// Bytes that wait for the client.
    pub fn unsent(&self) -> u64 {
        // SAFETY: the buffers are in the request's pool and point into the bytes that are held beside them.
        let bytes = |buf: *mut ngx_buf_t| unsafe { (*buf).last.offset_from((*buf).pos) as u64 };
        self.held.iter().map(|(buf, _)| bytes(*buf)).sum()
    }

    /// Whether a buffer waits below.
    pub fn is_busy(&self) -> bool {
        !self.busy.is_null()
    }

    fn link(&mut self, output: impl IntoIterator<Item = Output>) -> Result<*mut ngx_chain_t, Failed> {
        let mut first: *mut ngx_chain_t = ptr::null_mut();
        let mut end: *mut *mut ngx_chain_t = &mut first;
        for mut output in output {
            // SAFETY: the pool is the request's; a link from it is cleared before it is used, but for its buffer's
            // place; `end` points to the end of the chain that grows here.
            unsafe {
                let link = ngx_chain_get_free_buf(self.request.pool(), &mut self.free);
                if link.is_null() || hooks::refuses("pool") {
                    return Err(Failed);
                }
                let buf = &mut *(*link).buf;
                ptr::write_bytes(buf, 0, 1);
                buf.start = output.data.as_mut_ptr();
                buf.pos = buf.start;
                buf.last = buf.pos.add(output.data.len());
                buf.end = buf.last;
                buf.tag = self.request.tag();
                buf.set_memory(u32::from(!output.data.is_empty()));
                buf.set_flush(u32::from(output.flush));
                buf.set_last_buf(u32::from(output.last));
                (*link).next = ptr::null_mut();
                *end = link;
                end = &mut (*link).next;
                if !output.data.is_empty() {
                    self.held.push_back((buf, output.data));
                }
            }
        }
        Ok(first)
    }

    /// Buffers are sent in order: the bytes of those at the front that are empty are not needed any more.
    fn drop_sent(&mut self) {
        // SAFETY: as `unsent`.
        while self.held.front().is_some_and(|(buf, _)| unsafe { (**buf).pos == (**buf).last }) {
            self.held.pop_front();
        }
    }
}
