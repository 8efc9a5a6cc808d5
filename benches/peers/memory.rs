//! The most memory that a worker held.

use harness::load::{Downloads, fetch};

use crate::results::{Metric, Results, Row};
use crate::scale::Scale;
use crate::server::{Load, NONE, Server, Variant, br, zstd};
use crate::setup::{JQUERY, REACT, Setup};

pub const PART: &str = "memory";

/// The file at levels of Brotli.
pub const FILE: &str = REACT;

const CONNECTIONS: [usize; 2] = [8, 256];

pub fn measure(setup: &Setup, scale: &Scale, results: &mut Results) -> Result<(), String> {
    for _ in 0..scale.rounds {
        let idle = Server::start(setup, Variant::Pool(2), &[zstd(19)]);
        results.add(&idle_row(), idle.variant, Metric::PeakMemory, mebibytes(&idle));
        peak(setup, Variant::Pool(2), JQUERY, zstd(19), 8, results)?;
        for level in scale.memory {
            for connections in CONNECTIONS {
                eprintln!("  br {level}, {connections} connections");
                for variant in [Variant::Pool(2), Variant::Peer] {
                    peak(setup, variant, FILE, br(*level), connections, results)?;
                }
            }
        }
    }
    Ok(())
}

/// The row of figures with so many connections.
pub fn row(file: &'static str, load: Load, connections: usize) -> Row {
    Row::new(PART, file, load, &format!("{connections} connections"))
}

/// The row of a worker that was asked nothing.
pub fn idle_row() -> Row {
    Row::new(PART, JQUERY, NONE, "idle")
}

/// Asks a server of its own for a file, on so many connections at once.
fn peak(
    setup: &Setup,
    variant: Variant,
    file: &'static str,
    load: Load,
    connections: usize,
    results: &mut Results,
) -> Result<(), String> {
    let server = Server::start(setup, variant, &[load]);
    let path = load.path(file);
    let downloads =
        Downloads { port: server.nginx.port(), path: &path, coding: load.coding, at_once: connections };
    let count = connections.max(32) as u64;
    fetch(&downloads, count).map_err(|error| format!("{variant}{path}: {error}"))?;
    results.add(&row(file, load, connections), variant, Metric::PeakMemory, mebibytes(&server));
    Ok(())
}

fn mebibytes(server: &Server) -> f64 {
    server.nginx.vm_hwm() as f64 / f64::from(1 << 20)
}
