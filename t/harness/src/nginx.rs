//! An NGINX that runs for a test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::panicking;
use std::time::Duration;

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process, kill_process_group};
use tempfile::TempDir;

use crate::config::Ports;
use crate::log::{faults, tail};
use crate::spawn::spawn;
use crate::{Builder, ConfigCheck, Process, TIMEOUT, check, locate, tls, try_wait_until};

/// A running NGINX, in a directory of its own. It stops when it is dropped, and then panics if its error log
/// has a line that no test may cause (alerts, crashes, panics) and that was not allowed.
#[derive(Debug)]
pub struct Nginx {
    child: Child,
    exit: Option<ExitStatus>,
    builder: Builder,
    ports: Ports,
    allowed: Vec<String>,
    dir: TempDir,
}

impl Nginx {
    /// What a new NGINX is to be started with.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Starts an NGINX with lines in `server {}`.
    #[track_caller]
    pub fn start(server: &str) -> Nginx {
        Nginx::builder().server(server).start()
    }

    /// The port of its server for HTTP/1.
    pub fn port(&self) -> u16 {
        self.ports.get("PORT")
    }

    /// The port of its server for HTTP/2 without TLS.
    pub fn http2_port(&self) -> u16 {
        self.ports.get("PORT_HTTP2")
    }

    /// The port of its server for TLS.
    pub fn tls_port(&self) -> u16 {
        self.ports.get("PORT_TLS")
    }

    pub(crate) fn find_port(&self, name: &str) -> Option<u16> {
        self.ports.find(name)
    }

    /// The port that replaced `%%name%%`, such as `PORT2`.
    pub fn port_of(&self, name: &str) -> u16 {
        self.ports.get(name)
    }

    /// The directory that it runs in.
    pub fn prefix(&self) -> &Path {
        self.dir.path()
    }

    /// The path of a file that it serves.
    pub fn served(&self, name: &str) -> PathBuf {
        self.prefix().join("html").join(name)
    }

    /// The text of its configuration file.
    pub fn config(&self) -> String {
        self.read("nginx.conf")
    }

    /// Its error log so far.
    pub fn error_log(&self) -> String {
        self.read("error.log")
    }

    /// Its access log so far. A line is written when its request ends, which may be after the client saw the end.
    pub fn access_log(&self) -> String {
        self.read("access.log")
    }

    /// Waits until the access log has `count` lines, and returns them.
    #[track_caller]
    pub fn access_log_lines(&self, count: usize) -> Vec<String> {
        let lines = || self.access_log().lines().map(String::from).collect::<Vec<_>>();
        let enough = try_wait_until(TIMEOUT, || lines().len() >= count);
        assert!(enough, "the access log has not {count} lines:\n{}", self.access_log());
        lines()
    }

    /// Waits until the error log holds `text`.
    #[track_caller]
    pub fn wait_for_log(&self, text: &str) {
        let found = try_wait_until(TIMEOUT, || self.error_log().contains(text));
        assert!(found, "the error log has no {text:?}:\n{}", tail(&self.error_log()));
    }

    /// Does not fail the test for lines of the error log that hold `text`.
    pub fn allow_log(&mut self, text: &str) {
        self.allowed.push(text.into());
    }

    /// The lines of its log that fail a test, those too that were allowed.
    pub fn faults(&self) -> Vec<String> {
        let log = self.error_log() + &self.read("stderr.log");
        faults(&log, &[]).into_iter().map(str::to_owned).collect()
    }

    /// The master process.
    pub fn master(&self) -> Process {
        Process { pid: self.child.id() }
    }

    /// The workers that take connections: not those that are shutting down.
    pub fn workers(&self) -> Vec<Process> {
        self.master().workers()
    }

    /// The one worker.
    #[track_caller]
    pub fn worker(&self) -> Process {
        let workers = self.workers();
        assert_eq!(workers.len(), 1, "one worker runs");
        workers[0]
    }

    /// The number of the one worker.
    #[track_caller]
    pub fn worker_pid(&self) -> u32 {
        self.worker().pid
    }

    /// The numbers of the workers.
    pub fn worker_pids(&self) -> Vec<u32> {
        self.workers().iter().map(|worker| worker.pid).collect()
    }

    /// The most memory the one worker ever held, in bytes.
    #[track_caller]
    pub fn vm_hwm(&self) -> u64 {
        self.worker().vm_hwm()
    }

    /// The processor time of the one worker.
    #[track_caller]
    pub fn cpu_time(&self) -> Duration {
        self.worker().cpu_time()
    }

    /// How many descriptors the one worker has open.
    #[track_caller]
    pub fn open_fds(&self) -> usize {
        self.worker().open_fds()
    }

    /// Sends a signal to the master process.
    pub fn signal(&self, signal: Signal) {
        kill_process(pid(self.child.id()), signal).expect("the master process runs");
    }

    /// Writes another configuration file, with the ports it has; [`Nginx::reload`] makes it count.
    pub fn rewrite_config(&mut self, builder: Builder) {
        let text = builder.render(self.dir.path(), &mut self.ports);
        fs::write(self.prefix().join("nginx.conf"), text).expect("writing nginx.conf");
        write_files(self.prefix(), &builder);
        self.builder = builder;
    }

    /// Has NGINX check its configuration file.
    pub fn check(&self) -> ConfigCheck {
        check::run(&self.builder.program_path(), self.prefix())
    }

    /// Reads the configuration again (SIGHUP), and waits until new workers run. The old ones may still be
    /// finishing their requests.
    #[track_caller]
    pub fn reload(&self) {
        let old = self.worker_pids();
        self.signal(Signal::HUP);
        let renewed = try_wait_until(TIMEOUT, || {
            let new = self.worker_pids();
            new.len() == self.builder.workers as usize && new.iter().all(|pid| !old.contains(pid))
        });
        assert!(renewed, "no new workers after SIGHUP:\n{}", tail(&self.error_log()));
    }

    /// Ends it gracefully (SIGQUIT), and waits until it did.
    #[track_caller]
    pub fn quit_and_wait(&mut self, timeout: Duration) -> ExitStatus {
        self.signal(Signal::QUIT);
        self.wait(timeout)
    }

    /// Ends it at once (SIGTERM), and waits until it did.
    #[track_caller]
    pub fn terminate_and_wait(&mut self, timeout: Duration) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait(timeout)
    }

    /// Waits until the master process has ended.
    #[track_caller]
    pub fn wait(&mut self, timeout: Duration) -> ExitStatus {
        let ended = try_wait_until(timeout, || self.has_ended());
        assert!(ended, "NGINX did not end within {timeout:?}:\n{}", tail(&self.error_log()));
        self.exit.expect("it ended")
    }

    fn has_ended(&mut self) -> bool {
        if self.exit.is_none() {
            self.exit = self.child.try_wait().expect("waiting for a child");
        }
        self.exit.is_some()
    }

    fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.prefix().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn stop(&mut self) -> bool {
        // A sanitizer looks for leaks at the end, and a worker frees the requests of a graceful end only.
        if locate::is_sanitized() && !self.has_ended() {
            self.signal(Signal::QUIT);
            try_wait_until(Duration::from_secs(3), || self.has_ended());
        }
        if !self.has_ended() {
            self.signal(Signal::TERM);
        }
        let in_time = try_wait_until(Duration::from_secs(10), || self.has_ended());
        // Workers are gone when the master is, unless it crashed.
        let _ = kill_process_group(pid(self.child.id()), Signal::KILL);
        if !in_time {
            let _ = self.child.wait();
        }
        in_time
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let in_time = self.stop();
        let log = self.error_log() + &self.read("stderr.log");
        if panicking() {
            eprintln!("--- the end of NGINX's error log\n{}", tail(&log));
            return;
        }
        assert!(in_time, "NGINX did not end within 10 s of SIGTERM:\n{}", tail(&log));
        let faults = faults(&log, &self.allowed);
        assert!(
            faults.is_empty(),
            "NGINX's error log has faults:\n{}\n---\n{}",
            faults.join("\n"),
            tail(&log)
        );
    }
}

#[track_caller]
pub(crate) fn start(builder: Builder) -> Nginx {
    for _ in 0..5 {
        match try_start(&builder) {
            Ok(nginx) => return nginx,
            // Another process took one of the ports in the meantime.
            Err(log) if log.contains("Address already in use") => {}
            Err(log) => panic!("NGINX did not start:\n{log}"),
        }
    }
    panic!("NGINX did not start: its ports were taken five times");
}

fn try_start(builder: &Builder) -> Result<Nginx, String> {
    let (dir, ports) = prepare(builder);
    let stderr = fs::File::create(dir.path().join("stderr.log")).expect("creating stderr.log");
    let mut command = command(&builder.program_path(), dir.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let child = spawn(command).expect("starting NGINX");
    let allowed = builder.allowed.clone();
    let mut nginx = Nginx { child, exit: None, builder: builder.clone(), ports, allowed, dir };

    let workers = builder.workers as usize;
    let up = try_wait_until(TIMEOUT, || nginx.has_ended() || nginx.workers().len() == workers);
    if up && !nginx.has_ended() {
        return Ok(nginx);
    }
    let log = tail(&nginx.read("stderr.log")) + "\n" + &tail(&nginx.error_log());
    nginx.allowed.push(String::new());
    Err(log)
}

/// Makes the directory that NGINX runs in.
pub(crate) fn prepare(builder: &Builder) -> (TempDir, Ports) {
    let dir = tempfile::Builder::new().prefix("nginx-test-").tempdir().expect("making a temporary directory");
    for name in ["html", "tmp"] {
        fs::create_dir(dir.path().join(name)).expect("making a directory");
    }
    let mut ports = Ports::default();
    let conf = builder.render(dir.path(), &mut ports);
    fs::write(dir.path().join("nginx.conf"), conf).expect("writing nginx.conf");
    write_files(dir.path(), builder);
    (dir, ports)
}

fn write_files(prefix: &Path, builder: &Builder) {
    for (name, bytes) in &builder.files {
        let path = prefix.join("html").join(name);
        fs::create_dir_all(path.parent().expect("a file in html")).expect("making a directory");
        fs::write(path, bytes).expect("writing a file");
    }
    if builder.has_tls() {
        let identity = tls::identity();
        fs::write(prefix.join("tls.crt"), &identity.certificate).expect("writing the certificate");
        fs::write(prefix.join("tls.key"), &identity.key).expect("writing the key");
    }
}

/// An NGINX with `prefix` as its directory, and its first messages there too.
pub(crate) fn command(program: &Path, prefix: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("-p").arg(prefix).args(["-c", "nginx.conf", "-e", "error.log"]);
    command
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(number as i32).expect("a process number is not 0")
}
