//! Bodies of all kinds come out as they went in: levels, lengths, sources, versions, with and without a pool.

use std::thread;

use harness::{Builder, Nginx, Response, Upstream, corpus, get, tools};

use crate::support::{has_threads, inline, pooled};

const LENGTHS: [usize; 10] =
    [1, 20, 4096, 131_071, 131_072, 131_073, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (3 << 20) + 17];
const LARGEST: usize = 20 << 20;

/// How a body reaches the filter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Static,
    Buffered,
    Unbuffered,
}

const SOURCES: [Source; 3] = [Source::Static, Source::Buffered, Source::Unbuffered];

fn levels() -> impl Iterator<Item = (&'static str, i32)> {
    let zstd = [-5, -1].into_iter().chain(1..=19).chain([22]);
    (0..=11).map(|level| ("br", level)).chain(zstd.map(|level| ("zstd", level)))
}

/// One location for each coding and level and source.
fn locations(builder: Builder, upstream: &Upstream) -> Builder {
    let mut lines = String::new();
    for (coding, level) in levels() {
        let name = if coding == "br" { "brotli" } else { coding };
        let level_line = format!("{name}_comp_level {level}; {name}_min_length 1;");
        let root = "root %%PREFIX%%/html;";
        for (source, body) in [
            (Source::Static, format!("{root} rewrite ^/[^/]+/(.*)$ /$1 break;")),
            (Source::Buffered, format!("proxy_http_version 1.1; proxy_pass {};", upstream.url())),
            (
                Source::Unbuffered,
                format!("proxy_buffering off; proxy_http_version 1.1; proxy_pass {};", upstream.url()),
            ),
        ] {
            let place = place(coding, level, source);
            lines += &format!("location /{place}/ {{ {level_line} {body} }}\n");
        }
    }
    builder.server(&lines)
}

fn place(coding: &str, level: i32, source: Source) -> String {
    format!("{coding}{level}{source:?}")
}

/// Answers `/anything/N.txt` with N bytes in chunks of a few thousand.
fn chunked() -> Upstream {
    let text = corpus::text(LARGEST);
    Upstream::start(move |mut conn| {
        while let Some(request) = conn.read_request() {
            let name = request.path.rsplit('/').next().unwrap();
            let length: usize = name.strip_suffix(".txt").unwrap().parse().unwrap();
            conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
            for chunk in text[..length].chunks(7000) {
                conn.send_chunk(chunk);
            }
            conn.send_last_chunk();
        }
    })
}

fn start(builder: Builder, upstream: &Upstream) -> Nginx {
    let mut builder = locations(builder, upstream);
    for length in LENGTHS.into_iter().chain([LARGEST]) {
        builder = builder.file(&format!("{length}.txt"), corpus::text(length));
    }
    builder.start()
}

fn check(response: &Response, coding: &str, text: &[u8], what: &str) {
    assert_eq!(response.coding(), coding, "{what}");
    assert!(response.decoded().is_ok_and(|decoded| decoded == text), "{what}");
}

/// A covering sample: every level with every source, every length with every source and version, for each of which
/// the others rotate.
fn sample(nginx: &Nginx) {
    let text = corpus::text(LARGEST);
    let cases: Vec<_> =
        levels().flat_map(|level| SOURCES.map(|source| (level, source))).enumerate().collect();
    thread::scope(|scope| {
        for thread in 0..2 {
            let (cases, text) = (&cases, &text);
            scope.spawn(move || {
                for (i, ((coding, level), source)) in cases.iter().skip(thread).step_by(2) {
                    for turn in 0..2 {
                        // The slow levels get the large bodies once, not in all ways.
                        let slow = *coding == "br" && *level >= 10 || *coding == "zstd" && *level >= 16;
                        let lengths = if slow { &LENGTHS[..6] } else { &LENGTHS[..] };
                        let length = lengths[(i + turn * 7) % lengths.len()];
                        let request =
                            get(nginx, &format!("/{}/{length}.txt", place(coding, *level, *source)));
                        let http2 = (i / 2 + turn) % 2 == 0;
                        let request = if http2 { request.http2() } else { request };
                        let response = request.accept(coding).send();
                        let what = format!("{coding} {level} {source:?} {length} h2 {http2}");
                        check(&response, coding, &text[..length], &what);
                    }
                }
            });
        }
    });
}

#[test]
fn everything_on_a_pool() {
    if has_threads() {
        let upstream = chunked();
        sample(&start(pooled(), &upstream));
    }
}

#[test]
fn everything_in_the_event_loop() {
    let upstream = chunked();
    sample(&start(inline(), &upstream));
}

#[test]
fn everything_that_is_read_by_nginx() {
    let upstream = chunked();
    let builder = if has_threads() { pooled() } else { inline() };
    sample(&start(builder.server("sendfile off; output_buffers 1 1m;"), &upstream));
}

#[test]
fn large_bodies_at_every_kind_of_level() {
    let upstream = chunked();
    let text = corpus::text(LARGEST);
    let pool = has_threads();
    let nginx = start(if pool { pooled() } else { inline() }, &upstream);
    for (coding, level, length) in [
        ("br", 0, LARGEST),
        ("br", 1, LARGEST),
        ("br", 5, LARGEST),
        ("br", 11, (1 << 20) + 1),
        ("zstd", 1, LARGEST),
        ("zstd", 9, LARGEST),
        ("zstd", 19, (3 << 20) + 17),
        ("zstd", 22, (1 << 20) + 1),
    ] {
        for source in SOURCES {
            let response =
                get(&nginx, &format!("/{}/{length}.txt", place(coding, level, source))).accept(coding).send();
            check(&response, coding, &text[..length], &format!("{coding} {level} {source:?} {length}"));
        }
    }
}

#[test]
fn an_empty_body_of_unknown_length_is_a_whole_stream() {
    let upstream = chunked();
    let nginx = start(inline(), &upstream);
    for (coding, length) in [("br", 1), ("zstd", 9)] {
        for source in [Source::Buffered, Source::Unbuffered] {
            let response = get(&nginx, &format!("/{}/0.txt", place(coding, 5, source))).accept(coding).send();
            check(&response, coding, b"", &format!("{coding} {source:?}"));
            assert_eq!(response.body.len(), length);
        }
    }
}

#[test]
fn http_1_0_and_tls() {
    let text = corpus::text(700_000);
    let builder = if has_threads() { pooled() } else { inline() };
    let nginx = builder.tls().file("a.txt", text.clone()).start();
    for coding in ["br", "zstd"] {
        for request in
            [get(&nginx, "/a.txt").http10(), get(&nginx, "/a.txt").tls(), get(&nginx, "/a.txt").tls().http2()]
        {
            check(&request.clone().accept(coding).send(), coding, &text, &format!("{request:?}"));
        }
    }
}

#[test]
fn the_reference_programs_agree() {
    let text = corpus::text((3 << 20) + 17);
    let builder = if has_threads() { pooled() } else { inline() };
    let nginx = builder.file("a.txt", text.clone()).start();
    let body = |coding| get(&nginx, "/a.txt").accept(coding).send().body;
    assert!(tools::brotli_decode(&body("br")).unwrap() == text);
    assert!(tools::zstd_decode(&body("zstd")).unwrap() == text);
}

#[test]
fn bug_16_a_response_is_one_frame_that_every_browser_takes() {
    let upstream = chunked();
    let builder = if has_threads() { pooled() } else { inline() };
    let nginx = start(builder, &upstream);
    let dir = nginx.prefix();
    for (name, level, length) in
        [("small", 22, 4096), ("large", 3, (3 << 20) + 17), ("slow", 19, (3 << 20) + 17)]
    {
        for source in [Source::Static, Source::Buffered] {
            let path = format!("/{}/{length}.txt", place("zstd", level, source));
            let file = dir.join(format!("{name}.zst"));
            std::fs::write(&file, get(&nginx, &path).accept("zstd").send().body).unwrap();
            let list = std::process::Command::new("zstd").arg("-lv").arg(&file).output().unwrap();
            let list = String::from_utf8(list.stdout).unwrap();
            let value = |name| {
                list.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{list}"))
            };
            assert!(value("# Zstandard Frames:").trim() == "1", "{list}");
            let (_, window) = value("Window Size:").split_once('(').unwrap();
            let window: u64 = window.trim_end_matches(" B)").parse().unwrap();
            assert!(window <= 8 << 20, "{list}");
        }
    }
}
