//! Files of encoded responses over TLS.
//!
//! NGINX encrypts what it has in memory, so it asks for bodies over TLS in memory (ngx_http_alloc_request), and reads
//! files in its event loop. Of an encoded response it is the output that is encrypted, and that is in memory anyway:
//! files may come as files, and jobs read them.
//!
//! The flag is the same for all who need memory, a filter that changes the body among them. So a filter in front of
//! all others takes it away from TLS; if it is there again when the header reaches this module, somebody else
//! needs it.

use nginx_sys::{ngx_http_request_t, ngx_int_t};

use crate::ngx::{Request, filter};
use crate::response::Fate;

/// The header filter in front of all others.
///
/// # Safety
/// A callback of NGINX.
pub unsafe extern "C" fn first_header(raw: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: NGINX calls with a request, which lives during the call.
    let request = unsafe { Request::from_raw(raw) };
    if request.is_encrypted() {
        request.set_needs_memory(false);
    }
    filter::after_first_header(request)
}

/// Gives the flag back to TLS if the response is not encoded. A sub-request's body is a part of the main one's.
pub fn settle(request: Request) {
    if request.is_encrypted() && !matches!(request.main().attachment(), Some(Fate::Encoded(_))) {
        request.set_needs_memory(true);
    }
}
