//! Loopback ports that are free, for NGINX to listen on.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

// Below the range that Linux takes the ports of outgoing connections from (32768 and up), so that a client of
// another test does not take the port between this look and NGINX's bind().
const FIRST: u16 = 10_000;
const COUNT: u16 = 22_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port that nothing listens on, and that this process has not handed out lately.
pub(crate) fn free() -> u16 {
    // Another test process starts its search elsewhere.
    let start = std::process::id().wrapping_mul(7919) % u32::from(COUNT);
    for _ in 0..COUNT {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + ((start + u32::from(n)) % u32::from(COUNT)) as u16;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no free port in {FIRST}..{}", FIRST + COUNT);
}
