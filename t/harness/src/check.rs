//! Whether NGINX takes a configuration.

use std::path::Path;

use crate::{Builder, nginx};

/// What `nginx -t` said.
#[derive(Debug)]
pub struct ConfigCheck {
    /// Whether the configuration is good.
    pub ok: bool,
    /// What it printed.
    pub output: String,
    config: String,
}

impl ConfigCheck {
    /// The number of the first line of `nginx.conf` that holds `text`.
    #[track_caller]
    pub fn line_of(&self, text: &str) -> usize {
        match self.config.lines().position(|line| line.contains(text)) {
            Some(index) => index + 1,
            None => panic!("nginx.conf has no {text:?}:\n{}", self.config),
        }
    }

    /// Whether the message names the first line of `nginx.conf` that holds `text`.
    #[track_caller]
    pub fn names_line_of(&self, text: &str) -> bool {
        let end = format!("nginx.conf:{}", self.line_of(text));
        self.output.lines().any(|line| line.ends_with(&end))
    }

    /// Asserts that the configuration was refused, with `message`, at the line that holds `text`.
    #[track_caller]
    pub fn assert_refused(&self, message: &str, text: &str) {
        assert!(!self.ok, "NGINX took {text:?}");
        assert!(self.output.contains(message), "no {message:?} in: {}", self.output);
        assert!(self.names_line_of(text), "not line {}: {}", self.line_of(text), self.output);
    }

    /// Asserts that the configuration was taken.
    #[track_caller]
    pub fn assert_ok(&self) {
        assert!(self.ok, "NGINX refused the configuration: {}", self.output);
    }
}

pub(crate) fn check(builder: &Builder) -> ConfigCheck {
    let (dir, _ports) = nginx::prepare(builder);
    run(&builder.program_path(), dir.path())
}

pub(crate) fn run(program: &Path, prefix: &Path) -> ConfigCheck {
    let output = nginx::command(program, prefix).arg("-t").output().expect("running nginx -t");
    ConfigCheck {
        ok: output.status.success(),
        output: String::from_utf8_lossy(&output.stderr).into_owned(),
        config: std::fs::read_to_string(prefix.join("nginx.conf")).expect("reading nginx.conf"),
    }
}
