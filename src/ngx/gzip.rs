//! The stock gzip filter: whether it would encode a response.
//!
//! Its configuration is a structure that it keeps to itself, so the places of its values are taken from its table
//! of directives.

use std::ffi::c_void;

use nginx_sys::{
    ngx_command_t, ngx_conf_t, ngx_flag_t, ngx_hash_t, ngx_http_gzip_ok, ngx_module_t, ngx_str_t, ngx_uint_t,
};

use super::{OK, Request};

/// Where ngx_http_gzip_filter_module keeps what it does in a location.
#[derive(Clone, Copy)]
pub struct Gzip {
    context: ngx_uint_t,
    enable: usize,
    min_length: usize,
    types: usize,
}

impl Gzip {
    /// Finds the filter among the modules of the cycle that is being made; none if NGINX has it not, or another
    /// than is known here.
    ///
    /// # Safety
    /// `cf` is the configuration that is being read.
    pub unsafe fn find(cf: *mut ngx_conf_t) -> Option<Self> {
        // SAFETY: the caller vouches for the configuration; modules and their tables live as long as the cycle.
        unsafe {
            let module = super::conf::module(cf, c"ngx_http_gzip_filter_module")?;
            let offset = |name: &[u8]| command(module, name).map(|command| command.offset);
            // ngx_http_gzip_conf_t has the hash of the types between the values of these two.
            let types = offset(b"gzip_no_buffer")? + size_of::<ngx_flag_t>();
            if types + size_of::<ngx_hash_t>() != offset(b"gzip_buffers")? {
                return None;
            }
            Some(Self {
                context: module.ctx_index,
                enable: offset(b"gzip")?,
                min_length: offset(b"gzip_min_length")?,
                types,
            })
        }
    }

    /// Whether the filter would encode this response: what ngx_http_gzip_header_filter asks, in its order.
    pub fn would_encode(self, request: Request) -> bool {
        // SAFETY: the location has a configuration of the module, with these values at these places.
        let (enable, min_length, types) = unsafe {
            let conf: *const c_void = request.location_of(self.context);
            let at = |offset: usize| conf.byte_add(offset);
            (
                *at(self.enable).cast::<ngx_flag_t>(),
                *at(self.min_length).cast::<isize>(),
                &*at(self.types).cast::<ngx_hash_t>(),
            )
        };
        enable == 1
            && matches!(request.status(), 200 | 403 | 404)
            && !request.has_content_encoding()
            && request.content_length().is_none_or(|length| length >= u64::try_from(min_length).unwrap_or(0))
            && request.has_type(types)
            // SAFETY: a live main request. It keeps the answer for the filter.
            && unsafe { ngx_http_gzip_ok(request.as_ptr()) } == OK
    }
}

/// A directive of a module.
///
/// # Safety
/// The module's table ends with an empty name, as all do.
unsafe fn command<'a>(module: &'a ngx_module_t, name: &[u8]) -> Option<&'a ngx_command_t> {
    let mut command = module.commands.cast_const();
    // SAFETY: the caller vouches for the table.
    unsafe {
        while !command.is_null() && (*command).name.len > 0 {
            let known: ngx_str_t = (*command).name;
            if known.as_bytes() == name {
                return Some(&*command);
            }
            command = command.add(1);
        }
    }
    None
}
