//! Small bodies: what the pool costs where it has nothing to win.

use std::time::Duration;

use crate::results::{Metric, Results, Row};
use crate::scale::Scale;
use crate::server::{Extra, Load, Server, Variant, br};
use crate::setup::{SMALL_JSON, Setup};
use crate::wrk;

pub const PART: &str = "small";

const LOAD: Load = br(6);
const CONNECTIONS: usize = 64;
/// Repetitions for each of the other parts', each shorter: differences are small here.
const TURNS: u32 = 5;
const TIME: Duration = Duration::from_secs(1);

pub fn measure(setup: &Setup, scale: &Scale, results: &mut Results) -> Result<(), String> {
    let all = Extra { http: "compress_inline 0;".into(), ..Extra::default() };
    let servers = [
        (row("as configured"), Server::start(setup, Variant::Pool(2), &[LOAD])),
        (row("all on the pool"), Server::start_with(setup, Variant::Pool(2), &[LOAD], &all)),
        (row("as configured"), Server::start(setup, Variant::Inline, &[LOAD])),
        (row("as configured"), Server::start(setup, Variant::Peer, &[LOAD])),
    ];
    for _ in 0..scale.rounds * TURNS {
        for (row, server) in &servers {
            let rate = wrk::responses_per_second(server, LOAD, SMALL_JSON, CONNECTIONS, TIME)?;
            results.add(row, server.variant, Metric::ResponsesPerSecond, rate);
        }
    }
    Ok(())
}

/// The row of figures with a setting.
pub fn row(setting: &str) -> Row {
    Row::new(PART, SMALL_JSON, LOAD, setting)
}
