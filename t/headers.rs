//! The header that caches and clients see: `Vary`, `ETag`, lengths and ranges, of 200, 304 and HEAD.

mod negotiation;
mod untouched;

use harness::{Builder, Nginx, Request, Response, Upstream, corpus, get, head, tools};

use crate::support::{fields, inline, obedient};

const LENGTH: usize = 20_000;
const CODINGS: [&str; 4] = ["identity", "gzip", "br", "zstd"];

/// `/a.txt` is encoded as it goes, and so is what the upstream sends below `/up/`; `/file.txt` has files with the
/// codings beside it.
fn builder(upstream: &Upstream) -> Builder {
    let text = corpus::text(LENGTH);
    inline()
        .http("gzip on; gzip_types *; gzip_min_length 1;")
        .server("location /file.txt { brotli off; zstd off; brotli_static on; zstd_static on; }")
        .server(&format!("location /up/ {{ proxy_http_version 1.1; proxy_pass {}; }}", upstream.url()))
        .file("file.txt.br", tools::brotli_encode(&text))
        .file("file.txt.zst", tools::zstd_encode(&text))
        .file("file.txt", text.clone())
        .file("a.txt", text)
}

/// Sends a request for a body of [`corpus::text`], and checks that it is that however it is encoded.
#[track_caller]
fn send(request: Request) -> Response {
    let is_head = format!("{request:?}").contains("\"HEAD\"");
    let response = request.send();
    if is_head || response.status == 304 {
        assert_eq!(response.body, b"");
    } else {
        assert!(response.decoded().unwrap() == corpus::text(LENGTH));
    }
    response
}

/// A field list as the tables have it, with the fields that all answers have.
fn expected(list: &str) -> Vec<String> {
    let always = ["Connection: close", "Date: *", "Server: *"];
    let mut fields: Vec<_> =
        list.split(" | ").filter(|field| !field.is_empty()).chain(always).map(String::from).collect();
    fields.sort();
    fields
}

const PLAIN: &str = "Accept-Ranges: bytes | Content-Length: 20000 | Content-Type: text/plain | ETag: \"*\" | \
                     Last-Modified: * | Vary: Accept-Encoding";
const ENCODED: &str = "Content-Encoding: @ | Content-Type: text/plain | ETag: W/\"*\" | Last-Modified: * | \
                       Transfer-Encoding: chunked | Vary: Accept-Encoding";
const FILE: &str = "Accept-Ranges: bytes | Content-Encoding: @ | Content-Length: # | Content-Type: text/plain | \
                    ETag: \"*\" | Last-Modified: * | Vary: Accept-Encoding";
const NOT_MODIFIED_PLAIN: &str = "ETag: \"*\" | Last-Modified: * | Vary: Accept-Encoding";
const NOT_MODIFIED_ENCODED: &str = "ETag: W/\"*\" | Last-Modified: * | Vary: Accept-Encoding";

/// What a 200 and a 304 look like.
fn expected_of(nginx: &Nginx, path: &str, coding: &str) -> (Vec<String>, Vec<String>) {
    let (ok, not_modified) = match (path, coding) {
        (_, "identity") => (PLAIN, NOT_MODIFIED_PLAIN),
        ("/file.txt", "br" | "zstd") => (FILE, NOT_MODIFIED_PLAIN),
        _ => (ENCODED, NOT_MODIFIED_ENCODED),
    };
    let suffix = if coding == "br" { "br" } else { "zst" };
    let length = nginx.served(&format!("file.txt.{suffix}")).metadata().unwrap().len();
    let ok = ok.replace('@', coding).replace('#', &length.to_string());
    (expected(&ok), expected(not_modified))
}

fn without(fields: &[String], name: &str) -> Vec<String> {
    fields.iter().filter(|field| !field.starts_with(name)).cloned().collect()
}

const UPSTREAM: &str = "Accept-Ranges: bytes | ETag: \"tag\" | Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT";

#[test]
fn bug_47_49_the_whole_header_of_200_head_and_304() {
    let upstream = obedient();
    for gzip_vary in ["gzip_vary off;", "gzip_vary on;"] {
        let nginx = builder(&upstream).http(gzip_vary).start();
        for path in ["/a.txt", "/up/", "/file.txt"] {
            for coding in CODINGS {
                let what = format!("{path} {coding} {gzip_vary}");
                let ask = |request: Request| send(request.accept(coding).header("X-Fields", UPSTREAM));
                let (ok, not_modified) = expected_of(&nginx, path, coding);

                let full = ask(get(&nginx, path));
                assert_eq!((full.status, fields(&full)), (200, ok.clone()), "{what}");
                let same = ask(head(&nginx, path));
                // HEAD has no framing, so as NGINX has it for gzip.
                let framed = without(&ok, "Transfer-Encoding");
                assert_eq!((same.status, fields(&same)), (200, framed.clone()), "HEAD {what}");
                assert_eq!(same.header("ETag"), full.header("ETag"), "{what}");

                let two = fields(&ask(get(&nginx, path).http2()));
                let lower = without(&framed, "Connection").into_iter().map(|field| {
                    let (name, value) = field.split_once(": ").unwrap();
                    format!("{}: {value}", name.to_lowercase())
                });
                assert_eq!(two, lower.collect::<Vec<_>>(), "HTTP/2 {what}");

                if (path, coding) == ("/file.txt", "gzip") {
                    continue; // has a test of its own
                }
                let tag = full.header("ETag").unwrap();
                let fresh = ask(get(&nginx, path).header("If-None-Match", tag));
                assert_eq!((fresh.status, fields(&fresh)), (304, not_modified), "{what}");
                assert_eq!(fresh.header("ETag"), Some(tag), "{what}");
            }
        }
    }
}

#[test]
fn a_304_for_what_gzip_encoded_beside_files_has_its_tag() {
    let upstream = obedient();
    let nginx = builder(&upstream).start();
    let ask = || get(&nginx, "/file.txt").accept("gzip");
    let full = send(ask());
    let tag = full.header("ETag").unwrap();
    assert!(full.coding() == "gzip" && tag.starts_with("W/"), "{tag}");
    let fresh = send(ask().header("If-None-Match", tag));
    assert_eq!((fresh.status, fresh.header("ETag")), (304, Some(tag)));
}

/// RFC 9110, 15.4.5: the fields that the 200 would have had.
#[test]
fn bug_46_a_304_that_no_tag_asked_for_has_the_tag_of_the_200() {
    let upstream = obedient();
    let nginx = builder(&upstream).start();
    for path in ["/a.txt", "/file.txt"] {
        for coding in ["identity", "br", "zstd"] {
            let full = send(get(&nginx, path).accept(coding));
            for (name, value) in
                [("If-Modified-Since", full.header("Last-Modified").unwrap()), ("If-None-Match", "*")]
            {
                let fresh = send(get(&nginx, path).accept(coding).header(name, value));
                assert_eq!(fresh.status, 304, "{path} {coding} {name}");
                assert_eq!(fresh.header("ETag"), full.header("ETag"), "{path} {coding} {name}: {value}");
                assert_eq!(fresh.header("Vary"), Some("Accept-Encoding"), "{path} {coding} {name}");
            }
        }
    }
}

/// Fields of the upstream, then the lines of `Vary` with gzip_vary off and on.
const VARY: [(&str, &[&str], &[&str]); 8] = [
    ("", &["Accept-Encoding"], &["Accept-Encoding"]),
    ("Vary: Cookie", &["Cookie, Accept-Encoding"], &["Accept-Encoding", "Cookie"]),
    ("Vary: Accept-Encoding", &["Accept-Encoding"], &["Accept-Encoding"]),
    ("Vary: accept-encoding, Cookie", &["accept-encoding, Cookie"], &["Accept-Encoding", "Cookie"]),
    (
        "Vary: Cookie | Vary: Origin",
        &["Cookie, Accept-Encoding", "Origin"],
        &["Accept-Encoding", "Cookie", "Origin"],
    ),
    ("Vary: Cookie | Vary: Accept-Encoding", &["Cookie", "Accept-Encoding"], &["Accept-Encoding", "Cookie"]),
    ("Vary: *", &["*"], &["*", "Accept-Encoding"]),
    ("Content-Type: image/png | Vary: Cookie", &["Cookie"], &["Cookie"]),
];

#[test]
fn bug_35_vary_of_the_upstream_is_merged() {
    let upstream = obedient();
    for (gzip_vary, off) in [("gzip off; gzip_vary off;", true), ("gzip off; gzip_vary on;", false)] {
        let location = format!("location /up/ {{ {gzip_vary} proxy_pass {}; }}", upstream.url());
        let nginx = inline().server(&location).start();
        for (sent, when_off, when_on) in VARY {
            for accept in ["identity", "br", "zstd"] {
                for (method, status) in [(get as fn(&_, &_) -> _, "200"), (head, "200"), (get, "304")] {
                    let request = method(&nginx, "/up/").accept(accept).header("X-Status", status);
                    let response = send(request.header("X-Fields", sent));
                    let mut lines: Vec<_> = response.headers_named("Vary").collect();
                    lines.sort_unstable();
                    let mut expected = if off { when_off } else { when_on }.to_vec();
                    expected.sort_unstable();
                    assert_eq!(lines, expected, "{sent:?} {accept} {status} {gzip_vary}");
                }
            }
        }
    }
}

#[test]
fn compress_vary_off_leaves_vary_to_others() {
    let upstream = obedient();
    let nginx = builder(&upstream).http("compress_vary off;").start();
    for path in ["/a.txt", "/up/", "/file.txt"] {
        for accept in CODINGS {
            let request = get(&nginx, path).accept(accept).header("X-Fields", "Vary: Cookie");
            let vary = (path == "/up/").then_some("Cookie");
            assert_eq!(send(request).header("Vary"), vary, "{path} {accept}");
        }
    }
}

#[test]
fn no_transform_of_the_request_is_one_clients_wish() {
    let upstream = obedient();
    let nginx = builder(&upstream).start();
    for accept in ["br", "zstd"] {
        let request = get(&nginx, "/a.txt").accept(accept).header("Cache-Control", "no-transform");
        assert_eq!(fields(&send(request)), expected(PLAIN), "{accept}");
    }
}

#[test]
fn a_range_of_what_is_encoded_is_the_whole() {
    let upstream = obedient();
    let nginx = builder(&upstream).start();
    for coding in ["br", "zstd"] {
        let tag = send(get(&nginx, "/a.txt").accept(coding)).header("ETag").unwrap().to_owned();
        let request = get(&nginx, "/a.txt").accept(coding).header("Range", "bytes=0-99");
        for request in [request.clone(), request.header("If-Range", &tag)] {
            let response = send(request);
            assert_eq!((response.status, response.coding()), (200, coding));
            assert_eq!(fields(&response), expected_of(&nginx, "/a.txt", coding).0);
        }
    }
    let part = get(&nginx, "/a.txt").accept("identity").header("Range", "bytes=0-99").send();
    assert_eq!((part.status, part.header("Vary")), (206, Some("Accept-Encoding")));
    assert!(part.body == corpus::text(100));
}

#[test]
fn digests_of_the_body_go_with_it() {
    let upstream = obedient();
    let nginx = builder(&upstream).start();
    let digests = "Content-Digest: a | Content-MD5: b | Digest: c | Repr-Digest: d";
    let sent = format!("{digests} | Unencoded-Digest: e");
    for (coding, left) in [("br", ""), ("zstd", ""), ("identity", digests)] {
        for method in [get, head] {
            let response = send(method(&nginx, "/up/").accept(coding).header("X-Fields", &sent));
            let found: Vec<_> = fields(&response).into_iter().filter(|field| sent.contains(field)).collect();
            let expected: Vec<_> =
                left.split(" | ").filter(|field| !field.is_empty()).chain(["Unencoded-Digest: e"]).collect();
            assert_eq!(found, expected, "{coding}");
        }
    }
}

#[test]
fn sub_requests_become_part_of_what_is_encoded() {
    let upstream = obedient();
    let page = "<!--# include virtual=\"/a.txt\" --><!--# include virtual=\"/up/\" -->";
    let nginx = builder(&upstream)
        .http("ssi on;")
        .server("location = /checked/a.txt { auth_request /up/; alias %%PREFIX%%/html/a.txt; }")
        .file("page.html", page)
        .start();
    for coding in ["br", "zstd"] {
        let response = get(&nginx, "/page.html").accept(coding).send();
        assert!(response.decoded().unwrap() == corpus::text(LENGTH).repeat(2), "{coding}");
        let vary = "Content-Encoding: @ | Content-Type: text/html | Transfer-Encoding: chunked | Vary: Accept-Encoding";
        assert_eq!(fields(&response), expected(&vary.replace('@', coding)), "{coding}");
        let response = send(get(&nginx, "/checked/a.txt").accept(coding));
        assert_eq!(fields(&response), expected_of(&nginx, "/a.txt", coding).0, "{coding}");
    }
}
