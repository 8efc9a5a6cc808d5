//! What in an error log fails a test.

/// Marks of a line that no test may cause unless it said so with `allow_log`.
const FATAL: [&str; 8] = [
    "[alert]",
    "[emerg]",
    "[crit]",
    "panicked",
    "exited on signal",
    "Sanitizer",
    "runtime error:",
    "the http output chain is empty",
];

/// What the sanitizer says of its own troubles, not of the program's.
const HARMLESS: &str = "WARNING: ptrace appears to be blocked";

/// The lines of `log` that fail a test: those with a fatal mark and without any of the `allowed` texts.
pub(crate) fn faults<'a>(log: &'a str, allowed: &[String]) -> Vec<&'a str> {
    log.lines()
        .filter(|line| FATAL.iter().any(|mark| line.contains(mark)))
        .filter(|line| !line.contains(HARMLESS))
        .filter(|line| !allowed.iter().any(|text| line.contains(text.as_str())))
        .collect()
}

/// The end of a log, for a message.
pub(crate) fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fatal_lines_that_were_not_allowed() {
        let log =
            "x [notice] 1#1: start\nx [alert] 1#1: worker process 2 exited on signal 9\nx [crit] 2#2: y\n";
        assert_eq!(faults(log, &[]).len(), 2);
        assert_eq!(faults(log, &["exited on signal 9".into()]), ["x [crit] 2#2: y"]);
    }
}
