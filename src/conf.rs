//! The configuration of a location: what the directives set, and how levels are merged.

mod dictionary;
mod directives;
mod status;

pub use directives::COMMANDS;

use std::ffi::{c_char, c_void};
use std::ptr;

use compress_core::codec::{Coding, Dictionary};
use compress_core::eligible::Statuses;
use compress_core::negotiate::Order;
use compress_core::plan::{self, Limits};
use nginx_sys::{
    NGX_CONF_UNSET, ngx_array_t, ngx_bufs_t, ngx_conf_t, ngx_flag_t, ngx_hash_t, ngx_int_t, ngx_uint_t,
};

use self::dictionary::{DictConf, Dictionaries};
use self::status::StatusConf;
use crate::ngx::conf::{Kept, create, main_conf_of, merge, merge_types, result};
use crate::ngx::gzip::Gzip;
use crate::ngx::shared::Zone;
use crate::ngx::{Failed, Request};

/// `compress_max_waiting` and the other directives of `http` alone.
#[repr(C)]
pub struct MainConf {
    max_waiting: ngx_uint_t,
    stream_memory: usize,
    thread_priority: ngx_int_t,
    status_size: usize,
    status: StatusConf,
    gzip: Option<Gzip>,
    dictionaries: Option<Dictionaries>,
}

/// What a location does with both codings.
#[repr(C)]
pub struct LocConf {
    brotli: CodingConf,
    zstd: CodingConf,
    order: Option<Order>,
    statuses: Option<Statuses>,
    vary: ngx_flag_t,
    inline: usize,
    dict_file: Option<DictConf>,
    /// The dictionary of `dict_file`, digested for the level of Zstandard.
    dictionary: Option<Kept<Dictionary>>,
}

/// What a location does with one coding.
#[repr(C)]
pub struct CodingConf {
    enable: ngx_flag_t,
    level: ngx_int_t,
    window_log: ngx_uint_t,
    min_length: usize,
    max_length: usize,
    types: ngx_hash_t,
    types_keys: *mut ngx_array_t,
    buffers: ngx_bufs_t,
    segment: usize,
    tasks: ngx_int_t,
    bypass: *mut ngx_array_t,
    serve: ngx_uint_t,
    #[cfg(ngx_feature = "threads")]
    pool: *mut nginx_sys::ngx_thread_pool_t,
}

/// `brotli_static` and `zstd_static`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serve {
    /// Files beside the one that was asked for are not looked at.
    Off,
    /// A precompressed file goes to clients that accept its coding.
    On,
    /// A precompressed file goes to all clients.
    Always,
}

const FLAG_UNSET: ngx_flag_t = NGX_CONF_UNSET as ngx_flag_t;
const SIZE_UNSET: usize = usize::MAX;
const POINTER_UNSET: *mut ngx_array_t = ptr::without_provenance_mut(usize::MAX);
/// `compress_inline auto`.
const INLINE_AUTO: usize = usize::MAX - 1;
/// −1 is a level of Zstandard, so `NGX_CONF_UNSET` cannot say that none was set.
const LEVEL_UNSET: ngx_int_t = ngx_int_t::MIN;
#[cfg(ngx_feature = "threads")]
const POOL_UNSET: *mut nginx_sys::ngx_thread_pool_t = ptr::without_provenance_mut(usize::MAX);

const DEFAULT_MAX_WAITING: ngx_uint_t = 1024;
const DEFAULT_STREAM_MEMORY: usize = 64 << 20;
#[cfg(ngx_feature = "threads")]
const DEFAULT_PRIORITY: i32 = 10;
const DEFAULT_MIN_LENGTH: usize = 20;
const DEFAULT_BUFFERS: ngx_bufs_t = ngx_bufs_t { num: 32, size: 4096 };
const DEFAULT_SEGMENT: usize = 1 << 20;
const DEFAULT_TASKS: ngx_int_t = 4;

impl MainConf {
    /// The nice value of pool threads that run our jobs; 0 leaves it as it is.
    #[cfg(ngx_feature = "threads")]
    pub fn thread_priority(&self) -> i32 {
        if self.thread_priority == FLAG_UNSET { DEFAULT_PRIORITY } else { self.thread_priority as i32 }
    }

    /// The stock gzip filter, if NGINX has it.
    pub fn gzip(&self) -> Option<Gzip> {
        self.gzip
    }

    /// The zone of the counters, if a location shows them.
    pub fn status_zone(&self) -> Option<Zone> {
        self.status.zone
    }

    /// Looks at the modules beside this one, asks for a zone, and forgets what only the reading needed.
    ///
    /// # Errors
    /// There is no zone to be had; that was logged.
    ///
    /// # Safety
    /// `cf` is that of the `http` block, which has been read.
    pub unsafe fn finish(cf: *mut ngx_conf_t) -> Result<(), Failed> {
        // SAFETY: the caller vouches for `cf`.
        let main = unsafe { main_conf_of::<Self>(cf) };
        // SAFETY: as above.
        main.gzip = unsafe { Gzip::find(cf) };
        dictionary::forget_files(main);
        // SAFETY: as above.
        unsafe { status::add_zone(cf, main) }
    }

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

    /// Which of the codings goes first that a client weighs the same.
    pub fn order(&self) -> Order {
        self.order.unwrap_or_default()
    }

    /// The statuses whose responses are encoded.
    pub fn statuses(&self) -> Statuses {
        self.statuses.unwrap_or_default()
    }

    /// The dictionary of the coding, if it has one.
    pub fn dictionary(&self, coding: Coding) -> Option<&Dictionary> {
        self.dictionary.as_ref().filter(|_| coding == Coding::Zstd).map(Kept::get)
    }

    /// Whether `Vary` is seen to.
    pub fn sets_vary(&self) -> bool {
        self.vary == 1
    }

    /// Whether a body of this length is encoded in the event loop even with a pool.
    pub fn is_inline(&self, coding: Coding, length: u64) -> bool {
        match self.inline {
            INLINE_AUTO => plan::is_small(coding, self.coding(coding).level(), length),
            most => length <= most as u64,
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

    /// Longer responses are not encoded, if their length is known; 0 is no limit.
    pub fn max_length(&self) -> u64 {
        self.max_length as u64
    }

    /// Whether a string of the location's predicates says not to encode this response.
    pub fn is_bypassed(&self, request: Request) -> bool {
        request.has_predicate(self.bypass)
    }

    /// Whether precompressed files are served.
    pub fn serve(&self) -> Serve {
        match self.serve {
            1 => Serve::On,
            2 => Serve::Always,
            _ => Serve::Off,
        }
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
            output: (self.buffers.num as u64).saturating_mul(self.buffers.size as u64),
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
            max_length: SIZE_UNSET,
            types: ngx_hash_t { buckets: ptr::null_mut(), size: 0 },
            types_keys: ptr::null_mut(),
            buffers: ngx_bufs_t { num: 0, size: 0 },
            segment: SIZE_UNSET,
            tasks: FLAG_UNSET,
            bypass: POINTER_UNSET,
            serve: SIZE_UNSET,
            #[cfg(ngx_feature = "threads")]
            pool: POOL_UNSET,
        }
    }

    fn merge(&mut self, cf: *mut ngx_conf_t, above: &mut Self, level: ngx_int_t) -> Result<(), Failed> {
        merge(&mut self.enable, above.enable, FLAG_UNSET, 0);
        merge(&mut self.level, above.level, LEVEL_UNSET, level);
        merge(&mut self.window_log, above.window_log, SIZE_UNSET, SIZE_UNSET);
        merge(&mut self.min_length, above.min_length, SIZE_UNSET, DEFAULT_MIN_LENGTH);
        merge(&mut self.max_length, above.max_length, SIZE_UNSET, 0);
        if self.buffers.num == 0 {
            self.buffers = if above.buffers.num == 0 { DEFAULT_BUFFERS } else { above.buffers };
        }
        merge(&mut self.segment, above.segment, SIZE_UNSET, DEFAULT_SEGMENT);
        merge(&mut self.tasks, above.tasks, FLAG_UNSET, DEFAULT_TASKS);
        merge(&mut self.bypass, above.bypass, POINTER_UNSET, ptr::null_mut());
        merge(&mut self.serve, above.serve, SIZE_UNSET, 0);
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
    unsafe {
        create(
            cf,
            MainConf {
                max_waiting: SIZE_UNSET,
                stream_memory: SIZE_UNSET,
                thread_priority: FLAG_UNSET,
                status_size: SIZE_UNSET,
                status: StatusConf::default(),
                gzip: None,
                dictionaries: None,
            },
        )
    }
}

/// The module's `create_loc_conf`.
///
/// # Safety
/// A callback of NGINX.
pub unsafe extern "C" fn create_loc(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: NGINX reads a configuration.
    unsafe {
        create(
            cf,
            LocConf {
                brotli: CodingConf::unset(),
                zstd: CodingConf::unset(),
                order: None,
                statuses: None,
                vary: FLAG_UNSET,
                inline: SIZE_UNSET,
                dict_file: None,
                dictionary: None,
            },
        )
    }
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
    conf.order = conf.order.or(above.order);
    conf.statuses = conf.statuses.or(above.statuses);
    conf.dict_file = conf.dict_file.or(above.dict_file);
    merge(&mut conf.vary, above.vary, FLAG_UNSET, 1);
    merge(&mut conf.inline, above.inline, SIZE_UNSET, INLINE_AUTO);
    let merged =
        conf.brotli.merge(cf, &mut above.brotli, 6).and_then(|()| conf.zstd.merge(cf, &mut above.zstd, 1));
    // SAFETY: NGINX merges the locations of the `http` block that `cf` is of.
    let digested = merged.and_then(|()| unsafe { dictionary::digest(cf, conf.dict_file, conf.zstd.level()) });
    result(digested.map(|dictionary| conf.dictionary = dictionary))
}
