//! Variables of the configuration.

use std::ptr;

use nginx_sys::{
    NGX_HTTP_VAR_NOCACHEABLE, ngx_conf_t, ngx_http_add_variable, ngx_http_request_t,
    ngx_http_variable_value_t, ngx_int_t, ngx_str_t, ngx_uint_t,
};

use super::{ERROR, Failed, OK, Request, guard};

/// A variable that only this module sets.
pub struct Variable {
    /// Its name, in lower case and without the dollar sign.
    pub name: &'static str,
    /// Whether its first value holds for the whole request.
    pub is_cacheable: bool,
    /// Its value, if it has one now.
    pub get: fn(Request) -> Option<String>,
}

/// Makes variables known.
///
/// # Errors
/// No memory, or somebody else has made one of them; that was logged.
///
/// # Safety
/// `cf` is that of the `http` block, in preconfiguration.
pub unsafe fn add(cf: *mut ngx_conf_t, variables: &'static [Variable]) -> Result<(), Failed> {
    for variable in variables {
        let mut name = ngx_str_t { len: variable.name.len(), data: variable.name.as_ptr().cast_mut() };
        let flags = if variable.is_cacheable { 0 } else { NGX_HTTP_VAR_NOCACHEABLE as ngx_uint_t };
        // SAFETY: the caller vouches for the configuration; NGINX copies the name.
        let added = unsafe { ngx_http_add_variable(cf, &mut name, flags).as_mut() }.ok_or(Failed)?;
        added.get_handler = Some(get);
        added.data = ptr::from_ref(variable).expose_provenance();
    }
    Ok(())
}

unsafe extern "C" fn get(
    raw: *mut ngx_http_request_t,
    value: *mut ngx_http_variable_value_t,
    data: usize,
) -> ngx_int_t {
    // SAFETY: NGINX calls with a request, which lives during the call, with the place of the value, and with the
    // data that `add` gave it: a `Variable` that lives as long as the program.
    let (request, value, variable) =
        unsafe { (Request::from_raw(raw), &mut *value, &*ptr::with_exposed_provenance::<Variable>(data)) };
    let Some(text) = guard::guard(None, || (variable.get)(request)) else {
        value.set_not_found(1);
        return OK;
    };
    // SAFETY: the pool is the request's.
    let Some(text) = (unsafe { ngx_str_t::from_bytes(request.pool(), text.as_bytes()) }) else {
        return ERROR;
    };
    value.data = text.data;
    value.set_len(text.len as u32);
    value.set_valid(1);
    value.set_no_cacheable(0);
    value.set_not_found(0);
    OK
}
