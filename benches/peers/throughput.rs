//! Processor time and bytes of a response, level by level.

use std::time::{Duration, Instant};

use harness::load::{Downloads, fetch};

use crate::results::{Metric, Results, Row};
use crate::scale::Scale;
use crate::server::{GZIP_6, Load, NONE, Server, Variant, br};
use crate::setup::Setup;

pub const PART: &str = "throughput";

/// Responses at a time while processor time is measured.
pub const CONNECTIONS: usize = 8;

const VARIANTS: [Variant; 6] =
    [Variant::Plain, Variant::Gzip, Variant::Inline, Variant::Pool(1), Variant::Pool(2), Variant::Peer];

/// Level 11 of the largest file, on a machine that does something else too.
const PATIENCE: Duration = Duration::from_secs(300);

pub fn measure(setup: &Setup, scale: &Scale, results: &mut Results) -> Result<(), String> {
    let loads: Vec<Load> = [NONE, GZIP_6].into_iter().chain(scale.loads.iter().copied()).collect();
    let start = |variant: Variant| {
        let served: Vec<Load> = loads.iter().copied().filter(|load| variant.serves(setup, *load)).collect();
        Server::start(setup, variant, &served)
    };
    let servers = VARIANTS.map(start);
    for load in loads.iter().filter(|load| scale.wants(**load)) {
        for file in scale.files(*load) {
            costs(setup, scale, &servers, *load, file, results)?;
        }
    }
    Ok(())
}

/// The setting of the figures that [`measure`] makes by a fixed number of requests.
pub fn setting() -> String {
    format!("{CONNECTIONS} connections")
}

/// The processor time and the bytes of a response, while several are made at a time.
fn costs(
    setup: &Setup,
    scale: &Scale,
    servers: &[Server],
    load: Load,
    file: &'static str,
    results: &mut Results,
) -> Result<(), String> {
    eprintln!("  {load}, {file}");
    let row = Row::new(PART, file, load, &setting());
    let body = setup.read(file);
    // In the event loop the highest levels of Brotli cost what the peer's cost.
    let skipped = |server: &Server| load == br(11) && server.variant == Variant::Inline;
    let servers: Vec<&Server> =
        servers.iter().filter(|server| server.variant.serves(setup, load) && !skipped(server)).collect();
    let mut shortest = PATIENCE;
    for server in &servers {
        let (bytes, time) = compare(server, load, file, &body)?;
        results.add(&row, server.variant, Metric::BytesAlone, bytes as f64);
        shortest = shortest.min(time);
    }
    let count = scale.count(shortest);
    for _ in 0..scale.rounds_of(shortest) {
        for server in &servers {
            cost(server, &row, count, results)?;
        }
    }
    Ok(())
}

/// Whether a response decodes to the file; how long it is, and what it took.
fn compare(server: &Server, load: Load, file: &str, body: &[u8]) -> Result<(usize, Duration), String> {
    let what = format!("{} {load} {file}", server.variant);
    let begin = Instant::now();
    let response = server.request(load, file).timeout(PATIENCE).send();
    let time = begin.elapsed();
    let coding = if load == NONE { "" } else { load.coding };
    if response.status != 200 || response.coding() != coding {
        return Err(format!("{what}: status {}, coding \"{}\"", response.status, response.coding()));
    }
    match response.decoded() {
        Ok(decoded) if decoded == body => Ok((response.body.len(), time)),
        Ok(_) => Err(format!("{what}: decodes to other bytes")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}

fn cost(server: &Server, row: &Row, count: u64, results: &mut Results) -> Result<(), String> {
    let path = row.load.path(row.file);
    let at_once = CONNECTIONS.min(count as usize);
    let downloads = Downloads { port: server.nginx.port(), path: &path, coding: row.load.coding, at_once };
    let (all_before, loop_before) = server.times();
    let finished = fetch(&downloads, count).map_err(|error| format!("{}{path}: {error}", server.variant))?;
    let (all_after, loop_after) = server.times();

    let each = |time: Duration| time.as_secs_f64() * 1000.0 / count as f64;
    let mut add = |metric, value| results.add(row, server.variant, metric, value);
    add(Metric::CpuPerResponse, each(all_after - all_before));
    add(Metric::LoopCpuPerResponse, each(loop_after - loop_before));
    add(Metric::BytesPerResponse, finished.bytes as f64 / count as f64);
    add(Metric::ResponsesPerSecond, count as f64 / finished.time.as_secs_f64());
    Ok(())
}
