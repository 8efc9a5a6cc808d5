//! How much is measured: all of it, or what three minutes allow.

use std::time::Duration;

use crate::server::{Load, br, zstd};
use crate::setup::{JQUERY, JSON, REACT, SMALL_JSON, TYPESCRIPT};

/// How much is measured.
pub struct Scale {
    pub quick: bool,
    /// The codings and levels of the parts `throughput` and `rates`; all if there are none.
    pub only: Vec<String>,
    /// Repetitions of each measurement.
    pub rounds: u32,
    /// For how long small requests are sent.
    pub latency: Duration,
    /// For how long `wrk` runs.
    pub wrk: Duration,
    /// How much processor time a measurement of it should take.
    pub cpu: Duration,
    /// Levels of the part `throughput`.
    pub loads: Vec<Load>,
    /// Downloads at once, of the part `latency`.
    pub downloads: &'static [usize],
    /// Connections of `wrk`, of the part `rates`.
    pub connections: &'static [usize],
    /// Levels of the part `memory`.
    pub memory: &'static [i32],
}

impl Scale {
    pub fn full() -> Self {
        Self {
            quick: false,
            only: Vec::new(),
            rounds: 3,
            latency: Duration::from_secs(4),
            wrk: Duration::from_secs(3),
            cpu: Duration::from_millis(400),
            loads: [1, 4, 5, 6, 9, 11].map(br).into_iter().chain([1, 3, 9, 15, 19].map(zstd)).collect(),
            downloads: &[8, 1],
            connections: &[8, 64],
            memory: &[4, 5, 6, 9],
        }
    }

    pub fn quick() -> Self {
        Self {
            quick: true,
            only: Vec::new(),
            rounds: 1,
            latency: Duration::from_secs(3),
            wrk: Duration::from_secs(2),
            cpu: Duration::from_millis(500),
            loads: vec![br(4), br(5), br(6), br(9), br(11), zstd(3), zstd(19)],
            downloads: &[8],
            connections: &[8],
            memory: &[4],
        }
    }

    /// The files of the part `throughput` at a level.
    pub fn files(&self, load: Load) -> &'static [&'static str] {
        match (self.quick, load.level) {
            (true, Some(11)) => &[JQUERY],
            (true, _) => &[JQUERY, REACT],
            (false, _) => &[SMALL_JSON, JQUERY, REACT, JSON, TYPESCRIPT],
        }
    }

    /// Whether a level is to be measured.
    pub fn wants(&self, load: Load) -> bool {
        self.only.is_empty() || self.only.contains(&load.name())
    }

    /// How often a measurement is repeated, if one response takes so long.
    pub fn rounds_of(&self, one: Duration) -> u32 {
        match one.as_secs_f64() {
            ..0.05 => self.rounds * 3,
            ..5.0 => self.rounds,
            _ => 1,
        }
    }

    /// How many responses are worth measuring, if one takes so long.
    pub fn count(&self, one: Duration) -> u64 {
        let wanted = (self.cpu.as_secs_f64() / one.as_secs_f64().max(1e-4)).ceil() as u64;
        let least = match one.as_secs_f64() {
            ..0.25 => 8,
            ..1.5 => 4,
            ..5.0 => 2,
            _ => 1,
        };
        wanted.max(least)
    }
}
