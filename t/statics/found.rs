//! Which files are found, and which are not served though they are there.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use harness::{Nginx, corpus, get, tools};

use super::{BOTH_ON, NEGOTIATED, ask, check, files};

#[test]
fn files_are_found_as_nginx_maps_names() {
    let nginx = files(BOTH_ON)
        .server(
            r"location /prefix/ { alias %%PREFIX%%/html/; }
            location ~ ^/captured/(.*)$ { alias %%PREFIX%%/html/$1; }
            location ~ ^/rooted/(?<dir>[a-z]+)/ { rewrite ^/rooted/[a-z]+(/.*)$ $1 break; root %%PREFIX%%/$dir; }
            location /tried/ { rewrite ^/tried(/.*)$ $1 break; try_files $uri =404; }",
        )
        .start();
    for path in ["/prefix/both.json", "/captured/both.json", "/rooted/html/both.json", "/tried/both.json"] {
        check(&nginx, &[(path, "br", "br"), (path, "zstd", "zstd"), (path, "", "")]);
    }
}

#[test]
fn bug_78_directio_reads_whole_files() {
    // Not all file systems have it, and NGINX says so.
    let nginx = files(BOTH_ON).http("directio 1; sendfile on;").allow_log("directio").start();
    check(&nginx, &NEGOTIATED);
}

#[test]
fn forbidden_links_and_files_are_passed_over() {
    let nginx = files(BOTH_ON)
        .server("location /linked/ { alias %%PREFIX%%/html/; disable_symlinks on from=%%PREFIX%%/html; }")
        .start();
    symlink(nginx.served("both.json.br"), nginx.served("none.txt.br")).unwrap();
    check(
        &nginx,
        &[
            ("/none.txt", "br", "br"),
            ("/linked/none.txt", "br", ""),
            ("/linked/both.json", "br", "br"),
            ("/linked/br.txt", "br", "br"),
        ],
    );
    assert!(nginx.error_log().contains("none.txt.br\" failed (40: "), "{}", nginx.error_log());
}

#[test]
fn directories_are_passed_over_and_devices_are_not_found() {
    let nginx = files(BOTH_ON)
        .file("none.txt.zst/inside", "")
        .allow_log("pipe.txt.br\" is not a regular file")
        .start();
    check(&nginx, &[("/none.txt", "br, zstd", "")]);
    assert_eq!(ask(&nginx, "/none.txt", "zstd").header("Vary"), None);
    assert!(Command::new("mkfifo").arg(nginx.served("pipe.txt.br")).status().unwrap().success());
    assert_eq!(get(&nginx, "/pipe.txt").accept("br").send().status, 404);
    fs::copy(nginx.served("none.txt"), nginx.served("pipe.txt")).unwrap();
    check(&nginx, &[("/pipe.txt", "zstd", "")]);
}

#[test]
fn bug_78_frames_that_browsers_refuse_are_not_sent() {
    let text = corpus::text(20_000);
    let long = tools::filter("zstd", &["-c", "-q", "--long=27"], &text).unwrap();
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 5, 0, 0, 0, 1, 2, 3, 4, 5][..], &tools::zstd_encode(&text)];
    let short = tools::zstd_encode(&text)[..5].to_vec();
    for directio in ["", "directio 1;"] {
        let nginx = files(BOTH_ON)
            .http(directio)
            .allow_log("directio")
            .file("br.txt.zst", long.clone())
            .file("long.txt.zst", long.clone())
            .file("long.txt", text.clone())
            .file("garbage.txt.zst", corpus::random(1000))
            .file("garbage.txt", text.clone())
            .file("short.txt.zst", short.clone())
            .file("short.txt", text.clone())
            .file("empty.txt.zst", "")
            .file("empty.txt", text.clone())
            .file("none.txt.zst", skippable.concat())
            .start();
        // A client that wants no zstd, and hears of the others by Vary.
        ask(&nginx, "/both.json", "br");
        assert_eq!(warnings(&nginx), Vec::<String>::new());
        check(
            &nginx,
            &[
                ("/br.txt", "zstd, br;q=0.1", "br"),
                ("/long.txt", "zstd, br", ""),
                ("/garbage.txt", "zstd", ""),
                ("/short.txt", "zstd", ""),
                ("/empty.txt", "zstd", ""),
            ],
        );
        // Not all decoders step over a skippable frame.
        let response = get(&nginx, "/none.txt").accept("zstd").send();
        assert!(response.coding() == "zstd" && tools::zstd_decode(&response.body).unwrap() == text);
        let warnings = warnings(&nginx);
        let reasons = [
            ("br.txt", "declares a window of 134217728 bytes"),
            ("long.txt", "declares a window of 134217728 bytes"),
            ("garbage.txt", "is not a Zstandard frame"),
            ("short.txt", "is not a Zstandard frame"),
            ("empty.txt", "is not a Zstandard frame"),
        ];
        assert_eq!(warnings.len(), reasons.len(), "{warnings:?}");
        for (line, (name, reason)) in warnings.iter().zip(reasons) {
            assert!(line.contains(&format!("{name}.zst\" is not served: it {reason}")), "{line}");
        }
    }
}

fn warnings(nginx: &Nginx) -> Vec<String> {
    nginx.error_log().lines().filter(|line| line.contains("[warn]")).map(String::from).collect()
}
