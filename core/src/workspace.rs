//! What a thread keeps from one job to the next.

use crate::codec::{Coding, Encoder};

/// Encoders of a coding that a thread keeps. More come back only when responses with encoders of their own end.
const KEPT: usize = 1;

/// The encoders and the input buffer of one thread.
pub struct Workspace {
    encoders: Vec<(Coding, Box<dyn Encoder>)>,
    /// Where a job puts the history and the segment together, with whatever earlier ones left in it.
    pub(crate) buffer: Vec<u8>,
    limit: usize,
    stop: fn() -> bool,
}

impl Workspace {
    /// Encoders with more than `limit` bytes are not kept. `stop` answers whether the process ends, so that jobs
    /// give up.
    pub fn new(limit: usize, stop: fn() -> bool) -> Self {
        Self { encoders: Vec::new(), buffer: Vec::new(), limit, stop }
    }

    /// Bytes that the thread keeps.
    pub fn memory(&self) -> usize {
        self.buffer.capacity() + self.encoders.iter().map(|(_, encoder)| encoder.memory()).sum::<usize>()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        (self.stop)()
    }

    /// An encoder for `coding`, a used one if there is one.
    pub(crate) fn take(&mut self, coding: Coding) -> Box<dyn Encoder> {
        let used = self.encoders.iter().position(|(other, _)| *other == coding);
        used.map_or_else(|| coding.encoder(), |index| self.encoders.swap_remove(index).1)
    }

    /// Gives an encoder back that is at the end of its segment.
    pub(crate) fn put(&mut self, coding: Coding, mut encoder: Box<dyn Encoder>) {
        encoder.reset();
        let same = self.encoders.iter().filter(|(other, _)| *other == coding).count();
        if same < KEPT && encoder.memory() <= self.limit {
            self.encoders.push((coding, encoder));
        }
    }

    /// Takes the buffer back, and keeps no more of it than about what the last job used.
    pub(crate) fn keep(&mut self, mut buffer: Vec<u8>, used: usize) {
        if buffer.capacity() > 2 * used.max(64 * 1024) {
            buffer.truncate(used);
            buffer.shrink_to(used);
        }
        self.buffer = buffer;
    }
}
