//! Segments of any bytes, at any level, with any window, cut anywhere and encoded in any way: one stream.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use compress_core::codec::{Coding, Dictionary, Settings};

use crate::codec_support::segments::{Way, encode_all};
use crate::codec_support::{Contents, DICTIONARY, bytes};

/// As long as a body can get: a little more than a block.
const LONGEST: usize = 150_000;

static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| bytes(Contents::Text, 10_000, 1));

/// One case for Brotli.
pub fn brotli(data: &[u8]) {
    let _ = run(&mut Unstructured::new(data), Coding::Brotli);
}

/// One case for Zstandard.
pub fn zstd(data: &[u8]) {
    let _ = run(&mut Unstructured::new(data), Coding::Zstd);
}

fn run(u: &mut Unstructured, coding: Coding) -> Result<()> {
    let settings = settings(u, coding)?;
    let terminator = u.arbitrary()?;
    let cuts =
        (0..u.int_in_range(0..=5)?).map(|_| u.int_in_range(0..=u16::MAX)).collect::<Result<Vec<_>>>()?;
    let ways = (0..=cuts.len()).map(|_| way(u)).collect::<Result<Vec<_>>>()?;
    let body = body(u)?;
    if body.is_empty() {
        return Ok(());
    }
    encode_all(&settings, &cut(&body, &cuts, ways), terminator, &body);
    Ok(())
}

fn settings(u: &mut Unstructured, coding: Coding) -> Result<Settings> {
    let (level, largest) = match coding {
        Coding::Brotli => (u.int_in_range(0..=11)?, 24),
        Coding::Zstd => (*u.choose(&ZSTD_LEVELS)?, 23),
    };
    // No body fills a window that is larger than this, but its tables take long to clear.
    let largest = if u.ratio(1, 16)? { largest } else { 17 };
    let window_log = u.int_in_range(10..=largest)?;
    let dictionary = if coding == Coding::Zstd && u.ratio(1, 4)? {
        Some(Dictionary::new(DICTIONARY, level).expect("a good dictionary"))
    } else {
        None
    };
    Ok(Settings { coding, level, window_log, dictionary })
}

const ZSTD_LEVELS: [i32; 26] =
    [-131_072, -50, -7, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22];

fn way(u: &mut Unstructured) -> Result<Way> {
    let history = match u.int_in_range(0..=3)? {
        0 => 0,
        1 => u.int_in_range(1..=20)?,
        2 => u.int_in_range(21..=LONGEST)?,
        _ => usize::MAX,
    };
    if u.arbitrary()? {
        return Ok(Way::Whole(history));
    }
    let length_known = u.arbitrary()?;
    let mut pieces =
        (0..u.int_in_range(0..=3)?).map(|_| u.int_in_range(0..=30_000)).collect::<Result<Vec<_>>>()?;
    // So that it comes to an end, and soon.
    pieces.push(10_000);
    Ok(Way::Pieces { history, pieces, length_known })
}

/// A body that its own bytes, generated ones, and copies of what is there make up.
fn body(u: &mut Unstructured) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    while !u.is_empty() && body.len() < LONGEST {
        match u.int_in_range(0..=7)? {
            0 => body.extend(&TEXT[..u.int_in_range(0..=TEXT.len())?]),
            1 => body.extend(bytes(Contents::Noise, u.int_in_range(0..=3_000)?, u.arbitrary::<u8>()?.into())),
            2 => body.resize(body.len() + u.int_in_range(0..=40_000)?, u.arbitrary()?),
            3..=5 => copy(&mut body, u.int_in_range(0..=u32::MAX)? as usize, u.int_in_range(0..=2000)?),
            _ => {
                let length = u.int_in_range(1..=64)?.min(u.len());
                body.extend_from_slice(u.bytes(length)?);
            }
        }
    }
    body.truncate(LONGEST);
    Ok(body)
}

/// Appends what stands `distance` bytes back, as a decoder does.
fn copy(body: &mut Vec<u8>, distance: usize, length: usize) {
    if !body.is_empty() {
        let from = body.len() - (distance % body.len() + 1);
        for at in from..from + length {
            body.push(body[at]);
        }
    }
}

/// Cuts where `cuts` say, in 65536ths of the body.
fn cut(body: &[u8], cuts: &[u16], ways: Vec<Way>) -> Vec<(usize, Way)> {
    let mut ends: Vec<usize> = cuts.iter().map(|&cut| body.len() * usize::from(cut) >> 16).collect();
    ends.push(body.len());
    ends.sort_unstable();
    ends.retain(|&end| end > 0);
    // No segment is empty.
    ends.dedup();
    let starts = [0].into_iter().chain(ends.clone());
    starts.zip(&ends).map(|(start, end)| end - start).zip(ways).collect()
}
