//! `make bench` and `make bench-quick`: the module beside ngx_brotli, or another peer, and NGINX's gzip.
//!
//! docs/benchmarks.md says how each figure is made. The arguments are `--quick`, the parts to run, and the
//! codings with levels of `throughput` and `rates` (`br6`); all of them, unless some are named.

mod alone;
mod claims;
mod event_loop;
mod latency;
mod memory;
mod plots;
mod rates;
mod record;
mod results;
mod scale;
mod server;
mod setup;
mod small;
mod table;
mod throughput;
mod wrk;

use std::env;
use std::process::ExitCode;
use std::time::Instant;

use results::Results;
use scale::Scale;
use setup::Setup;

type Measure = fn(&Setup, &Scale, &mut Results) -> Result<(), String>;

const PARTS: [(&str, Measure); 7] = [
    (latency::PART, latency::measure),
    (throughput::PART, throughput::measure),
    (rates::PART, rates::measure),
    (alone::PART, alone::measure),
    (small::PART, small::measure),
    (event_loop::PART, event_loop::measure),
    (memory::PART, memory::measure),
];

/// The parts that compare with a peer of any coding.
const FOR_ANY_PEER: [&str; 2] = [throughput::PART, rates::PART];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("peers: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    // cargo adds `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (options, parts): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|argument| argument.starts_with("--"));
    if let Some(unknown) = options.iter().find(|option| **option != "--quick") {
        return Err(format!("the only option is --quick, not {unknown}"));
    }
    let known = PARTS.map(|(name, _)| name);
    let (parts, only): (Vec<&str>, Vec<&str>) = parts.into_iter().partition(|part| known.contains(part));
    let mut scale = if options.is_empty() { Scale::full() } else { Scale::quick() };
    if let Some(unknown) = only.iter().find(|name| !scale.loads.iter().any(|load| load.name() == **name)) {
        return Err(format!("{unknown} is neither a level nor a part ({})", known.join(", ")));
    }
    scale.only = only.into_iter().map(String::from).collect();
    let setup = Setup::from_environment()?;
    let parts = parts_for(&setup, parts)?;
    let record = record::Record::begin(&setup, &scale);
    println!("{record}\n");
    let mut results = Results::default();
    for (name, measure) in PARTS {
        if parts.contains(&name) {
            let begin = Instant::now();
            eprintln!("{name} ...");
            measure(&setup, &scale, &mut results).map_err(|error| format!("{name}: {error}"))?;
            table::print(&results, name);
            record.write(&setup, &results, &claims::check(&results))?;
            eprintln!("{name} took {:.0} s", begin.elapsed().as_secs_f64());
        }
    }
    claims::print(&claims::check(&results));
    plots::draw(&setup, &results)
}

/// The parts to run: those that were named, or all that suit the peer.
fn parts_for<'a>(setup: &Setup, named: Vec<&'a str>) -> Result<Vec<&'a str>, String> {
    let suits = |part: &&str| setup.peer_coding == "br" || FOR_ANY_PEER.contains(part);
    if let Some(part) = named.iter().find(|part| !suits(part)) {
        return Err(format!("{part} is for a peer that makes br, not {}", setup.peer_coding));
    }
    if named.is_empty() {
        Ok(PARTS.map(|(name, _)| name).into_iter().filter(suits).collect())
    } else {
        Ok(named)
    }
}
