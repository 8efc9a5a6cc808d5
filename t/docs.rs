//! The reference of directives says what the module does: names, arguments, contexts, defaults.

use std::collections::BTreeSet;

use harness::Nginx;

const REFERENCE: &str = include_str!("../docs/directives.md");
const TABLE: &str = include_str!("../src/conf/directives.rs");
const CONF: &str = include_str!("../src/conf.rs");
const STATUS: &str = include_str!("../src/conf/status.rs");

/// The default of a directive, without its coding, and the code that makes it so.
const DEFAULTS: [(&str, &str, &str); 25] = [
    ("brotli", "off", "merge(&mut self.enable, above.enable, FLAG_UNSET, 0)"),
    ("zstd", "off", "merge(&mut self.enable, above.enable, FLAG_UNSET, 0)"),
    ("*_types", "text/html", "merge_types(cf, this,"),
    ("brotli_comp_level", "6", "merge(cf, &mut above.brotli, 6)"),
    ("zstd_comp_level", "1", "merge(cf, &mut above.zstd, 1)"),
    ("brotli_window", "512k", "merge(&mut self.window_log, above.window_log, SIZE_UNSET, SIZE_UNSET)"),
    ("zstd_window_log", "", "merge(&mut self.window_log, above.window_log, SIZE_UNSET, SIZE_UNSET)"),
    ("*_min_length", "20", "const DEFAULT_MIN_LENGTH: usize = 20;"),
    ("*_max_length", "0", "merge(&mut self.max_length, above.max_length, SIZE_UNSET, 0)"),
    ("*_buffers", "32 4k", "const DEFAULT_BUFFERS: ngx_bufs_t = ngx_bufs_t { num: 32, size: 4096 };"),
    ("*_bypass", "", "merge(&mut self.bypass, above.bypass, POINTER_UNSET, ptr::null_mut())"),
    ("*_static", "off", "merge(&mut self.serve, above.serve, SIZE_UNSET, 0)"),
    ("*_thread_pool", "off", "merge(&mut self.pool, above.pool, POOL_UNSET, ptr::null_mut())"),
    ("*_parallel_segment_size", "1m", "const DEFAULT_SEGMENT: usize = 1 << 20;"),
    ("*_parallel_tasks", "4", "const DEFAULT_TASKS: ngx_int_t = 4;"),
    ("compress_order", "zstd br gzip", "self.order.unwrap_or_default()"),
    ("compress_statuses", "200 403 404", "self.statuses.unwrap_or_default()"),
    ("compress_vary", "on", "merge(&mut conf.vary, above.vary, FLAG_UNSET, 1)"),
    ("compress_inline", "auto", "merge(&mut conf.inline, above.inline, SIZE_UNSET, INLINE_AUTO)"),
    ("compress_max_waiting", "1024", "const DEFAULT_MAX_WAITING: ngx_uint_t = 1024;"),
    ("compress_stream_memory", "64m", "const DEFAULT_STREAM_MEMORY: usize = 64 << 20;"),
    ("compress_thread_priority", "10", "const DEFAULT_PRIORITY: i32 = 10;"),
    ("zstd_dict_file", "", "zstd_dict_file"),
    ("compress_status", "", "ngx_string!(\"compress_status\")"),
    ("compress_status_zone", "64k", "const DEFAULT_STATUS_ZONE: usize = 64 << 10;"),
];

/// A section of the reference.
struct Entry<'a> {
    name: &'a str,
    syntax: &'a str,
    default: &'a str,
    context: &'a str,
}

fn entries() -> Vec<Entry<'static>> {
    let sections = REFERENCE.split("\n## ").skip(1);
    let line = |section: &'static str, field: &str| {
        section.lines().find_map(|line| line.strip_prefix(field)).map(str::trim)
    };
    sections
        .filter_map(|section| {
            Some(Entry {
                name: section.lines().next().unwrap(),
                syntax: line(section, "Syntax:")?,
                default: line(section, "Default:")?,
                context: line(section, "Context:")?,
            })
        })
        .collect()
}

#[test]
fn the_reference_and_the_table_name_the_same_directives() {
    let table = TABLE.lines().filter(|line| line.starts_with("    ") && line.contains("(ngx_string!(\""));
    let coded: BTreeSet<_> = table
        .filter(|line| !line.contains("ngx_conf_enum_t"))
        .map(|line| line.split('"').nth(1).unwrap())
        .collect();
    let documented: BTreeSet<_> = entries().iter().map(|entry| entry.name).collect();
    assert_eq!(documented, coded);
}

#[test]
fn contexts_are_as_the_reference_says() {
    for entry in entries() {
        let line = example(&entry);
        let places = [
            ("http", format!("{line} server {{ listen 127.0.0.1:1; }}")),
            ("server", format!("server {{ listen 127.0.0.1:1; {line} }}")),
            ("location", format!("server {{ listen 127.0.0.1:1; location / {{ {line} }} }}")),
            (
                "if in location",
                format!("server {{ listen 127.0.0.1:1; location / {{ if ($arg_a) {{ {line} }} }} }}"),
            ),
        ];
        let contexts: Vec<_> = entry.context.split(", ").collect();
        for (context, config) in places {
            let check = Nginx::builder().http(&config).check();
            let allowed = !check.output.contains("directive is not allowed here");
            assert_eq!(allowed, contexts.contains(&context), "{} in {context}: {}", entry.name, check.output);
        }
    }
}

#[test]
fn argument_counts_are_as_the_reference_says() {
    for entry in entries() {
        let arguments: Vec<_> =
            entry.syntax.trim_end_matches(';').split(' ').skip(1).filter(|word| *word != "|").collect();
        let many = arguments.last() == Some(&"...");
        let count = if entry.syntax.contains('|') || many { 1 } else { arguments.len() };
        for given in 0..=3 {
            let line = format!("{} {};", entry.name, vec!["x"; given].join(" "));
            let place = match entry.context {
                "location" => format!("server {{ listen 127.0.0.1:1; location / {{ {line} }} }}"),
                _ => line.clone(),
            };
            let check = Nginx::builder().http(&place).check();
            let wrong = "invalid number of arguments";
            let fits = given == count || many && given > count;
            assert_eq!(!check.output.contains(wrong), fits, "{line}: {}", check.output);
        }
    }
}

#[test]
fn defaults_are_as_the_reference_says() {
    for entry in entries() {
        let coding = entry.name.split('_').next().unwrap();
        let row = DEFAULTS.iter().find(|(name, ..)| {
            *name == entry.name
                || name.strip_prefix('*').is_some_and(|rest| entry.name == format!("{coding}{rest}"))
        });
        let (_, value, code) = row.unwrap_or_else(|| panic!("no default for {}", entry.name));
        let written = entry.default.trim_end_matches(';').strip_prefix(entry.name).unwrap_or("").trim();
        assert_eq!(written, *value, "{}", entry.name);
        let conf = [CONF, TABLE, STATUS].concat();
        assert!(conf.contains(code), "{}: the code has no {code:?}", entry.name);
    }
}

/// A use of the directive that is taken where it may stand.
fn example(entry: &Entry) -> String {
    let value = match entry.default.trim_end_matches(';').strip_prefix(entry.name).unwrap_or("").trim() {
        "" if entry.name == "zstd_window_log" => "20",
        "" if entry.name == "compress_status" => "",
        "" if entry.name.ends_with("_bypass") => "$arg_a",
        "" => "off",
        value => value,
    };
    format!("{} {value};", entry.name)
}
