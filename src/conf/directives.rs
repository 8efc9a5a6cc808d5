//! The table of directives, and the handlers that NGINX has not.

use std::ffi::{CStr, c_char, c_void};
use std::mem::offset_of;
use std::ptr;

use compress_core::codec::{Coding, LevelError, brotli_window_log, parse_level};
use compress_core::eligible::Statuses;
use compress_core::negotiate::Order;
use nginx_sys::{
    NGX_CONF_1MORE, NGX_CONF_FLAG, NGX_CONF_NOARGS, NGX_CONF_TAKE1, NGX_CONF_TAKE2, NGX_HTTP_LIF_CONF,
    NGX_HTTP_LOC_CONF, ngx_command_t, ngx_conf_check_num_bounds, ngx_conf_enum_t, ngx_conf_num_bounds_t,
    ngx_conf_post_t, ngx_conf_set_bufs_slot, ngx_conf_set_enum_slot, ngx_conf_set_flag_slot,
    ngx_conf_set_num_slot, ngx_conf_set_size_slot, ngx_conf_t, ngx_http_html_default_types,
    ngx_http_set_predicate_slot, ngx_http_types_slot, ngx_int_t, ngx_str_t,
};
use ngx::core::NGX_CONF_OK;
use ngx::ngx_string;

use super::dictionary::set_dict_file;
use super::status::{check_zone, set_status};
use super::{CodingConf, FLAG_UNSET, INLINE_AUTO, LEVEL_UNSET, LocConf, MainConf, SIZE_UNSET};
use crate::ngx::conf::{EVERYWHERE, Setter, arguments, command, error, main_command, refused};

const FLAG: u32 = EVERYWHERE | NGX_HTTP_LIF_CONF | NGX_CONF_FLAG;
const ONE: u32 = EVERYWHERE | NGX_CONF_TAKE1;
const TWO: u32 = EVERYWHERE | NGX_CONF_TAKE2;
const MORE: u32 = EVERYWHERE | NGX_CONF_1MORE;

const BROTLI: usize = offset_of!(LocConf, brotli);
const ZSTD: usize = offset_of!(LocConf, zstd);

/// A directive without more to say about its value.
const fn plain(name: ngx_str_t, kind: u32, set: Setter, offset: usize) -> ngx_command_t {
    command(name, kind, set, offset, ptr::null_mut())
}

const fn checked<T>(
    name: ngx_str_t,
    kind: u32,
    set: Setter,
    offset: usize,
    check: *const T,
) -> ngx_command_t {
    command(name, kind, set, offset, check.cast_mut().cast())
}

const fn types(name: ngx_str_t, coding: usize) -> ngx_command_t {
    let offset = coding + offset_of!(CodingConf, types_keys);
    command(name, MORE, ngx_http_types_slot, offset, (&raw mut ngx_http_html_default_types).cast())
}

#[cfg(ngx_feature = "threads")]
const fn pool(name: ngx_str_t, coding: usize) -> ngx_command_t {
    plain(name, ONE, set_thread_pool, coding + offset_of!(CodingConf, pool))
}
#[cfg(not(ngx_feature = "threads"))]
const fn pool(name: ngx_str_t, coding: usize) -> ngx_command_t {
    plain(name, ONE, refuse_thread_pool, coding)
}

/// The directives, as NGINX reads them.
#[rustfmt::skip]
pub static mut COMMANDS: [ngx_command_t; 35] = [
    plain(ngx_string!("brotli"), FLAG, ngx_conf_set_flag_slot, BROTLI + offset_of!(CodingConf, enable)),
    types(ngx_string!("brotli_types"), BROTLI),
    checked(ngx_string!("brotli_comp_level"), ONE, set_level, BROTLI + offset_of!(CodingConf, level), &Coding::Brotli),
    checked(ngx_string!("brotli_window"), ONE, ngx_conf_set_size_slot, BROTLI + offset_of!(CodingConf, window_log), &BROTLI_WINDOWS),
    plain(ngx_string!("brotli_min_length"), ONE, ngx_conf_set_size_slot, BROTLI + offset_of!(CodingConf, min_length)),
    plain(ngx_string!("brotli_buffers"), TWO, ngx_conf_set_bufs_slot, BROTLI + offset_of!(CodingConf, buffers)),
    plain(ngx_string!("brotli_max_length"), ONE, ngx_conf_set_size_slot, BROTLI + offset_of!(CodingConf, max_length)),
    plain(ngx_string!("brotli_bypass"), MORE, ngx_http_set_predicate_slot, BROTLI + offset_of!(CodingConf, bypass)),
    checked(ngx_string!("brotli_static"), ONE, ngx_conf_set_enum_slot, BROTLI + offset_of!(CodingConf, serve), &raw const SERVE),
    pool(ngx_string!("brotli_thread_pool"), BROTLI),
    checked(ngx_string!("brotli_parallel_segment_size"), ONE, ngx_conf_set_size_slot, BROTLI + offset_of!(CodingConf, segment), &SEGMENTS),
    checked(ngx_string!("brotli_parallel_tasks"), ONE, ngx_conf_set_num_slot, BROTLI + offset_of!(CodingConf, tasks), &TASKS),

    plain(ngx_string!("zstd"), FLAG, ngx_conf_set_flag_slot, ZSTD + offset_of!(CodingConf, enable)),
    types(ngx_string!("zstd_types"), ZSTD),
    checked(ngx_string!("zstd_comp_level"), ONE, set_level, ZSTD + offset_of!(CodingConf, level), &Coding::Zstd),
    checked(ngx_string!("zstd_window_log"), ONE, ngx_conf_set_num_slot, ZSTD + offset_of!(CodingConf, window_log), &ZSTD_WINDOW_LOGS),
    plain(ngx_string!("zstd_min_length"), ONE, ngx_conf_set_size_slot, ZSTD + offset_of!(CodingConf, min_length)),
    plain(ngx_string!("zstd_buffers"), TWO, ngx_conf_set_bufs_slot, ZSTD + offset_of!(CodingConf, buffers)),
    plain(ngx_string!("zstd_max_length"), ONE, ngx_conf_set_size_slot, ZSTD + offset_of!(CodingConf, max_length)),
    plain(ngx_string!("zstd_bypass"), MORE, ngx_http_set_predicate_slot, ZSTD + offset_of!(CodingConf, bypass)),
    checked(ngx_string!("zstd_static"), ONE, ngx_conf_set_enum_slot, ZSTD + offset_of!(CodingConf, serve), &raw const SERVE),
    pool(ngx_string!("zstd_thread_pool"), ZSTD),
    checked(ngx_string!("zstd_parallel_segment_size"), ONE, ngx_conf_set_size_slot, ZSTD + offset_of!(CodingConf, segment), &SEGMENTS),
    checked(ngx_string!("zstd_parallel_tasks"), ONE, ngx_conf_set_num_slot, ZSTD + offset_of!(CodingConf, tasks), &TASKS),
    plain(ngx_string!("zstd_dict_file"), ONE, set_dict_file, 0),

    plain(ngx_string!("compress_order"), MORE, set_order, 0),
    plain(ngx_string!("compress_statuses"), MORE, set_statuses, 0),
    plain(ngx_string!("compress_vary"), EVERYWHERE | NGX_CONF_FLAG, ngx_conf_set_flag_slot, offset_of!(LocConf, vary)),
    plain(ngx_string!("compress_inline"), ONE, set_inline, offset_of!(LocConf, inline)),
    main_command(ngx_string!("compress_max_waiting"), NGX_CONF_TAKE1, ngx_conf_set_num_slot, offset_of!(MainConf, max_waiting), (&raw const WAITING).cast_mut().cast()),
    main_command(ngx_string!("compress_stream_memory"), NGX_CONF_TAKE1, ngx_conf_set_size_slot, offset_of!(MainConf, stream_memory), ptr::null_mut()),
    main_command(ngx_string!("compress_thread_priority"), NGX_CONF_TAKE1, set_thread_priority, offset_of!(MainConf, thread_priority), (&raw const PRIORITIES).cast_mut().cast()),
    plain(ngx_string!("compress_status"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS, set_status, 0),
    main_command(ngx_string!("compress_status_zone"), NGX_CONF_TAKE1, ngx_conf_set_size_slot, offset_of!(MainConf, status_size), (&raw const STATUS_ZONE).cast_mut().cast()),
    ngx_command_t::empty(),
];

static WAITING: ngx_conf_num_bounds_t = bounds(0, ngx_int_t::MAX);
static PRIORITIES: ngx_conf_num_bounds_t = bounds(1, 19);
static TASKS: ngx_conf_num_bounds_t = bounds(1, 64);
static ZSTD_WINDOW_LOGS: ngx_conf_num_bounds_t = bounds(10, 23);
static BROTLI_WINDOWS: ngx_conf_post_t = ngx_conf_post_t { post_handler: Some(take_brotli_window) };
static STATUS_ZONE: ngx_conf_post_t = ngx_conf_post_t { post_handler: Some(check_zone) };
static SEGMENTS: ngx_conf_post_t = ngx_conf_post_t { post_handler: Some(check_segment) };

static mut SERVE: [ngx_conf_enum_t; 4] = [
    ngx_conf_enum_t { name: ngx_string!("off"), value: 0 },
    ngx_conf_enum_t { name: ngx_string!("on"), value: 1 },
    ngx_conf_enum_t { name: ngx_string!("always"), value: 2 },
    ngx_conf_enum_t { name: ngx_str_t::empty(), value: 0 },
];

const fn bounds(low: ngx_int_t, high: ngx_int_t) -> ngx_conf_num_bounds_t {
    ngx_conf_num_bounds_t { post_handler: Some(ngx_conf_check_num_bounds), low, high }
}

pub(super) const DUPLICATE: &CStr = c"is duplicate";

/// A level, which can be negative: ngx_conf_set_num_slot takes no sign.
unsafe extern "C" fn set_level(
    cf: *mut ngx_conf_t,
    cmd: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: NGINX calls with the command that is being read and the location's configuration.
    unsafe {
        let place = &mut *conf.cast::<u8>().add((*cmd).offset).cast::<ngx_int_t>();
        if *place != LEVEL_UNSET {
            return refused(DUPLICATE);
        }
        match parse_level(*(*cmd).post.cast::<Coding>(), arguments(cf)[1].as_bytes()) {
            Ok(level) => *place = level as ngx_int_t,
            Err(LevelError::NotANumber) => return refused(c"invalid number"),
            Err(words @ LevelError::OutOfRange(_)) => return error(cf, words),
        }
    }
    NGX_CONF_OK
}

/// A window of Brotli, in bytes, kept as its logarithm.
unsafe extern "C" fn take_brotli_window(
    _: *mut ngx_conf_t,
    _: *mut c_void,
    data: *mut c_void,
) -> *mut c_char {
    // SAFETY: ngx_conf_set_size_slot passes the place of the value.
    let window = unsafe { &mut *data.cast::<usize>() };
    let Some(window_log) = brotli_window_log(*window) else {
        return refused(c"must be 1k, 2k, 4k, 8k, 16k, 32k, 64k, 128k, 256k, 512k, 1m, 2m, 4m, 8m or 16m");
    };
    *window = window_log as usize;
    NGX_CONF_OK
}

unsafe extern "C" fn check_segment(cf: *mut ngx_conf_t, _: *mut c_void, data: *mut c_void) -> *mut c_char {
    // SAFETY: ngx_conf_set_size_slot passes the place of the value.
    let segment = unsafe { *data.cast::<usize>() };
    if (64 << 10..=16 << 20).contains(&segment) {
        return NGX_CONF_OK;
    }
    // SAFETY: the configuration that is being read.
    unsafe { error(cf, "value must be between 64k and 16m") }
}

/// The arguments of `compress_order`.
unsafe extern "C" fn set_order(cf: *mut ngx_conf_t, _: *mut ngx_command_t, conf: *mut c_void) -> *mut c_char {
    // SAFETY: NGINX calls with the location's configuration.
    unsafe {
        let conf = &mut *conf.cast::<LocConf>();
        if conf.order.is_some() {
            return refused(DUPLICATE);
        }
        match Order::from_tokens(arguments(cf)[1..].iter().map(|argument| argument.as_bytes())) {
            Ok(order) => conf.order = Some(order),
            Err(words) => return error(cf, format_args!("{words} in \"compress_order\" directive")),
        }
    }
    NGX_CONF_OK
}

/// The arguments of `compress_statuses`.
unsafe extern "C" fn set_statuses(
    cf: *mut ngx_conf_t,
    _: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: NGINX calls with the location's configuration.
    unsafe {
        let conf = &mut *conf.cast::<LocConf>();
        if conf.statuses.is_some() {
            return refused(DUPLICATE);
        }
        let mut statuses = Statuses::empty();
        for argument in &arguments(cf)[1..] {
            if let Err(words) = statuses.add(argument.as_bytes()) {
                let value = argument.as_bytes().escape_ascii();
                return error(
                    cf,
                    format_args!("invalid value \"{value}\" in \"compress_statuses\" directive, it {words}"),
                );
            }
        }
        conf.statuses = Some(statuses);
    }
    NGX_CONF_OK
}

/// A size, or `auto`.
unsafe extern "C" fn set_inline(
    cf: *mut ngx_conf_t,
    cmd: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: NGINX calls with the command that is being read and the location's configuration.
    unsafe {
        let place = &mut (*conf.cast::<LocConf>()).inline;
        if *place == SIZE_UNSET && arguments(cf)[1].as_bytes() == b"auto" {
            *place = INLINE_AUTO;
            return NGX_CONF_OK;
        }
        ngx_conf_set_size_slot(cf, cmd, conf)
    }
}

/// A nice value, or `off`.
unsafe extern "C" fn set_thread_priority(
    cf: *mut ngx_conf_t,
    cmd: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: NGINX calls with the command that is being read and the main configuration.
    unsafe {
        let place = &mut (*conf.cast::<MainConf>()).thread_priority;
        if *place == FLAG_UNSET && arguments(cf)[1].as_bytes() == b"off" {
            *place = 0;
            return NGX_CONF_OK;
        }
        ngx_conf_set_num_slot(cf, cmd, conf)
    }
}

/// The name of a pool; NGINX says later if no `thread_pool` directive defines it.
#[cfg(ngx_feature = "threads")]
unsafe extern "C" fn set_thread_pool(
    cf: *mut ngx_conf_t,
    cmd: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: NGINX calls with the command that is being read and the location's configuration.
    unsafe {
        let place = &mut *conf.cast::<u8>().add((*cmd).offset).cast();
        if *place != super::POOL_UNSET {
            return refused(DUPLICATE);
        }
        let name = &mut arguments(cf)[1];
        if name.as_bytes() == b"off" {
            *place = ptr::null_mut();
            return NGX_CONF_OK;
        }
        *place = nginx_sys::ngx_thread_pool_add(cf, name);
        if place.is_null() { ngx::core::NGX_CONF_ERROR } else { NGX_CONF_OK }
    }
}

#[cfg(not(ngx_feature = "threads"))]
unsafe extern "C" fn refuse_thread_pool(
    cf: *mut ngx_conf_t,
    _: *mut ngx_command_t,
    _: *mut c_void,
) -> *mut c_char {
    // SAFETY: the configuration that is being read.
    unsafe {
        match arguments(cf)[1].as_bytes() {
            b"off" => NGX_CONF_OK,
            _ => refused(c"is unsupported: NGINX was built without --with-threads"),
        }
    }
}
