//! `zstd_dict_file`: every location uses its dictionary, only those, and a reload frees what it replaces.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use harness::{Builder, Nginx, Response, Upstream, corpus, get, locate, tools};

use crate::support::{has_threads, inline, pooled};

const HELD: &str = "only clients that hold the dictionary can decode";

/// A directory for the files of a program.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("compress-dictionary-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(name);
        fs::create_dir(&dir).unwrap();
        Self(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A dictionary that `zstd --train` makes of pieces of [`corpus::json`]; the end of the corpus is for bodies.
fn trained() -> Vec<u8> {
    let dir = Scratch::new();
    let names: Vec<String> = corpus::json(200_000)
        .chunks(700)
        .enumerate()
        .map(|(number, piece)| {
            let path = dir.0.join(format!("sample{number}"));
            fs::write(&path, piece).unwrap();
            path.to_str().unwrap().to_owned()
        })
        .collect();
    let out = dir.0.join("out");
    let mut arguments = vec!["-q", "--train", "--maxdict=8000", "-o", out.to_str().unwrap()];
    arguments.extend(names.iter().map(String::as_str));
    tools::filter("zstd", &arguments, b"").unwrap();
    fs::read(out).unwrap()
}

fn id_of(dictionary: &[u8]) -> String {
    u32::from_le_bytes(dictionary[4..8].try_into().unwrap()).to_string()
}

/// Dictionaries `trained` and `raw`, and bodies.
fn files(builder: Builder, trained: &[u8]) -> Builder {
    let json = corpus::json(3 << 20);
    builder
        .file("trained", trained)
        .file("raw", &corpus::json(6000)[..])
        .file("small.json", &json[300_000..300_800])
        .file("middle.json", &json[..300_000])
        .file("large.json", json)
}

fn body_of(nginx: &Nginx, path: &str) -> Vec<u8> {
    fs::read(nginx.served(path.rsplit('/').next().unwrap())).unwrap()
}

/// The `DictID` that the `zstd` program sees in a frame; 0 is none.
fn id_in(frame: &[u8]) -> String {
    let dir = Scratch::new();
    let path = dir.0.join("frame.zst");
    fs::write(&path, frame).unwrap();
    let listed = tools::filter("zstd", &["-lv", path.to_str().unwrap()], b"").unwrap();
    let listed = String::from_utf8(listed).unwrap();
    let line = listed.lines().find_map(|line| line.strip_prefix("DictID: "));
    line.unwrap_or_else(|| panic!("no DictID in {listed}")).trim().to_owned()
}

fn decode(frame: &[u8], dictionary: &Path) -> Result<Vec<u8>, String> {
    tools::filter("zstd", &["-d", "-c", "-q", "-D", dictionary.to_str().unwrap()], frame)
}

fn ask(nginx: &Nginx, path: &str) -> Response {
    let response = get(nginx, path).accept("zstd").send();
    assert_eq!((response.status, response.coding(), response.complete), (200, "zstd", true), "{path}");
    response
}

/// Asks, and checks that the body needs the dictionary `name` ("": none).
#[track_caller]
fn check(nginx: &Nginx, path: &str, name: &str) -> usize {
    let frame = ask(nginx, path).body;
    let expected = body_of(nginx, path);
    let id = if name == "trained" { id_of(&body_of(nginx, name)) } else { "0".into() };
    assert!(id_in(&frame).split([' ', '(']).next() == Some(id.as_str()), "{path}: {}", id_in(&frame));
    let plain = tools::zstd_decode(&frame).is_ok_and(|decoded| decoded == expected);
    if name.is_empty() {
        assert!(plain, "{path}");
    } else {
        assert!(!plain, "{path} uses the dictionary");
        assert!(decode(&frame, &nginx.served(name)).unwrap() == expected, "{path}");
    }
    frame.len()
}

fn builders() -> Vec<Builder> {
    let mut builders = vec![inline()];
    if has_threads() {
        builders.push(pooled().http("compress_inline 0; zstd_parallel_segment_size 128k;"));
        builders.push(pooled().http("compress_inline 0; zstd_parallel_tasks 1;"));
    }
    builders
}

#[test]
fn bodies_of_all_lengths_use_it() {
    let trained = trained();
    for builder in builders() {
        for name in ["trained", "raw"] {
            let dictionary = format!("zstd_dict_file html/{name};");
            let nginx = files(builder.clone(), &trained).http(&dictionary).start();
            for path in ["/small.json", "/middle.json", "/large.json"] {
                check(&nginx, path, name);
            }
            let brotli = get(&nginx, "/middle.json").accept("br").send();
            assert!(brotli.coding() == "br" && brotli.decoded().unwrap() == body_of(&nginx, "middle.json"));
        }
    }
}

#[test]
fn a_proxied_body_of_unknown_length_uses_it() {
    let trained = trained();
    let upstream = Upstream::start(|mut conn| {
        while conn.read_request().is_some() {
            conn.send_head(200, &["Content-Type: application/json", "Transfer-Encoding: chunked"]);
            corpus::json(300_000).chunks(9000).for_each(|piece| conn.send_chunk(piece));
            conn.send_last_chunk();
        }
    });
    for builder in builders() {
        for buffering in ["on", "off"] {
            let location = format!(
                "location /middle.json {{ proxy_buffering {buffering}; proxy_http_version 1.1; proxy_pass {}; }}",
                upstream.url()
            );
            let http = "zstd_dict_file html/trained;";
            let nginx = files(builder.clone(), &trained).http(http).server(&location).start();
            check(&nginx, "/middle.json", "trained");
        }
    }
}

#[test]
fn bug_18_every_location_uses_the_one_it_inherits_or_has() {
    let rewrite = "rewrite ^/[^/]+/(.*)$ /$1 break;";
    let locations: String = [
        ("same", ""),
        ("level", "zstd_comp_level 9;"),
        ("again", "zstd on; zstd_comp_level 9;"),
        ("on", "zstd on;"),
        ("off", "zstd_dict_file off;"),
        ("raw", "zstd_dict_file html/raw; zstd_comp_level 9;"),
        ("if", "if ($arg_x = '') { zstd on; }"),
    ]
    .iter()
    .map(|(name, lines)| format!("location /{name}/ {{ {lines} {rewrite} }}\n"))
    .collect();
    // zstd is on at the top, or in the locations alone.
    for top in ["zstd on;", "zstd off; server { listen 127.0.0.1:%%PORT2%%; zstd_dict_file off; }"] {
        let builder = Nginx::builder().http(&format!("zstd_types application/json; {top}"));
        let builder = builder.http("zstd_dict_file html/trained;");
        let nginx = files(builder, &trained()).server(&locations).start();
        let mut rows = vec![("on", "trained"), ("again", "trained"), ("if", "trained")];
        if top == "zstd on;" {
            rows.extend([("same", "trained"), ("level", "trained"), ("off", ""), ("raw", "raw")]);
        }
        for (location, name) in rows {
            check(&nginx, &format!("/{location}/small.json"), name);
        }
        assert_eq!(nginx.error_log().matches(HELD).count(), 1, "one warning:\n{}", nginx.error_log());
    }
}

#[test]
fn small_bodies_profit() {
    let nginx = files(inline(), &trained()).http("zstd_dict_file html/trained;");
    let nginx =
        nginx.server("location /plain/ { zstd_dict_file off; rewrite ^/[^/]+/(.*)$ /$1 break; }").start();
    let (with, without) = (check(&nginx, "/small.json", "trained"), check(&nginx, "/plain/small.json", ""));
    assert!(with * 10 < without * 9, "{with} for {without}");
}

#[test]
fn bad_files_are_refused_with_directive_file_and_line() {
    let trained = trained();
    let check = |line: &str| {
        let builder = files(inline(), &trained).file("empty", "").file("cut", &trained[..50]);
        builder.server(&format!("location /a {{\n{line}\n}}")).check()
    };
    for (line, words) in [
        ("zstd_dict_file missing;", "/missing\" failed (2: No such file or directory) in "),
        ("zstd_dict_file html;", "/html\" failed (21: Is a directory) in "),
        ("zstd_dict_file html/empty;", "\"zstd_dict_file\" directive: dictionary \""),
        ("zstd_dict_file html/empty;", "/html/empty\" is empty in "),
        ("zstd_dict_file html/cut;", "/html/cut\" is malformed"),
        ("zstd_dict_file html/raw; zstd_dict_file off;", "\"zstd_dict_file\" directive is duplicate"),
        ("zstd_dict_file;", "invalid number of arguments in \"zstd_dict_file\" directive"),
        ("if ($arg_a) { zstd_dict_file html/raw; }", "\"zstd_dict_file\" directive is not allowed here"),
    ] {
        check(line).assert_refused(words, line);
    }
    assert!(check("zstd_dict_file missing;").output.contains("open() \"/"));
    let check = check("zstd_dict_file off;");
    check.assert_ok();
    assert!(!check.output.contains(HELD), "off needs no warning: {}", check.output);
}

#[test]
fn files_that_were_compressed_beforehand_are_sent_as_they_are_if_clients_can_decode_them() {
    let trained = trained();
    let dir = Scratch::new();
    let path = dir.0.join("dictionary");
    fs::write(&path, &trained).unwrap();
    let json = corpus::json(5000);
    let plain = tools::zstd_encode(&json);
    let needs = tools::filter("zstd", &["-c", "-q", "-D", path.to_str().unwrap()], &json).unwrap();
    let nginx = files(Nginx::builder(), &trained).http("zstd_static on;").server(
        "location /with/ { zstd_dict_file html/trained; }
             location /other/ { zstd_dict_file html/raw; }
             location /without/ { }",
    );
    let nginx = ["with", "other", "without"].iter().fold(nginx, |nginx, place| {
        nginx
            .file(&format!("{place}/needs.json"), &json[..])
            .file(&format!("{place}/needs.json.zst"), &needs[..])
            .file(&format!("{place}/plain.json"), &json[..])
            .file(&format!("{place}/plain.json.zst"), &plain[..])
    });
    let nginx = nginx.start();
    for place in ["with", "other", "without"] {
        assert!(ask(&nginx, &format!("/{place}/plain.json")).body == plain, "{place}");
        let response = get(&nginx, &format!("/{place}/needs.json")).accept("zstd").send();
        let (coding, body) = if place == "with" { ("zstd", &needs) } else { ("", &json) };
        assert!(response.coding() == coding && response.body == *body, "{place}");
    }
    let words = format!("needs the dictionary with ID {}", id_of(&trained));
    assert_eq!(nginx.error_log().matches(&words).count(), 2, "{}", nginx.error_log());
}

#[test]
fn bug_20_two_hundred_reloads_do_not_grow_the_master() {
    // A sanitizer keeps what was freed for a while.
    if locate::is_sanitized() {
        return;
    }
    let lines = "location /a { zstd_comp_level 6; } location /b { zstd_comp_level 12; }";
    let nginx = files(inline(), &trained()).http("zstd_dict_file html/trained;").server(lines).start();
    let reload = |count| (0..count).for_each(|_| nginx.reload());
    reload(50);
    let before = nginx.master().vm_rss();
    reload(150);
    let after = nginx.master().vm_rss();
    // The digests of one configuration have more than 200 KB; NGINX itself grows by a page now and then.
    assert!(after < before + (1 << 20), "{before} bytes, then {after}");
    check(&nginx, "/small.json", "trained");
    assert_eq!(nginx.error_log().matches(HELD).count(), 201, "one warning a load");
}
