//! Responses a second at the usual levels.

use crate::results::{Metric, Results, Row};
use crate::scale::Scale;
use crate::server::{GZIP_6, Load, NONE, Server, Variant, br, zstd};
use crate::setup::{JQUERY, JSON, REACT, Setup};
use crate::wrk;

pub const PART: &str = "rates";

const LOADS: [Load; 4] = [NONE, GZIP_6, br(6), zstd(3)];
const VARIANTS: [Variant; 4] = [Variant::Plain, Variant::Gzip, Variant::Pool(2), Variant::Peer];

pub fn measure(setup: &Setup, scale: &Scale, results: &mut Results) -> Result<(), String> {
    let served = |variant: Variant| LOADS.into_iter().filter(move |load| variant.serves(setup, *load));
    let servers = VARIANTS.map(|variant| Server::start(setup, variant, &served(variant).collect::<Vec<_>>()));
    let files: &[&'static str] = if scale.quick { &[REACT] } else { &[JQUERY, REACT, JSON] };
    for file in files {
        for load in LOADS.into_iter().filter(|load| scale.wants(*load)) {
            for connections in scale.connections {
                eprintln!("  {load}, {file}, {connections} connections");
                let row = Row::new(PART, file, load, &setting(*connections));
                for _ in 0..scale.rounds {
                    for server in servers.iter().filter(|server| server.variant.serves(setup, load)) {
                        let rate = wrk::responses_per_second(server, load, file, *connections, scale.wrk)?;
                        results.add(&row, server.variant, Metric::ResponsesPerSecond, rate);
                    }
                }
            }
        }
    }
    Ok(())
}

/// The setting of the figures with so many connections.
pub fn setting(connections: usize) -> String {
    format!("{connections} connections")
}
