//! The configurations in `examples/` start, and do what they say.

use std::fs;
use std::path::{Path, PathBuf};

use harness::{Nginx, Upstream, corpus, get, tools};

use crate::support::has_threads;

/// What an example has, and what stands for it here.
struct Stage {
    text: String,
}

impl Stage {
    fn of(path: &Path) -> Self {
        Self { text: fs::read_to_string(path).unwrap() }
    }

    fn put(&mut self, from: &str, to: &str) {
        self.text = self.text.replace(from, to);
    }

    /// Starts it beside other NGINX.
    fn start(mut self, upstream: &Upstream) -> Nginx {
        let tops = "daemon off; pid nginx.pid; error_log error.log info; user root;\n";
        let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path tmp/{name};\n"))
            .concat();
        assert_eq!(self.text.matches("load_module modules/ngx_http_compress_module.so;").count(), 1);
        self.put("load_module modules/ngx_http_compress_module.so;", "load_module \"%%MODULE%%\";");
        self.put("\nhttp {\n", &format!("\nhttp {{\naccess_log access.log;\n{paths}"));
        self.put("access_log /var/log/nginx/access.log", "access_log access.log");
        self.put("include mime.types;", "types { text/html html; text/plain txt; text/csv csv; }");
        self.put("/var/cache/nginx/site", "%%PREFIX%%/tmp/site");
        self.put("/var/www/html", "%%PREFIX%%/html");
        self.put("worker_processes auto;", "worker_processes 1;");
        self.put("worker_processes 2;", "worker_processes 1;");
        self.put("listen 80;", "listen 127.0.0.1:%%PORT%%;");
        self.put("http://127.0.0.1:8080", &upstream.url());
        let text = corpus::text(200_000);
        Nginx::builder()
            .whole_config(&(tops.to_owned() + &self.text))
            .file("index.html", text.clone())
            .file("made.html", text.clone())
            .file("made.html.br", tools::brotli_encode(&text))
            .file("made.html.zst", tools::zstd_encode(&text))
            .file("data/a.csv", text.clone())
            .file("data/small.csv", corpus::text(1000))
            .start()
    }
}

fn examples() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "conf"));
    paths.sort();
    paths
}

/// Path, `Accept-Encoding`, the coding of the answer.
type Request = (&'static str, &'static str, &'static str);

/// Requests to each of them.
const REQUESTS: [(&str, &[Request]); 6] = [
    ("events.conf", &[("/events", "br", "br"), ("/events", "zstd, br", "zstd"), ("/events", "gzip", "")]),
    ("from-ngx_brotli.conf", &[("/", "gzip, br", "br"), ("/made.html", "br", "br"), ("/", "gzip", "gzip")]),
    ("from-zstd-nginx-module.conf", &[("/", "gzip, zstd", "zstd"), ("/made.html", "zstd", "zstd")]),
    ("proxy-cache.conf", &[("/a", "br", "br"), ("/a", "zstd", "zstd"), ("/a", "identity", "")]),
    (
        "rare-large-files.conf",
        &[("/data/a.csv", "br", "br"), ("/data/a.csv", "zstd", "zstd"), ("/data/small.csv", "br", "")],
    ),
    (
        "static-site.conf",
        &[("/", "br", "br"), ("/", "zstd, br", "zstd"), ("/made.html", "br", "br"), ("/", "gzip", "gzip")],
    ),
];

#[test]
fn each_starts_and_answers() {
    if !has_threads() {
        return;
    }
    let upstream = Upstream::start(|mut conn| {
        while let Some(request) = conn.read_request() {
            let events = request.path == "/events";
            // What a cache holds is to be the same for all clients.
            assert!(events || request.header("Accept-Encoding").is_none_or(str::is_empty));
            let kind = if events { "text/event-stream" } else { "text/plain" };
            conn.send_head(200, &[&format!("Content-Type: {kind}"), "Transfer-Encoding: chunked"]);
            conn.send_chunk(&corpus::text(200_000));
            conn.send_last_chunk();
        }
    });
    let names: Vec<_> = examples().iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, REQUESTS.map(|(name, _)| name));
    for (path, (name, requests)) in examples().iter().zip(REQUESTS) {
        let nginx = Stage::of(path).start(&upstream);
        for (path, accept, coding) in requests {
            let response = get(&nginx, path).accept(accept).send();
            let what = format!("{name} {path} {accept}");
            assert_eq!((response.status, response.coding()), (200, *coding), "{what}");
            let length = if path.contains("small") { 1000 } else { 200_000 };
            assert!(response.decoded().unwrap() == corpus::text(length), "{what}");
        }
    }
}
