//! Jobs of a response on a thread pool: their posting, their completion, and the waiting for a turn.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compress_core::codec::Coding;
use compress_core::dispatch::{Place, Threads};
use compress_core::job::{Encoded, Job, JobError, JobId};
use compress_core::status::{Counters, Mode, Process};
use compress_core::workspace::Workspace;
use nginx_sys::{ngx_event_t, ngx_msec_t};

use crate::hooks;
use crate::ngx::clock::timed;
use crate::ngx::event::{Cause, Event, fired};
use crate::ngx::guard::{catch, guard};
use crate::ngx::task::{ThreadPool, Work, lower_priority};
use crate::ngx::{Request, log};
use crate::response::Response;
use crate::status;
use crate::worker::{self, Pool};

thread_local! {
    /// The encoders of a pool thread.
    static WORKSPACE: RefCell<Workspace> =
        RefCell::new(Workspace::new(worker::WORKSPACE_LIMIT, worker::is_stopping));
    static IS_KNOWN: Cell<bool> = const { Cell::new(false) };
}

/// A response's place at a thread pool.
pub struct Queue {
    response: *mut Response,
    request: Request,
    pool: Rc<Pool>,
    /// Jobs in the pool.
    out: usize,
    /// A job that the pool had no room for.
    refused: Option<Job>,
    /// Whether the response stands in the pool's line, or has its turn.
    waits: bool,
    turn: bool,
    event: Event,
}

impl Queue {
    /// A place at `pool` for the response at `response`, which does not move.
    pub fn new(pool: ThreadPool, response: *mut Response, request: Request) -> Self {
        Self {
            response,
            request,
            pool: Pool::of(pool),
            out: 0,
            refused: None,
            waits: false,
            turn: false,
            event: Event::new(response, request.log(), on_event),
        }
    }

    /// Threads that would start a job at once.
    pub fn idle(&self) -> usize {
        self.pool.threads.idle()
    }

    /// Threads that there are at least.
    pub fn threads(&self) -> usize {
        self.pool.threads.known()
    }

    /// Whether a job may be posted now.
    pub fn may_post(&self) -> bool {
        self.pool.is_open() || self.turn && self.pool.has_room()
    }

    /// Posts jobs while there are any and the pool may have more. `next` gives a job for a number of idle threads.
    /// Says whether a job was posted.
    pub fn post_all(&mut self, next: &mut dyn FnMut(usize) -> Option<Job>) -> bool {
        let mut posted = false;
        while self.may_post() {
            let idle = self.idle();
            let Some(job) = self.refused.take().or_else(|| next(idle)) else { break };
            if !self.post(job) {
                break;
            }
            posted = true;
        }
        posted
    }

    /// Waits for a turn, at this place, if the pool may have no more jobs and there is work left.
    pub fn wait(&mut self, has_work: bool, place: impl FnOnce() -> Place) {
        if (has_work || self.refused.is_some()) && !self.waits && !self.may_post() {
            self.waits = true;
            self.pool.wait(self.response, if self.refused.is_some() { Place::GoesOn } else { place() });
        }
    }

    fn post(&mut self, job: Job) -> bool {
        self.pool.threads.job_posted();
        status::gauge(Process::posted);
        let work = Encode {
            response: LoopOnly(self.response),
            threads: self.pool.threads.clone(),
            priority: self.pool.priority,
            id: job.id(),
            coding: job.coding(),
            state: State::Waits(job),
        };
        if let Err(work) = self.pool.raw.post(self.request, work) {
            if let State::Waits(job) = work.state {
                self.refused = Some(job);
            }
            status::gauge(Process::refused);
            status::count(Counters::overflowed);
            self.waits = true;
            self.turn = false;
            self.pool.refused(self.response);
            return false;
        }
        self.pool.posted();
        self.turn = false;
        if self.out == 0 {
            self.request.hold();
        }
        self.out += 1;
        true
    }

    /// Watches over `send_timeout` while only the pool is awaited.
    pub fn watch(&mut self) {
        if self.out > 0 || self.waits {
            self.event.set_timer(period(self.request));
        } else {
            self.event.stop_timer();
        }
    }

    /// The request ends: nothing waits any more. Jobs that are out were cancelled; until they are back, a timer keeps
    /// a worker from ending that has no other left, with the request's connection open.
    pub fn end(&mut self) {
        self.event.stop();
        self.refused = None;
        if self.waits {
            self.waits = false;
            self.pool.leave(self.response);
        }
        if self.turn {
            self.turn = false;
            self.pool.wake();
        }
        self.watch();
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.event.stop();
    }
}

/// How often the client's timeout is looked after: often enough that it cannot pass in between.
fn period(request: Request) -> ngx_msec_t {
    (request.send_timeout() / 3).clamp(1, 10_000)
}

impl Response {
    /// It is this response's turn: it left the line.
    pub fn wake_for_turn(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.waits = false;
            queue.turn = true;
            queue.event.post();
        }
    }
}

/// A pointer that only the event loop looks behind.
#[derive(Clone, Copy)]
struct LoopOnly(*mut Response);

// SAFETY: threads carry it, and do not use it.
unsafe impl Send for LoopOnly {}

/// A job on its way.
struct Encode {
    response: LoopOnly,
    threads: Arc<Threads>,
    priority: i32,
    id: JobId,
    coding: Coding,
    state: State,
}

enum State {
    Waits(Job),
    Runs,
    /// The result, and the processor time that it took.
    Done((Result<Encoded, JobError>, Duration)),
}

impl Work for Encode {
    fn run(&mut self) {
        let State::Waits(job) = std::mem::replace(&mut self.state, State::Runs) else { return };
        let first = !IS_KNOWN.replace(true);
        if first && self.priority > 0 {
            lower_priority(self.priority);
        }
        self.threads.job_started(first);
        status::gauge(Process::started);
        let begin = Instant::now();
        let (result, time) = timed(|| {
            catch(|| {
                hooks::job(self.id);
                WORKSPACE.with_borrow_mut(|workspace| job.run(workspace))
            })
        });
        let result = result.unwrap_or_else(|words| Err(JobError::Panicked(words)));
        status::count(|counters| counters.ran(self.coding, Mode::Pool, &result, time));
        status::gauge(Process::done);
        self.state = State::Done((result, time));
        self.threads.job_done(begin.elapsed());
    }

    fn done(self) {
        let State::Done(result) = self.state else { return };
        // SAFETY: the request is held while a job is out, and the response with it.
        unsafe { with_response(self.response.0, || job_done(self.response.0, self.id, result)) };
    }
}

/// Runs `f`; if it panics, aborts the request.
///
/// # Safety
/// `response` is a response that lives. It may be gone afterwards.
unsafe fn with_response(response: *mut Response, f: impl FnOnce()) {
    // SAFETY: the caller vouches for the response; a panic comes from this module, so before NGINX freed it.
    unsafe {
        let request = (*response).request();
        request.set_log_request();
        if guard(true, || {
            f();
            false
        }) {
            (*response).abort();
            request.abort();
        }
    }
}

/// # Safety
/// `response` is a response that had a job out.
unsafe fn job_done(response: *mut Response, id: JobId, result: (Result<Encoded, JobError>, Duration)) {
    // SAFETY: the response lives until its request is freed, which `hold` prevents. Borrows of it end before NGINX is
    // called, which may free it, and before the pool wakes another response, which may be this one.
    let (request, _others) = unsafe {
        let this = &mut *response;
        let request = this.request();
        let others = this.queue.as_mut().map(|queue| {
            queue.out -= 1;
            if queue.out == 0 {
                request.release();
            }
            queue.pool.returned();
            WakeOthers(queue.pool.clone())
        });
        (request, others)
    };
    log::debug(request, format_args!("http compress job {id} is back"));
    hooks::point("completion");
    if request.is_terminated() {
        // With jobs left this does nothing; the last one lets the request go.
        request.run_write_handler();
        return;
    }
    // SAFETY: as above.
    if unsafe { (*response).complete(id, result) }.is_err() {
        request.abort();
        return;
    }
    // SAFETY: as above.
    unsafe { resume(response, request) };
}

/// Has the next in the line take their turn when a response has had its say, however that ends.
struct WakeOthers(Rc<Pool>);

impl Drop for WakeOthers {
    fn drop(&mut self) {
        self.0.wake();
    }
}

/// Goes on with a response in an event of our own, and lets NGINX go on if there is something for it.
///
/// # Safety
/// `response` is the response of `request`, which lives. Both may be gone afterwards.
unsafe fn resume(response: *mut Response, request: Request) {
    // SAFETY: the borrow ends before NGINX is called, which may free the response.
    let advanced = unsafe { (*response).advance() };
    match advanced {
        Ok(moved) if moved.is_any() => {
            log::debug(request, format_args!("http compress wakes the writer"));
            request.run_write_handler();
        }
        Ok(_) => {}
        Err(_) => request.abort(),
    }
}

unsafe extern "C" fn on_event(event: *mut ngx_event_t) {
    // SAFETY: the event belongs to a response, which stops it before it goes.
    unsafe {
        let (response, cause) = fired::<Response>(event);
        with_response(response, || match cause {
            Cause::Timer => (*response).look_after_client(),
            Cause::Posted => {
                let pool = (*response).queue.as_ref().map(|queue| queue.pool.clone());
                let request = (*response).request();
                resume(response, request);
                // There may be room for more than the job of this response.
                if let Some(pool) = pool {
                    pool.wake();
                }
            }
        });
    }
}
