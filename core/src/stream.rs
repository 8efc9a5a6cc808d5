//! One response: bytes and flushes in, jobs out, results in any order in, output in order out.
//!
//! A body of known length is cut into even parts that are encoded side by side while threads are idle. When they
//! are not, one encoder goes through the body, job after job (an *open segment*); so does one that flushes, since
//! a flush must not cost a new encoder. Every job but the last ends with a flush, so whatever came back can go to
//! the client, and the output of all of them is one stream.

mod order;

use std::collections::TryReserveError;
use std::sync::Arc;

use crate::codec::{Coding, Dictionary, Segment, Settings, window_for};
use crate::dispatch::Place;
use crate::job::{self, Cancel, Encoded, Job, JobError, JobId};
use crate::parked::{Parked, Ticket};
use crate::parts::{Parts, ReadAt};
use crate::plan::{self, Limits, Load};

use order::Order;
pub use order::Output;

/// What is known of a body before its first byte.
#[derive(Clone, Debug)]
pub struct Body {
    /// The content coding.
    pub coding: Coding,
    /// As [`Settings::level`].
    pub level: i32,
    /// The window that was configured, as [`Settings::window_log`].
    pub window_log: Option<u32>,
    /// `Content-Length`. It only sizes things: other filters may change the length.
    pub length: Option<u64>,
    /// As [`Settings::dictionary`].
    pub dictionary: Option<Dictionary>,
}

/// The state of one response.
pub struct Stream {
    body: Body,
    limits: Limits,
    /// Fixed when the first job is cut.
    settings: Option<Settings>,
    /// What has been taken and is in no job yet.
    pending: Parts,
    /// The end of what has been cut.
    recent: Parts,
    /// How much has been cut, and how much had been when others last went first.
    position: u64,
    turn: u64,
    part: Option<u64>,
    open: Open,
    flushes: bool,
    flush: bool,
    end: Progress,
    order: Order,
    cancel: Cancel,
}

/// The encoder of the open segment.
enum Open {
    None,
    /// With a job.
    Out(JobId),
    Parked(Ticket),
}

/// How far the end of the body has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Unknown,
    Taken,
    Cut,
    Sent,
    Failed,
}

impl Stream {
    /// A stream at its begin.
    pub fn new(body: Body, limits: Limits) -> Self {
        Self {
            body,
            limits,
            settings: None,
            pending: Parts::default(),
            recent: Parts::default(),
            position: 0,
            turn: 0,
            part: None,
            open: Open::None,
            flushes: false,
            flush: false,
            end: Progress::Unknown,
            order: Order::default(),
            cancel: Cancel::default(),
        }
    }

    /// Takes bytes of the body; says how many. The others must come again, when jobs have been cut.
    ///
    /// # Errors
    /// No memory.
    pub fn push_bytes(&mut self, bytes: &[u8], load: &Load) -> Result<usize, TryReserveError> {
        if !self.wants_input() {
            return Ok(0);
        }
        if self.remaining() == Some(self.pending.len()) {
            // More comes than was promised: nothing is known any more.
            self.body.length = None;
        }
        let target = self.target(load);
        let room = self.room(target, load).saturating_sub(self.pending.len());
        let n = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.pending.push_bytes(&bytes[..n], target.min(self.body.length.unwrap_or(0)))?;
        Ok(n)
    }

    /// Takes a range of a file, which a job will read; says whether it did.
    pub fn push_file(&mut self, file: &Arc<dyn ReadAt>, offset: u64, len: u64) -> bool {
        if !self.wants_input() {
            return false;
        }
        self.pending.push_file(file.clone(), offset, len);
        true
    }

    /// What was pushed so far must reach the client. Nothing more is taken until a job has been cut for it.
    pub fn push_flush(&mut self) {
        self.flushes = true;
        self.flush = true;
    }

    /// The body is at its end.
    pub fn push_end(&mut self) {
        if self.end == Progress::Unknown {
            self.end = Progress::Taken;
        }
    }

    /// Whether bytes may be pushed.
    pub fn wants_input(&self) -> bool {
        self.end == Progress::Unknown && !self.flush
    }

    /// The next piece of work, if there is any that may start now.
    pub fn next_job(&mut self, load: &Load, parked: &mut Parked) -> Option<Job> {
        let last = self.end == Progress::Taken;
        if self.pending.is_empty() || self.is_failed() || self.order.len() >= self.limits.tasks.max(1) {
            return None;
        }
        if load.unsent.saturating_add(self.order.unpopped()) > self.limits.output {
            return None;
        }
        let target = self.target(load);
        let room = self.room(target, load);
        let pending = self.pending.len();
        let beside = self.runs_beside(load);
        let busy = match self.open {
            Open::Out(_) => true,
            Open::None | Open::Parked(_) => self.order.has_running(),
        };
        if busy && (!beside || pending < target.min(room)) {
            return None;
        }
        let complete = last || self.flush;
        // All that `Content-Length` promised: the end is near, and a job that knows it makes a better stream.
        let all_there = pending <= target && self.remaining() == Some(pending);
        if !complete && (pending < target.min(room) || all_there) {
            return None;
        }
        Some(self.cut(pending.min(target), beside, load, parked))
    }

    /// Puts flushes and the end into the output that need no encoder, and no turn: all before them has been cut, and
    /// every job ends with a flush. To be called after [`next_job`](Self::next_job) gave nothing.
    pub fn cut_marks(&mut self, parked: &mut Parked) {
        if !self.pending.is_empty() {
            return;
        }
        let coding = self.body.coding;
        if std::mem::take(&mut self.flush) {
            self.order.put(Output { flush: true, ..Output::default() });
        }
        if self.end == Progress::Taken {
            let data = if self.position == 0 { coding.empty() } else { coding.terminator() };
            self.order.put(Output { data: data.to_vec(), flush: false, last: true });
            self.end = Progress::Cut;
            self.recent = Parts::default();
            self.close(parked);
        }
    }

    /// The result of a job, in whatever order.
    ///
    /// # Errors
    /// What the job failed with: the stream cannot go on.
    pub fn complete(
        &mut self,
        id: JobId,
        result: Result<Encoded, JobError>,
        parked: &mut Parked,
    ) -> Result<(), JobError> {
        let encoded = match result {
            Ok(encoded) => encoded,
            Err(error) => {
                self.abort();
                return Err(error);
            }
        };
        if matches!(self.open, Open::Out(open) if open == id) {
            // Without an encoder that comes back the segment is at its end.
            self.open = encoded.encoder.map_or(Open::None, |encoder| Open::Parked(parked.put(encoder)));
        }
        self.order.complete(id, encoded.data);
        Ok(())
    }

    /// The next piece of output, if the job that makes it is done.
    pub fn pop_output(&mut self) -> Option<Output> {
        let output = if self.is_failed() { None } else { self.order.pop() }?;
        if output.last {
            self.end = Progress::Sent;
        }
        Some(output)
    }

    /// Whether [`pop_output`](Self::pop_output) would give something.
    pub fn has_output(&self) -> bool {
        !self.is_failed() && self.order.has_output()
    }

    /// Gives the work up: jobs that run stop soon, and nothing comes out any more.
    pub fn abort(&mut self) {
        if self.end != Progress::Sent {
            self.end = Progress::Failed;
        }
        self.cancel.cancel();
        self.pending = Parts::default();
        self.recent = Parts::default();
    }

    /// Gives back an encoder that waits for more of the body. To be called when the response goes away.
    pub fn close(&mut self, parked: &mut Parked) {
        if let Open::Parked(ticket) = std::mem::replace(&mut self.open, Open::None) {
            parked.take(ticket);
        }
    }

    /// Where the response has to wait for its next job, if it has to.
    pub fn place(&mut self) -> Place {
        let segment = self.limits.segment;
        let goes_on = matches!(self.open, Open::Parked(_)) && !self.flushes;
        if goes_on && self.position - self.turn < plan::TURN.saturating_mul(segment) {
            return Place::GoesOn;
        }
        let is_last = |left: u64| plan::serial(left, segment) == left;
        if self.flush || self.remaining().is_some_and(is_last) {
            return Place::LastJob;
        }
        self.turn = self.position;
        Place::InLine
    }

    /// Whether all output has been popped.
    pub fn is_finished(&self) -> bool {
        self.end == Progress::Sent
    }

    /// Whether the work was given up.
    pub fn is_failed(&self) -> bool {
        self.end == Progress::Failed
    }

    /// Whether the end was pushed.
    pub fn is_ended(&self) -> bool {
        self.end != Progress::Unknown
    }

    /// Whether bytes wait to be cut.
    pub fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Whether nothing that was pushed is still to come out.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.order.is_empty() && !self.flush && self.end != Progress::Taken
    }

    /// Bytes of memory that it holds of the body.
    pub fn memory(&self) -> usize {
        self.pending.memory() + self.recent.memory()
    }

    /// Bytes of the body that were pushed.
    pub fn bytes_in(&self) -> u64 {
        self.position + self.pending.len()
    }

    /// Bytes of the body that were given to jobs.
    pub fn bytes_cut(&self) -> u64 {
        self.position
    }

    /// Bytes that were popped.
    pub fn bytes_out(&self) -> u64 {
        self.order.bytes()
    }

    fn cut(&mut self, n: u64, beside: bool, load: &Load, parked: &mut Parked) -> Job {
        let input = self.pending.take(n);
        let last = self.end == Progress::Taken && self.pending.is_empty();
        let flush = self.pending.is_empty() && std::mem::take(&mut self.flush);
        let settings = self.settings(n, last);
        let id = self.order.next_id();
        let reach = plan::history(settings.coding, settings.level, settings.window_log, self.limits.segment);
        let reach = if load.tight || self.flushes { reach.min(plan::SHORT_HISTORY) } else { reach };

        let encoder = match std::mem::replace(&mut self.open, Open::None) {
            Open::Parked(ticket) if !beside => parked.take(ticket),
            Open::Parked(ticket) => {
                parked.take(ticket);
                None
            }
            Open::None | Open::Out(_) => None,
        };
        let keep =
            !last && !beside && (self.flushes || encoder.is_some() || parked.has_room(plan::OPEN_ROOM));
        if keep {
            self.open = Open::Out(id);
        }
        let end = job::end(last);
        let length = (!keep).then_some(n);
        let segment = Segment { offset: self.position, length, end };
        let history = if encoder.is_some() { Parts::default() } else { self.recent.clone() };
        if last {
            self.recent = Parts::default();
            self.end = Progress::Cut;
        } else {
            self.recent.slide(&input, reach);
        }
        self.position += n;
        self.order.start(flush, last);
        Job { id, settings, segment, history, input, encoder, keep, cancel: self.cancel.clone() }
    }

    /// The settings of all jobs; the first one fixes them, `n` bytes long and maybe the only one.
    fn settings(&mut self, n: u64, last: bool) -> Settings {
        let Body { coding, level, window_log, length, ref dictionary } = self.body;
        let flushes = self.flushes;
        let make = || {
            let length = if last { Some(n) } else { length };
            let window_log = window_for(coding, level, window_log, length);
            let most = if flushes && length.is_none() { plan::STREAM_WINDOW_LOG } else { u32::MAX };
            Settings { coding, level, window_log: window_log.min(most), dictionary: dictionary.clone() }
        };
        self.settings.get_or_insert_with(make).clone()
    }

    /// How long the next job should be, if the bytes are there.
    fn target(&mut self, load: &Load) -> u64 {
        let segment = self.limits.segment;
        let Some(remaining) = self.remaining() else { return segment };
        if !self.runs_beside(load) {
            return plan::serial(remaining, segment);
        }
        let threads = load.idle.min(self.limits.tasks);
        let part = *self.part.get_or_insert_with(|| plan::part(remaining, segment, threads));
        if remaining < part + part / 4 { remaining } else { part }
    }

    /// How much memory a job's bytes may take before it has to be cut shorter than its target.
    fn room(&self, target: u64, load: &Load) -> u64 {
        if load.tight { target.min(self.limits.output.max(plan::SHORT_HISTORY)) } else { target }
    }

    /// Bytes of the body that are in no job, as far as that can be known.
    fn remaining(&self) -> Option<u64> {
        let pending = self.pending.len();
        if self.end != Progress::Unknown {
            return Some(pending);
        }
        let length = self.body.length?;
        length.checked_sub(self.position).filter(|remaining| *remaining >= pending)
    }

    /// Whether segments are encoded side by side.
    fn runs_beside(&self, load: &Load) -> bool {
        // The only idle thread takes the next job, and leaves none beside it.
        let beside = load.idle.saturating_sub(usize::from(!self.order.has_running()));
        beside > 0 && self.limits.tasks > 1 && !self.flushes
    }
}
