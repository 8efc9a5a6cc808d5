//! `ngx_http_compress_module`: Brotli and Zstandard for NGINX, encoded on its thread pools.
//!
//! This crate is the glue between NGINX and `compress_core`, which decides and encodes. The way of a response:
//! `filter` reads the facts, asks the core, and attaches a `response` to the request; the body filter hands
//! buffers to it; its jobs go to a thread pool and come back in `job`; what all responses of a worker share is
//! in `worker`. Files that were compressed beforehand are sent by `statics`. `status` counts it all.

mod conf;
mod filter;
mod hooks;
#[cfg(ngx_feature = "threads")]
mod job;
mod ngx;
mod response;
mod statics;
mod status;
#[cfg(ngx_feature = "http_ssl")]
mod tls;
mod variables;
mod vary;
mod worker;

use std::ffi::CStr;
use std::ptr::{addr_of, addr_of_mut};

use nginx_sys::{
    NGX_HTTP_MODULE, ngx_conf_t, ngx_cycle_t, ngx_http_module_t, ngx_int_t, ngx_module_t, ngx_uint_t,
};

static CONTEXT: ngx_http_module_t = ngx_http_module_t {
    preconfiguration: Some(preconfiguration),
    postconfiguration: Some(postconfiguration),
    create_main_conf: Some(conf::create_main),
    init_main_conf: None,
    create_srv_conf: None,
    merge_srv_conf: None,
    create_loc_conf: Some(conf::create_loc),
    merge_loc_conf: Some(conf::merge_loc),
};

/// The module, as NGINX knows it.
#[used]
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static mut ngx_http_compress_module: ngx_module_t = ngx_module_t {
    ctx: addr_of!(CONTEXT).cast_mut().cast(),
    commands: addr_of_mut!(conf::COMMANDS).cast(),
    type_: NGX_HTTP_MODULE as ngx_uint_t,
    init_module: Some(init_module),
    init_process: Some(init_process),
    ..ngx_module_t::default()
};

/// Modules that have the same directives: NGINX would give each directive to one of both.
const REPLACED: [&CStr; 4] = [
    c"ngx_http_brotli_filter_module",
    c"ngx_http_brotli_static_module",
    c"ngx_http_zstd_filter_module",
    c"ngx_http_zstd_static_module",
];

unsafe extern "C" fn preconfiguration(cf: *mut ngx_conf_t) -> ngx_int_t {
    for name in REPLACED {
        // SAFETY: NGINX reads a configuration.
        unsafe {
            if ngx::conf::module(cf, name).is_some() {
                let name = name.to_string_lossy();
                ngx::conf::error(
                    cf,
                    format_args!(
                        "\"{name}\" cannot be loaded beside \"ngx_http_compress_module\", which replaces it: \
                         remove the \"load_module\" line of \"{name}.so\""
                    ),
                );
                return ngx::ERROR;
            }
        }
    }
    // SAFETY: as above, in the `http` block.
    ngx::code(unsafe { variables::register(cf) })
}

unsafe extern "C" fn postconfiguration(cf: *mut ngx_conf_t) -> ngx_int_t {
    ngx::guard::keep_panic_messages();
    // SAFETY: NGINX has read the `http` block.
    if unsafe { conf::MainConf::finish(cf) }.is_err() {
        return ngx::ERROR;
    }
    ngx::filter::install(filter::header, filter::body);
    // SAFETY: as above.
    ngx::code(unsafe { ngx::phase::add_content_handler(cf, statics::handler) })
}

unsafe extern "C" fn init_module(_: *mut ngx_cycle_t) -> ngx_int_t {
    #[cfg(ngx_feature = "http_ssl")]
    ngx::filter::install_first(tls::first_header);
    ngx::OK
}

unsafe extern "C" fn init_process(cycle: *mut ngx_cycle_t) -> ngx_int_t {
    ngx::guard::guard(ngx::ERROR, || {
        hooks::init();
        hooks::point("init_process");
        // SAFETY: NGINX calls with the worker's cycle, once its configuration was read and its zones were made.
        unsafe {
            worker::init(cycle);
            status::enter(cycle);
        }
        ngx::OK
    })
}

/// What NGINX looks up in a .so; its own build makes the same tables.
#[cfg(feature = "export-modules")]
#[allow(non_upper_case_globals)]
mod export {
    use std::ffi::{CStr, c_char};
    use std::ptr::{self, addr_of};

    use nginx_sys::ngx_module_t;

    #[repr(transparent)]
    struct Names<const N: usize>([*const c_char; N]);
    // SAFETY: pointers to literals, which nobody writes.
    unsafe impl<const N: usize> Sync for Names<N> {}

    const MODULE: &CStr = c"ngx_http_compress_module";

    #[unsafe(no_mangle)]
    static mut ngx_modules: [*const ngx_module_t; 2] =
        [addr_of!(super::ngx_http_compress_module), ptr::null()];

    #[unsafe(no_mangle)]
    static ngx_module_names: Names<2> = Names([MODULE.as_ptr(), ptr::null()]);

    /// The filter is put in front of the first of the others, which NGINX calls before it: all that make or change
    /// the body see it before it is encoded.
    #[unsafe(no_mangle)]
    static ngx_module_order: Names<17> = Names([
        MODULE.as_ptr(),
        c"ngx_pagespeed".as_ptr(),
        c"ngx_http_postpone_filter_module".as_ptr(),
        c"ngx_http_ssi_filter_module".as_ptr(),
        c"ngx_http_charset_filter_module".as_ptr(),
        c"ngx_http_xslt_filter_module".as_ptr(),
        c"ngx_http_image_filter_module".as_ptr(),
        c"ngx_http_sub_filter_module".as_ptr(),
        c"ngx_http_addition_filter_module".as_ptr(),
        c"ngx_http_gunzip_filter_module".as_ptr(),
        c"ngx_http_userid_filter_module".as_ptr(),
        c"ngx_http_headers_filter_module".as_ptr(),
        c"ngx_http_copy_filter_module".as_ptr(),
        c"ngx_http_range_body_filter_module".as_ptr(),
        c"ngx_http_not_modified_filter_module".as_ptr(),
        c"ngx_http_slice_filter_module".as_ptr(),
        ptr::null(),
    ]);
}
