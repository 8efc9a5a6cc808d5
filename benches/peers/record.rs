//! What the figures were measured with, and the file that holds them.

use std::fmt;
use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use harness::load::{processor, processors};
use harness::locate;
use serde_json::{Value, json};

use crate::claims::{Claim, Limit};
use crate::results::{Figure, Results};
use crate::scale::Scale;
use crate::setup::{Setup, version};

/// The machine, the versions and the settings of a run.
pub struct Record {
    begun: u64,
    load_average: String,
    is_busy: bool,
    quick: bool,
    rounds: u32,
    peer: String,
}

impl Record {
    /// Notes what there is before the first measurement.
    pub fn begin(setup: &Setup, scale: &Scale) -> Self {
        let peer = format!(
            "NGINX {} with {} (brotli program: {})",
            version(&setup.peer_nginx),
            setup.peer_module_names().join(", "),
            program_version("brotli", "--version")
        );
        Self {
            begun: seconds_now(),
            load_average: load_average(),
            is_busy: is_busy(),
            quick: scale.quick,
            rounds: scale.rounds,
            peer,
        }
    }

    /// Writes all figures as JSON.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, setup: &Setup, results: &Results, claims: &[Claim]) -> Result<(), String> {
        let record = json!({
            "begun": self.begun,
            "ended": seconds_now(),
            "machine": {
                "processor": processor(),
                "processors": processors(),
                "system": read("/proc/sys/kernel/osrelease"),
                "load_average_before": self.load_average,
                "load_average_after": load_average(),
            },
            "versions": {
                "module": env!("CARGO_PKG_VERSION"),
                "nginx": version(&locate::nginx()),
                "peer": self.peer,
                "wrk": program_version("wrk", "--version"),
            },
            "settings": {
                "quick": self.quick,
                "rounds": self.rounds,
                "thread_pools": "threads=2, and threads=1 for processor time",
                "peer_conf": setup.peer_conf,
            },
            "figures": results.figures.iter().map(figure).collect::<Vec<_>>(),
            "claims": claims.iter().map(claim).collect::<Vec<_>>(),
        });
        let path = setup.out.join(if self.quick { "peers-quick.json" } else { "peers.json" });
        fs::write(&path, format!("{record:#}\n")).map_err(|error| format!("{}: {error}", path.display()))?;
        eprintln!("The figures so far are in {}", path.display());
        Ok(())
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "ngx_http_compress_module {} on NGINX {}; the peer is {}",
            env!("CARGO_PKG_VERSION"),
            version(&locate::nginx()),
            self.peer
        )?;
        write!(
            f,
            "{} processors ({}), load average {}; {} repetitions, one worker",
            processors(),
            processor(),
            self.load_average,
            self.rounds
        )?;
        if self.is_busy {
            write!(
                f,
                "\nWARNING: this machine is busy with something else. The threads of the pool run at a lower \
                 priority (nice 10), so it slows the module down more than the peer."
            )?;
        }
        Ok(())
    }
}

fn figure(figure: &Figure) -> Value {
    let (title, unit) = figure.metric.title();
    json!({
        "part": figure.row.part,
        "file": figure.row.file,
        "load": figure.row.load.to_string(),
        "setting": figure.row.setting,
        "variant": figure.variant.to_string(),
        "metric": title,
        "unit": unit,
        "values": figure.values,
        "median": figure.median(),
        "is_at_least": figure.is_bound,
    })
}

fn claim(claim: &Claim) -> Value {
    let (relation, limit) = match claim.limit {
        Limit::AtMost(limit) => ("at most", limit),
        Limit::AtLeast(limit) => ("at least", limit),
    };
    json!({
        "claim": claim.text,
        "relation": relation,
        "limit": limit,
        "figure": claim.seen.as_ref().map(|(value, _)| *value),
        "of": claim.seen.as_ref().map(|(_, of)| of.as_str()),
        "holds": claim.holds(),
    })
}

fn load_average() -> String {
    read("/proc/loadavg").split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// Whether much else ran on this machine in the last minute.
fn is_busy() -> bool {
    let minute = read("/proc/loadavg").split_whitespace().next().and_then(|load| load.parse::<f64>().ok());
    minute.is_some_and(|load| load > 0.3 * processors() as f64)
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// The first line of what a program says of its version.
fn program_version(program: &str, option: &str) -> String {
    let Ok(output) = Command::new(program).arg(option).output() else { return "not there".into() };
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned()
}
