//! `compress_status` and `compress_status_zone`.

use std::ffi::{c_char, c_void};

use nginx_sys::{ngx_command_t, ngx_conf_t};
use ngx::core::NGX_CONF_OK;

use super::directives::DUPLICATE;
use super::{MainConf, SIZE_UNSET};
use crate::ngx::Failed;
use crate::ngx::conf::{error, main_conf_of, refused};
use crate::ngx::phase::set_location_handler;
use crate::ngx::shared::{Zone, least_size};
use crate::status;

const NAME: &str = "compress_status";
const DEFAULT_STATUS_ZONE: usize = 64 << 10;

/// What the two directives ask for.
#[derive(Default)]
pub struct StatusConf {
    /// Whether there is a location that shows the counters.
    pub is_shown: bool,
    pub zone: Option<Zone>,
}

/// Asks for the zone if there is a location that shows it.
///
/// # Safety
/// `cf` is that of the `http` block, which has been read.
pub unsafe fn add_zone(cf: *mut ngx_conf_t, main: &mut MainConf) -> Result<(), Failed> {
    if main.status.is_shown {
        let size = if main.status_size == SIZE_UNSET {
            DEFAULT_STATUS_ZONE.max(least_size())
        } else {
            main.status_size
        };
        // SAFETY: the caller vouches for `cf`.
        main.status.zone = Some(unsafe { Zone::add(cf, NAME, size)? });
    }
    Ok(())
}

pub unsafe extern "C" fn set_status(
    cf: *mut ngx_conf_t,
    _: *mut ngx_command_t,
    _: *mut c_void,
) -> *mut c_char {
    // SAFETY: NGINX reads a location.
    unsafe {
        if !set_location_handler(cf, status::handler) {
            return refused(DUPLICATE);
        }
        main_conf_of::<MainConf>(cf).status.is_shown = true;
    }
    NGX_CONF_OK
}

/// In the words of `limit_req_zone`.
pub unsafe extern "C" fn check_zone(cf: *mut ngx_conf_t, _: *mut c_void, data: *mut c_void) -> *mut c_char {
    // SAFETY: ngx_conf_set_size_slot passes the place of the value.
    let size = unsafe { *data.cast::<usize>() };
    if size >= least_size() {
        return NGX_CONF_OK;
    }
    // SAFETY: the configuration that is being read.
    unsafe { error(cf, format_args!("zone \"{NAME}\" is too small")) }
}
