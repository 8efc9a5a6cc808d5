//! The configuration of a location: what the directives set, and how levels are merged.

mod directives;

pub use directives::COMMANDS;

use std::ffi::{c_char, c_void};
use std::ptr;

use compress_core::codec::Coding;
use compress_core::plan::Limits;
use nginx_sys::{
    NGX_CONF_UNSET, ngx_array_t, ngx_bufs_t, ngx_conf_t, ngx_flag_t, ngx_hash_t, ngx_int_t, ngx_uint_t,
};

use crate::ngx::Failed;
use crate::ngx::conf::{create, merge, merge_types, result};

/// `compress_max_waiting` and the other directives of `http` alone.
#[repr(C)]
pub struct MainConf {
    max_waiting: ngx_uint_t,
    stream_memory: usize,
}

/// What a location does with both codings.
#[repr(C)]
pub struct LocConf {
    brotli: CodingConf,
    zstd: CodingConf,
}

/// What a location does with one coding.
#[repr(C)]
pub struct CodingConf {
    enable: ngx_flag_t,
    level: ngx_int_t,
    window_log: ngx_uint_t,
    min_length: usize,
    types: ngx_hash_t,
    types_keys: *mut ngx_array_t,
    buffers: ngx_bufs_t,
    segment: usize,
    tasks: ngx_int_t,
    #[cfg(ngx_feature = "threads")]
    pool: *mut nginx_sys::ngx_thread_pool_t,
}

const FLAG_UNSET: ngx_flag_t = NGX_CONF_UNSET as ngx_flag_t;
const SIZE_UNSET: usize = usize::MAX;
/// −1 is a level of Zstandard, so `NGX_CONF_UNSET` cannot say that none was set.
const LEVEL_UNSET: ngx_int_t = ngx_int_t::MIN;
#[cfg(ngx_feature = "threads")]
const POOL_UNSET: *mut nginx_sys::ngx_thread_pool_t = ptr::without_provenance_mut(usize::MAX);

const DEFAULT_MAX_WAITING: ngx_uint_t = 1024;
const DEFAULT_STREAM_MEMORY: usize = 64 << 20;
const DEFAULT_MIN_LENGTH: usize = 20;
const DEFAULT_BUFFERS: ngx_bufs_t = ngx_bufs_t { num: 32, size: 4096 };
const DEFAULT_SEGMENT: usize = 1 << 20;
const DEFAULT_TASKS: ngx_int_t = 4;

impl MainConf {
    /// Responses of a worker that may wait for a thread.
    pub fn max_waiting(&self) -> usize {
        if self.max_waiting == SIZE_UNSET { DEFAULT_MAX_WAITING } else { self.max_waiting }
    }

    /// Bytes of a worker's encoders that wait for more of their bodies.
    pub fn stream_memory(&self) -> usize {
        if self.stream_memory == SIZE_UNSET { DEFAULT_STREAM_MEMORY } else { self.stream_memory }
    }
}

impl LocConf {
    /// The part for one coding.
    pub fn coding(&self, coding: Coding) -> &CodingConf {
        match coding {
            Coding::Brotli => &self.brotli,
            Coding::Zstd => &self.zstd,
        }
    }
}

impl CodingConf {
    /// Whether responses are encoded.
    pub fn is_enabled(&self) -> bool {
        self.enable == 1
    }

    /// The level of the encoder.
    pub fn level(&self) -> i32 {
        self.level as i32
    }

    /// The window that was asked for.
    pub fn window_log(&self) -> Option<u32> {
        (self.window_log != SIZE_UNSET).then_some(self.window_log as u32)
    }

    /// Shorter responses are not encoded, if their length is known.
    pub fn min_length(&self) -> u64 {
        self.min_length as u64
    }

    /// The MIME types that are encoded.
    pub fn types(&self) -> &ngx_hash_t {
        &self.types
    }

    /// What bounds the work on one response.
    pub fn limits(&self) -> Limits {
        Limits {
            segment: self.segment as u64,
            tasks: self.tasks as usize,
            output: self.buffers.num as u64 * self.buffers.size as u64,
        }
    }

    /// The pool that encodes; none: the event loop.
    #[cfg(ngx_feature = "threads")]
    pub fn thread_pool(&self) -> Option<crate::ngx::task::ThreadPool> {
        crate::ngx::task::ThreadPool::new(self.pool)
    }

    const fn unset() -> Self {
        Self {
            enable: FLAG_UNSET,
            level: LEVEL_UNSET,
            window_log: SIZE_UNSET,
            min_length: SIZE_UNSET,
            types: ngx_hash_t { buckets: ptr::null_mut(), size: 0 },
            types_keys: ptr::null_mut(),
            buffers: ngx_bufs_t { num: 0, size: 0 },
            segment: SIZE_UNSET,
            tasks: FLAG_UNSET,
            #[cfg(ngx_feature = "threads")]
            pool: POOL_UNSET,
        }
    }

    fn merge(&mut self, cf: *mut ngx_conf_t, above: &mut Self, level: ngx_int_t) -> Result<(), Failed> {
        merge(&mut self.enable, above.enable, FLAG_UNSET, 0);
        merge(&mut self.level, above.level, LEVEL_UNSET, level);
        merge(&mut self.window_log, above.window_log, SIZE_UNSET, SIZE_UNSET);
        merge(&mut self.min_length, above.min_length, SIZE_UNSET, DEFAULT_MIN_LENGTH);
        if self.buffers.num == 0 {
            self.buffers = if above.buffers.num == 0 { DEFAULT_BUFFERS } else { above.buffers };
        }
        merge(&mut self.segment, above.segment, SIZE_UNSET, DEFAULT_SEGMENT);
        merge(&mut self.tasks, above.tasks, FLAG_UNSET, DEFAULT_TASKS);
        #[cfg(ngx_feature = "threads")]
        merge(&mut self.pool, above.pool, POOL_UNSET, ptr::null_mut());
        let this = (&mut self.types_keys, &mut self.types);
        // SAFETY: both are configurations of ours, filled by ngx_http_types_slot alone.
        unsafe { merge_types(cf, this, (&mut above.types_keys, &mut above.types)) }
    }
}

/// The module's `create_main_conf`.
///
/// # Safety
/// A callback of NGINX.
pub unsafe extern "C" fn create_main(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: NGINX reads a configuration.
    unsafe { create(cf, MainConf { max_waiting: SIZE_UNSET, stream_memory: SIZE_UNSET }) }
}

/// The module's `create_loc_conf`.
///
/// # Safety
/// A callback of NGINX.
pub unsafe extern "C" fn create_loc(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: NGINX reads a configuration.
    unsafe { create(cf, LocConf { brotli: CodingConf::unset(), zstd: CodingConf::unset() }) }
}

/// The module's `merge_loc_conf`.
///
/// # Safety
/// A callback of NGINX.
pub unsafe extern "C" fn merge_loc(
    cf: *mut ngx_conf_t,
    above: *mut c_void,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: NGINX passes two different configurations that `create_loc` made.
    let (above, conf) = unsafe { (&mut *above.cast::<LocConf>(), &mut *conf.cast::<LocConf>()) };
    let merged =
        conf.brotli.merge(cf, &mut above.brotli, 6).and_then(|()| conf.zstd.merge(cf, &mut above.zstd, 1));
    result(merged)
}
