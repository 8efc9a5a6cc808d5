//! Answers that were encoded for the wrong client, in the wrong way, or not at all.

use std::fs;
use std::process::Command;

use harness::{Nginx, Upstream, corpus, get, locate, tools};

use super::{on_each, proxy};
use crate::support::inline;

#[test]
fn bug_17_negative_levels_are_themselves() {
    let text = corpus::text(50_000);
    let levels = [-1, 1, -2, -50];
    let locations: String = levels
        .iter()
        .map(|level| format!("location /{level}/ {{ alias %%PREFIX%%/html/; zstd_comp_level {level}; }}\n"))
        .collect();
    let nginx = inline().server(&locations).file("a.txt", text.clone()).start();
    let sizes = levels.map(|level| {
        let response = get(&nginx, &format!("/{level}/a.txt")).accept("zstd").send();
        assert!(response.decoded().unwrap() == text);
        response.body.len()
    });
    assert!(sizes[1] < sizes[0] && sizes[0] < sizes[2] && sizes[2] < sizes[3], "{sizes:?}");
}

#[test]
fn bug_19_a_dictionary_is_warned_of() {
    let builder = inline().http("zstd_dict_file html/words;").file("words", corpus::text(20_000));
    let check = builder.check();
    check.assert_ok();
    assert_eq!(check.output.matches("[warn]").count(), 1, "{}", check.output);
    assert!(check.output.contains("only clients that hold the dictionary can decode"), "{}", check.output);
}

#[test]
fn bug_37_38_39_41_52_each_client_gets_what_it_names() {
    let text = corpus::text(3000);
    let nginx = inline().http("gzip on; gzip_types text/plain;").file("a.txt", text.clone()).start();
    for (accept, coding) in [
        ("br;q=0", ""),
        ("br;q=0, gzip", "gzip"),
        ("zstd;q=0", ""),
        ("zstd;q=0.000, br;q=0.001", "br"),
        ("gzip, zstd, br", "zstd"),
        ("br, zstd, gzip", "zstd"),
        ("gzip", "gzip"),
        ("x=\"a, zstd\"", ""),
        ("zstd;q=0;q=1", ""),
        ("zstdx, xzstd, z-std", ""),
        ("", ""),
    ] {
        for http2 in [false, true] {
            let request = get(&nginx, "/a.txt").accept(accept);
            let response = if http2 { request.http2() } else { request }.send();
            assert_eq!(response.coding(), coding, "{accept:?}");
            assert!(response.decoded().unwrap() == text, "{accept:?}");
        }
    }
    assert_eq!(get(&nginx, "/a.txt").send().coding(), "");
}

#[test]
fn bug_40_a_generated_listing_is_encoded() {
    on_each(
        |builder| {
            let mut builder = builder.server(
                "location /list/ { autoindex on; autoindex_format json; } location /html/ { autoindex on; }",
            );
            for i in 0..60 {
                builder =
                    builder.file(&format!("list/file-{i}.txt"), "").file(&format!("html/file-{i}.txt"), "");
            }
            builder
        },
        |nginx, way| {
            for path in ["/list/", "/html/"] {
                let plain = get(nginx, path).send();
                way.check(nginx, path, &plain.body);
            }
        },
    );
}

/// As with the modules that it replaces, and as docs/directives.md says.
#[test]
fn bug_43_a_compressed_file_is_not_compared_with_its_original() {
    let old = corpus::text(2000);
    let nginx = inline()
        .http("brotli_static on; zstd_static on;")
        .file("a.txt.br", tools::brotli_encode(&old))
        .file("a.txt.zst", tools::zstd_encode(&old))
        .file("a.txt", corpus::text(3000))
        .start();
    for coding in ["br", "zstd"] {
        assert!(get(&nginx, "/a.txt").accept(coding).send().decoded().unwrap() == old);
    }
}

#[test]
fn bug_55_types_are_literal_and_video_stays() {
    let noise = corpus::random(5000);
    let nginx = inline()
        .file("a.png", noise.clone())
        .file("a.bin", noise.clone())
        .server("location /all/ { alias %%PREFIX%%/html/; brotli_types *; zstd_types *; }")
        .start();
    for coding in ["br", "zstd"] {
        for path in ["/a.png", "/a.bin"] {
            assert_eq!(get(&nginx, path).accept(coding).send().coding(), "", "{path}");
            let all = get(&nginx, &format!("/all{path}")).accept(coding).send();
            assert_eq!((all.coding(), all.decoded().unwrap() == noise), (coding, true), "{path}");
        }
    }
    let docs = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/directives.md")).unwrap();
    assert!(docs.contains("it includes images and archives, which are compressed already"));
}

/// The encoders are in the module, and their names are not to be seen from outside; nor those of Rust's library, which
/// other modules have too.
#[test]
fn bug_74_75_the_module_needs_no_library_of_encoders() {
    // A program exports its own names to modules: those of NGINX.
    let file = if locate::is_linked() { locate::nginx() } else { locate::module() };
    let read = |arguments: &[&str]| {
        let output = Command::new(arguments[0]).args(&arguments[1..]).arg(&file).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let needed = read(&["readelf", "-d"]);
    for line in needed.lines().filter(|line| line.contains("(NEEDED)")) {
        assert!(!line.contains("brotli") && !line.contains("zstd"), "{line}");
    }
    let exported = read(&["nm", "-D", "--defined-only"]);
    let mut names: Vec<_> = exported.lines().filter_map(|line| line.split_whitespace().last()).collect();
    names.retain(|name| !name.starts_with("__asan") && !name.starts_with("__odr_asan"));
    if locate::is_linked() {
        let foreign = ["_R", "_ZN", "rust_", "Brotli", "ZSTD", "HUF_", "FSE_", "compress_"];
        names.retain(|name| foreign.iter().any(|start| name.starts_with(start)));
        assert!(names.is_empty(), "{names:?}");
        return;
    }
    // That of the module itself is not looked up; cargo exports it, NGINX's own build does not.
    names.retain(|name| *name != "ngx_http_compress_module");
    names.sort_unstable();
    assert_eq!(names, ["ngx_module_names", "ngx_module_order", "ngx_modules"]);
}

#[test]
fn bug_80_proxied_responses_are_encoded_like_others() {
    let upstream = Upstream::start(|mut conn| {
        let request = conn.read_request().unwrap();
        // gzip_proxied would leave these out.
        let more = if request.path == "/private" { "Cache-Control: private" } else { "Expires: 0" };
        conn.send_head(200, &["Content-Type: text/plain", more, "Content-Length: 9000"]);
        conn.send(&corpus::text(9000));
    });
    on_each(
        |builder| builder.server(&proxy("/", &upstream.url(), "")),
        |nginx: &Nginx, way| {
            for path in ["/private", "/expired"] {
                let request = way.ask(nginx, path).header("Via", "1.1 proxy");
                assert_eq!(request.send().coding(), way.coding, "{path}");
            }
        },
    );
}
