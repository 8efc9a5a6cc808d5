//! A worker with one stream, which does what a test says and checks what comes out.
// Not every test that includes this uses all of it.
#![allow(dead_code)]

use std::io;
use std::sync::{Arc, LazyLock};

use compress_core::codec::EncodeError;
use compress_core::job::{Encoded, Job, JobError, JobId};
use compress_core::parked::Parked;
use compress_core::parts::ReadAt;
use compress_core::plan::{Limits, Load};
use compress_core::stream::{Body, Stream};
use compress_core::workspace::Workspace;

use crate::codec_support::{Contents, bytes, decode, decode_with_dictionary, records};

/// What is done to a stream.
#[derive(Clone, Debug)]
pub enum Step {
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
    /// One of the jobs that are out fails.
    Fail(usize),
    /// The response is given up while so many of the jobs that are out are done, but did not come back.
    Abort(usize),
}

#[derive(Clone, Debug)]
pub struct Case {
    pub body: Body,
    pub limits: Limits,
    pub parked: usize,
    pub steps: Vec<Step>,
}

/// As long as any body of a test.
const SOURCE: usize = 600_000;
static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| bytes(Contents::Text, SOURCE, 1));
static RECORDS: LazyLock<Vec<u8>> = LazyLock::new(|| records(SOURCE, 1));

struct File(&'static [u8]);

impl ReadAt for File {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = offset as usize;
        buffer.copy_from_slice(self.0.get(start..start + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// A stream in a worker that a test drives.
pub struct Worker {
    pub stream: Stream,
    pub parked: Parked,
    pub workspace: Workspace,
    pub load: Load,
    /// The jobs that are out.
    pub out: Vec<Job>,
    pub source: &'static [u8],
    pub file: Arc<dyn ReadAt>,
    pub taken: usize,
    pub output: Vec<u8>,
    /// Where the body was flushed: bytes of output, and of input before it.
    flushes: Vec<(usize, usize)>,
    /// How much had been taken at each flush.
    asked: Vec<usize>,
    ended: bool,
    pub most_out: usize,
}

impl Worker {
    pub fn new(case: &Case) -> Self {
        let source: &'static [u8] = if case.body.dictionary.is_some() { &RECORDS } else { &TEXT };
        Self {
            stream: Stream::new(case.body.clone(), case.limits),
            parked: Parked::new(case.parked),
            workspace: Workspace::new(usize::MAX, || false),
            load: Load::default(),
            out: Vec::new(),
            file: Arc::new(File(source)),
            source,
            taken: 0,
            output: Vec::new(),
            flushes: Vec::new(),
            asked: Vec::new(),
            ended: false,
            most_out: 0,
        }
    }

    /// Does one step, and then all that can be done without another.
    pub fn step(&mut self, step: &Step) {
        match *step {
            Step::Bytes(n) => self.push(n, false),
            Step::File(n) => self.push(n, true),
            Step::Flush => {
                // One that comes before the last was cut is one with it.
                if self.stream.wants_input() {
                    self.asked.push(self.taken);
                }
                self.stream.push_flush();
            }
            Step::Complete(n) => self.complete(n),
            Step::Load { idle, tight, slow } => {
                self.load = Load { idle, tight, unsent: if slow { u64::MAX / 2 } else { 0 } };
            }
            Step::Fail(n) => self.fail(n),
            Step::Abort(done) => self.abort(done),
        }
        self.advance();
        self.check_progress();
    }

    /// While nothing is awaited, neither a job nor the client, all that was asked for is done.
    fn check_progress(&self) {
        if self.out.is_empty() && self.load.unsent == 0 && !self.stream.is_failed() {
            assert!(self.stream.wants_input(), "it takes nothing, and does nothing");
            assert_eq!(self.flushes.len(), self.asked.len(), "each flush came out");
        }
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
                assert!(self.load.unsent > 0 || self.stream.is_failed(), "bytes are taken some time");
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

    pub fn advance(&mut self) {
        loop {
            while let Some(job) = self.stream.next_job(&self.load, &mut self.parked) {
                assert!(!job.is_empty());
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
                self.flushes.push((self.output.len(), self.asked[self.flushes.len()]));
            }
            self.ended = output.last;
        }
    }

    pub fn complete(&mut self, n: usize) {
        if !self.out.is_empty() {
            let index = n % self.out.len();
            let job = self.out.swap_remove(index);
            let (id, result) = run(job, &mut self.workspace);
            self.stream.complete(id, result, &mut self.parked).unwrap();
        }
    }

    fn fail(&mut self, n: usize) {
        if !self.out.is_empty() {
            let index = n % self.out.len();
            let id = self.out.swap_remove(index).id();
            let result = Err(JobError::Encode(EncodeError::Memory));
            assert!(self.stream.complete(id, result, &mut self.parked).is_err());
            self.abort(0);
        }
    }

    /// Gives the response up, and sees that nothing is left of it.
    fn abort(&mut self, done: usize) {
        let results: Vec<_> =
            self.out.drain(..done.min(self.out.len())).map(|job| run(job, &mut self.workspace)).collect();
        self.stream.abort();
        for (id, result) in results {
            self.stream.complete(id, result, &mut self.parked).unwrap();
        }
        for job in self.out.drain(..) {
            let (id, result) = run(job, &mut self.workspace);
            assert!(matches!(result, Err(JobError::Cancelled)));
            assert!(self.stream.complete(id, result, &mut self.parked).is_err());
        }
        self.stream.close(&mut self.parked);
        assert!(self.stream.is_failed() && self.stream.pop_output().is_none());
        assert_eq!((self.stream.memory(), self.parked.used()), (0, 0), "nothing is left");
    }

    pub fn finish(&mut self) {
        self.load = Load { unsent: 0, ..self.load };
        self.stream.push_end();
        self.advance();
        while !self.stream.is_finished() {
            assert!(!self.out.is_empty(), "a job is out until the end is reached");
            self.complete(0);
            self.advance();
        }
        assert!(self.out.is_empty(), "the end comes last");
    }
}

pub fn run(job: Job, workspace: &mut Workspace) -> (JobId, Result<Encoded, JobError>) {
    (job.id(), job.run(workspace))
}

/// Does all steps and ends the body, unless they gave it up, and checks what came out.
pub fn check(case: &Case) {
    let mut worker = Worker::new(case);
    for step in &case.steps {
        worker.step(step);
    }
    assert!(worker.most_out <= case.limits.tasks);
    if worker.stream.is_failed() {
        return;
    }
    worker.finish();
    let Worker { stream, output, source, taken, flushes, asked, .. } = worker;
    assert!(decode_body(&case.body, &output) == source[..taken], "what comes out is what went in");
    assert_eq!(flushes.len(), asked.len());
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
