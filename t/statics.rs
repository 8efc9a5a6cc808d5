//! `brotli_static` and `zstd_static`: which file goes to which client, and with what header.

mod found;

use std::fs;

use harness::{Builder, Nginx, Response, corpus, get, head, locate, post, tools};

use crate::support::Hooks;

const BOTH_ON: &str = "brotli_static on; zstd_static on;";

/// `both.json` lies there with both codings, `br.txt` and `zst.txt` with one, `none.txt` with none.
fn files(http: &str) -> Builder {
    let text = corpus::text(20_000);
    let (br, zst) = (tools::brotli_encode(&text), tools::zstd_encode(&text));
    Nginx::builder()
        .http(http)
        .file("both.json", text.clone())
        .file("both.json.br", br.clone())
        .file("both.json.zst", zst.clone())
        .file("br.txt", text.clone())
        .file("br.txt.br", br)
        .file("zst.txt", text.clone())
        .file("zst.txt.zst", zst)
        .file("none.txt", text)
}

/// Asks with an `Accept-Encoding`, if it is not empty, and checks that the body is right however it is encoded.
#[track_caller]
fn ask(nginx: &Nginx, path: &str, accept: &str) -> Response {
    let request = get(nginx, path);
    let response = if accept.is_empty() { request } else { request.accept(accept) }.send();
    assert_eq!(response.status, 200, "{path} {accept:?}");
    assert!(response.decoded().unwrap() == corpus::text(20_000), "{path} {accept:?}");
    response
}

/// Path, `Accept-Encoding`, the coding of the answer.
type Row = (&'static str, &'static str, &'static str);

#[track_caller]
fn check(nginx: &Nginx, rows: &[Row]) {
    for &(path, accept, coding) in rows {
        assert_eq!(ask(nginx, path, accept).coding(), coding, "{path} {accept:?}");
    }
}

const NEGOTIATED: [Row; 20] = [
    ("/both.json", "", ""),
    ("/both.json", "br", "br"),
    ("/both.json", "zstd", "zstd"),
    ("/both.json", "gzip, br, zstd", "zstd"),
    ("/both.json", "br, zstd;q=0.5", "br"),
    ("/both.json", "br;q=0.5,\tZSTD;q=0.6", "zstd"),
    ("/both.json", "zstd;q=0, br", "br"),
    ("/both.json", "br;q=0, zstd;q=0.0", ""),
    ("/both.json", "xbr, zstdfoo", ""),
    ("/both.json", "*", "zstd"),
    ("/both.json", "*;q=0, br", "br"),
    ("/both.json", "gzip, deflate", ""),
    ("/both.json", "identity, br;q=0.5", ""),
    ("/br.txt", "zstd, br;q=0.1", "br"),
    ("/br.txt", "zstd", ""),
    ("/br.txt", "zstd, identity;q=0.5, br;q=0.1", ""),
    ("/zst.txt", "br, zstd", "zstd"),
    ("/zst.txt", "br", ""),
    ("/none.txt", "br, zstd", ""),
    ("/none.txt", "", ""),
];

#[test]
fn on_serves_what_the_client_prefers_of_what_is_there() {
    check(&files(BOTH_ON).start(), &NEGOTIATED);
}

#[test]
fn the_cache_of_open_files_changes_nothing() {
    let cache = "open_file_cache max=100; open_file_cache_errors on; open_file_cache_min_uses 1;";
    let nginx = files(BOTH_ON).http(cache).start();
    for _ in 0..3 {
        check(&nginx, &NEGOTIATED);
    }
}

#[test]
fn the_order_of_the_server_breaks_ties() {
    let nginx = files(BOTH_ON).http("compress_order br;").start();
    check(&nginx, &[("/both.json", "zstd, br", "br"), ("/both.json", "zstd, br;q=0.9", "zstd")]);
}

#[test]
fn off_is_the_default_and_each_coding_has_its_own_switch() {
    check(&files("").start(), &[("/both.json", "br, zstd", "")]);
    check(
        &files("brotli_static on;").start(),
        &[("/both.json", "br, zstd", "br"), ("/both.json", "zstd", "")],
    );
    check(
        &files("zstd_static on;").server("location /br.txt { zstd_static off; }").start(),
        &[("/both.json", "br, zstd", "zstd"), ("/both.json", "br", ""), ("/br.txt", "br, zstd", "")],
    );
}

#[test]
fn always_serves_everybody_and_first_what_the_client_accepts() {
    let nginx = files("brotli_static always; zstd_static always;").start();
    check(
        &nginx,
        &[
            ("/both.json", "", "zstd"),
            ("/both.json", "gzip", "zstd"),
            ("/both.json", "br", "br"),
            ("/both.json", "zstd;q=0.1, br", "br"),
            ("/both.json", "identity, br;q=0.1", "br"),
            ("/br.txt", "zstd", "br"),
            ("/br.txt", "br;q=0", "br"),
            ("/none.txt", "br", ""),
        ],
    );
    let nginx = files("brotli_static on; zstd_static always;").start();
    check(&nginx, &[("/both.json", "br", "br"), ("/both.json", "", "zstd"), ("/br.txt", "", "")]);
}

#[test]
fn bug_78_the_header_is_that_of_the_file_with_the_type_of_its_original() {
    let nginx = files(BOTH_ON).start();
    for (coding, suffix) in [("br", "br"), ("zstd", "zst")] {
        let file = fs::read(nginx.served(&format!("both.json.{suffix}"))).unwrap();
        let (length, plain) = (file.len().to_string(), ask(&nginx, "/both.json", ""));
        for request in
            [get(&nginx, "/both.json"), get(&nginx, "/both.json").http2(), head(&nginx, "/both.json")]
        {
            let is_head = format!("{request:?}").contains("HEAD");
            let response = request.accept(coding).send();
            assert_eq!(response.coding(), coding);
            assert_eq!(response.header("Content-Type"), Some("application/json"));
            assert_eq!(response.header("Content-Length"), Some(length.as_str()));
            assert_eq!(response.header("Accept-Ranges"), Some("bytes"));
            assert!(response.header("Last-Modified").is_some());
            let etag = response.header("ETag").unwrap();
            assert!(etag.starts_with('"') && Some(etag) != plain.header("ETag"), "{etag}");
            assert!(response.body == if is_head { &b""[..] } else { &file });
        }
    }
}

#[test]
fn bug_44_ranges_are_those_of_the_encoded_file() {
    let nginx = files(BOTH_ON).start();
    for (coding, suffix) in [("br", "br"), ("zstd", "zst")] {
        let file = fs::read(nginx.served(&format!("both.json.{suffix}"))).unwrap();
        let request = get(&nginx, "/both.json").accept(coding).header("Range", "bytes=100-199");
        let etag = ask(&nginx, "/both.json", coding).header("ETag").unwrap().to_owned();
        for request in [request.clone(), request.header("If-Range", &etag)] {
            let response = request.send();
            assert_eq!((response.status, response.coding()), (206, coding));
            assert_eq!(response.header("Vary"), Some("Accept-Encoding"));
            let range = format!("bytes 100-199/{}", file.len());
            assert_eq!(response.header("Content-Range"), Some(range.as_str()));
            assert_eq!(response.body, file[100..200]);
        }
    }
}

#[test]
fn conditions_are_about_the_file() {
    let nginx = files(BOTH_ON).start();
    for coding in ["br", "zstd"] {
        let full = ask(&nginx, "/both.json", coding);
        let (etag, date) = (full.header("ETag").unwrap(), full.header("Last-Modified").unwrap());
        for (name, value) in [("If-None-Match", etag), ("If-Modified-Since", date)] {
            let response = get(&nginx, "/both.json").accept(coding).header(name, value).send();
            assert_eq!((response.status, response.body.len()), (304, 0), "{name}");
            assert_eq!(response.header("Vary"), Some("Accept-Encoding"));
            assert_eq!(response.header("ETag"), Some(etag));
        }
        let response = get(&nginx, "/both.json").header("If-None-Match", etag).send();
        assert_eq!(response.status, 200, "the tag of another coding");
    }
}

#[test]
fn only_get_and_head_of_names_of_files() {
    let index = ("index.html.br", tools::brotli_encode(b"not this"));
    let nginx = files(BOTH_ON).file("index.html", "index").file(index.0, index.1).start();
    assert_eq!(post(&nginx, "/both.json", "x").accept("br").send().status, 405);
    // The index is an internal redirect to a name of a file.
    let response = get(&nginx, "/").accept("br").send();
    assert_eq!((response.coding(), response.text().as_str()), ("br", "not this"));
}

#[test]
fn bug_33_gzip_acts_where_no_file_is_found() {
    let nginx = files(BOTH_ON).http("gzip on; gzip_types *; gzip_min_length 1;").start();
    check(
        &nginx,
        &[
            ("/none.txt", "gzip, br, zstd", "gzip"),
            ("/br.txt", "gzip, zstd", "gzip"),
            ("/br.txt", "gzip, br", "br"),
            ("/both.json", "gzip", "gzip"),
            ("/both.json", "gzip, zstd", "zstd"),
        ],
    );
}

#[test]
fn gzip_static_goes_on_beside() {
    if !locate::nginx_has("--with-http_gzip_static_module") {
        return;
    }
    let gz = |text: &[u8]| tools::filter("gzip", &["-c"], text).unwrap();
    let text = corpus::text(20_000);
    let builder = files(BOTH_ON).http("gzip_static on;").file("both.json.gz", gz(&text));
    let nginx = builder.file("none.txt.gz", gz(&text)).start();
    check(
        &nginx,
        &[
            ("/both.json", "gzip", "gzip"),
            ("/both.json", "gzip, br", "br"),
            ("/none.txt", "gzip, br", "gzip"),
            ("/none.txt", "br", ""),
        ],
    );
}

#[test]
fn bug_51_nothing_is_encoded_twice() {
    let nginx = files(BOTH_ON)
        .http("brotli on; zstd on; brotli_types *; zstd_types *; gzip on; gzip_types *;")
        .start();
    for coding in ["br", "zstd"] {
        let response = ask(&nginx, "/both.json", &format!("gzip, {coding}"));
        assert_eq!(response.headers_named("Content-Encoding").collect::<Vec<_>>(), [coding]);
        assert_eq!(response.headers_named("Vary").collect::<Vec<_>>(), ["Accept-Encoding"]);
        assert!(response.header("Content-Length").is_some() && response.header("Accept-Ranges").is_some());
        assert!(response.header("ETag").unwrap().starts_with('"'));
        // And what is not there is encoded as it goes.
        let response = ask(&nginx, "/none.txt", &format!("gzip;q=0.5, {coding}"));
        assert_eq!((response.coding(), response.header("Content-Length")), (coding, None));
    }
}

/// Configuration, path, `Accept-Encoding`, the lines of `Vary`.
type VaryRow = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

#[test]
fn bug_34_vary_is_there_where_another_client_gets_something_else() {
    const AE: &[&str] = &["Accept-Encoding"];
    const ALL: &[&str] = &["", "gzip", "br", "zstd"];
    let rows: [VaryRow; 16] = [
        (BOTH_ON, "/both.json", ALL, AE),
        (BOTH_ON, "/br.txt", ALL, AE),
        (BOTH_ON, "/zst.txt", ALL, AE),
        (BOTH_ON, "/none.txt", ALL, &[]),
        ("brotli_static on;", "/zst.txt", ALL, &[]),
        ("brotli_static on; zstd_static on; compress_vary off;", "/both.json", ALL, &[]),
        ("brotli_static on; zstd_static on; gzip_vary on;", "/both.json", ALL, AE),
        ("brotli_static on; zstd_static on; gzip_vary on;", "/none.txt", ALL, &[]),
        ("brotli_static on; add_header Vary accept-encoding;", "/br.txt", ALL, &["accept-encoding"]),
        ("brotli_static on; add_header Vary accept-encoding; gzip_vary on;", "/br.txt", ALL, AE),
        ("brotli_static on; add_header Vary Origin;", "/br.txt", ALL, &["Origin, Accept-Encoding"]),
        ("brotli_static always;", "/br.txt", ALL, &[]),
        ("brotli_static always; zstd_static on;", "/br.txt", ALL, &[]),
        ("brotli_static always; zstd_static on;", "/both.json", ALL, AE),
        ("brotli_static always; zstd_static always;", "/both.json", ALL, AE),
        ("brotli_static always; zstd_static always;", "/zst.txt", ALL, &[]),
    ];
    for (conf, path, accepts, vary) in rows {
        let nginx = files(conf).start();
        for accept in accepts {
            let response = ask(&nginx, path, accept);
            let found: Vec<_> = response.headers_named("Vary").collect();
            assert_eq!(found, vary, "{conf} {path} {accept:?}");
        }
    }
}

#[test]
fn a_sub_request_gets_plain_files_with_on() {
    let page = r#"<!--# include virtual="/br.txt" -->"#;
    let nginx = files(BOTH_ON).http("ssi on;").file("page.html", page).start();
    let response = get(&nginx, "/page.html").accept("br").send();
    assert_eq!((response.coding(), response.header("Vary")), ("", None));
    assert!(response.body == corpus::text(20_000));
}

#[test]
fn a_panic_fails_the_request_alone() {
    let hooks = Hooks::new();
    hooks.order("panic.static_handler");
    let nginx = hooks.watch(files(BOTH_ON)).allow_log("ordered at static_handler").start();
    assert_eq!(get(&nginx, "/both.json").accept("br").send().status, 500);
    hooks.release("panic.static_handler");
    check(&nginx, &[("/both.json", "br", "br")]);
}
