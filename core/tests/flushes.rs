//! A body that is flushed as it goes keeps its encoder from one flush to the next: it is not primed anew each time.

mod codec_support;

use compress_core::codec::{Coding, End, Segment, Settings, window_for};
use compress_core::parked::Parked;
use compress_core::plan::{Limits, Load};
use compress_core::stream::{Body, Stream};
use compress_core::workspace::Workspace;

use codec_support::{Contents, bytes, decode};

const FLUSHES: usize = 10_000;
const LENGTH: usize = 100;

#[test]
fn many_flushes_cost_no_more_bytes_than_those_of_one_encoder() {
    let body = bytes(Contents::Text, FLUSHES * LENGTH, 1);
    for (coding, level) in
        [(Coding::Brotli, 1), (Coding::Brotli, 4), (Coding::Brotli, 6), (Coding::Zstd, 1), (Coding::Zstd, 3)]
    {
        let bare = bare(coding, level, &body);
        let (output, waited) = respond(coding, level, &body);
        assert_eq!(decode(coding, &output), body);
        assert!(output.len() * 100 <= bare * 105, "{coding:?} {level}: {} and {bare}", output.len());
        // After all flushes but those at the end of a segment, its encoder waits for more.
        assert!(waited >= FLUSHES - 5, "{coding:?} {level}: {waited}");
    }
}

fn bare(coding: Coding, level: i32, body: &[u8]) -> usize {
    let window_log = window_for(coding, level, None, None);
    let settings = Settings { coding, level, window_log, dictionary: None };
    let mut encoder = coding.encoder();
    encoder.open(&settings, &Segment { offset: 0, length: None, end: End::Finish }, &[]).unwrap();
    let mut out = Vec::new();
    for piece in body.chunks(LENGTH) {
        encoder.write(piece, End::Flush, &mut out, &|| false).unwrap();
    }
    encoder.write(&[], End::Finish, &mut out, &|| false).unwrap();
    out.len()
}

/// The output, and after how many flushes an encoder waited.
fn respond(coding: Coding, level: i32, body: &[u8]) -> (Vec<u8>, usize) {
    let limits = Limits { segment: 1 << 20, tasks: 4, output: 128 << 10 };
    let mut stream =
        Stream::new(Body { coding, level, window_log: None, length: None, dictionary: None }, limits);
    let (mut parked, mut workspace) = (Parked::new(64 << 20), Workspace::new(usize::MAX, || false));
    let load = Load { idle: 2, tight: false, unsent: 0 };
    let (mut output, mut waited) = (Vec::new(), 0);
    let mut work = |stream: &mut Stream, parked: &mut Parked| {
        while let Some(job) = stream.next_job(&load, parked) {
            stream.complete(job.id(), job.run(&mut workspace), parked).unwrap();
        }
        stream.cut_marks(parked);
        while let Some(piece) = stream.pop_output() {
            output.extend(piece.data);
        }
    };
    for piece in body.chunks(LENGTH) {
        assert_eq!(stream.push_bytes(piece, &load).unwrap(), piece.len());
        stream.push_flush();
        work(&mut stream, &mut parked);
        waited += usize::from(parked.used() > 0);
    }
    stream.push_end();
    work(&mut stream, &mut parked);
    assert!(stream.is_finished());
    (output, waited)
}
