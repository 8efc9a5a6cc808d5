//! The phases of a request, and who makes its response.

use nginx_sys::{
    ngx_array_push, ngx_conf_t, ngx_http_conf_ctx_t, ngx_http_core_loc_conf_t, ngx_http_core_main_conf_t,
    ngx_http_core_module, ngx_http_handler_pt, ngx_http_phases_NGX_HTTP_CONTENT_PHASE as CONTENT,
    ngx_http_request_t, ngx_int_t,
};

use super::Failed;

type Handler = unsafe extern "C" fn(*mut ngx_http_request_t) -> ngx_int_t;

/// Adds a handler that may make the response. NGINX asks the one that was added last first.
///
/// # Errors
/// No memory.
///
/// # Safety
/// `cf` is that of the `http` block, in postconfiguration.
pub unsafe fn add_content_handler(cf: *mut ngx_conf_t, handler: Handler) -> Result<(), Failed> {
    // SAFETY: the core module has a main configuration in every `http` block, whose lists of handlers it has made
    // before postconfiguration.
    unsafe {
        let contexts = &*(*cf).ctx.cast::<ngx_http_conf_ctx_t>();
        let core = *contexts.main_conf.add(ngx_http_core_module.ctx_index);
        let core = &mut *core.cast::<ngx_http_core_main_conf_t>();
        let place = ngx_array_push(&mut core.phases[CONTENT as usize].handlers);
        let place = place.cast::<ngx_http_handler_pt>().as_mut().ok_or(Failed)?;
        *place = Some(handler);
    }
    Ok(())
}

/// Makes a handler the one that answers in the location that is being read; says no if it is that already.
///
/// # Safety
/// `cf` is that of a location.
pub unsafe fn set_location_handler(cf: *mut ngx_conf_t, handler: Handler) -> bool {
    // SAFETY: every location has a configuration of the core module.
    unsafe {
        let contexts = &*(*cf).ctx.cast::<ngx_http_conf_ctx_t>();
        let core = *contexts.loc_conf.add(ngx_http_core_module.ctx_index);
        let core = &mut *core.cast::<ngx_http_core_loc_conf_t>();
        let is_new = core.handler.is_none_or(|set| !std::ptr::fn_addr_eq(set, handler));
        core.handler = Some(handler);
        is_new
    }
}
