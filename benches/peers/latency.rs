//! What small requests feel of large downloads beside them.

use std::io;
use std::time::{Duration, Instant};

use harness::TIMEOUT;
use harness::load::{Downloads, Latencies, Rate};

use crate::results::{Metric, Results, Row};
use crate::scale::Scale;
use crate::server::{GZIP_6, Load, NONE, Server, Variant, br, zstd};
use crate::setup::{REACT, Setup};

pub const PART: &str = "latency";

/// The file that is downloaded.
pub const FILE: &str = REACT;

/// What is measured beside, in the order of the plot.
pub const CASES: [(Variant, Load); 8] = [
    (Variant::Plain, NONE),
    (Variant::Gzip, GZIP_6),
    (Variant::Pool(2), br(6)),
    (Variant::Pool(2), br(11)),
    (Variant::Pool(2), zstd(3)),
    (Variant::Pool(2), zstd(19)),
    (Variant::Peer, br(6)),
    (Variant::Peer, br(11)),
];

/// How long the downloads run before the first small request.
const WARM_UP: Duration = Duration::from_millis(500);

pub fn measure(setup: &Setup, scale: &Scale, results: &mut Results) -> Result<(), String> {
    for at_once in scale.downloads {
        for _ in 0..scale.rounds {
            for (variant, load) in CASES {
                eprintln!("  {variant} {load}, {}", setting(*at_once));
                let (latencies, downloads) = beside(setup, scale, variant, load, *at_once)
                    .map_err(|error| format!("{variant} {load}: {error}"))?;
                let row = Row::new(PART, FILE, load, &setting(*at_once));
                for (metric, quantile) in [(Metric::P50, 0.5), (Metric::P99, 0.99), (Metric::Longest, 1.0)] {
                    results.add_latency(&row, variant, metric, latencies.at(quantile));
                }
                results.add(&row, variant, Metric::DownloadsPerSecond, downloads);
            }
        }
    }
    Ok(())
}

/// The setting of the figures with so many downloads.
pub fn setting(at_once: usize) -> String {
    format!("{at_once} at once")
}

/// The latencies beside downloads from a server of its own, and how many of these ended each second.
fn beside(
    setup: &Setup,
    scale: &Scale,
    variant: Variant,
    load: Load,
    at_once: usize,
) -> io::Result<(Latencies, f64)> {
    let mut server = Server::start(setup, variant, &[load]);
    let port = server.nginx.port();
    let path = load.path(FILE);
    let downloads = Downloads { port, path: &path, coding: load.coding, at_once };
    let rate = Rate {
        path: "/identity/small.txt",
        per_second: 200,
        time: scale.latency,
        patience: Duration::from_secs(3),
        connections: 16,
    };
    let begin = Instant::now();
    let end = || _ = server.nginx.terminate_and_wait(TIMEOUT);
    let (measured, ended) = downloads.beside(WARM_UP, || (rate.measure(port), begin.elapsed()), end)?;
    let (latencies, time) = measured;
    Ok((latencies?, ended as f64 / (time - WARM_UP).as_secs_f64()))
}
