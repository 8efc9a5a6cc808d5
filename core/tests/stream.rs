//! The stream state machine against a model: whatever is pushed, however it is cut, in whatever order jobs come
//! back, the output decodes to the input, and each flush to all before it.

mod codec_support;

use std::io;
use std::sync::Arc;

use codec_support::{Contents, DICTIONARY, bytes, decode, decode_with_dictionary, records};
use compress_core::codec::{Coding, Dictionary};
use compress_core::job::{Encoded, Job, JobError, JobId};
use compress_core::parked::Parked;
use compress_core::parts::ReadAt;
use compress_core::plan::{Limits, Load};
use compress_core::stream::{Body, Stream};
use compress_core::workspace::Workspace;
use proptest::prelude::*;

/// What is done to a stream.
#[derive(Clone, Debug)]
enum Step {
    Bytes(usize),
    File(usize),
    Flush,
    /// One of the jobs that are out runs and comes back.
    Complete(usize),
    /// How the worker is from now on.
    Load {
        idle: usize,
        tight: bool,
        slow: bool,
    },
}

#[derive(Clone, Debug)]
struct Case {
    body: Body,
    limits: Limits,
    parked: usize,
    steps: Vec<Step>,
}

struct File(Vec<u8>);

impl ReadAt for File {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = offset as usize;
        buffer.copy_from_slice(self.0.get(start..start + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// A stream in a worker that a test drives.
struct Worker {
    stream: Stream,
    parked: Parked,
    workspace: Workspace,
    load: Load,
    out: Vec<Job>,
    source: Vec<u8>,
    file: Arc<dyn ReadAt>,
    taken: usize,
    output: Vec<u8>,
    /// Where the body was flushed: bytes of output, and of input before it.
    flushes: Vec<(usize, usize)>,
    asked: Vec<usize>,
    ended: bool,
    most_out: usize,
}

impl Worker {
    fn new(case: &Case) -> Self {
        let source = match case.body.dictionary {
            Some(_) => records(600_000, 1),
            None => bytes(Contents::Text, 600_000, 1),
        };
        Self {
            stream: Stream::new(case.body.clone(), case.limits),
            parked: Parked::new(case.parked),
            workspace: Workspace::new(usize::MAX, || false),
            load: Load::default(),
            out: Vec::new(),
            file: Arc::new(File(source.clone())),
            source,
            taken: 0,
            output: Vec::new(),
            flushes: Vec::new(),
            asked: Vec::new(),
            ended: false,
            most_out: 0,
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Bytes(n) => self.push(n, false),
            Step::File(n) => self.push(n, true),
            Step::Flush => {
                self.stream.push_flush();
                self.asked.push(self.taken);
            }
            Step::Complete(n) => self.complete(n),
            Step::Load { idle, tight, slow } => {
                self.load = Load { idle, tight, unsent: if slow { u64::MAX / 2 } else { 0 } };
            }
        }
        self.advance();
    }

    /// Pushes `n` bytes of the source, or fewer where it ends.
    fn push(&mut self, n: usize, file: bool) {
        let mut left = n.min(self.source.len() - self.taken);
        while left > 0 {
            let taken = if file {
                if self.stream.push_file(&self.file, self.taken as u64, left as u64) { left } else { 0 }
            } else {
                let bytes = &self.source[self.taken..self.taken + left];
                self.stream.push_bytes(bytes, &self.load).unwrap()
            };
            self.taken += taken;
            left -= taken;
            if taken == 0 && !self.go_on() {
                // The client is slow: the rest stays where it is.
                return;
            }
        }
    }

    /// Something that lets the stream take more, if there is anything.
    fn go_on(&mut self) -> bool {
        let before = (self.out.len(), self.output.len(), self.stream.wants_input());
        self.advance();
        if !self.out.is_empty() {
            self.complete(0);
            self.advance();
            return true;
        }
        before != (self.out.len(), self.output.len(), self.stream.wants_input())
    }

    fn advance(&mut self) {
        loop {
            while let Some(job) = self.stream.next_job(&self.load, &mut self.parked) {
                self.out.push(job);
            }
            self.stream.cut_marks(&mut self.parked);
            self.most_out = self.most_out.max(self.out.len());
            if !self.stream.has_output() {
                break;
            }
            self.pop();
        }
    }

    fn pop(&mut self) {
        while let Some(output) = self.stream.pop_output() {
            assert!(!self.ended, "nothing comes after the end");
            self.output.extend(output.data);
            if output.flush {
                let asked = self.asked[self.flushes.len().min(self.asked.len() - 1)];
                self.flushes.push((self.output.len(), asked));
            }
            self.ended = output.last;
        }
    }

    fn complete(&mut self, n: usize) {
        if !self.out.is_empty() {
            let index = n % self.out.len();
            let job = self.out.swap_remove(index);
            let (id, result) = run(job, &mut self.workspace);
            self.stream.complete(id, result, &mut self.parked).unwrap();
        }
    }

    fn finish(&mut self) {
        self.load = Load { unsent: 0, ..self.load };
        self.stream.push_end();
        self.advance();
        while !self.stream.is_finished() {
            assert!(!self.out.is_empty(), "a job is out until the end is reached");
            self.complete(0);
            self.advance();
        }
    }
}

fn run(job: Job, workspace: &mut Workspace) -> (JobId, Result<Encoded, JobError>) {
    (job.id(), job.run(workspace))
}

fn check(case: &Case) {
    let mut worker = Worker::new(case);
    for step in &case.steps {
        worker.step(step);
    }
    worker.finish();
    let Worker { stream, output, source, taken, flushes, .. } = worker;
    assert_eq!(decode_body(&case.body, &output), source[..taken], "{case:?}");
    // A flush can come with the end, after which there is nothing to add.
    for (length, least) in flushes.into_iter().filter(|(length, _)| *length < output.len()) {
        let decoded = decode_prefix(&case.body, &output[..length]);
        assert!(decoded.len() >= least, "a flush at {least} gave {}", decoded.len());
    }
    assert!(worker.most_out <= case.limits.tasks);
    assert_eq!((stream.bytes_in(), stream.bytes_out()), (taken as u64, output.len() as u64));
    assert_eq!((stream.memory(), worker.parked.used()), (0, 0), "nothing is left");
}

/// What a decoder has after the beginning of a stream that ends with a flush: as much as if the stream ended there.
fn decode_prefix(body: &Body, prefix: &[u8]) -> Vec<u8> {
    if prefix.is_empty() {
        Vec::new()
    } else {
        decode_body(body, &[prefix, body.coding.terminator()].concat())
    }
}

fn decode_body(body: &Body, encoded: &[u8]) -> Vec<u8> {
    if body.dictionary.is_some() { decode_with_dictionary(encoded) } else { decode(body.coding, encoded) }
}

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
    (body(), limits, parked, prop::collection::vec(step(), 0..30))
        .prop_map(|(body, limits, parked, steps)| Case { body, limits, parked, steps })
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
