//! A FastCGI server: `fcgiwrap`, which runs a program for each request.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use crate::spawn::spawn;
use crate::{TIMEOUT, wait_until};

/// A server that runs one shell script until it is dropped.
#[derive(Debug)]
pub struct FastCgi {
    child: Child,
    dir: TempDir,
}

impl FastCgi {
    /// Starts a server; each request runs `script`, a text for `/bin/sh` that prints a CGI response.
    ///
    /// # Panics
    ///
    /// If `fcgiwrap` is not installed.
    pub fn start(script: &str) -> FastCgi {
        let dir = tempfile::Builder::new().prefix("fastcgi-").tempdir().expect("making a directory");
        let path = dir.path().join("script");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writing the script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("making it executable");
        let socket = dir.path().join("socket");
        let mut command = Command::new("fcgiwrap");
        command.args(["-c", "4", "-s"]).arg(format!("unix:{}", socket.display()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = spawn(command).expect("starting fcgiwrap");
        wait_until(TIMEOUT, || socket.exists());
        FastCgi { child, dir }
    }

    /// The lines of a location that passes requests to it; `ACK` in the script's environment is a directory of the
    /// test's, see [`acknowledge`](Self::acknowledge).
    pub fn location(&self) -> String {
        let dir = self.dir.path().display();
        format!(
            "fastcgi_pass unix:{dir}/socket; fastcgi_param SCRIPT_FILENAME {dir}/script;
             fastcgi_param REQUEST_METHOD $request_method; fastcgi_param NO_BUFFERING 1;
             fastcgi_param ACK {dir}/$arg_ack; fastcgi_param RUNS {dir}/runs;"
        )
    }

    /// How often the script ran: it has to write `ran` to the file `$RUNS`, with `>>`.
    pub fn runs(&self) -> usize {
        fs::read_to_string(self.dir.path().join("runs")).unwrap_or_default().matches("ran").count()
    }

    /// Makes the file `name` in the directory `run` of those that the script sees as `$ACK`.
    pub fn acknowledge(&self, run: &str, name: &str) {
        fs::write(self.acknowledgements(run).join(name), "").expect("writing a file");
    }

    fn acknowledgements(&self, run: &str) -> PathBuf {
        let dir = self.dir.path().join(run);
        fs::create_dir_all(&dir).expect("making a directory");
        dir
    }
}

impl Drop for FastCgi {
    fn drop(&mut self) {
        // With the processes that it started for requests at once.
        let group = Pid::from_raw(self.child.id() as i32).expect("a process number is not 0");
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.child.wait();
    }
}
