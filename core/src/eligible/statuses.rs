//! The statuses whose responses may be encoded: `compress_statuses`.

use std::{fmt, ops::RangeInclusive};

const RANGE: RangeInclusive<u16> = 200..=599;

/// They have no body, or a part of one (RFC 9110, 15.3.5 to 15.3.7, 15.4.5).
const NEVER: [u16; 4] = [204, 205, 206, 304];

/// A set of status codes from 200 to 599. It never has 204, 205, 206 and 304 in it, and nor has it 1xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statuses([u64; 7]);

impl Default for Statuses {
    /// The peers' statuses: 200, 403 and 404.
    fn default() -> Self {
        let mut statuses = Self::empty();
        for code in [200, 403, 404] {
            statuses.insert(code);
        }
        statuses
    }
}

impl Statuses {
    /// No status: what an explicit `compress_statuses` starts from.
    pub const fn empty() -> Self {
        Self([0; 7])
    }

    /// Is the status in the set?
    pub fn contains(&self, code: u16) -> bool {
        position(code).is_some_and(|(word, bit)| self.0[word] & bit != 0)
    }

    /// Adds one argument of `compress_statuses`: a code (`201`) or a class (`2xx`). The codes that are never in
    /// the set may be given, and are left out.
    ///
    /// # Errors
    /// See [`StatusError`].
    pub fn add(&mut self, argument: &[u8]) -> Result<(), StatusError> {
        let &[hundreds @ b'0'..=b'9', tens, units] = argument else { return Err(StatusError::Invalid) };
        let first = 100 * u16::from(hundreds - b'0');

        let codes = match (tens, units) {
            (b'x', b'x') => first..=first + 99,
            (b'0'..=b'9', b'0'..=b'9') => {
                let code = first + 10 * u16::from(tens - b'0') + u16::from(units - b'0');
                code..=code
            }
            _ => return Err(StatusError::Invalid),
        };
        if !RANGE.contains(codes.start()) {
            return Err(StatusError::OutOfRange);
        }

        codes.for_each(|code| self.insert(code));
        Ok(())
    }

    fn insert(&mut self, code: u16) {
        if let Some((word, bit)) = position(code) {
            self.0[word] |= bit;
        }
    }
}

/// Where the bit of a code is; `None` if it can never be in the set.
fn position(code: u16) -> Option<(usize, u64)> {
    if !RANGE.contains(&code) || NEVER.contains(&code) {
        return None;
    }
    let index = code - RANGE.start();
    Some((usize::from(index / 64), 1 << (index % 64)))
}

/// Why an argument of `compress_statuses` is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusError {
    /// Neither three digits nor a class.
    Invalid,
    /// Not from 200 to 599.
    OutOfRange,
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "must be a status code, or a class such as \"2xx\"",
            Self::OutOfRange => "must be from 200 to 599",
        })
    }
}

impl std::error::Error for StatusError {}
