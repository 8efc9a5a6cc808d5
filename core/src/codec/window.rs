//! How far back an encoder looks.

use super::Coding;
use super::ffi::zstd::level_window_log;

/// Brotli's least, and Zstandard's.
const LEAST: u32 = 10;
/// The default of google/ngx_brotli.
const BROTLI_DEFAULT: u32 = 19;
/// Brotli's most without an extension that decoders need not know.
const BROTLI_MOST: u32 = 24;
/// What a decoder of `zstd` must be able to do, and a server must not exceed (RFC 9659).
const ZSTD_MOST: u32 = 23;

/// The binary logarithm of the window for a body of `length` bytes, if that is known: of what is `configured`, or of
/// the default, as much as such a body can use. Small windows come with small tables.
///
/// Brotli's default is that of google/ngx_brotli, and it is fitted in the same way: to at most twice the length.
/// Zstandard's default is the level's own, which is fitted to the length; the length can then be the window of a
/// decoder (RFC 8878, 3.1.1.1.1.2).
pub fn window_for(coding: Coding, level: i32, configured: Option<u32>, length: Option<u64>) -> u32 {
    let (default, most) = match coding {
        Coding::Brotli => (BROTLI_DEFAULT, BROTLI_MOST),
        Coding::Zstd => (level_window_log(level), ZSTD_MOST),
    };
    let window_log = configured.unwrap_or(default).clamp(LEAST, most);
    let Some(length) = length else { return window_log };
    let needed = match coding {
        // The least n with length >= 2^(n-1).
        Coding::Brotli => length.checked_ilog2().map_or(0, |log| log + 1),
        // The least n with length <= 2^n.
        Coding::Zstd => length.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1),
    };
    window_log.min(needed.max(LEAST))
}

/// The binary logarithm of a window that `brotli_window` sets in bytes; `None` if Brotli has no such window.
pub fn brotli_window_log(bytes: usize) -> Option<u32> {
    let window_log = bytes.checked_ilog2()?;
    (bytes.is_power_of_two() && (LEAST..=BROTLI_MOST).contains(&window_log)).then_some(window_log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_no_larger_than_the_body_can_use() {
        let cases = [
            (Coding::Brotli, 6, None, None, 19),
            (Coding::Brotli, 6, Some(24), None, 24),
            (Coding::Brotli, 6, None, Some(0), 10),
            (Coding::Brotli, 6, None, Some(1024), 11),
            (Coding::Brotli, 6, None, Some(65_535), 16),
            (Coding::Brotli, 6, None, Some(65_536), 17),
            (Coding::Brotli, 6, None, Some(87_533), 17),
            (Coding::Brotli, 6, None, Some(u64::MAX), 19),
            (Coding::Brotli, 6, Some(12), Some(1 << 20), 12),
            (Coding::Zstd, 3, None, None, 21),
            (Coding::Zstd, 19, None, None, 23),
            (Coding::Zstd, 22, None, None, 23),
            (Coding::Zstd, 22, None, Some(u64::MAX), 23),
            (Coding::Zstd, 3, Some(12), None, 12),
            (Coding::Zstd, 3, Some(27), None, 23),
            (Coding::Zstd, 3, None, Some(0), 10),
            (Coding::Zstd, 3, None, Some(65_536), 16),
            (Coding::Zstd, 3, None, Some(65_537), 17),
        ];
        for (coding, level, configured, length, expected) in cases {
            let window_log = window_for(coding, level, configured, length);
            assert_eq!(window_log, expected, "{coding:?} {level} {configured:?} {length:?}");
        }
    }

    #[test]
    fn windows_of_brotli_are_powers_of_two() {
        for (bytes, expected) in [
            (0, None),
            (1, None),
            (512, None),
            (1 << 10, Some(10)),
            (1025, None),
            (3 << 10, None),
            (1 << 24, Some(24)),
            (1 << 25, None),
            (usize::MAX, None),
        ] {
            assert_eq!(brotli_window_log(bytes), expected, "{bytes}");
        }
    }
}
