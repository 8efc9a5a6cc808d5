//! What several of the tests need: the usual configuration, and orders for jobs (src/hooks.rs).

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use harness::{
    Builder, Nginx, Response, TIMEOUT, Upstream, UpstreamRequest, corpus, locate, tools, wait_until,
};

/// The directory of orders of one NGINX.
pub struct Hooks(PathBuf);

impl Hooks {
    /// No orders yet.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("compress-hooks-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(name);
        fs::create_dir(&dir).unwrap();
        Self(dir)
    }

    /// Lets `builder`'s NGINX follow the orders.
    pub fn watch(&self, builder: Builder) -> Builder {
        builder.env("COMPRESS_TEST_HOOKS", self.0.to_str().unwrap()).main("env COMPRESS_TEST_HOOKS;")
    }

    /// Gives an order, such as `hold` or `panic.job`.
    pub fn order(&self, name: &str) {
        self.order_with(name, "");
    }

    /// Gives an order that has a value, such as `refuse.pool`.
    pub fn order_with(&self, name: &str, value: &str) {
        fs::write(self.0.join(name), value).unwrap();
    }

    /// Whether an order was given, and neither released nor taken back by the module.
    pub fn is_ordered(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    /// Takes an order back.
    pub fn release(&self, name: &str) {
        fs::remove_file(self.0.join(name)).unwrap();
    }

    /// Waits until job `id` is held in its thread.
    pub fn wait_for_job(&self, id: u64) {
        wait_until(TIMEOUT, || self.is_here(id));
    }

    /// Whether job `id` is or was held in its thread.
    pub fn is_here(&self, id: u64) -> bool {
        self.0.join(format!("here.{id}")).exists()
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An NGINX with a pool of two threads, which both codings use for all types.
pub fn pooled() -> Builder {
    inline()
        .main("thread_pool compress threads=2;")
        .http("brotli_thread_pool compress; zstd_thread_pool compress;")
}

/// An NGINX that encodes in its event loop.
pub fn inline() -> Builder {
    Nginx::builder().http(
        "sendfile on; brotli on; zstd on;
         brotli_types text/plain application/json; zstd_types text/plain application/json;",
    )
}

/// Whether there are pools to test.
pub fn has_threads() -> bool {
    locate::nginx_has("--with-threads")
}

/// The header of a response in the order of the alphabet, without what differs from run to run.
pub fn fields(response: &Response) -> Vec<String> {
    let value = |name: &str, value: &str| match name.to_ascii_lowercase().as_str() {
        "date" | "last-modified" | "server" => "*".into(),
        "etag" => format!("{}\"*\"", value.split('"').next().unwrap()),
        _ => value.to_owned(),
    };
    let mut fields: Vec<_> =
        response.headers.iter().map(|(name, text)| format!("{name}: {}", value(name, text))).collect();
    fields.sort();
    fields
}

/// An upstream that answers as the client asks it to, by fields of the request:
///
/// | field | answer |
/// |---|---|
/// | `X-Status: 206` | that status, in place of 200 |
/// | `X-Fields: Vary: Cookie \| Age: 1` | these fields, and `Content-Type: text/plain` unless they have a type |
/// | `X-Length: 100` | so many bytes of [`corpus::text`], in place of 20,000 |
/// | `X-Coding: br` | the body is encoded, and `Content-Encoding` says so |
/// | `X-Framing: chunked` | chunks; `cut` leaves out the last of them |
///
/// With an `ETag` among the fields, a request that names it is answered with 304.
pub fn obedient() -> Upstream {
    Upstream::start(|mut conn| {
        let Some(request) = conn.read_request() else { return };
        let answer = Answer::of(&request);
        let lines: Vec<&str> = answer.fields.iter().map(String::as_str).collect();
        conn.send_head(answer.status, &lines);
        match request.header("X-Framing") {
            _ if request.method == "HEAD" => {}
            None => conn.send(&answer.body),
            Some(framing) => {
                answer.body.chunks(7000).for_each(|chunk| conn.send_chunk(chunk));
                if framing != "cut" {
                    conn.send_last_chunk();
                }
            }
        }
    })
}

struct Answer {
    status: u16,
    fields: Vec<String>,
    body: Vec<u8>,
}

impl Answer {
    fn of(request: &UpstreamRequest) -> Self {
        let number = |name| request.header(name).map(|value| value.parse().unwrap());
        let listed = request.header("X-Fields").unwrap_or_default();
        let mut fields: Vec<_> = listed
            .split('|')
            .map(|field| field.trim().to_owned())
            .filter(|field| !field.is_empty())
            .collect();
        let tag = fields.iter().find_map(|field| field.strip_prefix("ETag: "));
        if let Some(tag) = tag
            && request.header("If-None-Match").is_some_and(|named| named.contains(tag))
        {
            fields.retain(|field| !field.starts_with("Content-") && !field.starts_with("Accept-"));
            return Self { status: 304, fields, body: Vec::new() };
        }
        let status = number("X-Status").unwrap_or(200);
        if status == 204 || status == 304 {
            return Self { status: status as u16, fields, body: Vec::new() };
        }
        let text = corpus::text(number("X-Length").unwrap_or(20_000));
        let body = match request.header("X-Coding") {
            Some("br") => tools::brotli_encode(&text),
            Some("zstd") => tools::zstd_encode(&text),
            Some("gzip") => tools::filter("gzip", &["-c"], &text).unwrap(),
            _ => text,
        };
        fields.extend(request.header("X-Coding").map(|coding| format!("Content-Encoding: {coding}")));
        if !listed.contains("Content-Type") {
            fields.push("Content-Type: text/plain".into());
        }
        fields.push(match request.header("X-Framing") {
            None => format!("Content-Length: {}", body.len()),
            Some(_) => "Transfer-Encoding: chunked".into(),
        });
        Self { status: status as u16, fields, body }
    }
}
