//! The outputs of jobs that end in any order, in the order of the body.

use std::collections::VecDeque;

use crate::job::JobId;

/// A piece of the encoded body, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Encoded bytes; can be empty.
    pub data: Vec<u8>,
    /// The body was flushed here, so the bytes must reach the client now.
    pub flush: bool,
    /// The stream ends here.
    pub last: bool,
}

/// The places of all outputs from the first that was not popped. Each has an id, one more than that before it.
#[derive(Default)]
pub struct Order {
    slots: VecDeque<Slot>,
    first: JobId,
    bytes: u64,
}

/// The place of one output.
enum Slot {
    Running { flush: bool, last: bool },
    Done(Output),
}

impl Order {
    /// The id that the next job will have.
    pub fn next_id(&self) -> JobId {
        self.first + self.slots.len() as u64
    }

    /// A job goes out, which will flush the body or end it.
    pub fn start(&mut self, flush: bool, last: bool) {
        self.slots.push_back(Slot::Running { flush, last });
    }

    /// An output that needs no job.
    pub fn put(&mut self, output: Output) {
        self.slots.push_back(Slot::Done(output));
    }

    /// What a job made. That of a job which is not known is dropped.
    pub fn complete(&mut self, id: JobId, data: Vec<u8>) {
        let index = id.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        if let Some(slot) = index.and_then(|index| self.slots.get_mut(index))
            && let Slot::Running { flush, last } = *slot
        {
            *slot = Slot::Done(Output { data, flush, last });
        }
    }

    /// The next output, if it is there.
    pub fn pop(&mut self) -> Option<Output> {
        if !self.has_output() {
            return None;
        }
        let Some(Slot::Done(output)) = self.slots.pop_front() else { return None };
        self.first += 1;
        self.bytes += output.data.len() as u64;
        Some(output)
    }

    /// Whether [`pop`](Self::pop) would give something.
    pub fn has_output(&self) -> bool {
        matches!(self.slots.front(), Some(Slot::Done(_)))
    }

    /// Whether a job is out.
    pub fn has_running(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Running { .. }))
    }

    /// Jobs that are out and outputs that were not popped.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether all is popped.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Bytes that were popped.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that are there and were not popped.
    pub fn unpopped(&self) -> u64 {
        let done = |slot: &Slot| match slot {
            Slot::Running { .. } => 0,
            Slot::Done(output) => output.data.len() as u64,
        };
        self.slots.iter().map(done).sum()
    }
}
