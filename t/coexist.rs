//! Beside NGINX's own filters and caches: each client gets the text that it would get without the module.

use harness::{Builder, Connection, Nginx, Request, Response, corpus, get, locate, tools};

use crate::support::{fields, has_threads, inline, obedient};

const LENGTH: usize = 20_000;

fn text() -> Vec<u8> {
    corpus::text(LENGTH)
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    tools::filter("gzip", &["-c"], bytes).unwrap()
}

/// Whether a client with `accept` gets `body` in `coding`.
#[track_caller]
fn check(request: &Request, accept: &str, coding: &str, body: &[u8]) -> Response {
    let response = request.clone().accept(accept).send();
    assert_eq!((response.status, response.coding()), (200, coding), "{request:?} {accept}");
    assert!(response.decoded().unwrap() == body, "{request:?} {accept}");
    let vary: Vec<_> = response.headers_named("Vary").collect();
    assert_eq!(vary, ["Accept-Encoding"], "{request:?} {accept}");
    response
}

/// Both codings and none, over HTTP/1 and HTTP/2, in the event loop and on a pool.
#[track_caller]
fn check_all(builder: &Builder, path: &str, body: &[u8]) {
    let pooled = has_threads().then(|| {
        let lines = "brotli_thread_pool compress; zstd_thread_pool compress; compress_inline 0;";
        builder.clone().main("thread_pool compress threads=2;").http(lines)
    });
    for builder in [Some(builder.clone()), pooled].into_iter().flatten() {
        let nginx = builder.start();
        for (accept, coding) in [("br", "br"), ("zstd", "zstd"), ("identity", "")] {
            let request = get(&nginx, path);
            check(&request, accept, coding, body);
            check(&request.http2(), accept, coding, body);
        }
    }
}

#[test]
fn gzip_gets_what_is_its_own() {
    let conf = "gzip on; gzip_types *; gzip_min_length 1; gzip_vary on; gzip_proxied any;";
    let nginx =
        inline().http(conf).file("a.txt", text()).file("a.json", text()).file("a.css", text()).start();
    for (path, accept, coding) in [
        ("/a.txt", "gzip", "gzip"),
        ("/a.txt", "gzip, br", "br"),
        ("/a.txt", "gzip, zstd;q=0.9", "gzip"),
        ("/a.json", "gzip;q=0.9, zstd", "zstd"),
        // Not of our types.
        ("/a.css", "gzip, br, zstd", "gzip"),
    ] {
        check(&get(&nginx, path), accept, coding, &text());
    }
}

#[test]
fn gzip_static_goes_first() {
    if !locate::nginx_has("--with-http_gzip_static_module") {
        return;
    }
    let conf = "gzip_static on; gzip_vary on;";
    let nginx = inline().http(conf).file("a.txt", text()).file("a.txt.gz", gz(&text())).start();
    for (accept, coding) in
        [("gzip", "gzip"), ("gzip, br", "gzip"), ("br", "br"), ("zstd", "zstd"), ("identity", "")]
    {
        check(&get(&nginx, "/a.txt"), accept, coding, &text());
    }
}

#[test]
fn gunzip_undoes_for_us() {
    let has_both = ["--with-http_gunzip_module", "--with-http_gzip_static_module"];
    if !has_both.into_iter().all(locate::nginx_has) {
        return;
    }
    let conf = "gunzip on; gzip_static always; gzip_vary on;";
    check_all(&inline().http(conf).file("a.txt.gz", gz(&text())), "/a.txt", &text());
    let nginx = inline().http(conf).file("a.txt.gz", gz(&text())).start();
    check(&get(&nginx, "/a.txt"), "gzip", "gzip", &text());
}

#[test]
fn bug_32_ssi() {
    let page = "<!--# set var=\"x\" value=\"1\" --><!--# include virtual=\"/a.txt\" -->\
                <!--# if expr=\"$x = 1\" -->yes<!--# else -->no<!--# endif --><!--# include virtual=\"/up/\" -->";
    let upstream = obedient();
    let builder = inline()
        .http("ssi on;")
        .server(&format!("location /up/ {{ proxy_pass {}; }}", upstream.url()))
        .file("a.txt", text())
        .file("page.html", page);
    check_all(&builder, "/page.html", &[text(), b"yes".to_vec(), text()].concat());
}

#[test]
fn bug_32_sub_filter() {
    if locate::nginx_has("--with-http_sub_module") {
        let conf = "sub_filter_types *; sub_filter_once off; sub_filter con '<longer>'; sub_filter ti '';";
        let body = String::from_utf8(text()).unwrap().replace("con", "<longer>").replace("ti", "");
        check_all(&inline().http(conf).file("a.txt", text()), "/a.txt", body.as_bytes());
    }
}

#[test]
fn bug_32_addition() {
    if locate::nginx_has("--with-http_addition_module") {
        let conf = "location /a.txt { addition_types *; add_before_body /b.txt; add_after_body /c.txt; }";
        let builder =
            inline().server(conf).file("a.txt", text()).file("b.txt", "first ").file("c.txt", text());
        check_all(&builder, "/a.txt", &[b"first ".to_vec(), text(), text()].concat());
    }
}

#[test]
fn charset() {
    let builder = inline()
        .http("charset_map koi8-r utf-8 { E1 D090; E2 D091; }")
        .server("location /a.txt { charset_types *; source_charset koi8-r; charset utf-8; }")
        .file("a.txt", b"\xe1 and \xe2, ".repeat(1000));
    check_all(&builder, "/a.txt", "А and Б, ".repeat(1000).as_bytes());
    let response = get(&builder.start(), "/a.txt").accept("br").send();
    assert_eq!(response.header("Content-Type"), Some("text/plain; charset=utf-8"));
}

#[test]
fn slice() {
    if locate::nginx_has("--with-http_slice_module") {
        let builder = inline()
            .http("proxy_cache_path cache keys_zone=slices:1m;")
            .http("server { listen 127.0.0.1:%%PORT2%%; brotli off; zstd off; root %%PREFIX%%/html; }")
            .server(
                "location /a.txt { slice 4k; proxy_set_header Range $slice_range; proxy_cache slices;
                 proxy_cache_key $uri$slice_range; proxy_cache_valid 206 1h; proxy_http_version 1.1;
                 proxy_pass http://127.0.0.1:%%PORT2%%; }",
            )
            .file("a.txt", text());
        check_all(&builder, "/a.txt", &text());
        let nginx = builder.start();
        let part = get(&nginx, "/a.txt").accept("identity").header("Range", "bytes=5000-14999").send();
        assert!(part.status == 206 && part.body == text()[5000..15_000]);
    }
}

#[test]
fn auth_request() {
    if locate::nginx_has("--with-http_auth_request_module") {
        let upstream = obedient();
        let lines = "location /a.txt { auth_request /up/; } location /b.txt { auth_request /no/; }
             location /no/ { return 401 'a body that is long enough to be encoded'; }";
        let builder = inline()
            .server(lines)
            .server(&format!("location /up/ {{ proxy_pass {}; }}", upstream.url()))
            .file("a.txt", text())
            .file("b.txt", text());
        check_all(&builder, "/a.txt", &text());
        let response = get(&builder.start(), "/b.txt").accept("br, zstd").send();
        assert_eq!((response.status, response.coding(), response.header("Vary")), (401, "", None));
    }
}

#[test]
fn bug_36_one_cached_response_serves_all_clients() {
    let upstream = obedient();
    let nginx = inline()
        .http("proxy_cache_path cache keys_zone=cache:1m; gzip on; gzip_types *;")
        .server(&format!(
            "location / {{ proxy_cache cache; proxy_cache_valid 1h; add_header X-Cache $upstream_cache_status;
             proxy_pass {}; }}",
            upstream.url()
        ))
        .start();
    let ask = |path| get(&nginx, path).header("X-Fields", "ETag: \"tag\" | Cache-Control: max-age=3600");
    for (path, first) in [("/1", "br"), ("/2", "zstd"), ("/3", "identity")] {
        let miss = ask(path).accept(first).send();
        assert_eq!(miss.header("X-Cache"), Some("MISS"), "{path}");
        for (accept, coding) in [("br", "br"), ("zstd", "zstd"), ("gzip", "gzip"), ("identity", "")] {
            let hit = check(&ask(path), accept, coding, &text());
            assert_eq!(hit.header("X-Cache"), Some("HIT"), "{path} {accept}");
            let tag = hit.header("ETag").unwrap();
            assert_eq!(tag, if coding.is_empty() { "\"tag\"" } else { "W/\"tag\"" });
            let fresh = ask(path).accept(accept).header("If-None-Match", tag).send();
            assert_eq!((fresh.status, fresh.header("ETag")), (304, Some(tag)), "{path} {accept}");
            assert_eq!(fresh.header("Vary"), Some("Accept-Encoding"), "{path} {accept}");
        }
    }
    assert_eq!(upstream.connections(), 3);
}

#[test]
fn add_trailer() {
    let builder = inline().http("add_trailer X-End over;").file("a.txt", text());
    let nginx = builder.start();
    for accept in ["br", "zstd", "identity"] {
        let mut connection = Connection::connect(nginx.port()).unwrap();
        let wanted = [("Accept-Encoding", accept), ("Connection", "close")];
        connection.send_request("GET", "/a.txt", &wanted).unwrap();
        let raw = connection.read_raw_to_end().unwrap();
        assert!(raw.ends_with(b"\r\n0\r\nX-End: over\r\n\r\n"), "{accept}");
        let response = get(&nginx, "/a.txt").http2().accept(accept).send();
        assert!(response.decoded().unwrap() == text(), "{accept}");
    }
}

/// Headers that others add are there as they are without the module.
#[test]
fn add_header_expires_and_userid() {
    let conf = "add_header X-A a always; expires 1h; userid on; userid_name uid;";
    let ours = inline().http(conf).file("a.txt", text()).start();
    let stock = Nginx::builder().without_module().http(conf).file("a.txt", text()).start();
    let kept = |response: &Response| {
        let names = ["X-A", "Cache-Control", "P3P", "Content-Type"];
        fields(response)
            .into_iter()
            .filter(|field| names.iter().any(|name| field.starts_with(name)))
            .collect()
    };
    let expected: Vec<String> = kept(&get(&stock, "/a.txt").send());
    assert!(expected.len() >= 3, "{expected:?}");
    for (accept, coding) in [("br", "br"), ("zstd", "zstd")] {
        let response = check(&get(&ours, "/a.txt"), accept, coding, &text());
        assert_eq!(kept(&response), expected, "{accept}");
        assert!(response.header("Set-Cookie").unwrap().starts_with("uid="), "{accept}");
        assert!(response.header("Expires").is_some(), "{accept}");
    }
}

#[test]
fn the_modules_that_it_replaces_are_refused() {
    let dir = locate::nginx().ancestors().nth(2).unwrap().join("lib/nginx/modules");
    for name in ["ngx_http_brotli_filter_module", "ngx_http_brotli_static_module"] {
        let path = dir.join(format!("{name}.so"));
        if !path.is_file() {
            println!("not tested: only the NGINX of `make test-debian` has {name}.so");
            return;
        }
        let after = format!("load_module {};", path.display());
        for builder in [Nginx::builder().load_module(&path), Nginx::builder().main(&after)] {
            let check = builder.http("brotli_min_length 1;").check();
            let message = format!(
                "\"{name}\" cannot be loaded beside \"ngx_http_compress_module\", which replaces it: \
                 remove the \"load_module\" line of \"{name}.so\""
            );
            check.assert_refused(&message, "http {");
        }
    }
}
