//! Bugs that bit users of other compression modules and servers: each must not be found here.
//!
//! A test is named by its row in the list below, as `bug_16_...`; many stand with the feature that they are about
//! (`cargo test --test t -- bug_` lists all). The list names the public tracker where a bug was reported.
//!
//! | row | report | bug |
//! |---|---|---|
//! | 1 | tokers/zstd-nginx-module#25, #49, #52 | body cut at 131072 bytes |
//! | 2 | tokers#23, #41 | 100 % CPU after an empty flush |
//! | 3 | google/ngx_brotli#20 | endless loop when only a header came |
//! | 4 | google#80, eustas/ngx_brotli#30 | 100 % CPU with a slow HTTP/2 client |
//! | 5 | google#81, eustas#37 | the tail of the body missing |
//! | 7 | eustas#9, #7 | levels 0 and 1 corrupt, error pages empty |
//! | 10 | zstd module forks | crash on a body longer than one output buffer |
//! | 11 | eustas#12 | crash when a client leaves |
//! | 12 | google#143 | use after free under HTTP/2 with TLS |
//! | 14 | google#166 | SIGILL on older processors |
//! | 15 | tokers#18 | out of memory at level 16 |
//! | 16 | tokers#35 | a window that browsers refuse |
//! | 17 | zstd module forks | level -1 ignored |
//! | 18, 19, 20 | zstd module forks | dictionaries ignored, sent without a warning, never freed |
//! | 21 | nginx#1046, nginx#2614 | long streams grow |
//! | 23, 25 | tokers#52 | small chunks come at the end, or time out |
//! | 24 | tokers | every buffer flushed |
//! | 26 | eustas#11 | sockets pile up with a cache and HTTP/2 |
//! | 27 | eustas#14 | one response in 10,000 never ends |
//! | 30 | nginx | empty flushes, buffers and sub-requests |
//! | 32 | google#8, tokers#30 | SSI, addition and sub_filter see encoded bodies |
//! | 33 | google#116 | `*_static` switches gzip off |
//! | 34, 35, 36 | google#97, #44, #42 | Vary missing or everywhere |
//! | 37, 38, 39, 41, 52 | google#79, tokers#20, #15, traefik#9734 | Accept-Encoding misread |
//! | 40 | tokers#43 | a generated listing is not compressed |
//! | 43, 44 | google#111 | precompressed files stale, or without ranges |
//! | 46, 47, 49 | envoy#35152, caddy#5849, #2892 | tags, Vary on 304, HEAD |
//! | 50, 51 | caddy#4314, openlitespeed#509 | body encoded without a header; encoded twice |
//! | 53 | traefik#7882 | events late |
//! | 54 | traefik#1059 | websockets broken |
//! | 55 | caddy#5031 | video compressed |
//! | 58 | google#135 | garbage after a header of the module |
//! | 59 | h2o#1824 | tiny and empty bodies |
//! | 60 | google/brotli#1331 | dictionary freed before its encoder |
//! | 61, 62 | nginx#2555, nginx | a request ended during a task; HTTP/2 and tasks |
//! | 68 | nginx-clojure#222 | a thread touches a request that was freed |
//! | 71 | nginx | an error that looks like the end |
//! | 74, 75 | google#148 | shared libraries of encoders missing or mixed up |
//! | 78 | zstd module forks | precompressed files: type, path, directio, bad frames |
//! | 79 | facebook/zstd#3207 | megabytes for each response |
//! | 80 | google#53 | proxied responses |
//!
//! Without a test: 56 (six times the CPU with one C library: the encoders are compiled in, and their memory is not the C
//! library's), 67 (memory barriers of NGINX's own queue of completions; what threads and loop share here are the atomics
//! of `core/src/dispatch.rs`), 72 (HTTP/3, which this module is not tested with), 73 (a module for another NGINX: its own
//! message, explained in README.md).

mod answers;
mod bodies;
mod crashes;
mod spinning;

use harness::{Builder, Nginx, Request, Response, Upstream, corpus, get};

use crate::support::{has_threads, inline, pooled};

/// One of the ways that a response can go.
#[derive(Clone, Copy, Debug)]
struct Way {
    coding: &'static str,
    http2: bool,
}

impl Way {
    fn ask(self, nginx: &Nginx, path: &str) -> Request {
        let request = get(nginx, path).accept(self.coding);
        if self.http2 { request.http2() } else { request }
    }

    /// Asks, and checks that the answer is encoded and the body whole.
    #[track_caller]
    fn check(self, nginx: &Nginx, path: &str, body: &[u8]) -> Response {
        let response = self.ask(nginx, path).send();
        assert_eq!(response.coding(), self.coding, "{path} {self:?}");
        let decoded = response.decoded().unwrap_or_else(|error| panic!("{path} {self:?}: {error}"));
        assert!(decoded == body, "{path} {self:?}: {} of {} bytes", decoded.len(), body.len());
        response
    }
}

/// Starts what `configure` makes, with a pool and without, and checks each way; no worker may end.
#[track_caller]
fn on_each(configure: impl Fn(Builder) -> Builder, mut check: impl FnMut(&Nginx, Way)) {
    let starts = if has_threads() { vec![pooled(), inline()] } else { vec![inline()] };
    for builder in starts {
        let nginx = configure(builder).start();
        let pid = nginx.worker_pid();
        for coding in ["br", "zstd"] {
            for http2 in [false, true] {
                check(&nginx, Way { coding, http2 });
            }
        }
        assert_eq!(nginx.worker_pid(), pid);
    }
}

/// A location that passes requests on.
fn proxy(path: &str, url: &str, lines: &str) -> String {
    format!("location {path} {{ proxy_http_version 1.1; proxy_pass {url}; {lines} }}\n")
}

/// Sends so many bytes of text as the path says, in chunks of 7000 bytes, or with their length under `/length/`.
fn upstream() -> Upstream {
    Upstream::start(|mut conn| {
        while let Some(request) = conn.read_request() {
            let length: usize = request.path.rsplit('/').next().unwrap().parse().unwrap();
            let body = corpus::text(length);
            if request.path.contains("length") {
                conn.send_head(200, &["Content-Type: text/plain", &format!("Content-Length: {length}")]);
                if request.method != "HEAD" {
                    conn.send(&body);
                }
            } else {
                conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
                body.chunks(7000).for_each(|chunk| conn.send_chunk(chunk));
                conn.send_last_chunk();
            }
        }
    })
}
