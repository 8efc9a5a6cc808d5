//! The state of a response: any pushes, flushes, orders of completion, failures, loads and limits.

use arbitrary::{Result, Unstructured};
use compress_core::codec::{Coding, Dictionary};
use compress_core::plan::Limits;
use compress_core::stream::Body;

use crate::codec_support::DICTIONARY;
use crate::stream_support::{Case, Step, check};

/// More steps only take time.
const STEPS: usize = 32;

/// One case.
pub fn run(data: &[u8]) {
    let Ok(case) = case(&mut Unstructured::new(data)) else { return };
    let _shown = ShownOnPanic(&case);
    check(&case);
}

/// So that a case that fails can become a test.
struct ShownOnPanic<'a>(&'a Case);

impl Drop for ShownOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{:?}", self.0);
        }
    }
}

fn case(u: &mut Unstructured) -> Result<Case> {
    let body = body(u)?;
    let limits = Limits {
        // Shorter ones only take time.
        segment: u.int_in_range(500..=8_000)?,
        tasks: u.int_in_range(1..=5)?,
        output: *u.choose(&[0, 100, 131_072])?,
    };
    let parked = *u.choose(&[0, 3 << 20, usize::MAX])?;
    let mut steps = Vec::new();
    while !u.is_empty() && steps.len() < STEPS {
        steps.push(step(u)?);
    }
    Ok(Case { body, limits, parked, steps })
}

fn body(u: &mut Unstructured) -> Result<Body> {
    let (coding, level) = match u.ratio(1, 2)? {
        true => (Coding::Brotli, *u.choose(&[0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11])?),
        false => (Coding::Zstd, *u.choose(&[-131_072, -5, -1, 1, 3, 4, 6, 9, 12, 13, 16, 18, 19])?),
    };
    // Without a small window, these levels need tables that take long to clear for every job.
    let is_slow = coding == Coding::Zstd && level > 9;
    let window_log = if u.arbitrary()? || is_slow { Some(u.int_in_range(10..=17)?) } else { None };
    // The length is a hint: it can be right, wrong, or not there.
    let length = if u.arbitrary()? { Some(u.int_in_range(0..=60_000)?) } else { None };
    let dictionary = if coding == Coding::Zstd && u.ratio(1, 4)? {
        Some(Dictionary::new(DICTIONARY, level).expect("a good dictionary"))
    } else {
        None
    };
    Ok(Body { coding, level, window_log, length, dictionary })
}

fn step(u: &mut Unstructured) -> Result<Step> {
    Ok(match u.int_in_range(0..=15)? {
        0..=3 => Step::Bytes(u.int_in_range(1..=4_000)?),
        4..=5 => Step::File(u.int_in_range(1..=12_000)?),
        6..=7 => Step::Flush,
        8..=12 => Step::Complete(u.int_in_range(0..=7)?),
        13..=14 => Step::Load { idle: u.int_in_range(0..=4)?, tight: u.arbitrary()?, slow: u.arbitrary()? },
        _ if u.ratio(1, 4)? => Step::Abort(u.int_in_range(0..=4)?),
        _ if u.ratio(1, 4)? => Step::Fail(u.int_in_range(0..=4)?),
        _ => Step::Flush,
    })
}
