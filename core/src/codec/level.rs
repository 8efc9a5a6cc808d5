//! Levels as the configuration writes them.

use std::fmt;

use super::Coding;

/// A level of the coding, as the argument of `brotli_comp_level` or `zstd_comp_level` has it: a decimal number, which
/// of Zstandard can be negative.
///
/// # Errors
/// See [`LevelError`].
pub fn parse_level(coding: Coding, argument: &[u8]) -> Result<i32, LevelError> {
    let (levels, has_zero) = match coding {
        Coding::Brotli => (0..=11, true),
        Coding::Zstd => (-131_072..=22, false),
    };
    let digits = match argument {
        [b'-', digits @ ..] if *levels.start() < 0 => digits,
        digits => digits,
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(LevelError::NotANumber);
    }
    std::str::from_utf8(argument)
        .ok()
        .and_then(|text| text.parse().ok())
        .filter(|level| levels.contains(level) && (*level != 0 || has_zero))
        .ok_or(LevelError::OutOfRange(coding))
}

/// Why an argument is no level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelError {
    /// It has something other than digits.
    NotANumber,
    /// The coding has no such level.
    OutOfRange(Coding),
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "invalid number",
            Self::OutOfRange(Coding::Brotli) => "value must be between 0 and 11",
            Self::OutOfRange(Coding::Zstd) => "zstd compress level must between -131072 and 22 excluding 0",
        })
    }
}

impl std::error::Error for LevelError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_decimal_numbers_in_range() {
        let (none, far) = (Err(LevelError::NotANumber), LevelError::OutOfRange);
        let cases = [
            ("0", Ok(0), Err(far(Coding::Zstd))),
            ("-0", none, Err(far(Coding::Zstd))),
            ("06", Ok(6), Ok(6)),
            ("11", Ok(11), Ok(11)),
            ("12", Err(far(Coding::Brotli)), Ok(12)),
            ("22", Err(far(Coding::Brotli)), Ok(22)),
            ("23", Err(far(Coding::Brotli)), Err(far(Coding::Zstd))),
            ("-1", none, Ok(-1)),
            ("-131072", none, Ok(-131_072)),
            ("-131073", none, Err(far(Coding::Zstd))),
            ("99999999999999999999", Err(far(Coding::Brotli)), Err(far(Coding::Zstd))),
            ("", none, none),
            ("-", none, none),
            ("--1", none, none),
            ("+1", none, none),
            ("1 ", none, none),
            ("1k", none, none),
            ("0x1", none, none),
        ];
        for (argument, brotli, zstd) in cases {
            let levels =
                [Coding::Brotli, Coding::Zstd].map(|coding| parse_level(coding, argument.as_bytes()));
            assert_eq!(levels, [brotli, zstd], "{argument:?}");
        }
    }
}
