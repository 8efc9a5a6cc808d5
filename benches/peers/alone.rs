//! One large response alone, cut into parts; and more workers than one.

use std::time::Instant;

use harness::load::Client;

use crate::results::{Metric, Results, Row};
use crate::scale::Scale;
use crate::server::{Extra, Load, Server, Variant, br};
use crate::setup::{JSON, REACT, Setup};
use crate::wrk;

pub const PART: &str = "alone";

/// The response that is timed.
pub const FILE: &str = JSON;
/// Its level.
pub const LOAD: Load = br(6);

const TASKS: [u32; 3] = [1, 2, 4];

/// Responses in a repetition; the fastest counts, as all else that a machine does only adds.
const RESPONSES: u32 = 5;

pub fn measure(setup: &Setup, scale: &Scale, results: &mut Results) -> Result<(), String> {
    times(setup, scale, results)?;
    workers(setup, scale, results)
}

/// The setting of the figures with so many tasks.
pub fn setting(tasks: u32) -> String {
    format!("tasks: {tasks}")
}

fn times(setup: &Setup, scale: &Scale, results: &mut Results) -> Result<(), String> {
    let ours = TASKS.map(|tasks| {
        let http = format!("brotli_parallel_tasks {tasks};");
        (tasks, Server::start_with(setup, Variant::Pool(2), &[LOAD], &Extra { http, ..Extra::default() }))
    });
    let peer = Server::start(setup, Variant::Peer, &[LOAD]);
    for _ in 0..scale.rounds.max(3) {
        let theirs = time(&peer)?;
        for (tasks, server) in &ours {
            let row = Row::new(PART, FILE, LOAD, &setting(*tasks));
            results.add(&row, server.variant, Metric::Time, time(server)?);
            results.add(&row, peer.variant, Metric::Time, theirs);
        }
    }
    Ok(())
}

/// How long a response takes, in milliseconds.
fn time(server: &Server) -> Result<f64, String> {
    let mut client = Client::connect(server.nginx.port()).map_err(|error| error.to_string())?;
    let mut fastest = f64::INFINITY;
    for _ in 0..RESPONSES {
        let begin = Instant::now();
        client.get(&LOAD.path(FILE), LOAD.coding).map_err(|error| error.to_string())?;
        fastest = fastest.min(begin.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(fastest)
}

/// Responses a second of one and of two workers.
fn workers(setup: &Setup, scale: &Scale, results: &mut Results) -> Result<(), String> {
    for _ in 0..scale.rounds {
        for workers in [1, 2] {
            for mutex in ["off", "on"] {
                let setting = format!("workers: {workers}, mutex {mutex}");
                let row = Row::new(PART, REACT, LOAD, &setting);
                let events = format!("accept_mutex {mutex};");
                let extra = Extra { workers, events, ..Extra::default() };
                for variant in [Variant::Pool(2), Variant::Peer] {
                    let server = Server::start_with(setup, variant, &[LOAD], &extra);
                    let rate = wrk::responses_per_second(&server, LOAD, REACT, 64, scale.wrk)?;
                    results.add(&row, variant, Metric::ResponsesPerSecond, rate);
                }
            }
        }
    }
    Ok(())
}
