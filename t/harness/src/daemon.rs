//! An NGINX that is its own master, for upgrades of its binary: one that runs in the foreground refuses them.

use std::fs;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

use crate::config::Ports;
use crate::log::{faults, tail};
use crate::spawn::spawn;
use crate::{Builder, Process, TIMEOUT, nginx, wait_until};

/// Starts NGINX, and ends it and what replaced it when it is told to end itself.
const KEEPER: &str = r#"
trap 'kill $(cat nginx.pid nginx.pid.oldbin); exit' TERM
"$0" "$@"
sleep 3600 & wait
"#;

/// An NGINX in the background. It stops when it is dropped, and then panics if its error log has a fault.
#[derive(Debug)]
pub struct Daemon {
    keeper: Child,
    ports: Ports,
    dir: TempDir,
    masters: Vec<Process>,
}

impl Daemon {
    /// Starts what `builder` says, and waits until its worker runs.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(builder: &Builder) -> Daemon {
        let (dir, ports) = nginx::prepare(builder);
        let conf = dir.path().join("nginx.conf");
        let text = fs::read_to_string(&conf).expect("reading nginx.conf");
        fs::write(&conf, text.replace("daemon off;", "daemon on;")).expect("writing nginx.conf");
        let program = nginx::command(&builder.program_path(), dir.path());
        let mut command = std::process::Command::new("sh");
        command.args(["-c", KEEPER]).arg(program.get_program()).args(program.get_args());
        command.current_dir(dir.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let keeper = spawn(command).expect("starting a shell");
        let mut daemon = Daemon { keeper, ports, dir, masters: Vec::new() };
        let master = daemon.wait_for("nginx.pid");
        daemon.masters.push(master);
        wait_until(TIMEOUT, || !master.workers().is_empty());
        daemon
    }

    /// The port of its server for HTTP/1.
    pub fn port(&self) -> u16 {
        self.ports.get("PORT")
    }

    /// The port of its server for HTTP/2 without TLS.
    pub fn http2_port(&self) -> u16 {
        self.ports.get("PORT_HTTP2")
    }

    /// Starts the program anew beside the running one (SIGUSR2), and waits until its worker runs. Gives the old master
    /// and the new one.
    pub fn upgrade(&mut self) -> (Process, Process) {
        let old = self.wait_for("nginx.pid");
        old.signal(Signal::USR2);
        assert_eq!(self.wait_for("nginx.pid.oldbin"), old);
        let new = self.wait_for("nginx.pid");
        self.masters.push(new);
        wait_until(TIMEOUT, || !new.workers().is_empty());
        (old, new)
    }

    /// Its access log so far.
    pub fn access_log(&self) -> String {
        self.read("access.log")
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.dir.path().join(name)).unwrap_or_default()).into_owned()
    }

    fn wait_for(&self, file: &str) -> Process {
        let pid = || self.read(file).trim().parse().ok().map(|pid| Process { pid });
        wait_until(TIMEOUT, || pid().is_some_and(Process::is_running));
        pid().expect("just seen")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let keeper = Pid::from_raw(self.keeper.id() as i32).expect("a process number is not 0");
        let _ = kill_process(keeper, Signal::TERM);
        let _ = self.keeper.wait();
        let _ = kill_process_group(keeper, Signal::KILL);
        let ended = crate::try_wait_until(TIMEOUT, || !self.masters.iter().any(|master| master.is_running()));
        let log = self.read("error.log");
        if std::thread::panicking() {
            eprintln!("--- the end of NGINX's error log\n{}", tail(&log));
            return;
        }
        assert!(ended, "NGINX did not end:\n{}", tail(&log));
        let faults = faults(&log, &[]);
        assert!(
            faults.is_empty(),
            "NGINX's error log has faults:\n{}\n--- its end\n{}",
            faults.join("\n"),
            tail(&log)
        );
    }
}
