//! What is done to the servers, and seen of them, while there is load.

use std::thread::sleep;
use std::time::{Duration, Instant};

use harness::corpus::Random;
use harness::try_wait_until;

use crate::counts::Counts;
use crate::server::Server;

/// How often the memory is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// How long old workers may take to end when there is no load any more.
const QUIET: Duration = Duration::from_secs(90);

/// Reloads what is to be reloaded, every few seconds, and looks at the memory, until `end`.
pub fn watch(servers: &mut [Server], end: Instant, counts: &Counts, random: &mut Random) {
    let mut reload = Instant::now() + pause(random);
    while Instant::now() < end {
        sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
        servers.iter_mut().for_each(Server::look);
        if Instant::now() >= reload {
            servers.iter_mut().filter(|server| server.is_reloaded()).for_each(Server::reload);
            reload = Instant::now() + pause(random);
        }
        for server in servers.iter() {
            if !server.nginx.master().is_running() {
                counts.hang(&format!("the {} NGINX is gone", server.name));
                return;
            }
        }
    }
}

fn pause(random: &mut Random) -> Duration {
    Duration::from_millis(1000 + random.below(5000) as u64)
}

/// Waits until the workers that were replaced are gone, and the others have nothing more to do.
pub fn wait_until_quiet(servers: &mut [Server], counts: &Counts) {
    for server in servers {
        let workers = server.nginx.workers().len();
        if !try_wait_until(QUIET, || server.all_workers().len() == workers) {
            counts.hang(&format!("workers of the {} NGINX do not end", server.name));
        }
        // What an idle worker does takes no processor time.
        let time = || server.nginx.workers().into_iter().map(harness::Process::cpu_time).sum::<Duration>();
        let mut before = time();
        let is_quiet = try_wait_until(QUIET, || {
            sleep(Duration::from_secs(1));
            let now = time();
            std::mem::replace(&mut before, now) == now
        });
        if !is_quiet {
            counts.hang(&format!("workers of the {} NGINX do not rest", server.name));
        }
        server.end_part(counts);
    }
}
