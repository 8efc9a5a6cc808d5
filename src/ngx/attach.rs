//! What the module keeps with a request until it is freed.

use std::ffi::c_void;

use nginx_sys::{ngx_http_cleanup_add, ngx_palloc, ngx_pool_cleanup_add};

use super::{Failed, Request, guard, this_module};
use crate::hooks;
use crate::response::Fate;

/// What stays with a request until it is freed.
pub trait Attached {
    /// The request ends, maybe before its time. Jobs may still run; the value is dropped when the last came back.
    fn ended(&mut self);
}
impl Request {
    /// What the module attached to the request.
    pub fn attachment(self) -> Option<&'static mut Fate> {
        // SAFETY: only the two functions below write the module's place, with a `Fate`, which lives as long as the
        // request; the event loop has one user of it at a time.
        unsafe { (*self.context()).cast::<Fate>().as_mut() }
    }

    /// Attaches a fate that needs no drop.
    ///
    /// # Errors
    /// No memory.
    pub fn attach_plain(self, fate: Fate) -> Result<(), Failed> {
        // SAFETY: the pool is the request's; the place is written in full.
        unsafe {
            let place: *mut Fate = ngx_palloc(self.pool(), size_of::<Fate>()).cast();
            if place.is_null() || hooks::refuses("pool") {
                return Err(Failed);
            }
            place.write(fate);
            *self.context() = place.cast();
        }
        Ok(())
    }

    /// Attaches a value, until the request is freed.
    ///
    /// # Errors
    /// No memory.
    pub fn attach<T: Attached>(self, value: Box<T>, fate: fn(*mut T) -> Fate) -> Result<*mut T, Failed> {
        // SAFETY: the two cleanups get the same pointer: the first to run borrows, the second, with the pool, owns.
        unsafe {
            let freed = ngx_pool_cleanup_add(self.pool(), 0);
            let ended = ngx_http_cleanup_add(self.as_ptr(), 0);
            if freed.is_null() || ended.is_null() || hooks::refuses("pool") {
                return Err(Failed);
            }
            let raw = Box::into_raw(value);
            (*freed).handler = Some(free::<T>);
            (*freed).data = raw.cast();
            (*ended).handler = Some(end::<T>);
            (*ended).data = raw.cast();
            self.attach_plain(fate(raw))?;
            Ok(raw)
        }
    }

    /// The module's place in the request.
    fn context(self) -> *mut *mut c_void {
        // SAFETY: a request has a place for each module.
        unsafe { self.get().ctx.add(this_module().ctx_index) }
    }
}

unsafe extern "C" fn end<T: Attached>(data: *mut c_void) {
    // SAFETY: `attach` put a `T` there, which lives until `free`.
    let value = unsafe { &mut *data.cast::<T>() };
    guard::guard((), || value.ended());
}

unsafe extern "C" fn free<T>(data: *mut c_void) {
    // SAFETY: `attach` gave the value up to this cleanup, which runs once.
    let value = unsafe { Box::from_raw(data.cast::<T>()) };
    guard::guard((), || drop(value));
}
