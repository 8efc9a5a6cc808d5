//! Pieces of directive tables and of the merging of configurations.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::fmt::Display;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr::{self, NonNull};

use nginx_sys::{
    NGX_HTTP_LOC_CONF, NGX_HTTP_LOC_CONF_OFFSET, NGX_HTTP_MAIN_CONF, NGX_HTTP_MAIN_CONF_OFFSET,
    NGX_HTTP_SRV_CONF, NGX_LOG_EMERG, NGX_LOG_WARN, ngx_array_t, ngx_command_t, ngx_conf_full_name,
    ngx_conf_log_error, ngx_conf_t, ngx_cycle_t, ngx_hash_t, ngx_http_conf_ctx_t,
    ngx_http_html_default_types, ngx_http_merge_types, ngx_http_module, ngx_module_t, ngx_palloc,
    ngx_pool_cleanup_add, ngx_str_t, ngx_uint_t,
};
use ngx::core::{NGX_CONF_ERROR, NGX_CONF_OK};
use ngx::ngx_conf_log_error;

use super::guard::guard;
use super::{Failed, OK, this_module};

/// A directive's handler.
pub type Setter = unsafe extern "C" fn(*mut ngx_conf_t, *mut ngx_command_t, *mut c_void) -> *mut c_char;

/// What a handler gives NGINX when a value was refused; NGINX adds the directive, the file and the line.
pub fn refused(words: &'static CStr) -> *mut c_char {
    words.as_ptr().cast_mut()
}

/// What a handler gives NGINX.
pub fn result(result: Result<(), Failed>) -> *mut c_char {
    if result.is_ok() { NGX_CONF_OK } else { NGX_CONF_ERROR }
}

/// Where directives of a location may stand.
pub const EVERYWHERE: u32 = NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF;

/// A directive whose value is in the location's configuration, at `offset`.
pub const fn command(
    name: ngx_str_t,
    kind: u32,
    set: Setter,
    offset: usize,
    post: *mut c_void,
) -> ngx_command_t {
    ngx_command_t {
        name,
        type_: kind as ngx_uint_t,
        set: Some(set),
        conf: NGX_HTTP_LOC_CONF_OFFSET,
        offset,
        post,
    }
}

/// A directive of `http` alone, whose value is in the main configuration, at `offset`.
pub const fn main_command(
    name: ngx_str_t,
    kind: u32,
    set: Setter,
    offset: usize,
    post: *mut c_void,
) -> ngx_command_t {
    let mut command = command(name, NGX_HTTP_MAIN_CONF | kind, set, offset, post);
    command.conf = NGX_HTTP_MAIN_CONF_OFFSET;
    command
}

/// A place for a configuration, in the cycle's memory, with `value` in it; NULL without memory.
///
/// # Safety
/// `cf` is the configuration that is being read; `T` needs no drop.
pub unsafe fn create<T>(cf: *mut ngx_conf_t, value: T) -> *mut c_void {
    // SAFETY: the pool's memory is aligned for any of our configurations, which hold words and pointers.
    unsafe {
        let place: *mut T = ngx_palloc((*cf).pool, size_of::<T>()).cast();
        if !place.is_null() {
            place.write(value);
        }
        place.cast()
    }
}

/// The arguments of the directive that is being read, its name first.
///
/// # Safety
/// `cf` is the configuration that is being read.
pub unsafe fn arguments<'a>(cf: *mut ngx_conf_t) -> &'a mut [ngx_str_t] {
    // SAFETY: the array has strings, and lives while the handler runs.
    unsafe { (*(*cf).args).as_slice_mut() }
}

/// Logs why the configuration cannot be used, with file and line.
///
/// # Safety
/// `cf` is the configuration that is being read.
pub unsafe fn error(cf: *mut ngx_conf_t, message: impl Display) -> *mut c_char {
    ngx_conf_log_error!(NGX_LOG_EMERG, cf, "{message}");
    NGX_CONF_ERROR
}

/// As [`error`], with what the system said.
///
/// # Safety
/// As [`error`].
pub unsafe fn error_of_system(cf: *mut ngx_conf_t, error: &io::Error, message: impl Display) -> *mut c_char {
    let message = message.to_string();
    let errno = error.raw_os_error().unwrap_or(0);
    // SAFETY: the format takes a length and so many bytes.
    unsafe {
        let (level, format) = (NGX_LOG_EMERG as ngx_uint_t, c"%*s".as_ptr());
        ngx_conf_log_error(level, cf, errno, format, message.len(), message.as_ptr());
    }
    NGX_CONF_ERROR
}

/// Logs what is to be known of a configuration that can be used, with file and line.
///
/// # Safety
/// As [`error`].
pub unsafe fn warn(cf: *mut ngx_conf_t, message: impl Display) {
    ngx_conf_log_error!(NGX_LOG_WARN, cf, "{message}");
}

/// A path, relative to the directory of the configuration file.
///
/// # Safety
/// As [`error`].
pub unsafe fn full_name(cf: *mut ngx_conf_t, name: &mut ngx_str_t) -> Result<PathBuf, Failed> {
    // SAFETY: the caller vouches for `cf`; `name` ends with NUL, as all arguments do.
    if unsafe { ngx_conf_full_name((*cf).cycle, name, 1) } != OK {
        return Err(Failed);
    }
    Ok(PathBuf::from(OsStr::from_bytes(name.as_bytes())))
}

/// A value that lives as long as the configuration, and is dropped with it.
pub struct Kept<T>(NonNull<T>);

impl<T> Kept<T> {
    /// # Errors
    /// No memory.
    ///
    /// # Safety
    /// `cf` is the configuration that is being read, and what is returned is not used when that is gone.
    pub unsafe fn new(cf: *mut ngx_conf_t, value: T) -> Result<Self, Failed> {
        // SAFETY: the pool is the cycle's. The cleanup owns the value.
        unsafe {
            let cleanup = NonNull::new(ngx_pool_cleanup_add((*cf).pool, 0)).ok_or(Failed)?.as_mut();
            let value = NonNull::from(Box::leak(Box::new(value)));
            cleanup.handler = Some(free::<T>);
            cleanup.data = value.as_ptr().cast();
            Ok(Self(value))
        }
    }

    /// The value.
    pub fn get(&self) -> &T {
        // SAFETY: the configuration is there (`new`), and nobody has it for himself before it goes.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Kept<T> {}

unsafe extern "C" fn free<T>(data: *mut c_void) {
    // SAFETY: `Kept::new` gave the value up to this cleanup, which runs once.
    let value = unsafe { Box::from_raw(data.cast::<T>()) };
    guard((), || drop(value));
}

/// A value that was not set is taken from the level above, or is the default.
pub fn merge<T: Copy + PartialEq>(value: &mut T, above: T, unset: T, default: T) {
    if *value == unset {
        *value = if above == unset { default } else { above };
    }
}

/// The MIME types of a location: `text/html` and those of the level above unless it has its own.
///
/// # Safety
/// The arguments are of configurations that ngx_http_types_slot filled.
pub unsafe fn merge_types(
    cf: *mut ngx_conf_t,
    (keys, hash): (&mut *mut ngx_array_t, &mut ngx_hash_t),
    (above_keys, above_hash): (&mut *mut ngx_array_t, &mut ngx_hash_t),
) -> Result<(), Failed> {
    // SAFETY: the caller vouches for the configurations; the default types are a table of NGINX.
    let code = unsafe {
        let default: *mut ngx_str_t = (&raw mut ngx_http_html_default_types).cast();
        ngx_http_merge_types(cf, keys, hash, above_keys, above_hash, default)
    };
    if ptr::eq(code, NGX_CONF_OK) { Ok(()) } else { Err(Failed) }
}

/// The module's main configuration, if there is an `http` block.
///
/// # Safety
/// `cycle` is one whose configuration has been read, and `T` what the module's create_main_conf makes.
pub unsafe fn main_conf<'a, T>(cycle: *mut ngx_cycle_t) -> Option<&'a T> {
    // SAFETY: the place of the http module in the cycle holds the contexts of the `http` block, or NULL.
    unsafe {
        let http = *(*cycle).conf_ctx.add(ngx_http_module.index);
        let contexts = http.cast::<ngx_http_conf_ctx_t>().as_ref()?;
        (*contexts.main_conf.add(this_module().ctx_index)).cast::<T>().as_ref()
    }
}

/// A module of the cycle that is being made, by its name.
///
/// # Safety
/// `cf` is the configuration that is being read.
pub unsafe fn module<'a>(cf: *mut ngx_conf_t, name: &CStr) -> Option<&'a ngx_module_t> {
    // SAFETY: the list ends with NULL; every module that is linked or loaded has a name.
    unsafe {
        let mut modules = (*(*cf).cycle).modules;
        while let Some(module) = (*modules).as_ref() {
            if CStr::from_ptr(module.name) == name {
                return Some(module);
            }
            modules = modules.add(1);
        }
    }
    None
}

/// The module's main configuration while it is being read.
///
/// # Safety
/// `cf` is that of the `http` block, and `T` what the module's create_main_conf makes.
pub unsafe fn main_conf_of<'a, T>(cf: *mut ngx_conf_t) -> &'a mut T {
    // SAFETY: the caller vouches for both.
    unsafe {
        let contexts = &*(*cf).ctx.cast::<ngx_http_conf_ctx_t>();
        &mut *(*contexts.main_conf.add(this_module().ctx_index)).cast::<T>()
    }
}
