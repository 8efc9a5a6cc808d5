//! `compress_status`: what it counts, and the answer of its location.

mod answer;
mod workers;

use std::fs;
use std::time::Duration;

use harness::{Builder, Connection, Nginx, TIMEOUT, Upstream, corpus, gate, get, head, wait_until};
use serde_json::{Value, json};

use crate::support::{Hooks, has_threads, inline, obedient, pooled};

const LOCATION: &str = "location = /status { compress_status; brotli off; zstd off; }";

/// The counters now.
#[track_caller]
fn shown(nginx: &Nginx) -> Value {
    serde_json::from_str(&get(nginx, "/status").send().text()).unwrap()
}

/// One of the counters now, such as `/jobs/br/pool/done`.
#[track_caller]
fn count(nginx: &Nginx, pointer: &str) -> u64 {
    number(&shown(nginx), pointer)
}

#[track_caller]
fn number(shown: &Value, pointer: &str) -> u64 {
    shown.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {shown}"))
}

/// The sums of the access log, whose lines are in this format.
struct Logged(Vec<Vec<String>>);

impl Logged {
    const FORMAT: &str =
        "$compress_encoding $compress_bytes_in $compress_bytes_out $compress_skip $compress_time";

    fn of(nginx: &Nginx, count: usize) -> Self {
        let lines = nginx.access_log_lines(count);
        assert_eq!(lines.len(), count);
        Self(lines.iter().map(|line| line.split(' ').map(String::from).collect()).collect())
    }

    /// The sum of a column over the responses of a coding.
    fn bytes(&self, coding: &str, column: usize) -> u64 {
        let lines = self.0.iter().filter(|line| line[0] == coding);
        lines.map(|line| line[column].parse::<u64>().unwrap()).sum()
    }

    fn milliseconds(&self, coding: &str) -> u64 {
        let lines = self.0.iter().filter(|line| line[0] == coding);
        lines.map(|line| line[4].replace('.', "").parse::<u64>().unwrap()).sum()
    }

    fn skipped(&self, reason: &str) -> usize {
        self.0.iter().filter(|line| line[3] == reason).count()
    }
}

type Fields = &'static [(&'static str, &'static str)];

/// Requests of all kinds, by the fields that tell the upstream what to answer: `/` is compressed, unless a field
/// says something else.
const SKIPPED: [(&str, &str, Fields); 13] = [
    ("off", "/off", &[]),
    ("status", "/", &[("X-Status", "201")]),
    ("status", "/", &[("X-Status", "304")]),
    ("encoded", "/", &[("X-Coding", "gzip")]),
    ("range", "/", &[("X-Fields", "Content-Range: bytes 0-1/2")]),
    ("length", "/", &[("X-Length", "19")]),
    ("type", "/", &[("X-Fields", "Content-Type: image/png")]),
    ("no-transform", "/", &[("X-Fields", "Cache-Control: no-transform")]),
    ("no-transform", "/", &[("Cache-Control", "no-transform")]),
    ("bypass", "/?bypass=1", &[]),
    ("client", "/", &[("Accept-Encoding", "gzip")]),
    ("client", "/", &[("Accept-Encoding", "br;q=0")]),
    ("client", "/", &[("Accept-Encoding", "")]),
];

fn counts_exactly(builder: Builder, mode: &str) {
    let upstream = obedient();
    let proxy = format!("proxy_http_version 1.1; proxy_pass {};", upstream.url());
    let nginx = builder
        .log_format(Logged::FORMAT)
        .http("brotli_bypass $arg_bypass; zstd_bypass $arg_bypass; compress_inline 0;")
        .server(&format!("location / {{ {proxy} }} location /off {{ brotli off; zstd off; {proxy} }}"))
        .server("location /a.txt { root html; } location /page.html { ssi on; root html; }")
        .server(LOCATION)
        .file("a.txt", corpus::text(30_000))
        .file("page.html", "a page of more than twenty bytes <!--# include virtual=\"/a.txt\" -->")
        .start();
    let mut requests = 0;
    let mut send = |request: harness::Request| {
        requests += 1;
        request.try_send()
    };
    for (coding, times) in [("br", 3), ("zstd", 2)] {
        for _ in 0..times {
            let response = send(get(&nginx, "/a.txt").accept(coding)).unwrap();
            assert_eq!(response.coding(), coding);
            assert_eq!(response.decoded().unwrap(), corpus::text(30_000));
        }
        send(head(&nginx, "/a.txt").accept(coding)).unwrap();
    }
    for (_, path, headers) in SKIPPED {
        let is_set = headers.iter().any(|(name, _)| *name == "Accept-Encoding");
        let request = if is_set { get(&nginx, path) } else { get(&nginx, path).accept("br, zstd") };
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        assert!(send(request).unwrap().complete, "{path} {headers:?}");
    }
    assert_eq!(send(get(&nginx, "/page.html").accept("br")).unwrap().coding(), "br");
    let cut = send(get(&nginx, "/").accept("zstd").header("X-Framing", "cut"));
    assert!(!cut.is_ok_and(|response| response.complete));

    let log = Logged::of(&nginx, requests);
    let mut shown = shown(&nginx);
    let seconds = shown.as_object_mut().unwrap().remove("encoder_seconds").unwrap();
    let jobs = shown.as_object_mut().unwrap().remove("jobs").unwrap();
    let mut skipped: serde_json::Map<_, _> = [("subrequest", 1), ("busy", 0)].map(pair).into_iter().collect();
    for (reason, ..) in SKIPPED {
        skipped.insert(reason.into(), log.skipped(reason).into());
        assert_eq!(log.skipped(reason), SKIPPED.iter().filter(|(other, ..)| *other == reason).count());
    }
    assert_eq!(
        shown,
        json!({
            "responses": {"br": 4, "zstd": 3},
            "responses_aborted": {"br": 0, "zstd": 1},
            "responses_failed": {"br": 0, "zstd": 0},
            "responses_skipped": skipped,
            "bytes_in": {"br": log.bytes("br", 1), "zstd": log.bytes("zstd", 1)},
            "bytes_out": {"br": log.bytes("br", 2), "zstd": log.bytes("zstd", 2)},
            "jobs_overflowed": 0,
            "responses_waiting": 0,
            "jobs_queued": 0,
            "jobs_running": 0,
        })
    );
    let other = if mode == "inline" { "pool" } else { "inline" };
    for coding in ["br", "zstd"] {
        assert_eq!(jobs[coding][other], json!({"done": 0, "cancelled": 0, "failed": 0}));
        assert_eq!(seconds[coding][other].as_f64(), Some(0.0));
        let time = seconds[coding][mode].as_f64().unwrap();
        assert!(time > 0.0 && time * 1000.0 >= log.milliseconds(coding) as f64, "{time}");
    }
    // One for each body, and those of the one that was cut off.
    assert!(jobs["br"][mode]["done"].as_u64() >= Some(4));
    assert!(jobs["zstd"][mode]["done"].as_u64() >= Some(2));
}

fn pair((name, count): (&str, u64)) -> (String, Value) {
    (name.into(), count.into())
}

#[test]
fn exact_counts_in_the_event_loop() {
    counts_exactly(inline(), "inline");
}

#[test]
fn exact_counts_on_a_pool() {
    if has_threads() {
        counts_exactly(pooled(), "pool");
    }
}

#[test]
fn an_open_stream_is_counted_as_it_goes() {
    for builder in [inline(), pooled()].into_iter().take(1 + usize::from(has_threads())) {
        let (key, gate) = gate();
        let upstream = Upstream::start(move |mut conn| {
            conn.read_request().unwrap();
            conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
            for _ in 0..2 {
                conn.send_chunk(&corpus::text(10_000));
                gate.wait();
            }
            conn.send_last_chunk();
        });
        let location = format!("location / {{ proxy_buffering off; proxy_pass {}; }}", upstream.url());
        let nginx = builder
            .http("proxy_http_version 1.1;")
            .server(&location)
            .server(LOCATION)
            .log_format(Logged::FORMAT)
            .start();
        let mut client = Connection::connect(nginx.port()).unwrap();
        let headers = [("Accept-Encoding", "br"), ("Connection", "close")];
        client.send_request("GET", "/", &headers).unwrap();
        for bytes in [10_000, 20_000] {
            wait_until(TIMEOUT, || count(&nginx, "/bytes_in/br") == bytes);
            wait_until(TIMEOUT, || count(&nginx, "/bytes_out/br") > bytes / 100);
            assert!(count(&nginx, "/bytes_out/br") < bytes);
            key.open();
        }
        let body = client.read_response("GET").unwrap();
        assert!(body.decoded().is_ok_and(|decoded| decoded.len() == 20_000));
        assert_eq!(count(&nginx, "/bytes_out/br"), body.body.len() as u64);
    }
}

/// Bytes that no job was given are not counted, as in the log.
#[test]
fn bytes_that_were_not_compressed_are_not_counted() {
    let (key, gate) = gate();
    let upstream = Upstream::start(move |mut conn| {
        conn.read_request().unwrap();
        conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
        conn.send_chunk(&corpus::text(100_000));
        gate.wait();
    });
    let nginx = inline()
        .server(&format!("location / {{ proxy_http_version 1.1; proxy_pass {}; }}", upstream.url()))
        .server(LOCATION)
        .log_format(Logged::FORMAT)
        .start();
    let client = Connection::get(nginx.port(), "/", "br").unwrap();
    wait_until(TIMEOUT, || count(&nginx, "/responses/br") == 1);
    std::thread::sleep(Duration::from_millis(200));
    client.reset().unwrap();
    wait_until(TIMEOUT, || count(&nginx, "/responses_aborted/br") == 1);
    wait_until(TIMEOUT, || nginx.access_log().lines().any(|line| line.starts_with("br 0 0 ")));
    assert_eq!(["/bytes_in/br", "/bytes_out/br"].map(|name| count(&nginx, name)), [0, 0]);
    key.open();
}

#[test]
fn a_response_that_cannot_be_compressed_is_counted_as_failed() {
    for (builder, mode) in [(inline(), "inline"), (pooled(), "pool")] {
        if mode == "pool" && !has_threads() {
            continue;
        }
        let hooks = Hooks::new();
        hooks.order("panic.job");
        let nginx = hooks
            .watch(builder)
            .server(LOCATION)
            .file("a.txt", corpus::text(300_000))
            .allow_log("ordered at job")
            .start();
        assert!(!get(&nginx, "/a.txt").accept("br").try_send().is_ok_and(|response| response.complete));
        wait_until(TIMEOUT, || count(&nginx, "/responses_failed/br") == 1);
        let shown = shown(&nginx);
        assert_eq!(shown["jobs"]["br"][mode], json!({"done": 0, "cancelled": 0, "failed": 1}));
        assert_eq!(number(&shown, "/responses/br"), 1);
        assert_eq!(number(&shown, "/responses_aborted/br"), 0);
        assert_eq!(number(&shown, "/bytes_out/br"), 0);
    }
}

#[test]
fn a_file_that_becomes_shorter_is_a_failed_job() {
    if !has_threads() {
        return;
    }
    let hooks = Hooks::new();
    hooks.order("hold");
    let nginx = hooks.watch(pooled()).server(LOCATION).file("a.txt", corpus::text(600_000)).start();
    let _client = Connection::get(nginx.port(), "/a.txt", "zstd").unwrap();
    hooks.wait_for_job(0);
    fs::File::options().write(true).open(nginx.served("a.txt")).unwrap().set_len(1000).unwrap();
    hooks.release("hold");
    wait_until(TIMEOUT, || count(&nginx, "/responses_failed/zstd") == 1);
    assert_eq!(count(&nginx, "/jobs/zstd/pool/failed"), 1);
}

#[test]
fn jobs_whose_client_leaves_are_cancelled() {
    if !has_threads() {
        return;
    }
    let hooks = Hooks::new();
    hooks.order("hold");
    let nginx = hooks.watch(pooled()).server(LOCATION).file("a.txt", corpus::text(300_000)).start();
    let client = Connection::get(nginx.port(), "/a.txt", "br").unwrap();
    wait_until(TIMEOUT, || count(&nginx, "/jobs_running") == 1);
    client.reset().unwrap();
    wait_until(TIMEOUT, || count(&nginx, "/responses_aborted/br") == 1);
    assert_eq!(count(&nginx, "/jobs_running"), 1, "it cannot stop before it is released");
    hooks.release("hold");
    wait_until(TIMEOUT, || count(&nginx, "/jobs_running") == 0);
    assert_eq!(shown(&nginx)["jobs"]["br"]["pool"], json!({"done": 0, "cancelled": 1, "failed": 0}));
}

#[test]
fn what_waits_is_shown_and_what_is_sent_as_it_is_counted() {
    if !has_threads() {
        return;
    }
    let hooks = Hooks::new();
    hooks.order("hold");
    let nginx = hooks
        .watch(pooled())
        .http("compress_max_waiting 2; brotli_parallel_tasks 1;")
        .server(LOCATION)
        .file("a.txt", corpus::text(300_000))
        .start();
    let ask = || {
        let mut client = Connection::connect(nginx.port()).unwrap();
        let headers = [("Accept-Encoding", "br"), ("Connection", "close")];
        client.send_request("GET", "/a.txt", &headers).unwrap();
        client
    };
    let mut clients = vec![ask(), ask()];
    // Two threads are known now, so that there is room for two jobs more.
    wait_until(TIMEOUT, || count(&nginx, "/jobs_running") == 2);
    clients.extend((0..5).map(|_| ask()));
    wait_until(TIMEOUT, || count(&nginx, "/responses_waiting") == 3);
    let before = shown(&nginx);
    assert_eq!(["/jobs_running", "/jobs_queued"].map(|name| number(&before, name)), [2, 2]);
    assert_eq!(number(&before, "/responses_skipped/busy"), 0);
    assert_eq!(get(&nginx, "/a.txt").accept("br").send().coding(), "");
    assert_eq!(count(&nginx, "/responses_skipped/busy"), 1);
    // One that waits leaves.
    clients.pop().unwrap().reset().unwrap();
    wait_until(TIMEOUT, || count(&nginx, "/responses_waiting") == 2);
    hooks.release("hold");
    for mut client in clients {
        assert!(client.read_response("GET").unwrap().decoded().unwrap() == corpus::text(300_000));
    }
    let after = shown(&nginx);
    let now = ["/jobs_running", "/jobs_queued", "/responses_waiting"].map(|name| number(&after, name));
    assert_eq!(now, [0, 0, 0]);
    assert_eq!(after["jobs"]["br"]["pool"], json!({"done": 6, "cancelled": 0, "failed": 0}));
    assert_eq!((number(&after, "/responses/br"), number(&after, "/responses_aborted/br")), (7, 1));
}

#[test]
fn refused_posts_are_counted() {
    if !has_threads() {
        return;
    }
    let text = corpus::text(2 << 20);
    let nginx = inline()
        .main("thread_pool narrow threads=1 max_queue=1;")
        .http("brotli_thread_pool narrow;")
        .server(LOCATION)
        .file("a.txt", text.clone())
        .allow_log("queue overflow")
        .start();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert!(get(&nginx, "/a.txt").accept("br").send().decoded().unwrap() == text));
        }
    });
    let overflows = nginx.error_log().matches("queue overflow").count() as u64;
    assert!(overflows > 0);
    let shown = shown(&nginx);
    assert_eq!(number(&shown, "/jobs_overflowed"), overflows);
    assert_eq!(["/jobs_running", "/jobs_queued"].map(|name| number(&shown, name)), [0, 0]);
}
