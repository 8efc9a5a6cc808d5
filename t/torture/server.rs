//! The NGINXes: their configuration, and what is known of their processes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use harness::{Builder, Nginx, Process};

use crate::catalog::LONGEST;
use crate::counts::Counts;

const WORKERS: u32 = 2;
/// How long an NGINX may take to end when all is quiet.
const END: Duration = Duration::from_secs(30);
/// How much the memory may grow after the first part.
const GROWTH: f64 = 1.2;
/// A fault is printed so many times.
const SHOWN: usize = 10;

/// How bodies are compressed in a part of the locations.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    pub name: &'static str,
    lines: &'static str,
    /// The longest body that is asked for: high levels take long.
    pub most: usize,
}

const POOL: &str = "brotli_thread_pool wide; zstd_thread_pool wide;";
const fn profile(name: &'static str, most: usize, lines: &'static str) -> Profile {
    Profile { name, lines, most }
}

pub const PROFILES: [Profile; 8] = [
    profile("fast", LONGEST, "brotli_comp_level 1; zstd_comp_level -5;"),
    profile("usual", LONGEST, "brotli_comp_level 4; zstd_comp_level 3;"),
    profile(
        "cut",
        LONGEST,
        "brotli_parallel_segment_size 64k; zstd_parallel_segment_size 64k; brotli_comp_level 5;",
    ),
    profile("dense", 1_100_000, "brotli_comp_level 9; zstd_comp_level 9; compress_inline 0;"),
    profile("densest", 70_000, "brotli_comp_level 11; zstd_comp_level 19;"),
    profile(
        "loop",
        3_100_000,
        "brotli_comp_level 1; zstd_comp_level 1; brotli_thread_pool off; zstd_thread_pool off;",
    ),
    profile(
        "narrow",
        3_100_000,
        "brotli_comp_level 3; zstd_comp_level 2; brotli_thread_pool narrow; zstd_thread_pool narrow; \
         brotli_buffers 2 4k; zstd_buffers 2 4k; brotli_parallel_segment_size 64k; zstd_parallel_segment_size 64k;",
    ),
    profile(
        "small",
        LONGEST,
        "brotli_window 1k; zstd_window_log 10; brotli_comp_level 2; postpone_output 0;",
    ),
];

fn builder(files: &Path, origin: &str) -> Builder {
    let mut server = String::new();
    for Profile { name, lines, .. } in PROFILES {
        let alias = format!("alias \"{}/\"; {lines}", files.display());
        let proxy = format!("rewrite ^/[a-z]+/{name}(/.*)$ $1 break; proxy_pass {origin}; {lines}");
        let _ = write!(
            server,
            "location /sendfile/{name}/ {{ sendfile on; {alias} }}
             location /copied/{name}/ {{ {alias} }}
             location /aio/{name}/ {{ aio threads=files; sendfile on; output_buffers 4 64k; {alias} }}
             location /limited/{name}/ {{ limit_rate 8m; sendfile on; {alias} }}
             location /tail/{name}/ {{ addition_types *; add_after_body /tail; sendfile on; {alias} }}
             location /buffered/{name}/ {{ {proxy} }}
             location /unbuffered/{name}/ {{ proxy_buffering off; {proxy} }}\n"
        );
    }
    let tail = format!("location = /tail {{ alias \"{}/tail.txt\"; }}", files.display());
    Nginx::builder()
        .workers(WORKERS)
        .main("thread_pool wide threads=2; thread_pool narrow threads=1 max_queue=2; thread_pool files threads=1;")
        .http("access_log off; keepalive_timeout 5s; proxy_http_version 1.1; proxy_read_timeout 120s;")
        .http("brotli on; zstd on; brotli_types *; zstd_types *; gzip on; gzip_types text/plain;")
        .http("compress_stream_memory 8m; compress_max_waiting 64;")
        .http(POOL)
        .server(&server)
        .server(&tail)
        .tls()
        // What the faults below do not count: the table does.
        .allow_log("")
        .log_level("notice")
}

/// A NGINX under load.
pub struct Server {
    pub name: &'static str,
    pub nginx: Nginx,
    pub reloads: u32,
    /// The most memory of each worker that there was.
    memory: BTreeMap<u32, u64>,
    /// What they needed in the first part.
    first: Option<Memory>,
    now: Memory,
    /// Those of each worker after each part.
    descriptors: Vec<Vec<usize>>,
}

/// Bytes of the workers that take connections.
#[derive(Clone, Copy, Default)]
struct Memory {
    /// The most that both held, in sum (`VmHWM`).
    most: u64,
    /// What they hold (`VmRSS`).
    held: u64,
}

impl Server {
    pub fn start(name: &'static str, files: &Path, origin: &str) -> Self {
        let nginx = builder(files, origin).start();
        Self {
            name,
            nginx,
            reloads: 0,
            memory: BTreeMap::new(),
            first: None,
            now: Memory::default(),
            descriptors: Vec::new(),
        }
    }

    /// Whether workers are replaced while there is load.
    pub fn is_reloaded(&self) -> bool {
        self.name == "reloaded"
    }

    /// Reads the configuration again.
    pub fn reload(&mut self) {
        self.nginx.reload();
        self.reloads += 1;
    }

    /// Looks at the memory of all workers.
    pub fn look(&mut self) {
        for worker in self.all_workers() {
            let most = self.memory.entry(worker.pid).or_default();
            *most = worker.vm_hwm().max(*most);
        }
    }

    /// The workers, those too that are finishing their requests.
    pub fn all_workers(&self) -> Vec<Process> {
        let children = self.nginx.master().children().into_iter();
        children.filter(|child| child.title().starts_with("nginx: worker process")).collect()
    }

    /// All is quiet at the end of a part: no connection is left, and the workers that were not replaced have as many
    /// descriptors open as after the first part. Their memory is noted, too; that of a server that is reloaded is the most that two workers needed, of all
    /// that there were.
    pub fn end_part(&mut self, counts: &Counts) {
        let open = || self.nginx.workers().into_iter().map(Process::open_connections).sum::<usize>();
        // Those of clients that left without a word end by NGINX's timeouts.
        harness::try_wait_until(END, || open() == 0);
        (0..open()).for_each(|_| counts.leak());
        let descriptors = self.nginx.workers().into_iter().map(Process::open_fds).collect::<Vec<_>>();
        if !self.is_reloaded() && self.descriptors.first().is_some_and(|first| *first < descriptors) {
            counts.leak();
        }
        self.descriptors.push(descriptors);
        self.look();
        let mut most: Vec<u64> = self.memory.values().copied().collect();
        most.sort_unstable_by(|a, b| b.cmp(a));
        let held = self.nginx.workers().into_iter().map(Process::vm_rss).sum();
        self.now = Memory { most: most.iter().take(WORKERS as usize).sum(), held };
        self.first.get_or_insert(self.now);
    }

    /// Ends it, and gives what it has to say.
    pub fn end(mut self, counts: &Counts) -> Report {
        let status = self.nginx.quit_and_wait(END);
        let faults: Vec<String> = self.nginx.faults();
        faults.iter().filter(|line| line.contains("open socket")).for_each(|_| counts.leak());
        faults.iter().filter(|line| !line.contains("open socket")).for_each(|_| counts.crash());
        if !status.success() {
            counts.crash();
        }
        let Self { name, reloads, now, descriptors, .. } = self;
        Report { name, reloads, first: self.first.unwrap_or_default(), now, descriptors, faults }
    }
}

/// What is known of a server at the end.
pub struct Report {
    name: &'static str,
    reloads: u32,
    first: Memory,
    now: Memory,
    descriptors: Vec<Vec<usize>>,
    faults: Vec<String>,
}

impl Report {
    fn growth(&self) -> f64 {
        self.now.most as f64 / self.first.most.max(1) as f64
    }

    pub fn is_good(&self) -> bool {
        self.growth() <= GROWTH && self.faults.is_empty()
    }

    pub fn print(&self) {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!("{} NGINX, {} reloads", self.name, self.reloads);
        println!(
            "  most memory of 2 workers (VmHWM)  {:.0} MiB after the first part, {:.0} MiB at the end: {:.2} times",
            mib(self.first.most),
            mib(self.now.most),
            self.growth()
        );
        println!(
            "  memory when quiet (VmRSS)         {:.0} MiB after the first part, {:.0} MiB at the end",
            mib(self.first.held),
            mib(self.now.held)
        );
        println!("  open descriptors of workers       {:?} after each part", self.descriptors);
        for fault in self.faults.iter().take(SHOWN) {
            println!("  {fault}");
        }
    }
}
