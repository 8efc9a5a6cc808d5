//! `compress_status`: where this process counts, and the answer of the location.
//!
//! Without such a location there is no zone, and nothing is counted.

use compress_core::status::{Counters, Format, Process, Snapshot};
use nginx_sys::{ngx_cycle_t, ngx_http_request_t, ngx_int_t};

use crate::conf::MainConf;
use crate::hooks;
use crate::ngx::answer::SERVER_ERROR;
use crate::ngx::guard::guard;
use crate::ngx::shared::{Place, Shared, Zone};
use crate::ngx::{Request, conf, process};

// SAFETY: atomic numbers, aligned to 64 bytes.
unsafe impl Shared for Counters {}
// SAFETY: atomic numbers, aligned to 16 bytes.
unsafe impl Shared for Process {}

static COUNTERS: Place<Counters> = Place::none();
static PROCESS: Place<Process> = Place::none();

/// Adds to the counters, if there are any. In any thread.
pub fn count(add: impl FnOnce(&Counters)) {
    if let Some(counters) = COUNTERS.get() {
        add(counters);
    }
}

/// Changes what this process has on its hands, if that is counted. In any thread.
#[cfg(ngx_feature = "threads")]
pub fn gauge(change: impl FnOnce(&Process)) {
    if let Some(process) = PROCESS.get() {
        change(process);
    }
}

/// This process counts from now on in the zone of the cycle, if it has one.
///
/// # Safety
/// `cycle` is this process's, its configuration has been read, and its zones were made.
pub unsafe fn enter(cycle: *mut ngx_cycle_t) {
    // SAFETY: the caller vouches for the cycle.
    let zone = unsafe { conf::main_conf::<MainConf>(cycle) }.and_then(MainConf::status_zone);
    let tables = zone.and_then(tables);
    let slot = process::slot();
    let place = tables.and_then(|(processes, _)| processes.get(slot));
    if let Some(place) = place {
        place.begin(process::pid());
    }
    PROCESS.set(place);
    COUNTERS.set(tables.and_then(|(_, counters)| counters.get(slot.checked_rem(counters.len())?)));
}

/// The handler of the location.
///
/// # Safety
/// A callback of NGINX.
pub unsafe extern "C" fn handler(raw: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: NGINX calls with a request, which lives during the call.
    let request = unsafe { Request::from_raw(raw) };
    guard(SERVER_ERROR, || {
        hooks::point("status_handler");
        if !request.reads() {
            return request.refuse_method();
        }
        let Some((processes, counters)) = request.main_conf::<MainConf>().status_zone().and_then(tables)
        else {
            return SERVER_ERROR;
        };
        let snapshot = Snapshot::take(counters, processes, process::runs);
        let format = Format::choose(request.argument("format"), request.headers_in(b"accept"));
        request.answer(format.content_type(), format.show(&snapshot).as_bytes())
    })
}

fn tables(zone: Zone) -> Option<(&'static [Process], &'static [Counters])> {
    zone.tables(process::MOST)
}
