//! An event of our own: woken once in the next round of the loop, or by a timer.

use std::marker::PhantomPinned;
use std::ptr::{addr_of, addr_of_mut};

use nginx_sys::{
    ngx_add_timer, ngx_del_timer, ngx_delete_posted_event, ngx_event_t, ngx_log_t, ngx_msec_t,
    ngx_post_event, ngx_posted_events,
};

/// What woke an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// [`Event::post`].
    Posted,
    /// [`Event::set_timer`].
    Timer,
}

/// An event that belongs to the value at `data`, which does not move while the event can fire.
pub struct Event {
    raw: ngx_event_t,
    _pinned: PhantomPinned,
}

impl Event {
    /// An event that calls `handler` with `data` in its `data` field.
    pub fn new<T>(
        data: *mut T,
        log: *mut ngx_log_t,
        handler: unsafe extern "C" fn(*mut ngx_event_t),
    ) -> Self {
        // SAFETY: all zero is a valid `ngx_event_t`: it is how NGINX's calloc makes them.
        let mut raw: ngx_event_t = unsafe { std::mem::zeroed() };
        raw.data = data.cast();
        raw.log = log;
        raw.handler = Some(handler);
        Self { raw, _pinned: PhantomPinned }
    }

    /// Fires in this round of the loop, after the events at hand.
    pub fn post(&mut self) {
        // SAFETY: the event stays where it is until `stop`, which its owner calls before it goes.
        unsafe { ngx_post_event(addr_of_mut!(self.raw), addr_of_mut!(ngx_posted_events)) }
    }

    /// Fires in `milliseconds`, unless a timer is set already.
    pub fn set_timer(&mut self, milliseconds: ngx_msec_t) {
        if !self.has_timer() {
            // SAFETY: as `post`.
            unsafe { ngx_add_timer(addr_of_mut!(self.raw), milliseconds) }
        }
    }

    /// Whether a timer is set.
    pub fn has_timer(&self) -> bool {
        // SAFETY: a plain read.
        unsafe { (*addr_of!(self.raw)).timer_set() != 0 }
    }

    /// Takes the timer back.
    pub fn stop_timer(&mut self) {
        if self.has_timer() {
            // SAFETY: the timer is set, so the event is in the tree.
            unsafe { ngx_del_timer(addr_of_mut!(self.raw)) }
        }
    }

    /// Does not fire any more.
    pub fn stop(&mut self) {
        self.stop_timer();
        if self.raw.posted() != 0 {
            // SAFETY: the event is in the queue.
            unsafe { ngx_delete_posted_event(addr_of_mut!(self.raw)) }
        }
    }

    /// Lets the worker end though the timer is set (`ngx_event_no_timers_left`).
    pub fn set_cancelable(&mut self) {
        self.raw.set_cancelable(1);
    }
}

/// What an event handler was called for, and for whom.
///
/// # Safety
/// `event` is the raw event of an [`Event`] whose `data` is a `T`.
pub unsafe fn fired<T>(event: *mut ngx_event_t) -> (*mut T, Cause) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let cause = if (*event).timedout() != 0 { Cause::Timer } else { Cause::Posted };
        (*event).set_timedout(0);
        ((*event).data.cast(), cause)
    }
}
