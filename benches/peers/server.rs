//! The servers that are compared.

use std::fmt;
use std::time::Duration;

use harness::{Nginx, Request, get};

use crate::setup::Setup;

/// How a server compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Not at all.
    Plain,
    /// NGINX's filter.
    Gzip,
    /// The module, on a pool of so many threads.
    Pool(u32),
    /// The module, in the event loop.
    Inline,
    /// What it is compared with.
    Peer,
}

/// A coding and its level; without a level no coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The name of the content coding.
    pub coding: &'static str,
    /// The level, if it has any.
    pub level: Option<i32>,
}

/// The body as it is.
pub const NONE: Load = Load { coding: "identity", level: None };
/// The codings of the others at their usual level.
pub const GZIP_6: Load = Load { coding: "gzip", level: Some(6) };

/// Brotli at this level.
pub const fn br(level: i32) -> Load {
    Load { coding: "br", level: Some(level) }
}

/// Zstandard at this level.
pub const fn zstd(level: i32) -> Load {
    Load { coding: "zstd", level: Some(level) }
}

/// Further lines of a configuration.
#[derive(Clone, Debug)]
pub struct Extra {
    /// The number of workers.
    pub workers: u32,
    /// In `events`.
    pub events: String,
    /// In `http`.
    pub http: String,
    /// In the server.
    pub server: String,
    /// Whether it speaks TLS too.
    pub tls: bool,
}

impl Default for Extra {
    fn default() -> Self {
        Self { workers: 1, events: String::new(), http: String::new(), server: String::new(), tls: false }
    }
}

/// A running NGINX, whose location `/br6/` serves the corpus with Brotli 6, and so on.
pub struct Server {
    pub nginx: Nginx,
    pub variant: Variant,
}

impl Server {
    /// Starts one with a location for each load.
    pub fn start(setup: &Setup, variant: Variant, loads: &[Load]) -> Self {
        Self::start_with(setup, variant, loads, &Extra::default())
    }

    /// The same with further lines.
    pub fn start_with(setup: &Setup, variant: Variant, loads: &[Load], extra: &Extra) -> Self {
        let mut builder = Nginx::builder()
            .log_level("warn")
            .workers(extra.workers)
            .events(&extra.events)
            .http(&format!("sendfile on; keepalive_requests 1000000000; {}", extra.http))
            // A worker that compresses does not hear that it should end, and NGINX's master waits a second for it.
            .allow_log("exited on signal 9");
        match variant {
            Variant::Pool(threads) => {
                builder = builder.main(&format!("thread_pool compress threads={threads};"))
            }
            Variant::Inline => {}
            Variant::Plain | Variant::Gzip => builder = builder.without_module(),
            Variant::Peer => {
                builder = builder.without_module().program(&setup.peer_nginx);
                builder = setup.peer_modules.iter().fold(builder, |builder, path| builder.load_module(path));
            }
        }
        if extra.tls {
            builder = builder.tls();
        }
        let mut locations = vec![location(setup, NONE, "")];
        for load in loads.iter().filter(|load| **load != NONE) {
            locations.push(location(setup, *load, &lines(setup, variant, *load)));
        }
        let nginx =
            builder.server(&format!("access_log off; {}\n{}", extra.server, locations.concat())).start();
        Self { nginx, variant }
    }

    /// The processor time of the worker with all its threads, and that of its event loop, which is the first of them.
    pub fn times(&self) -> (Duration, Duration) {
        let worker = self.nginx.worker();
        let threads = worker.thread_times();
        let event_loop = threads.iter().find(|thread| thread.tid == worker.pid);
        let all = threads.iter().map(|thread| thread.time).sum();
        (all, event_loop.map_or(Duration::ZERO, |thread| thread.time))
    }

    /// A request for a file.
    pub fn request(&self, load: Load, file: &str) -> Request {
        get(&self.nginx, &load.path(file)).accept(load.coding)
    }
}

impl Variant {
    /// What the module is compared with at a load, and the module itself.
    pub fn serves(self, setup: &Setup, load: Load) -> bool {
        match self {
            Self::Plain => load == NONE,
            Self::Gzip => load.coding == "gzip",
            Self::Pool(_) | Self::Inline => matches!(load.coding, "br" | "zstd"),
            Self::Peer => load.coding == setup.peer_coding,
        }
    }
}

impl Load {
    /// Where a file is served with this load.
    pub fn path(self, file: &str) -> String {
        format!("/{}/{file}", self.name())
    }

    /// A word for it, such as `br6`.
    pub fn name(self) -> String {
        self.level.map_or(self.coding.into(), |level| format!("{}{level}", self.coding))
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            Some(level) => write!(f, "{} {level}", self.coding),
            None => f.write_str("none"),
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.write_str("none"),
            Self::Gzip => f.write_str("gzip"),
            Self::Pool(threads) => write!(f, "pool {threads}"),
            Self::Inline => f.write_str("inline"),
            Self::Peer => f.write_str("peer"),
        }
    }
}

fn location(setup: &Setup, load: Load, lines: &str) -> String {
    format!("location /{}/ {{ alias \"{}/\"; {lines} }}\n", load.name(), setup.corpus.display())
}

fn lines(setup: &Setup, variant: Variant, load: Load) -> String {
    let level = load.level.unwrap_or_default();
    let directive = if load.coding == "br" { "brotli" } else { load.coding };
    let ours = format!("{directive} on; {directive}_comp_level {level}; {directive}_types *;");
    match variant {
        Variant::Plain => String::new(),
        Variant::Peer => setup.peer_conf.replace("%%LEVEL%%", &level.to_string()),
        Variant::Pool(_) => format!("{ours} {directive}_thread_pool compress;"),
        Variant::Gzip | Variant::Inline => ours,
    }
}
