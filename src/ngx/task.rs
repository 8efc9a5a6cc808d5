//! A piece of work on its way to a thread pool and back.

use std::ffi::c_void;
use std::ptr::addr_of_mut;

use nginx_sys::{ngx_event_t, ngx_log_t, ngx_thread_pool_t, ngx_thread_task_post, ngx_thread_task_t};

use super::{OK, Request};
use crate::hooks;

/// A thread pool of the configuration. It lives in the cycle, as the worker does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ThreadPool(*mut ngx_thread_pool_t);

/// Work that owns all it needs.
pub trait Work: Send + 'static {
    /// In a thread of the pool; does not panic.
    fn run(&mut self);

    /// Back in the event loop.
    fn done(self);
}

/// NGINX's task, with the work behind it.
#[repr(C)]
struct Task<W> {
    raw: ngx_thread_task_t,
    work: W,
}

impl ThreadPool {
    /// The pool that a directive named, if it named one.
    pub fn new(raw: *mut ngx_thread_pool_t) -> Option<Self> {
        (!raw.is_null()).then_some(Self(raw))
    }

    /// Posts work; gives it back if the queue is full (NGINX logs that).
    pub fn post<W: Work>(self, request: Request, work: W) -> Result<(), W> {
        if hooks::is_full() {
            return Err(work);
        }
        // SAFETY: all zero is a valid task: it is how ngx_thread_task_alloc makes them.
        let mut raw: ngx_thread_task_t = unsafe { std::mem::zeroed() };
        raw.handler = Some(run::<W>);
        raw.event.handler = Some(done::<W>);
        raw.event.log = request.log();
        let task = Box::into_raw(Box::new(Task { raw, work }));
        // SAFETY: the task is ours until it is posted, and the pool's until `done`; the pool outlives the worker's loop.
        unsafe {
            (*task).raw.ctx = task.cast();
            (*task).raw.event.data = task.cast();
            if ngx_thread_task_post(self.0, addr_of_mut!((*task).raw)) == OK {
                return Ok(());
            }
            Err(Box::from_raw(task).work)
        }
    }
}

/// Lets the calling thread go behind others by a nice value. Linux alone has one for each thread.
pub fn lower_priority(nice: i32) {
    #[cfg(target_os = "linux")]
    // SAFETY: no memory is involved; 0 is the calling thread. A refusal leaves things as they are.
    unsafe {
        nginx_sys::setpriority(nginx_sys::__priority_which_PRIO_PROCESS, 0, nice);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}

unsafe extern "C" fn run<W: Work>(data: *mut c_void, _log: *mut ngx_log_t) {
    // SAFETY: `data` is the `Task<W>` that was posted; nobody else touches its work before `done`.
    let work = unsafe { &mut (*data.cast::<Task<W>>()).work };
    work.run();
}

unsafe extern "C" fn done<W: Work>(event: *mut ngx_event_t) {
    // SAFETY: `data` is the `Task<W>` that was posted, and the pool is done with it.
    let task = unsafe { Box::from_raw((*event).data.cast::<Task<W>>()) };
    task.work.done();
}
