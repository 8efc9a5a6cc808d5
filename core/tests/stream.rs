//! The stream state machine against a model: whatever is pushed, however it is cut, in whatever order jobs come
//! back, the output decodes to the input, and each flush to all before it.

mod codec_support;
mod stream_support;

use codec_support::{DICTIONARY, decode};
use compress_core::codec::{Coding, Dictionary};
use compress_core::dispatch::Place;
use compress_core::job::JobError;
use compress_core::plan::Limits;
use compress_core::stream::Body;
use proptest::prelude::*;
use stream_support::{Case, Step, Worker, check, run};

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..20_000_usize).prop_map(Step::Bytes),
        2 => (1..60_000_usize).prop_map(Step::File),
        1 => Just(Step::Flush),
        4 => (0..8_usize).prop_map(Step::Complete),
        1 => (0..4_usize, any::<bool>(), any::<bool>())
            .prop_map(|(idle, tight, slow)| Step::Load { idle, tight, slow }),
    ]
}

/// How a response ends that does not end well.
fn last_step() -> impl Strategy<Value = Option<Step>> {
    prop_oneof![
        6 => Just(None),
        1 => (0..4_usize).prop_map(|n| Some(Step::Fail(n))),
        1 => (0..4_usize).prop_map(|n| Some(Step::Abort(n))),
    ]
}

fn body() -> impl Strategy<Value = Body> {
    let brotli = prop_oneof![Just(0), Just(1), Just(2), Just(5), Just(6), Just(9), Just(11)];
    let zstd = prop_oneof![Just(-5), Just(1), Just(3), Just(6), Just(12), Just(19)];
    let coding = prop_oneof![
        brotli.prop_map(|level| (Coding::Brotli, level)),
        zstd.prop_map(|level| (Coding::Zstd, level)),
    ];
    // The length is a hint: it can be right, wrong, or not there.
    let length = prop_oneof![Just(None), (0..300_000_u64).prop_map(Some)];
    let window_log = prop_oneof![Just(None), (10..20_u32).prop_map(Some)];
    (coding, window_log, length, any::<bool>()).prop_map(|((coding, level), window_log, length, with)| {
        let with = with && coding == Coding::Zstd;
        let dictionary = with.then(|| Dictionary::new(DICTIONARY, level).unwrap());
        Body { coding, level, window_log, length, dictionary }
    })
}

fn case() -> impl Strategy<Value = Case> {
    let limits = (1_000..40_000_u64, 1..5_usize, prop_oneof![Just(0), Just(131_072)])
        .prop_map(|(segment, tasks, output)| Limits { segment, tasks, output });
    let parked = prop_oneof![Just(0), Just(3 << 20), Just(usize::MAX)];
    let steps = (prop::collection::vec(step(), 0..30), last_step());
    (body(), limits, parked, steps).prop_map(|(body, limits, parked, (mut steps, last))| {
        steps.extend(last);
        Case { body, limits, parked, steps }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_schedule_gives_the_input_back(case in case()) {
        check(&case);
    }
}

fn simple(coding: Coding, level: i32, length: Option<u64>) -> (Body, Limits) {
    let body = Body { coding, level, window_log: None, length, dictionary: None };
    (body, Limits { segment: 100_000, tasks: 4, output: 131_072 })
}

#[test]
fn jobs_that_finish_in_reverse_come_out_in_order() {
    for (coding, level) in [(Coding::Brotli, 5), (Coding::Zstd, 3)] {
        let (body, limits) = simple(coding, level, Some(400_000));
        let case = Case { body, limits, parked: usize::MAX, steps: vec![] };
        let mut worker = Worker::new(&case);
        worker.step(&Step::Load { idle: 4, tight: false, slow: false });
        worker.step(&Step::File(400_000));
        assert_eq!(worker.out.len(), 3, "the last part waits for the end");
        worker.stream.push_end();
        worker.advance();
        assert_eq!(worker.out.len(), 4);
        for left in (0..4).rev() {
            assert!(worker.output.is_empty());
            worker.complete(left);
            worker.advance();
        }
        assert!(worker.stream.is_finished());
        assert_eq!(decode(coding, &worker.output), worker.source[..400_000]);
    }
}

/// A filter may forget to take `Content-Length` away when it makes a body longer.
#[test]
fn a_body_that_is_longer_than_its_length_does_not_stop() {
    for (coding, level) in [(Coding::Brotli, 5), (Coding::Zstd, 3)] {
        for length in [0, 1, 1000, 100_000, 150_000, 299_999] {
            for idle in [0, 4] {
                let (body, limits) = simple(coding, level, Some(length));
                let load = Step::Load { idle, tight: false, slow: false };
                let steps = [load].into_iter().chain((0..30).map(|_| Step::Bytes(10_000))).collect();
                check(&Case { body, limits, parked: usize::MAX, steps });
            }
        }
    }
}

#[test]
fn an_empty_body_needs_no_job() {
    for coding in [Coding::Brotli, Coding::Zstd] {
        let (body, limits) = simple(coding, 1, None);
        let mut worker = Worker::new(&Case { body, limits, parked: 0, steps: vec![] });
        worker.step(&Step::Flush);
        worker.stream.push_end();
        worker.advance();
        assert!(worker.stream.is_finished() && worker.output == coding.empty());
    }
}

#[test]
fn a_flushed_stream_keeps_its_encoder() {
    for (coding, level) in [(Coding::Brotli, 6), (Coding::Zstd, 3)] {
        let (body, limits) = simple(coding, level, None);
        let mut sizes = Vec::new();
        for parked in [usize::MAX, 0] {
            let mut worker = Worker::new(&Case { body: body.clone(), limits, parked, steps: vec![] });
            for _ in 0..200 {
                worker.step(&Step::Bytes(100));
                worker.step(&Step::Flush);
                worker.step(&Step::Complete(0));
                assert_eq!(worker.parked.used() > 0, parked > 0);
            }
            worker.finish();
            assert_eq!(decode(coding, &worker.output), worker.source[..20_000]);
            sizes.push(worker.output.len());
        }
        assert!(
            sizes[0] <= sizes[1] + sizes[1] / 100,
            "{sizes:?}: a kept encoder is at least as good as a primed one"
        );
    }
}

#[test]
fn an_aborted_stream_cancels_its_jobs_and_gives_nothing_more() {
    let (body, limits) = simple(Coding::Brotli, 5, Some(400_000));
    let mut worker = Worker::new(&Case { body, limits, parked: usize::MAX, steps: vec![] });
    worker.step(&Step::Load { idle: 4, tight: false, slow: false });
    worker.step(&Step::File(400_000));
    worker.stream.abort();
    for job in worker.out.drain(..) {
        let (id, result) = run(job, &mut worker.workspace);
        assert!(matches!(result, Err(JobError::Cancelled)));
        assert!(worker.stream.complete(id, result, &mut worker.parked).is_err());
    }
    assert!(worker.stream.pop_output().is_none() && worker.stream.memory() == 0);
}

#[test]
fn a_file_that_became_shorter_fails_the_stream() {
    let (body, limits) = simple(Coding::Zstd, 3, Some(700_000));
    let mut worker = Worker::new(&Case { body, limits, parked: 0, steps: vec![] });
    assert!(worker.stream.push_file(&worker.file, 0, 700_000));
    worker.stream.push_end();
    let mut failed = false;
    while let Some(job) = worker.stream.next_job(&worker.load, &mut worker.parked) {
        let (id, result) = run(job, &mut worker.workspace);
        failed |= worker.stream.complete(id, result, &mut worker.parked).is_err();
        while worker.stream.pop_output().is_some() {}
    }
    assert!(failed && worker.stream.is_failed() && !worker.stream.has_output());
}

#[test]
fn the_only_idle_thread_takes_a_short_body_whole() {
    for (idle, jobs) in [(0, 1), (1, 1), (2, 2)] {
        let (body, limits) = simple(Coding::Brotli, 6, Some(190_000));
        let mut worker = Worker::new(&Case { body, limits, parked: usize::MAX, steps: vec![] });
        worker.step(&Step::Load { idle, tight: false, slow: false });
        worker.step(&Step::File(190_000));
        worker.stream.push_end();
        worker.advance();
        assert_eq!(worker.out.len(), jobs, "{idle} idle");
    }
}

/// The encoder of a long body would be dropped if all others had their turn first; but they have it some time.
#[test]
fn a_long_body_goes_on_for_some_segments_before_others_go_first() {
    let limits = Limits { segment: 20_000, tasks: 4, output: 131_072 };
    let start = |length: usize| {
        let (body, _) = simple(Coding::Brotli, 5, Some(length as u64));
        let mut worker = Worker::new(&Case { body, limits, parked: usize::MAX, steps: vec![] });
        assert!(worker.stream.push_file(&worker.file, 0, length as u64));
        worker
    };
    assert_eq!(start(40_000).stream.place(), Place::LastJob);
    let mut worker = start(600_000);
    assert_eq!(worker.stream.place(), Place::InLine);
    let mut places = Vec::new();
    for _ in 0..20 {
        worker.advance();
        worker.complete(0);
        places.push(worker.stream.place());
    }
    let in_line: Vec<usize> = (0..20).filter(|i| places[*i] == Place::InLine).collect();
    assert_eq!(in_line, [7, 15], "{places:?}");
    assert!(places.iter().all(|place| *place != Place::LastJob));
}

#[test]
fn without_idle_threads_one_encoder_goes_through_the_body() {
    let (body, limits) = simple(Coding::Brotli, 6, Some(600_000));
    let mut serial = Worker::new(&Case { body: body.clone(), limits, parked: usize::MAX, steps: vec![] });
    serial.step(&Step::File(600_000));
    serial.finish();
    assert_eq!(serial.most_out, 1);
    let limits = Limits { segment: 1 << 20, ..limits };
    let mut whole = Worker::new(&Case { body, limits, parked: 0, steps: vec![] });
    whole.step(&Step::File(600_000));
    whole.finish();
    let (serial, whole) = (serial.output.len(), whole.output.len());
    assert!(serial * 1000 <= whole * 1005, "{serial} in jobs, {whole} in one");
}
