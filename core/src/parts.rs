//! A stretch of a body, as memory and ranges of files, without a copy for every owner.

use std::collections::{TryReserveError, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// A file that a job reads in its thread. The owner keeps it open as long as parts of it are around.
pub trait ReadAt: Send + Sync {
    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// The system's error, or `UnexpectedEof` when the file is shorter than it was.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

/// A stretch of a body.
#[derive(Clone, Default)]
pub struct Parts {
    parts: VecDeque<Part>,
    /// Memory that still grows; it follows the parts.
    tail: Vec<u8>,
    len: u64,
}

#[derive(Clone)]
enum Part {
    Memory { data: Arc<Vec<u8>>, range: Range<usize> },
    File { file: Arc<dyn ReadAt>, offset: u64, len: u64 },
}

impl Parts {
    /// Bytes in all.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory that are held for it.
    pub fn memory(&self) -> usize {
        let held = |part: &Part| match part {
            Part::Memory { data, .. } => data.capacity(),
            Part::File { .. } => 0,
        };
        self.tail.capacity() + self.parts.iter().map(held).sum::<usize>()
    }

    /// Appends a copy of `bytes`. `expected` is how long the stretch will probably get; room for as much is made
    /// at the first byte.
    ///
    /// # Errors
    /// No memory; nothing was appended.
    pub fn push_bytes(&mut self, bytes: &[u8], expected: u64) -> Result<(), TryReserveError> {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.tail.is_empty() {
            let room = expected.saturating_sub(self.len).max(bytes.len() as u64);
            self.tail.try_reserve_exact(usize::try_from(room).unwrap_or(usize::MAX))?;
        } else {
            self.tail.try_reserve(bytes.len())?;
        }
        self.tail.extend_from_slice(bytes);
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Appends `len` bytes of a file, unread.
    pub fn push_file(&mut self, file: Arc<dyn ReadAt>, offset: u64, len: u64) {
        self.freeze();
        self.push(Part::File { file, offset, len });
    }

    /// Takes the first `n` bytes out, or all if there are fewer.
    pub fn take(&mut self, n: u64) -> Self {
        self.freeze();
        let mut taken = Self::default();
        while taken.len < n {
            let Some(mut part) = self.parts.pop_front() else { break };
            self.len -= part.len();
            if part.len() > n - taken.len {
                let rest = part.split_off(n - taken.len);
                self.len += rest.len();
                self.parts.push_front(rest);
            }
            taken.push(part);
        }
        taken
    }

    /// Appends what `other` has, sharing its memory, and then keeps the last `n` bytes of it all.
    pub fn slide(&mut self, other: &Self, n: u64) {
        debug_assert!(self.tail.is_empty() && other.tail.is_empty());
        for part in &other.parts {
            self.push(part.clone());
        }
        while self.len > n {
            let Some(mut part) = self.parts.pop_front() else { break };
            self.len -= part.len();
            if self.len < n {
                let rest = part.split_off(part.len() - (n - self.len));
                self.len += rest.len();
                self.parts.push_front(rest.compacted());
                break;
            }
        }
    }

    /// Puts all bytes into `buffer` from `at` on, reading files; says where they end. What the buffer has beyond that
    /// means nothing: it is not cleared before it is written over.
    ///
    /// # Errors
    /// A file's error, or `OutOfMemory`.
    pub fn read_into(&self, buffer: &mut Vec<u8>, at: usize) -> io::Result<usize> {
        let len = usize::try_from(self.len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let end = at.checked_add(len).ok_or(io::ErrorKind::OutOfMemory)?;
        if end > buffer.len() {
            buffer.try_reserve_exact(end - buffer.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
            buffer.resize(end, 0);
        }
        let mut rest = &mut buffer[at..end];
        for part in &self.parts {
            let room;
            (room, rest) = rest.split_at_mut(part.len() as usize);
            match part {
                Part::Memory { data, range } => room.copy_from_slice(&data[range.clone()]),
                Part::File { file, offset, .. } => file.read_exact_at(room, *offset)?,
            }
        }
        rest.copy_from_slice(&self.tail);
        Ok(end)
    }

    fn push(&mut self, part: Part) {
        if part.len() > 0 {
            self.len += part.len();
            self.parts.push_back(part);
        }
    }

    fn freeze(&mut self) {
        if !self.tail.is_empty() {
            let data = std::mem::take(&mut self.tail);
            self.parts.push_back(Part::Memory { range: 0..data.len(), data: Arc::new(data) });
        }
    }
}

impl Part {
    fn len(&self) -> u64 {
        match self {
            Self::Memory { range, .. } => range.len() as u64,
            Self::File { len, .. } => *len,
        }
    }

    /// Keeps the first `n` bytes and gives the others; `n` is less than the length.
    fn split_off(&mut self, n: u64) -> Self {
        match self {
            Self::Memory { data, range } => {
                let middle = range.start + n as usize;
                let rest = Self::Memory { data: data.clone(), range: middle..range.end };
                range.end = middle;
                rest
            }
            Self::File { file, offset, len } => {
                let rest = Self::File { file: file.clone(), offset: *offset + n, len: *len - n };
                *len = n;
                rest
            }
        }
    }

    /// A copy of its own where the part would keep more than twice its bytes in memory.
    fn compacted(self) -> Self {
        match self {
            Self::Memory { data, range } if range.len() * 2 < data.len() => {
                let data = data[range].to_vec();
                Self::Memory { range: 0..data.len(), data: Arc::new(data) }
            }
            part => part,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes(Vec<u8>);

    impl ReadAt for Bytes {
        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
            let start = offset as usize;
            let bytes = self.0.get(start..start + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
            buffer.copy_from_slice(bytes);
            Ok(())
        }
    }

    fn bytes(parts: &Parts) -> Vec<u8> {
        let mut buffer = b"before, and more than is needed".to_vec();
        let end = parts.read_into(&mut buffer, 7).unwrap();
        assert_eq!((end - 7) as u64, parts.len());
        assert_eq!(&buffer[..7], b"before,");
        buffer[7..end].to_vec()
    }

    fn mixed() -> Parts {
        let mut parts = Parts::default();
        parts.push_bytes(b"abc", 0).unwrap();
        parts.push_bytes(b"def", 0).unwrap();
        parts.push_file(Arc::new(Bytes(b"..ghijkl..".to_vec())), 2, 6);
        parts.push_bytes(b"mno", 100).unwrap();
        parts
    }

    #[test]
    fn takes_from_the_front_across_memory_and_files() {
        for n in 0..=16 {
            let mut parts = mixed();
            let front = parts.take(n);
            let n = (n as usize).min(15);
            assert_eq!(bytes(&front), b"abcdefghijklmno"[..n]);
            assert_eq!(bytes(&parts), b"abcdefghijklmno"[n..]);
        }
    }

    #[test]
    fn slides_a_window_over_what_was_taken() {
        for step in 1..=15 {
            for window in 0..=16 {
                let (mut parts, mut recent, mut seen) = (mixed(), Parts::default(), 0);
                while !parts.is_empty() {
                    let taken = parts.take(step);
                    seen += taken.len() as usize;
                    recent.slide(&taken, window);
                    let from = seen.saturating_sub(window as usize);
                    assert_eq!(bytes(&recent), b"abcdefghijklmno"[from..seen]);
                }
            }
        }
    }

    #[test]
    fn a_small_rest_does_not_keep_a_large_piece_of_memory() {
        let (mut parts, mut recent) = (Parts::default(), Parts::default());
        parts.push_bytes(&[7; 100_000], 0).unwrap();
        recent.slide(&parts.take(u64::MAX), 1000);
        assert_eq!(recent.memory(), 1000);
    }

    #[test]
    fn no_bytes_take_no_memory() {
        let mut parts = Parts::default();
        parts.push_file(Arc::new(Bytes(vec![0; 10])), 0, 10);
        parts.push_bytes(b"", 100_000).unwrap();
        assert_eq!((parts.len(), parts.memory()), (10, 0));
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let mut parts = Parts::default();
        parts.push_file(Arc::new(Bytes(vec![0; 10])), 5, 6);
        assert_eq!(parts.read_into(&mut Vec::new(), 0).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
