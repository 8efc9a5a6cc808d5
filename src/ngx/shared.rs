//! Memory that all processes share.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use nginx_sys::{
    ngx_conf_t, ngx_int_t, ngx_pagesize, ngx_shared_memory_add, ngx_shm_zone_t, ngx_slab_alloc,
    ngx_slab_pool_t, ngx_str_t,
};

use super::{ERROR, Failed, OK, this_module};

/// A type that consists of atomic numbers: any process may use it at any time, and any bytes are a value of it.
///
/// # Safety
/// That is so, and its alignment is no more than that of [`Header`].
pub unsafe trait Shared: Sync + 'static {}

/// A zone of the configuration. Two tables are all that is in it.
#[derive(Clone, Copy)]
pub struct Zone(NonNull<ngx_shm_zone_t>);

/// What the memory of a zone begins with; the tables follow it.
#[repr(C, align(64))]
struct Header {
    /// Bytes of the tables.
    room: usize,
}

/// The size of a zone is at least so many pages, as in NGINX's own modules.
pub fn least_size() -> usize {
    // SAFETY: NGINX sets it when it starts.
    unsafe { 8 * ngx_pagesize }
}

impl Zone {
    /// Asks for a zone. A reload keeps its memory if neither its name nor its size changes.
    ///
    /// # Errors
    /// No memory, or somebody else has a zone of this name; that was logged.
    ///
    /// # Safety
    /// `cf` is the configuration that is being read.
    pub unsafe fn add(cf: *mut ngx_conf_t, name: &'static str, size: usize) -> Result<Self, Failed> {
        let mut name = ngx_str_t { len: name.len(), data: name.as_ptr().cast_mut() };
        // SAFETY: the caller vouches for `cf`; NGINX only reads the name, and keeps it.
        unsafe {
            let tag = ptr::from_ref(this_module()).cast_mut().cast();
            let mut zone = NonNull::new(ngx_shared_memory_add(cf, &mut name, size, tag)).ok_or(Failed)?;
            zone.as_mut().init = Some(init);
            Ok(Self(zone))
        }
    }

    /// Its two tables: one with `rows` rows, and one with as many as fit behind it. `None` while the configuration is
    /// being read. The memory is there as long as the configuration, and so as long as a worker.
    pub fn tables<A: Shared, B: Shared>(self, rows: usize) -> Option<(&'static [A], &'static [B])> {
        const { assert!(align_of::<A>() <= align_of::<Header>() && align_of::<B>() <= align_of::<Header>()) };
        // SAFETY: the zone lives with its configuration. `init` put a header there, which says how much memory there is
        // behind it; any bytes in there are values of both types.
        unsafe {
            let header = self.0.as_ref().data.cast::<Header>().as_ref()?;
            let begin = ptr::from_ref(header).add(1);
            let first = (rows * size_of::<A>()).next_multiple_of(align_of::<Header>());
            let more = header.room.checked_sub(first)? / size_of::<B>();
            Some((
                slice::from_raw_parts(begin.cast(), rows),
                slice::from_raw_parts(begin.byte_add(first).cast(), more),
            ))
        }
    }
}

unsafe extern "C" fn init(zone: *mut ngx_shm_zone_t, before: *mut c_void) -> ngx_int_t {
    // SAFETY: NGINX calls in the master, with the memory of the zone, which begins with a pool of slabs; `before` is
    // the data of the same zone before a reload.
    unsafe {
        let zone = &mut *zone;
        if before.is_null() {
            let slabs = &mut *zone.shm.addr.cast::<ngx_slab_pool_t>();
            // All pages, which lie together since none was taken.
            let size = slabs.pfree * ngx_pagesize;
            let header: *mut Header = ngx_slab_alloc(slabs, size).cast();
            if header.is_null() {
                return ERROR;
            }
            header.cast::<u8>().write_bytes(0, size);
            (*header).room = size - size_of::<Header>();
            zone.data = header.cast();
        } else {
            zone.data = before;
        }
    }
    OK
}

/// A row of a table, for a process that may have none.
pub struct Place<T: Shared>(AtomicPtr<T>);

impl<T: Shared> Place<T> {
    /// No row.
    pub const fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The row that counts from now on.
    pub fn set(&self, row: Option<&'static T>) {
        self.0.store(row.map_or(ptr::null_mut(), |row| ptr::from_ref(row).cast_mut()), Relaxed);
    }

    /// The row.
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: it was a reference, which is still good.
        unsafe { self.0.load(Relaxed).as_ref() }
    }
}
