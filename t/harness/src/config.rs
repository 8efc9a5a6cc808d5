//! The configuration and the files of an NGINX that a test starts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::{ConfigCheck, Nginx, check, locate, nginx, ports};

/// What an NGINX is started with. Lines given more than once add up.
///
/// In all of them these are replaced:
///
/// | text | by |
/// |---|---|
/// | `%%PREFIX%%` | the directory that NGINX runs in; files are in its `html` |
/// | `%%PORT%%` | the port of the server for HTTP/1 |
/// | `%%PORT_HTTP2%%` | its port for HTTP/2 without TLS |
/// | `%%PORT_TLS%%` | its port for TLS, HTTP/1 or 2, see [`Builder::tls`] |
/// | `%%PORT2%%` to `%%PORT9%%` | further ports, the same each time: [`Nginx::port_of`] |
/// | `%%LISTEN_HTTP2%%`, `%%HTTP2_ON%%` | what `listen 127.0.0.1:%%PORT2%%%%LISTEN_HTTP2%%; %%HTTP2_ON%%` needs for HTTP/2: versions differ |
#[derive(Clone, Debug)]
pub struct Builder {
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) allowed: Vec<String>,
    pub(crate) workers: u32,
    connections: u32,
    modules: Vec<PathBuf>,
    own_module: bool,
    program: Option<PathBuf>,
    log_level: String,
    log_format: String,
    main: String,
    events: String,
    http: String,
    server: String,
    tls: bool,
    whole: Option<String>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            files: Vec::new(),
            allowed: Vec::new(),
            workers: 1,
            connections: 1024,
            modules: Vec::new(),
            own_module: true,
            program: None,
            log_level: "info".into(),
            log_format: "$request $status $bytes_sent".into(),
            main: String::new(),
            events: String::new(),
            http: String::new(),
            server: String::new(),
            tls: false,
            whole: None,
        }
    }
}

impl Builder {
    /// Adds lines at the top level, such as `thread_pool compress threads=2;`.
    pub fn main(mut self, lines: &str) -> Self {
        push(&mut self.main, lines);
        self
    }

    /// Adds lines to `events {}`.
    pub fn events(mut self, lines: &str) -> Self {
        push(&mut self.events, lines);
        self
    }

    /// Adds lines to `http {}`: also whole `server {}` and `upstream {}` blocks.
    pub fn http(mut self, lines: &str) -> Self {
        push(&mut self.http, lines);
        self
    }

    /// Adds lines to the server that listens on `%%PORT%%`. Its root is the directory of the files.
    pub fn server(mut self, lines: &str) -> Self {
        push(&mut self.server, lines);
        self
    }

    /// Adds a file to be served; `name` may hold directories.
    pub fn file(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.into(), bytes.into()));
        self
    }

    /// The number of worker processes, 1 unless set.
    pub fn workers(mut self, count: u32) -> Self {
        self.workers = count;
        self
    }

    /// The connections of a worker, 1024 unless set; so many descriptors it may have, too.
    pub fn connections(mut self, count: u32) -> Self {
        self.connections = count;
        self.main(&format!("worker_rlimit_nofile {};", count + 100))
    }

    /// The level of the error log, `info` unless set. `debug` works with the NGINX that `make` builds.
    pub fn log_level(mut self, level: &str) -> Self {
        self.log_level = level.into();
        self
    }

    /// The format of a line of [`Nginx::access_log`].
    pub fn log_format(mut self, format: &str) -> Self {
        self.log_format = format.into();
        self
    }

    /// Makes the server listen on `%%PORT_TLS%%` too, with a certificate that nobody trusts.
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// Loads one more module, before ours.
    pub fn load_module(mut self, path: impl Into<PathBuf>) -> Self {
        self.modules.push(path.into());
        self
    }

    /// Does not load the module under test. Where it is linked in, it is there all the same, but switched off.
    pub fn without_module(mut self) -> Self {
        self.own_module = false;
        self
    }

    /// Starts another NGINX program than the one under test.
    pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
        self.program = Some(path.into());
        self
    }

    /// Sets a variable of the workers' environment; NGINX clears all others but `TZ`.
    pub fn env(self, name: &str, value: &str) -> Self {
        self.main(&format!("env \"{name}={value}\";"))
    }

    /// Does not fail the test for lines of the error log that hold `text`.
    pub fn allow_log(mut self, text: &str) -> Self {
        self.allowed.push(text.into());
        self
    }

    /// Replaces the whole configuration file; the text must set what the usual one does (`daemon off`, `pid
    /// nginx.pid`, `error_log error.log`, paths of temporary files). `%%MODULE%%` is the module's path.
    pub fn whole_config(mut self, text: &str) -> Self {
        self.whole = Some(text.into());
        self
    }

    /// Starts NGINX and waits until its workers run.
    ///
    /// # Panics
    ///
    /// If it does not start; the message has what it logged.
    #[track_caller]
    pub fn start(self) -> Nginx {
        nginx::start(self)
    }

    /// Has NGINX check the configuration (`nginx -t`), without starting it.
    pub fn check(self) -> ConfigCheck {
        check::check(&self)
    }

    /// The text of `nginx.conf`.
    pub(crate) fn render(&self, prefix: &Path, ports: &mut Ports) -> String {
        let text = self.whole.clone().unwrap_or_else(|| self.template());
        let http2_directive = locate::version_of(&self.program_path()) >= (1, 25, 1);
        let mut text = text
            .replace("%%LISTEN_HTTP2%%", if http2_directive { "" } else { " http2" })
            .replace("%%HTTP2_ON%%", if http2_directive { "http2 on;" } else { "" })
            .replace("%%PREFIX%%", prefix.to_str().expect("a temporary directory with a UTF-8 path"));
        if locate::is_linked() {
            text = text.replace("load_module \"%%MODULE%%\";", "");
        }
        if text.contains("%%MODULE%%") {
            text = text.replace("%%MODULE%%", locate::module().to_str().expect("a UTF-8 path"));
        }
        ports.fill_in(&text)
    }

    /// The lines that depend on where it runs.
    fn surroundings(&self) -> String {
        let mut conf = String::new();
        for path in &self.modules {
            let _ = writeln!(conf, "load_module \"{}\";", path.display());
        }
        if self.own_module {
            conf.push_str("load_module \"%%MODULE%%\";\n");
        }
        if geteuid().is_root() {
            // The workers must be able to read the temporary directory.
            conf.push_str("user root;\n");
        }
        if locate::is_sanitized() {
            // For a new binary: NGINX passes nothing else on.
            conf.push_str("env PATH; env ASAN_OPTIONS; env LSAN_OPTIONS;\n");
        }
        conf
    }

    fn template(&self) -> String {
        let mut conf = self.surroundings();
        let (tls_listen, tls_files) = if self.tls {
            (
                "listen 127.0.0.1:%%PORT_TLS%% ssl%%LISTEN_HTTP2%%;",
                "ssl_certificate tls.crt; ssl_certificate_key tls.key;",
            )
        } else {
            ("", "")
        };
        let Builder { workers, connections, log_level, log_format, main, events, http, server, .. } = self;
        let _ = write!(
            conf,
            r#"daemon off;
master_process on;
worker_processes {workers};
pid nginx.pid;
error_log error.log {log_level};
{main}
events {{
    worker_connections {connections};
{events}
}}
http {{
    log_format harness '{log_format}';
    access_log access.log harness;
    client_body_temp_path tmp/client_body;
    proxy_temp_path tmp/proxy;
    fastcgi_temp_path tmp/fastcgi;
    uwsgi_temp_path tmp/uwsgi;
    scgi_temp_path tmp/scgi;
    types {{
        text/html html; text/css css; text/plain txt; text/xml xml; application/json json;
        application/javascript js; image/svg+xml svg; image/png png; application/octet-stream bin;
    }}
    default_type text/plain;
{http}
    server {{
        listen 127.0.0.1:%%PORT%%;
        listen 127.0.0.1:%%PORT_HTTP2%%%%LISTEN_HTTP2%%;
        {tls_listen}
        %%HTTP2_ON%%
        {tls_files}
        server_name localhost;
        root "%%PREFIX%%/html";
{server}
    }}
}}
"#
        );
        conf
    }

    pub(crate) fn program_path(&self) -> PathBuf {
        self.program.clone().unwrap_or_else(locate::nginx)
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.tls
    }
}

fn push(to: &mut String, lines: &str) {
    to.push_str(lines);
    to.push('\n');
}

/// The ports that stand for `%%PORT...%%`, by the text between the per cent signs.
#[derive(Debug, Default)]
pub(crate) struct Ports(BTreeMap<String, u16>);

impl Ports {
    pub(crate) fn get(&self, name: &str) -> u16 {
        self.find(name).unwrap_or_else(|| panic!("the configuration has no %%{name}%%"))
    }

    pub(crate) fn find(&self, name: &str) -> Option<u16> {
        self.0.get(name).copied()
    }

    fn fill_in(&mut self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("%%PORT") {
            let (suffix, after) = after.split_once("%%").expect("%%PORT...%% is closed");
            let port = *self.0.entry(format!("PORT{suffix}")).or_insert_with(ports::free);
            let _ = write!(filled, "{before}{port}");
            rest = after;
        }
        filled + rest
    }
}
