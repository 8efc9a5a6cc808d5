//! The processes of NGINX.

use std::io;

use nginx_sys::{kill, ngx_process_slot};

/// Processes that a master has at most.
pub const MOST: usize = nginx_sys::NGX_MAX_PROCESSES as usize;

/// The number of this process among those of its master. No other that runs has it; one that is started for a process
/// that was killed has that one's.
pub fn slot() -> usize {
    // SAFETY: the master sets it before it forks.
    usize::try_from(unsafe { ngx_process_slot }).unwrap_or(0)
}

/// The number by which the system knows this process.
pub fn pid() -> i32 {
    std::process::id() as i32
}

/// Whether there is a process of this number.
pub fn runs(pid: i32) -> bool {
    // SAFETY: no signal is sent.
    let found = unsafe { kill(pid, 0) } == 0;
    found || io::Error::last_os_error().kind() == io::ErrorKind::PermissionDenied
}
