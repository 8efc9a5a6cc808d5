//! Small requests beside large downloads: who waits for whom.

use std::fmt;
use std::io;
use std::time::Duration;

use harness::load::{Downloads, Latencies, Latency, Rate};
use harness::{TIMEOUT, corpus};

use crate::{Place, bodies, location};

/// Downloads at once, each begun again when it ends.
const DOWNLOADS: usize = 8;

/// How long the downloads run before the first small request.
const WARM_UP: Duration = Duration::from_millis(500);

/// The two measurements that are near each other are made in turns, so that what else the machine does meets both.
const ROUNDS: u32 = 2;

const RATE: Rate = Rate {
    path: "/small.txt",
    per_second: 200,
    time: Duration::from_secs(5),
    patience: Duration::from_secs(6),
    connections: 16,
};

/// A kind of download.
struct Kind {
    name: &'static str,
    location: &'static str,
    coding: &'static str,
    lines: &'static str,
    rounds: u32,
}

impl Kind {
    fn blocks_the_loop(&self) -> bool {
        self.location == INLINE.location
    }
}

const PLAIN: Kind =
    Kind { name: "uncompressed", location: "plain", coding: "identity", lines: "", rounds: ROUNDS };
const INLINE: Kind = Kind {
    name: "br 11 in the event loop",
    location: "inline",
    coding: "br",
    lines: "brotli on; brotli_comp_level 11; brotli_types text/plain;",
    rounds: 1,
};
const POOL: Kind = Kind {
    name: "br 11 on the thread pool",
    location: "pool",
    coding: "br",
    lines: "brotli on; brotli_comp_level 11; brotli_types text/plain; brotli_thread_pool compress;",
    rounds: ROUNDS,
};

/// What was measured beside one kind of download.
struct Score {
    latencies: Latencies,
    downloads: u64,
}

/// Measures, and prints how the pool compares.
///
/// # Errors
/// A request failed.
pub fn hold(place: &Place) -> Result<(), String> {
    println!(
        "How long small requests take, {} a second on {} connections, beside {DOWNLOADS} downloads of {} at a time:\n",
        RATE.per_second,
        RATE.connections,
        bodies::source_text().0
    );
    println!(
        "{:<26} {:>10} {:>10} {:>10} {:>9} {:>10}",
        "downloads", "p50", "p99", "longest", "requests", "downloaded"
    );
    let mut scores = [&PLAIN, &INLINE, &POOL].map(|kind| (kind, Score::none()));
    for round in 0..ROUNDS {
        for (kind, score) in scores.iter_mut().filter(|(kind, _)| round < kind.rounds) {
            let round = measure(place, kind).map_err(|error| format!("{}: {error}", kind.name))?;
            score.latencies.add(&round.latencies);
            score.downloads += round.downloads;
        }
    }
    for (kind, score) in &scores {
        print_row(kind, score);
    }
    let [plain, inline, pool] = scores.map(|(_, score)| score.latencies.at(0.99));
    let gain = Ratio::of(inline, pool);
    let cost = Ratio::of(pool, plain);
    println!();
    println!("p99, event loop to thread pool:            {gain} (the aim: at least 20)");
    println!("p99, thread pool to uncompressed:          {cost} (the aim: at most 3)");
    println!();
    Ok(())
}

fn print_row(kind: &Kind, score: &Score) {
    let [p50, p99, longest] = [0.5, 0.99, 1.0].map(|quantile| score.latencies.at(quantile).to_string());
    println!(
        "{:<26} {p50:>10} {p99:>10} {longest:>10} {:>9} {:>10}",
        kind.name,
        score.latencies.count(),
        score.downloads
    );
}

/// One round beside one kind of download, on an NGINX of its own.
fn measure(place: &Place, kind: &Kind) -> io::Result<Score> {
    let files = [bodies::source_text(), ("small.txt".into(), corpus::text(1000))];
    let (mut nginx, port) = place.start(&files, &location(kind.location, kind.lines));
    if kind.blocks_the_loop() {
        // A worker that compresses does not hear that it should end, and NGINX's master waits a second for it.
        nginx.allow_log("exited on signal 9");
    }
    let path = format!("/{}/{}", kind.location, files[0].0);
    let downloads = Downloads { port, path: &path, coding: kind.coding, at_once: DOWNLOADS };
    let end = || _ = nginx.terminate_and_wait(TIMEOUT);
    let (latencies, downloads) = downloads.beside(WARM_UP, || RATE.measure(port), end)?;
    Ok(Score { latencies: latencies?, downloads })
}

impl Score {
    fn none() -> Self {
        Self { latencies: Latencies::none(), downloads: 0 }
    }
}

/// How many times longer one latency is than another.
struct Ratio {
    times: f64,
    is_bound: bool,
}

impl Ratio {
    fn of(a: Latency, b: Latency) -> Self {
        Self { times: a.seconds / b.seconds, is_bound: a.is_bound }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.is_bound { "more than " } else { "" };
        let decimals = usize::from(self.times < 100.0);
        write!(f, "{more}{:.decimals$}", self.times)
    }
}
