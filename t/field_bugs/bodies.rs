//! Bodies that were cut, corrupt or larger than they need to be.

use harness::{corpus, get, head, tools};

use super::{on_each, proxy, upstream};

#[test]
fn bug_01_one_large_buffer_is_encoded_whole() {
    on_each(
        |builder| {
            builder
                .server("sendfile off; output_buffers 1 1m;")
                .file("a.txt", corpus::text(141_186))
                .file("b.txt", corpus::text(2_000_000))
        },
        |nginx, way| {
            way.check(nginx, "/a.txt", &corpus::text(141_186));
            way.check(nginx, "/b.txt", &corpus::text(2_000_000));
        },
    );
}

#[test]
fn bug_05_no_level_loses_the_tail() {
    let upstream = upstream();
    let levels: Vec<i32> = (0..=11).chain([-3, 15, 19]).collect();
    on_each(
        |builder| {
            let locations: String = levels
                .iter()
                .map(|level| {
                    let (br, zstd) = ((*level).clamp(0, 11), if *level == 0 { -1 } else { *level });
                    let lines = format!("brotli_comp_level {br}; zstd_comp_level {zstd};");
                    proxy(&format!("/{level}/"), &upstream.url(), &lines)
                })
                .collect();
            builder.server(&locations)
        },
        |nginx, way| {
            for level in &levels {
                way.check(nginx, &format!("/{level}/128978"), &corpus::text(128_978));
            }
        },
    );
}

#[test]
fn bug_07_error_pages_are_whole_at_the_lowest_levels() {
    let page = corpus::text(3000);
    for level in [0, 1] {
        on_each(
            |builder| {
                builder
                    .server(&format!(
                        "brotli_comp_level {level}; zstd_comp_level {}; error_page 404 /missing.txt;
                         location /forbidden {{ return 403; }}",
                        level - 2 * (1 - level)
                    ))
                    .file("missing.txt", page.clone())
            },
            |nginx, way| {
                assert_eq!(way.check(nginx, "/nowhere", &page).status, 404);
                // NGINX's own page.
                let plain = get(nginx, "/forbidden").send();
                assert_eq!(way.check(nginx, "/forbidden", &plain.body).status, 403);
            },
        );
    }
}

#[test]
fn bug_10_chunked_bodies_fill_many_output_buffers() {
    let upstream = upstream();
    on_each(
        |builder| {
            builder.http("brotli_buffers 1 4k; zstd_buffers 1 4k;").server(&proxy("/", &upstream.url(), ""))
        },
        |nginx, way| drop(way.check(nginx, "/1500000", &corpus::text(1_500_000))),
    );
}

#[test]
fn bug_24_buffers_are_not_flushed_one_by_one() {
    let upstream = upstream();
    let text = corpus::text(1_380_000);
    let reference = [
        tools::filter("brotli", &["-q", "6", "-w", "19", "-c"], &text),
        tools::filter("zstd", &["-1", "-c"], &text),
    ]
    .map(|output| output.unwrap().len());
    on_each(
        |builder| builder.server(&proxy("/", &upstream.url(), "")),
        |nginx, way| {
            let size = way.check(nginx, "/1380000", &text).body.len();
            let most = reference[usize::from(way.coding == "zstd")] * 103 / 100;
            assert!(size <= most, "{way:?}: {size} of {most}");
        },
    );
}

#[test]
fn bug_25_unbuffered_pages_are_whole() {
    let upstream = upstream();
    on_each(
        |builder| builder.server(&proxy("/", &upstream.url(), "proxy_buffering off;")),
        |nginx, way| {
            for length in [30, 7000, 200_000, 1_400_000] {
                way.check(nginx, &format!("/{length}"), &corpus::text(length));
                way.check(nginx, &format!("/length/{length}"), &corpus::text(length));
            }
        },
    );
}

#[test]
fn bug_50_an_encoded_body_says_so() {
    let upstream = upstream();
    on_each(
        |builder| builder.server(&proxy("/", &upstream.url(), "")),
        |nginx, way| {
            for path in ["/100000", "/length/100000"] {
                let response = way.check(nginx, path, &corpus::text(100_000));
                assert_eq!(response.headers_named("Content-Encoding").count(), 1);
                assert_eq!(response.header("Content-Length"), None);
            }
        },
    );
}

#[test]
fn bug_59_tiny_and_empty_bodies() {
    let upstream = upstream();
    on_each(
        |builder| {
            builder.http("brotli_min_length 0; zstd_min_length 0;").server(&proxy("/", &upstream.url(), ""))
        },
        |nginx, way| {
            for length in [0, 1, 2] {
                for path in [format!("/length/{length}"), format!("/{length}")] {
                    let response = way.ask(nginx, &path).send();
                    assert_eq!(response.decoded().unwrap(), corpus::text(length), "{path} {way:?}");
                }
            }
            assert!(head(nginx, "/length/0").accept(way.coding).send().body.is_empty());
        },
    );
}
