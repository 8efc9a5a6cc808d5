//! Programs that people decode with.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

/// Decodes with the `brotli` program.
pub fn brotli_decode(bytes: &[u8]) -> Result<Vec<u8>, String> {
    filter("brotli", &["-d", "-c", "-"], bytes)
}

/// Decodes with the `zstd` program.
pub fn zstd_decode(bytes: &[u8]) -> Result<Vec<u8>, String> {
    filter("zstd", &["-d", "-c", "-q"], bytes)
}

/// Encodes with the `brotli` program, for a precompressed file.
pub fn brotli_encode(bytes: &[u8]) -> Vec<u8> {
    filter("brotli", &["-c", "-q", "5", "-"], bytes).expect("brotli")
}

/// Encodes with the `zstd` program, for a precompressed file.
pub fn zstd_encode(bytes: &[u8]) -> Vec<u8> {
    filter("zstd", &["-c", "-q"], bytes).expect("zstd")
}

/// Runs a program that reads `input` and writes the answer; an error is what it printed to standard error.
pub fn filter(program: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|err| format!("{program}: {err}"))?;
    let mut stdin = child.stdin.take().expect("a pipe");
    let output = thread::scope(|scope| {
        scope.spawn(move || {
            // It may stop reading at an error, which its exit status tells.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output()
    });
    let output = output.map_err(|err| format!("{program}: {err}"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("{program}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}
