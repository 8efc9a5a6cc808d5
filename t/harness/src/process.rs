//! What `/proc` tells of a process.

use std::fs;
use std::time::Duration;

use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};

use crate::locate;

/// A running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
}

/// The processor time of one thread.
#[derive(Clone, Debug)]
pub struct ThreadTime {
    /// Its number; the first thread's is the process's.
    pub tid: u32,
    /// User and system time.
    pub time: Duration,
    /// Its nice value.
    pub nice: i64,
}

impl Process {
    /// The running processes whose parent is this one.
    pub fn children(self) -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut children: Vec<_> = pids
            .map(|pid| Process { pid })
            .filter(|process| process.stat("stat").is_some_and(|stat| stat.parent == self.pid))
            .collect();
        children.sort_by_key(|process| process.pid);
        children
    }

    /// The workers of this master that take connections: not those that are shutting down.
    pub fn workers(self) -> Vec<Process> {
        let title = |process: &Process| process.title() == "nginx: worker process" || locate::hides_titles();
        self.children().into_iter().filter(title).collect()
    }

    /// Whether it runs (a zombie does not).
    pub fn is_running(self) -> bool {
        self.stat("stat").is_some_and(|stat| !matches!(stat.state, 'Z' | 'X'))
    }

    /// Sends it a signal.
    pub fn signal(self, signal: Signal) {
        let pid = Pid::from_raw(self.pid as i32).expect("a process number is not 0");
        kill_process(pid, signal).expect("the process runs");
    }

    /// Its title, which NGINX sets to what the process does.
    pub fn title(self) -> String {
        let bytes = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim_end_matches('\0').replace('\0', " ")
    }

    /// The most memory it ever held, in bytes.
    pub fn vm_hwm(self) -> u64 {
        self.status_kib("VmHWM") * 1024
    }

    /// The memory it holds, in bytes.
    pub fn vm_rss(self) -> u64 {
        self.status_kib("VmRSS") * 1024
    }

    /// User and system time of all its threads, those that ended too.
    pub fn cpu_time(self) -> Duration {
        self.stat("stat").map_or(Duration::ZERO, |stat| stat.time)
    }

    /// The times of its threads that still run.
    pub fn thread_times(self) -> Vec<ThreadTime> {
        let Ok(entries) = fs::read_dir(format!("/proc/{}/task", self.pid)) else { return Vec::new() };
        let tids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        tids.filter_map(|tid: u32| {
            let stat = self.stat(&format!("task/{tid}/stat"))?;
            // The first is the same time in nanoseconds, if the kernel was built to tell it.
            let exact = fs::read_to_string(format!("/proc/{}/task/{tid}/schedstat", self.pid)).ok();
            let exact = exact.and_then(|text| text.split(' ').next()?.parse().ok().map(Duration::from_nanos));
            Some(ThreadTime { tid, time: exact.unwrap_or(stat.time), nice: stat.nice })
        })
        .collect()
    }

    /// How many descriptors it has open.
    pub fn open_fds(self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid)).map_or(0, Iterator::count)
    }

    /// How many TCP connections over IPv4 it has open.
    pub fn open_connections(self) -> usize {
        const LISTEN: &str = "0A";
        let sockets = fs::read_to_string(format!("/proc/{}/net/tcp", self.pid)).unwrap_or_default();
        // The fourth field is the state, the tenth the number of the socket, see proc(5).
        let connections: Vec<String> = sockets
            .lines()
            .skip(1)
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .filter(|fields| fields.len() > 9 && fields[3] != LISTEN)
            .map(|fields| format!("socket:[{}]", fields[9]))
            .collect();
        let Ok(entries) = fs::read_dir(format!("/proc/{}/fd", self.pid)) else { return 0 };
        let targets = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        targets
            .filter(|target| connections.iter().any(|socket| target.as_os_str() == socket.as_str()))
            .count()
    }

    fn status_kib(self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with(field));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    }

    fn stat(self, file: &str) -> Option<Stat> {
        let stat = fs::read_to_string(format!("/proc/{}/{file}", self.pid)).ok()?;
        // The name, in parentheses, may hold anything. The fields after it count from the third, see proc(5).
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        let ticks: u64 = field(14)?.parse::<u64>().ok()? + field(15)?.parse::<u64>().ok()?;
        Some(Stat {
            state: field(3)?.chars().next()?,
            parent: field(4)?.parse().ok()?,
            time: Duration::from_secs_f64(ticks as f64 / clock_ticks_per_second() as f64),
            nice: field(19)?.parse().ok()?,
        })
    }
}

struct Stat {
    state: char,
    parent: u32,
    time: Duration,
    nice: i64,
}

/// Lets this process, and what it starts, have as many descriptors as the system allows.
pub fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })
        .expect("raising to the hard limit");
}
