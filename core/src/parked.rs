//! The encoders of bodies that are not at their end, between two jobs.
//!
//! They are the only encoders that belong to responses; so a worker bounds their bytes. Every job ends with a
//! flush, so an encoder that waits holds nothing that the client has not got: it can be dropped at any time, and
//! the response goes on with a new one that is primed with the bytes before.

use std::collections::BTreeMap;

use crate::codec::Encoder;

/// The waiting encoders of a worker.
pub struct Parked {
    /// Oldest first: tickets only grow.
    encoders: BTreeMap<u64, (Box<dyn Encoder>, usize)>,
    next: u64,
    used: usize,
    limit: usize,
}

/// Stands for one encoder that was parked.
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket(u64);

impl Parked {
    /// `limit` in bytes.
    pub fn new(limit: usize) -> Self {
        Self { encoders: BTreeMap::new(), next: 0, used: 0, limit }
    }

    /// Parks an encoder; those that waited longest are dropped while the limit is passed.
    pub fn put(&mut self, encoder: Box<dyn Encoder>) -> Ticket {
        let memory = encoder.memory();
        let ticket = self.next;
        self.next += 1;
        self.used += memory;
        self.encoders.insert(ticket, (encoder, memory));
        while self.used > self.limit {
            let Some((_, (_, memory))) = self.encoders.pop_first() else { break };
            self.used -= memory;
        }
        Ticket(ticket)
    }

    /// The encoder back, if it was not dropped.
    pub fn take(&mut self, ticket: Ticket) -> Option<Box<dyn Encoder>> {
        let (encoder, memory) = self.encoders.remove(&ticket.0)?;
        self.used -= memory;
        Some(encoder)
    }

    /// Whether `bytes` more could wait without one being dropped.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.used.saturating_add(bytes) <= self.limit
    }

    /// Bytes of all waiting encoders.
    pub fn used(&self) -> usize {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{EncodeError, End, Segment, Settings};

    struct Sized(usize);

    impl Encoder for Sized {
        fn encode(
            &mut self,
            _: &Settings,
            _: &Segment,
            _: &[u8],
            _: usize,
            _: &mut Vec<u8>,
            _: &dyn Fn() -> bool,
        ) -> Result<(), EncodeError> {
            unreachable!()
        }
        fn open(&mut self, _: &Settings, _: &Segment, _: &[u8]) -> Result<(), EncodeError> {
            unreachable!()
        }
        fn write(
            &mut self,
            _: &[u8],
            _: End,
            _: &mut Vec<u8>,
            _: &dyn Fn() -> bool,
        ) -> Result<(), EncodeError> {
            unreachable!()
        }
        fn memory(&self) -> usize {
            self.0
        }
        fn reset(&mut self) {}
    }

    #[test]
    fn drops_the_one_that_waited_longest() {
        let mut parked = Parked::new(100);
        let a = parked.put(Box::new(Sized(40)));
        let b = parked.put(Box::new(Sized(40)));
        assert!(parked.has_room(20) && !parked.has_room(21));
        let taken = parked.take(a).unwrap();
        let a = parked.put(taken);
        let c = parked.put(Box::new(Sized(40)));
        assert!(parked.take(b).is_none());
        assert_eq!(parked.used(), 80);
        assert!(parked.take(a).is_some() && parked.take(c).is_some());
        assert_eq!(parked.used(), 0);
    }

    #[test]
    fn one_that_is_larger_than_the_limit_does_not_wait() {
        let mut parked = Parked::new(10);
        let ticket = parked.put(Box::new(Sized(11)));
        assert!(parked.take(ticket).is_none());
        assert_eq!(parked.used(), 0);
    }
}
