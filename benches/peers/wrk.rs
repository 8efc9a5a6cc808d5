//! Responses a second, as the program `wrk` counts them.

use std::process::Command;
use std::time::Duration;

use crate::server::{Load, Server};

/// Keeps so many connections busy for a time, and gives the responses that came each second.
///
/// # Errors
/// `wrk` cannot be run, or a response was an error.
pub fn responses_per_second(
    server: &Server,
    load: Load,
    file: &str,
    connections: usize,
    time: Duration,
) -> Result<f64, String> {
    let output = Command::new("wrk")
        .args(["--threads", "1", "--timeout", "60s"])
        .args(["--connections", &connections.to_string()])
        .args(["--duration", &format!("{}s", time.as_secs().max(1))])
        .args(["--header", &format!("Accept-Encoding: {}", load.coding)])
        .arg(format!("http://127.0.0.1:{}{}", server.nginx.port(), load.path(file)))
        .output()
        .map_err(|error| format!("wrk: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || text.contains("Socket errors") || text.contains("Non-2xx") {
        return Err(format!("wrk: {text}{}", String::from_utf8_lossy(&output.stderr)));
    }
    let rate = text.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
    rate.and_then(|rate| rate.trim().parse().ok()).ok_or_else(|| format!("wrk printed no rate: {text}"))
}
