//! What `nginx -t` says of each directive: the values that are taken, and the words for those that are not.

use harness::{Nginx, locate};

use crate::support::has_threads;

/// Lines of `http {}` that are taken.
const TAKEN: [&str; 33] = [
    "brotli on;",
    "brotli off;",
    "brotli_types text/plain application/json; brotli_types text/css;",
    "brotli_types *;",
    "brotli_comp_level 0;",
    "brotli_comp_level 11;",
    "brotli_window 1k;",
    "brotli_window 16m;",
    "brotli_window 524288;",
    "brotli_min_length 1k;",
    "brotli_max_length 10m;",
    "brotli_buffers 16 8k;",
    "brotli_bypass $http_a $http_b;",
    "brotli_static always;",
    "brotli_parallel_segment_size 64k;",
    "brotli_parallel_segment_size 16m;",
    "brotli_parallel_tasks 64;",
    "zstd on;",
    "zstd_types text/plain;",
    "zstd_comp_level -1;",
    "zstd_comp_level -131072;",
    "zstd_comp_level 22;",
    "zstd_window_log 10;",
    "zstd_window_log 23;",
    "zstd_static on;",
    "compress_order br zstd;",
    "compress_statuses 2xx 404;",
    "compress_inline auto; compress_vary off;",
    "compress_inline 4k;",
    "compress_max_waiting 0; compress_stream_memory 1m; compress_thread_priority off;",
    "compress_thread_priority 19;",
    "compress_status_zone 32k;",
    "compress_status_zone 1m;",
];

/// Lines of `http {}` that are refused, and with which words.
const REFUSED: [(&str, &str); 61] = [
    ("brotli maybe;", "invalid value \"maybe\" in \"brotli\" directive, it must be \"on\" or \"off\""),
    ("brotli;", "invalid number of arguments in \"brotli\" directive"),
    ("brotli on off;", "invalid number of arguments in \"brotli\" directive"),
    ("brotli on; brotli off;", "\"brotli\" directive is duplicate"),
    ("brotli_types;", "invalid number of arguments in \"brotli_types\" directive"),
    ("brotli_buffers 0 4k;", "\"brotli_buffers\" directive invalid value"),
    ("brotli_buffers 4;", "invalid number of arguments in \"brotli_buffers\" directive"),
    ("brotli_buffers 4 x;", "\"brotli_buffers\" directive invalid value"),
    ("brotli_comp_level 12;", "value must be between 0 and 11"),
    ("brotli_comp_level -1;", "\"brotli_comp_level\" directive invalid number"),
    ("brotli_comp_level x;", "\"brotli_comp_level\" directive invalid number"),
    ("brotli_comp_level 6k;", "\"brotli_comp_level\" directive invalid number"),
    ("brotli_comp_level 5; brotli_comp_level 6;", "\"brotli_comp_level\" directive is duplicate"),
    ("brotli_comp_level 5 6;", "invalid number of arguments in \"brotli_comp_level\" directive"),
    (
        "brotli_window 3k;",
        "\"brotli_window\" directive must be 1k, 2k, 4k, 8k, 16k, 32k, 64k, 128k, 256k, 512k, 1m, 2m, 4m, 8m or 16m",
    ),
    ("brotli_window 512;", "\"brotli_window\" directive must be 1k"),
    ("brotli_window 32m;", "\"brotli_window\" directive must be 1k"),
    ("brotli_window 0;", "\"brotli_window\" directive must be 1k"),
    ("brotli_window big;", "\"brotli_window\" directive invalid value"),
    ("brotli_min_length -1;", "\"brotli_min_length\" directive invalid value"),
    ("brotli_min_length 1 2;", "invalid number of arguments in \"brotli_min_length\" directive"),
    ("brotli_min_length 20x;", "\"brotli_min_length\" directive invalid value"),
    ("brotli_max_length -1;", "\"brotli_max_length\" directive invalid value"),
    ("brotli_static maybe;", "invalid value \"maybe\""),
    ("brotli_static on; brotli_static off;", "\"brotli_static\" directive is duplicate"),
    ("brotli_bypass;", "invalid number of arguments in \"brotli_bypass\" directive"),
    ("brotli_parallel_segment_size 63k;", "value must be between 64k and 16m"),
    ("brotli_parallel_segment_size 17m;", "value must be between 64k and 16m"),
    ("brotli_parallel_segment_size big;", "\"brotli_parallel_segment_size\" directive invalid value"),
    ("brotli_parallel_tasks 0;", "value must be between 1 and 64"),
    ("brotli_parallel_tasks 65;", "value must be between 1 and 64"),
    ("zstd maybe;", "invalid value \"maybe\" in \"zstd\" directive, it must be \"on\" or \"off\""),
    ("zstd on; zstd on;", "\"zstd\" directive is duplicate"),
    ("zstd_types;", "invalid number of arguments in \"zstd_types\" directive"),
    ("zstd_buffers 0 4k;", "\"zstd_buffers\" directive invalid value"),
    ("zstd_comp_level 0;", "zstd compress level must between -131072 and 22 excluding 0"),
    ("zstd_comp_level 23;", "zstd compress level must between -131072 and 22 excluding 0"),
    ("zstd_comp_level -131073;", "zstd compress level must between -131072 and 22 excluding 0"),
    ("zstd_comp_level -x;", "\"zstd_comp_level\" directive invalid number"),
    ("zstd_comp_level -1; zstd_comp_level -1;", "\"zstd_comp_level\" directive is duplicate"),
    ("zstd_min_length 1 2;", "invalid number of arguments in \"zstd_min_length\" directive"),
    ("zstd_window_log 9;", "value must be between 10 and 23"),
    ("zstd_window_log 24;", "value must be between 10 and 23"),
    ("zstd_static maybe;", "invalid value \"maybe\""),
    (
        "compress_order deflate;",
        "invalid value \"deflate\", it must be zstd, br or gzip in \"compress_order\" directive",
    ),
    ("compress_order br br;", "duplicate value \"br\" in \"compress_order\" directive"),
    (
        "compress_statuses 100;",
        "invalid value \"100\" in \"compress_statuses\" directive, it must be from 200 to 599",
    ),
    (
        "compress_statuses ok;",
        "invalid value \"ok\" in \"compress_statuses\" directive, it must be a status code",
    ),
    ("compress_inline soon;", "\"compress_inline\" directive invalid value"),
    ("compress_max_waiting -1;", "\"compress_max_waiting\" directive invalid number"),
    ("compress_thread_priority 20;", "value must be between 1 and 19"),
    ("compress_thread_priority low;", "\"compress_thread_priority\" directive invalid number"),
    ("server { compress_max_waiting 1; }", "\"compress_max_waiting\" directive is not allowed here"),
    ("compress_status_zone 31k;", "zone \"compress_status\" is too small"),
    ("compress_status_zone 0;", "zone \"compress_status\" is too small"),
    ("compress_status_zone -1;", "\"compress_status_zone\" directive invalid value"),
    ("compress_status_zone big;", "\"compress_status_zone\" directive invalid value"),
    (
        "compress_status_zone 64k; compress_status_zone 64k;",
        "\"compress_status_zone\" directive is duplicate",
    ),
    ("server { compress_status; }", "\"compress_status\" directive is not allowed here"),
    (
        "server { location / { compress_status on; } }",
        "invalid number of arguments in \"compress_status\" directive",
    ),
    (
        "server { location / { compress_status; compress_status; } }",
        "\"compress_status\" directive is duplicate",
    ),
];

/// As [`REFUSED`], where NGINX has threads.
const REFUSED_POOLS: [(&str, &str); 3] = [
    ("brotli_thread_pool missing;", "unknown thread pool \"missing\""),
    ("zstd_thread_pool missing;", "unknown thread pool \"missing\""),
    ("brotli_thread_pool off; brotli_thread_pool off;", "\"brotli_thread_pool\" directive is duplicate"),
];

#[test]
fn good_values_are_taken_at_every_level() {
    for line in TAKEN {
        Nginx::builder().http(line).check().assert_ok();
        if !["max_waiting", "priority", "_zone"].iter().any(|word| line.contains(word)) {
            Nginx::builder().server(&format!("location /a {{ {line} }}")).check().assert_ok();
        }
    }
    if has_threads() {
        let lines = "brotli_thread_pool default; zstd_thread_pool late; server { brotli_thread_pool off; }";
        Nginx::builder().http(lines).main("thread_pool late threads=1;").check().assert_ok();
    }
}

#[test]
fn bad_values_are_refused_with_directive_file_and_line() {
    for (line, words) in REFUSED.into_iter().chain(REFUSED_POOLS.into_iter().filter(|_| has_threads())) {
        Nginx::builder().http(line).check().assert_refused(words, line);
    }
}

#[test]
fn the_switches_alone_may_stand_in_if() {
    for line in ["brotli on;", "zstd off;"] {
        let location = |line| format!("location / {{ if ($arg_x) {{ {line} }} }}");
        Nginx::builder().server(&location(line)).check().assert_ok();
        let server = format!("if ($arg_x) {{ {line} }}");
        Nginx::builder().server(&server).check().assert_refused("directive is not allowed here", line);
    }
    let other = "location / { if ($arg_x) { brotli_comp_level 1; } }";
    Nginx::builder()
        .server(other)
        .check()
        .assert_refused("\"brotli_comp_level\" directive is not allowed here", other);
}

#[test]
fn a_type_that_is_named_twice_is_a_warning() {
    let check = Nginx::builder().http("brotli_types text/html text/css text/css;").check();
    check.assert_ok();
    assert!(check.output.contains("duplicate MIME type \"text/html\""), "{}", check.output);
}

#[test]
fn an_nginx_without_threads_has_no_pools() {
    if !has_threads() {
        let line = "brotli_thread_pool default;";
        let words = "\"brotli_thread_pool\" directive is unsupported: NGINX was built without --with-threads";
        Nginx::builder().http(line).check().assert_refused(words, line);
        Nginx::builder().http("zstd_thread_pool off;").check().assert_ok();
        assert!(!locate::nginx_has("--with-threads"));
    }
}
