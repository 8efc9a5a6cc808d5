//! What it costs to flush a body as it goes: a response of an event loop and its jobs against one bare encoder that is
//! flushed as often.
//!
//! `cargo bench -p compress_core --bench flushes`

mod measure;

use std::hint::black_box;

use compress_core::codec::{Coding, Encoder, End, Segment, Settings, window_for};
use compress_core::parked::Parked;
use compress_core::plan::{Limits, Load};
use compress_core::stream::{Body, Stream};
use compress_core::workspace::Workspace;

use measure::{made_up, measure};

const FLUSHES: usize = 10_000;
const LENGTH: usize = 100;
const NEVER: &dyn Fn() -> bool = &|| false;

fn main() {
    let body = made_up(FLUSHES * LENGTH);
    println!("{FLUSHES} flushes of {LENGTH} bytes\n");
    println!(
        "{:<9} {:>9} {:>8} | {:>9} {:>8} | {:>6} {:>6}",
        "", "bytes", "CPU ms", "response", "CPU ms", "bytes", "CPU"
    );
    for (coding, levels) in [(Coding::Brotli, [1, 4, 6, 9]), (Coding::Zstd, [1, 3, 9, 15])] {
        for level in levels {
            compare(coding, level, &body);
        }
    }
}

fn compare(coding: Coding, level: i32, body: &[u8]) {
    let mut encoder = coding.encoder();
    let (bytes, time) = measure(|| bare(encoder.as_mut(), coding, level, body));
    let mut worker = (Parked::new(64 << 20), Workspace::new(96 << 20, || false));
    let (response, response_time) = measure(|| respond(&mut worker, coding, level, body));
    println!(
        "{:<9} {:>9} {:>8.1} | {:>9} {:>8.1} | {:>6.3} {:>6.2}",
        format!("{} {level}", coding.token()),
        bytes,
        time.as_secs_f64() * 1e3,
        response,
        response_time.as_secs_f64() * 1e3,
        response as f64 / bytes as f64,
        response_time.as_secs_f64() / time.as_secs_f64(),
    );
}

/// One encoder, with the window that the level has for a body of unknown length.
fn bare(encoder: &mut dyn Encoder, coding: Coding, level: i32, body: &[u8]) -> usize {
    let window_log = window_for(coding, level, None, None);
    let settings = Settings { coding, level, window_log, dictionary: None };
    encoder.open(&settings, &Segment { offset: 0, length: None, end: End::Finish }, &[]).expect("opens");
    let mut size = 0;
    for (i, piece) in body.chunks(LENGTH).enumerate() {
        let end = if i + 1 == FLUSHES { End::Finish } else { End::Flush };
        let mut out = Vec::new();
        encoder.write(piece, end, &mut out, NEVER).expect("encodes");
        size += black_box(out).len();
    }
    encoder.reset();
    size
}

fn respond((parked, workspace): &mut (Parked, Workspace), coding: Coding, level: i32, body: &[u8]) -> usize {
    let limits = Limits { segment: 1 << 20, tasks: 4, output: 128 << 10 };
    let body_of = Body { coding, level, window_log: None, length: None, dictionary: None };
    let mut stream = Stream::new(body_of, limits);
    let load = Load { idle: 2, tight: false, unsent: 0 };
    let mut size = 0;
    for (i, piece) in body.chunks(LENGTH).enumerate() {
        assert_eq!(stream.push_bytes(piece, &load).expect("has memory"), piece.len());
        if i + 1 == FLUSHES {
            stream.push_end()
        } else {
            stream.push_flush()
        }
        while let Some(job) = stream.next_job(&load, parked) {
            let id = job.id();
            stream.complete(id, job.run(workspace), parked).expect("encodes");
            stream.cut_marks(parked);
        }
        while let Some(output) = stream.pop_output() {
            size += black_box(output.data).len();
        }
    }
    assert!(stream.is_finished());
    stream.close(parked);
    size
}
