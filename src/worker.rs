//! What all responses of a worker share: the encoders for work in the event loop, those that wait for more of
//! their bodies, and a dispatch for each thread pool.

use std::cell::RefCell;
use std::time::Duration;

use compress_core::job::{Encoded, Job, JobError};
use compress_core::parked::Parked;
use compress_core::status::Mode;
use compress_core::workspace::Workspace;
use nginx_sys::ngx_cycle_t;

use crate::conf::MainConf;
use crate::hooks;
use crate::ngx::clock::timed;
use crate::ngx::guard::catch;
use crate::status;

/// An encoder that takes more is not kept by a thread: Brotli 11 with a window of 16 MiB takes about as much.
pub const WORKSPACE_LIMIT: usize = 96 << 20;

thread_local! {
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

/// The state of this worker's event loop.
struct Worker {
    workspace: Workspace,
    parked: Parked,
    /// Bytes of bodies that responses hold in memory.
    held: usize,
    #[cfg(ngx_feature = "threads")]
    max_waiting: usize,
    #[cfg(ngx_feature = "threads")]
    thread_priority: i32,
    #[cfg(ngx_feature = "threads")]
    pools: Vec<std::rc::Rc<pool::Pool>>,
}

/// Makes the worker's state.
///
/// # Safety
/// `cycle` is the worker's, and its configuration has been read.
pub unsafe fn init(cycle: *mut ngx_cycle_t) {
    // SAFETY: the caller vouches for the cycle.
    let Some(conf) = (unsafe { crate::ngx::conf::main_conf::<MainConf>(cycle) }) else { return };
    let worker = Worker {
        workspace: Workspace::new(WORKSPACE_LIMIT, is_stopping),
        parked: Parked::new(conf.stream_memory()),
        held: 0,
        #[cfg(ngx_feature = "threads")]
        max_waiting: conf.max_waiting(),
        #[cfg(ngx_feature = "threads")]
        thread_priority: conf.thread_priority(),
        #[cfg(ngx_feature = "threads")]
        pools: Vec::new(),
    };
    WORKER.with_borrow_mut(|place| *place = Some(worker));
}

/// Whether the process was told to end at once; can be asked in any thread.
pub fn is_stopping() -> bool {
    // SAFETY: a word that the signal handler sets; an old value is as good for a moment.
    unsafe { (&raw const nginx_sys::ngx_terminate).read_volatile() != 0 }
}

/// Runs a job in the event loop; gives the processor time that it took, too.
pub fn run_inline(job: Job) -> (Result<Encoded, JobError>, Duration) {
    let coding = job.coding();
    let (result, time) = timed(|| {
        with(|worker| {
            catch(|| {
                hooks::point("job");
                job.run(&mut worker.workspace)
            })
        })
    });
    let result = result.unwrap_or_else(|words| Err(JobError::Panicked(words)));
    status::count(|counters| counters.ran(coding, Mode::Inline, &result, time));
    (result, time)
}

/// Lends the encoders that wait for more of their bodies.
pub fn with_parked<T>(f: impl FnOnce(&mut Parked) -> T) -> T {
    with(|worker| f(&mut worker.parked))
}

/// A response holds `now` bytes of its body, and held `before`; gives what all of the worker hold.
pub fn account(before: usize, now: usize) -> usize {
    with(|worker| {
        worker.held = worker.held - before + now;
        worker.held
    })
}

fn with<T>(f: impl FnOnce(&mut Worker) -> T) -> T {
    WORKER.with_borrow_mut(|worker| f(worker.as_mut().expect("init_process has run in every worker")))
}

#[cfg(ngx_feature = "threads")]
pub use pool::Pool;

#[cfg(ngx_feature = "threads")]
mod pool {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;
    use std::sync::Arc;

    use compress_core::dispatch::{Dispatch, Place, Threads};
    use nginx_sys::{NGX_LOG_WARN, ngx_event_t, ngx_msec_t, time_t};
    use ngx::log::ngx_cycle_log;

    use crate::ngx::event::{Event, fired};
    use crate::ngx::guard::guard;
    use crate::ngx::task::ThreadPool;
    use crate::ngx::{Request, log};
    use crate::response::Response;
    use crate::status;

    /// When a pool's queue is full of the work of others, this many milliseconds pass before the next try.
    const RETRY: ngx_msec_t = 10;

    /// Seconds between two warnings of too long a line.
    const WARN_EVERY: time_t = 60;

    /// A thread pool as this worker uses it.
    pub struct Pool {
        pub raw: ThreadPool,
        pub threads: Arc<Threads>,
        /// The nice value of its threads, 0 for their own.
        pub priority: i32,
        dispatch: RefCell<Dispatch<*mut Response>>,
        retry: RefCell<Event>,
        /// When the last warning of too long a line was logged, in seconds.
        warned: Cell<time_t>,
    }

    impl Pool {
        /// The worker's state of a pool.
        pub fn of(raw: ThreadPool) -> Rc<Self> {
            super::with(|worker| {
                if let Some(pool) = worker.pools.iter().find(|pool| pool.raw == raw) {
                    return pool.clone();
                }
                let pool = Rc::new_cyclic(|this: &std::rc::Weak<Self>| {
                    let mut retry = Event::new(this.as_ptr().cast_mut(), ngx_cycle_log().as_ptr(), on_retry);
                    retry.set_cancelable();
                    Self {
                        raw,
                        threads: Arc::default(),
                        priority: worker.thread_priority,
                        dispatch: RefCell::default(),
                        retry: RefCell::new(retry),
                        warned: Cell::new(0),
                    }
                });
                worker.pools.push(pool.clone());
                pool
            })
        }

        /// Whether the line is so long that another response had better not be encoded at all; says so once a
        /// minute.
        pub fn is_overloaded(&self, request: Request) -> bool {
            let most = super::with(|worker| worker.max_waiting);
            if self.dispatch.borrow().waiting() <= most {
                return false;
            }
            let now = nginx_sys::ngx_time();
            if now >= self.warned.get() + WARN_EVERY {
                self.warned.set(now);
                let reason = "responses wait for a thread, so that others are sent unencoded";
                log::request(NGX_LOG_WARN, request, format_args!("http compress: more than {most} {reason}"));
            }
            true
        }

        /// Whether a response may post a job without waiting for its turn.
        pub fn is_open(&self) -> bool {
            self.dispatch.borrow().is_open(&self.threads)
        }

        /// Whether a response whose turn it is may post a job.
        pub fn has_room(&self) -> bool {
            self.dispatch.borrow().has_room(&self.threads)
        }

        /// A job was posted.
        pub fn posted(&self) {
            self.dispatch.borrow_mut().posted();
        }

        /// A job was refused; somebody will try again.
        pub fn refused(&self, response: *mut Response) {
            self.threads.job_refused();
            let out = self.line(|dispatch| {
                dispatch.refused();
                dispatch.wait(response, Place::GoesOn);
                dispatch.out()
            });
            if out == 0 {
                self.retry.borrow_mut().set_timer(RETRY);
            }
        }

        /// A job came back. Once its response has had its say, [`wake`](Self::wake) is to be called.
        pub fn returned(&self) {
            self.dispatch.borrow_mut().returned();
        }

        /// A response waits for its turn.
        pub fn wait(&self, response: *mut Response, place: Place) {
            self.line(|dispatch| dispatch.wait(response, place));
        }

        /// A response does not wait any more.
        pub fn leave(&self, response: *mut Response) {
            self.line(|dispatch| dispatch.leave(response));
        }

        /// Wakes the responses whose turn it is. One that then posts nothing calls this again for the next.
        pub fn wake(&self) {
            let next = self.line(|dispatch| dispatch.next(&self.threads));
            if let Some(response) = next {
                // SAFETY: a response leaves the line before it goes.
                unsafe { (*response).wake_for_turn() };
            }
        }

        /// Changes the line, and has it counted.
        fn line<T>(&self, change: impl FnOnce(&mut Dispatch<*mut Response>) -> T) -> T {
            let mut dispatch = self.dispatch.borrow_mut();
            let before = dispatch.waiting();
            let result = change(&mut dispatch);
            status::gauge(|process| process.waits(before, dispatch.waiting()));
            result
        }
    }

    unsafe extern "C" fn on_retry(event: *mut ngx_event_t) {
        // SAFETY: pools live as long as the worker.
        let pool = unsafe { &*fired::<Pool>(event).0 };
        guard((), || {
            pool.dispatch.borrow_mut().retry();
            pool.wake();
        });
    }
}
