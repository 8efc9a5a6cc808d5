//! The encoded response of one request: takes buffers, starts jobs, passes output on.

use std::sync::Arc;
use std::time::Duration;

use compress_core::codec::Coding;
use compress_core::eligible::Skip;
use compress_core::job::{Encoded, JobError, JobId};
use compress_core::parts::ReadAt;
use compress_core::plan::{Limits, Load};
use compress_core::status::Unfinished;
use compress_core::stream::{Body, Stream};
use nginx_sys::{NGX_LOG_ALERT, NGX_LOG_ERR, ngx_chain_t, ngx_int_t};

use crate::ngx::attach::Attached;
use crate::ngx::chain::{Content, Incoming, Outgoing};
use crate::ngx::file::open_file;
use crate::ngx::{AGAIN, Failed, OK, Request, log};
use crate::{status, worker};

#[cfg(ngx_feature = "threads")]
use crate::job::Queue;

/// What became of a response.
pub enum Fate {
    /// It is not encoded, for this reason.
    Skipped(Skip),
    /// It is.
    Encoded(*mut Response),
    /// That is not decided yet, but will be another for another `Accept-Encoding`: there is a precompressed file.
    Varies,
}

/// Held by a request until it is freed.
pub struct Response {
    request: Request,
    coding: Coding,
    stream: Stream,
    limits: Limits,
    incoming: Incoming,
    outgoing: Outgoing,
    /// The file of the last buffer that was in one: mostly there is only one.
    file: Option<(i32, Arc<dyn ReadAt>)>,
    /// Bytes of the body in memory, as the worker counts them, and those of all its responses.
    held: usize,
    held_by_all: usize,
    /// The processor time of the jobs that came back.
    time: Duration,
    /// Bytes in and out that `compress_status` knows of.
    counted: (u64, u64),
    /// Whether it ends because it could not be encoded.
    failed: bool,
    #[cfg(ngx_feature = "threads")]
    pub queue: Option<Queue>,
}

/// What has become of the body so far.
pub struct Totals {
    /// The coding.
    pub coding: Coding,
    /// Whether the whole body was encoded and passed on.
    pub is_finished: bool,
    /// Bytes before the encoding.
    pub bytes_in: u64,
    /// Bytes after it.
    pub bytes_out: u64,
    /// The processor time that it took.
    pub time: Duration,
}

/// What [`Response::advance`] did, for those who wait for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved {
    input: bool,
    output: bool,
}

impl Moved {
    /// Whether NGINX has something to do.
    pub fn is_any(self) -> bool {
        self.input || self.output
    }
}

impl Response {
    /// A response without a pool: its jobs run in the event loop.
    pub fn new(request: Request, body: Body, limits: Limits) -> Self {
        Self {
            request,
            coding: body.coding,
            stream: Stream::new(body, limits),
            limits,
            incoming: Incoming::new(request),
            outgoing: Outgoing::new(request),
            file: None,
            held: 0,
            held_by_all: 0,
            time: Duration::ZERO,
            counted: (0, 0),
            failed: false,
            #[cfg(ngx_feature = "threads")]
            queue: None,
        }
    }

    /// What the body filter is called for: takes `chain` and does what can be done now.
    ///
    /// # Safety
    /// `chain` is what NGINX passed to the filter.
    pub unsafe fn filter(&mut self, chain: *mut ngx_chain_t) -> Result<ngx_int_t, Failed> {
        if self.stream.is_failed() {
            return Err(Failed);
        }
        // SAFETY: the caller vouches for the chain; NGINX keeps buffers until they are used up.
        unsafe { self.incoming.add(chain) }.map_err(|Failed| self.fail(format_args!("no memory")))?;
        self.advance()?;
        Ok(if self.is_waiting() || self.outgoing.is_busy() { AGAIN } else { OK })
    }

    /// Moves everything as far as it goes.
    ///
    /// # Errors
    /// The response cannot go on; the stream is aborted.
    pub fn advance(&mut self) -> Result<Moved, Failed> {
        let mut moved = Moved::default();
        // What waits below is pushed once, even if there is nothing new.
        let mut push = true;
        loop {
            let input = self.take_input()?;
            let started = self.start_jobs()?;
            worker::with_parked(|parked| self.stream.cut_marks(parked));
            let output = self.stream.has_output();
            // What the client has taken makes room for the next job.
            let mut drained = false;
            if output || push {
                push = false;
                self.settle();
                let before = self.outgoing.unsent();
                let stream = &mut self.stream;
                let sent = self.outgoing.send(std::iter::from_fn(|| stream.pop_output()));
                sent.inspect_err(|_| self.stream.abort())?;
                drained = self.outgoing.unsent() < before;
            }
            moved.input |= input;
            moved.output |= output;
            if !(input || started || output || drained) {
                break;
            }
        }
        self.settle();
        Ok(moved)
    }

    /// A job came back, which took this processor time.
    ///
    /// # Errors
    /// It failed, and that has been logged; the stream is aborted.
    pub fn complete(
        &mut self,
        id: JobId,
        (result, time): (Result<Encoded, JobError>, Duration),
    ) -> Result<(), Failed> {
        self.time += time;
        let completed = worker::with_parked(|parked| self.stream.complete(id, result, parked));
        completed.map_err(|error| {
            self.failed |= !matches!(error, JobError::Cancelled);
            match &error {
                JobError::Cancelled => {}
                JobError::Panicked(_) => self.log(NGX_LOG_ALERT, format_args!("{error}")),
                JobError::Read(_) | JobError::Encode(_) => self.log(NGX_LOG_ERR, format_args!("{error}")),
            }
            Failed
        })
    }

    /// Gives up: nothing more is encoded or passed on.
    pub fn abort(&mut self) {
        self.stream.abort();
    }

    /// What has become of the body so far.
    pub fn totals(&self) -> Totals {
        Totals {
            coding: self.coding,
            is_finished: self.stream.is_finished(),
            bytes_in: self.stream.bytes_in(),
            bytes_out: self.stream.bytes_out(),
            time: self.time,
        }
    }

    /// The request.
    pub fn request(&self) -> Request {
        self.request
    }

    fn take_input(&mut self) -> Result<bool, Failed> {
        let load = self.load();
        let mut took = false;
        while let Some(content) = self.incoming.front() {
            match content {
                Content::Memory(_) | Content::File(..) if self.stream.is_ended() => self.incoming.pop(),
                Content::Memory(bytes) => {
                    let taken = if self.may_copy() { self.stream.push_bytes(bytes, &load) } else { Ok(0) };
                    match taken {
                        Ok(0) => break,
                        Ok(n) => self.incoming.advance(n),
                        Err(_) => return Err(self.fail(format_args!("no memory"))),
                    }
                }
                Content::File(fd, offset, len) => {
                    let file = Self::open(&mut self.file, fd);
                    if !self.stream.push_file(file, offset, len) {
                        break;
                    }
                    self.incoming.advance(len as usize);
                }
                Content::End { last: true, .. } => {
                    self.stream.push_end();
                    self.incoming.pop();
                }
                // NGINX may let the connection linger: then it tells the client of an end, and a reset comes too late.
                Content::End { flush: true, .. }
                    if self.request.is_unframed() && self.request.has_lost_upstream() =>
                {
                    self.stream.abort();
                    return Err(Failed);
                }
                Content::End { flush, .. } => {
                    if flush {
                        self.stream.push_flush();
                    }
                    self.incoming.pop();
                }
            }
            took = true;
        }
        Ok(took)
    }

    #[cfg(ngx_feature = "threads")]
    fn start_jobs(&mut self) -> Result<bool, Failed> {
        if self.queue.is_none() { self.run_job() } else { Ok(self.post_jobs()) }
    }

    #[cfg(not(ngx_feature = "threads"))]
    fn start_jobs(&mut self) -> Result<bool, Failed> {
        self.run_job()
    }

    /// Runs the next job in the event loop.
    fn run_job(&mut self) -> Result<bool, Failed> {
        let load = self.load();
        let Some(job) = worker::with_parked(|parked| self.stream.next_job(&load, parked)) else {
            return Ok(false);
        };
        let id = job.id();
        self.complete(id, worker::run_inline(job))?;
        Ok(true)
    }

    /// Sends jobs to the pool.
    #[cfg(ngx_feature = "threads")]
    fn post_jobs(&mut self) -> bool {
        let load = self.load();
        let Some(queue) = &mut self.queue else { return false };
        let stream = &mut self.stream;
        let posted = queue.post_all(&mut |idle| {
            worker::with_parked(|parked| stream.next_job(&Load { idle, ..load }, parked))
        });
        // What was posted is not work that is left.
        let has_work =
            load.unsent <= self.limits.output && (!self.incoming.is_empty() || self.stream.has_pending());
        queue.wait(has_work, || self.stream.place());
        posted
    }

    /// While only our jobs are awaited, the client is not late.
    #[cfg(ngx_feature = "threads")]
    pub fn look_after_client(&mut self) {
        if !self.outgoing.is_busy() && !self.request.is_write_buffered() {
            self.request.rearm_send_timeout();
        }
        self.settle();
    }

    /// Whether bytes may be copied now: not while the pool has all the jobs it may have, and others wait.
    fn may_copy(&self) -> bool {
        #[cfg(ngx_feature = "threads")]
        if let Some(queue) = &self.queue {
            return queue.may_post();
        }
        true
    }

    fn load(&self) -> Load {
        let (idle, threads) = self.threads();
        Load {
            idle,
            tight: self.held_by_all as u64 > (threads as u64 + 2) * self.limits.segment,
            unsent: self.outgoing.unsent(),
        }
    }

    /// Idle threads, and threads in all.
    fn threads(&self) -> (usize, usize) {
        #[cfg(ngx_feature = "threads")]
        if let Some(queue) = &self.queue {
            return (queue.idle(), queue.threads());
        }
        (0, 1)
    }

    /// Tells NGINX and the worker how things stand.
    fn settle(&mut self) {
        let held = self.stream.memory();
        self.held_by_all = worker::account(self.held, held);
        self.held = held;
        self.request.set_buffered(self.is_waiting());
        self.count();
        #[cfg(ngx_feature = "threads")]
        if let Some(queue) = &mut self.queue {
            queue.watch();
        }
    }

    /// Adds what is new to the counters of `compress_status`.
    fn count(&mut self) {
        let now = (self.stream.bytes_cut(), self.stream.bytes_out());
        let (bytes_in, bytes_out) = (now.0 - self.counted.0, now.1 - self.counted.1);
        status::count(|counters| counters.moved(self.coding, bytes_in, bytes_out));
        self.counted = now;
    }

    /// Whether something that was taken is still to come out, or to be taken.
    fn is_waiting(&self) -> bool {
        !self.stream.is_idle() || !self.incoming.is_empty()
    }

    fn open(file: &mut Option<(i32, Arc<dyn ReadAt>)>, fd: i32) -> &Arc<dyn ReadAt> {
        if file.as_ref().is_none_or(|(known, _)| *known != fd) {
            *file = None;
        }
        // SAFETY: the buffer's file belongs to the request, whose pool closes it; jobs keep the request.
        &file.get_or_insert_with(|| (fd, unsafe { open_file(fd) })).1
    }

    fn fail(&mut self, reason: std::fmt::Arguments) -> Failed {
        self.log(NGX_LOG_ERR, reason);
        self.failed = true;
        self.stream.abort();
        Failed
    }

    fn log(&self, level: u32, reason: std::fmt::Arguments) {
        log::request(level, self.request, format_args!("http compress: {reason}"));
    }
}

impl Attached for Response {
    fn ended(&mut self) {
        if !self.stream.is_finished() || self.outgoing.unsent() > 0 {
            self.request.reset_if_unframed();
            let how = if self.failed { Unfinished::Failed } else { Unfinished::Aborted };
            status::count(|counters| counters.ended(self.coding, how));
        }
        self.count();
        self.stream.abort();
        worker::with_parked(|parked| self.stream.close(parked));
        worker::account(self.held, 0);
        self.held = 0;
        #[cfg(ngx_feature = "threads")]
        if let Some(queue) = &mut self.queue {
            queue.end();
        }
    }
}
