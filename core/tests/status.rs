//! The counters of `compress_status`: what is counted where, and both formats through parsers of others.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use compress_core::codec::{Coding, EncodeError};
use compress_core::eligible::Skip;
use compress_core::job::JobError;
use compress_core::status::{Counters, Format, Mode, Process, Snapshot, Unfinished};
use serde_json::{Value, json};

const DASHBOARD: &str = include_str!("../../examples/grafana.json");
const REFERENCE: &str = include_str!("../../docs/directives.md");
const OPERATIONS: &str = include_str!("../../docs/operations.md");

/// What Prometheus 2 sends.
const PROMETHEUS_2: &str = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                            text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
/// What Prometheus 3 sends.
const PROMETHEUS_3: &str = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
                            application/openmetrics-text;version=0.0.1;q=0.5,\
                            text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
/// What it sends when it wants native histograms.
const PROMETHEUS_PROTOBUF: &str = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,\
                                   application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
/// What it sends when the text format is configured as the first.
const PROMETHEUS_TEXT: &str = "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.5,\
                               application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.4,*/*;q=0.3";
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// Something of everything, from two workers.
fn example() -> Snapshot {
    let counters: [Counters; 2] = Default::default();
    let processes: [Process; 2] = Default::default();
    for (counters, coding) in counters.iter().zip([Coding::Brotli, Coding::Zstd]) {
        counters.began(coding);
        counters.moved(coding, 1000, 300);
        counters.moved(coding, 500, 0);
        counters.skipped(Skip::Client);
    }
    let done: Result<(), JobError> = Ok(());
    counters[0].ran(Coding::Brotli, Mode::Inline, &done, Duration::from_nanos(1_000_000_001));
    counters[0].ran(Coding::Brotli, Mode::Pool, &done, Duration::from_millis(20));
    counters[1].ran(Coding::Zstd, Mode::Pool, &Err::<(), _>(JobError::Cancelled), Duration::from_millis(3));
    let failures = [
        JobError::Read(io::ErrorKind::UnexpectedEof.into()),
        JobError::Encode(EncodeError::Memory),
        JobError::Panicked(String::new()),
    ];
    for failure in failures {
        counters[1].ran(Coding::Zstd, Mode::Pool, &Err::<(), _>(failure), Duration::ZERO);
    }
    counters[0].ended(Coding::Brotli, Unfinished::Aborted);
    counters[1].ended(Coding::Zstd, Unfinished::Failed);
    counters[1].overflowed();
    for (process, pid) in processes.iter().zip([10, 11]) {
        process.begin(pid);
        process.waits(1, 4);
        for _ in 0..4 {
            process.posted();
        }
        process.refused();
        process.started();
        process.started();
        process.done();
    }
    Snapshot::take(&counters, &processes, |_| true)
}

fn expected() -> Value {
    json!({
        "responses": {"br": 1, "zstd": 1},
        "responses_aborted": {"br": 1, "zstd": 0},
        "responses_failed": {"br": 0, "zstd": 1},
        "responses_skipped": {
            "off": 0, "subrequest": 0, "status": 0, "encoded": 0, "range": 0, "length": 0, "type": 0,
            "no-transform": 0, "bypass": 0, "client": 2, "busy": 0,
        },
        "bytes_in": {"br": 1500, "zstd": 1500},
        "bytes_out": {"br": 300, "zstd": 300},
        "encoder_seconds": {
            "br": {"inline": 1.000000001, "pool": 0.02},
            "zstd": {"inline": 0.0, "pool": 0.003},
        },
        "jobs": {
            "br": {
                "inline": {"done": 1, "cancelled": 0, "failed": 0},
                "pool": {"done": 1, "cancelled": 0, "failed": 0},
            },
            "zstd": {
                "inline": {"done": 0, "cancelled": 0, "failed": 0},
                "pool": {"done": 0, "cancelled": 1, "failed": 3},
            },
        },
        "jobs_overflowed": 1,
        "responses_waiting": 6,
        "jobs_queued": 2,
        "jobs_running": 2,
    })
}

#[test]
fn json_has_every_count_in_its_place() {
    let shown: Value = serde_json::from_str(&example().json()).unwrap();
    assert_eq!(shown, expected());
}

/// The samples of the text format, and what is said of each metric: its type and its help.
fn parse(text: &str) -> (BTreeMap<String, f64>, BTreeMap<String, (String, String)>) {
    let scrape = prometheus_parse::Scrape::parse(text.lines().map(|line| Ok(line.to_owned()))).unwrap();
    let mut samples = BTreeMap::new();
    for sample in &scrape.samples {
        let mut labels: Vec<_> =
            sample.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        labels.sort();
        let value = match sample.value {
            prometheus_parse::Value::Counter(value) => {
                assert!(sample.metric.ends_with("_total"), "{}", sample.metric);
                value
            }
            prometheus_parse::Value::Gauge(value) => {
                assert!(!sample.metric.ends_with("_total"), "{}", sample.metric);
                value
            }
            ref other => panic!("{} is {other:?}", sample.metric),
        };
        let name = format!("{}{{{}}}", sample.metric, labels.join(","));
        assert!(samples.insert(name.clone(), value).is_none(), "{name} is there twice");
    }
    let described = |mark: &str| -> BTreeMap<_, _> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(mark)?.trim().split_once(' '));
        lines.map(|(name, words)| (name.to_owned(), words.to_owned())).collect()
    };
    let (types, helps) = (described("# TYPE"), described("# HELP"));
    assert!(types.keys().eq(helps.keys()));
    (samples, types.into_iter().map(|(name, kind)| (name.clone(), (kind, helps[&name].clone()))).collect())
}

/// What the text format must have, from the JSON.
fn flatten(object: &Value) -> BTreeMap<String, f64> {
    let labels_of = |name: &str| match name {
        "responses_skipped" => vec!["reason"],
        "encoder_seconds" => vec!["coding", "mode"],
        "jobs" => vec!["coding", "mode", "result"],
        "jobs_overflowed" | "responses_waiting" | "jobs_queued" | "jobs_running" => vec![],
        _ => vec!["coding"],
    };
    let mut samples = BTreeMap::new();
    for (name, value) in object.as_object().unwrap() {
        let suffix = if ["responses_waiting", "jobs_queued", "jobs_running"].contains(&name.as_str()) {
            ""
        } else {
            "_total"
        };
        let mut open = vec![(Vec::new(), value)];
        for label in labels_of(name) {
            open = open
                .into_iter()
                .flat_map(|(labels, value)| {
                    value.as_object().unwrap().iter().map(move |(word, value)| {
                        let mut labels = labels.clone();
                        labels.push(format!("{label}={word}"));
                        (labels, value)
                    })
                })
                .collect();
        }
        for (labels, value) in open {
            let name = format!("nginx_compress_{name}{suffix}{{{}}}", labels.join(","));
            samples.insert(name, value.as_f64().unwrap());
        }
    }
    samples
}

#[test]
fn the_text_format_has_the_same_values_as_json() {
    let text = example().prometheus();
    let (samples, metrics) = parse(&text);
    assert_eq!(samples, flatten(&expected()));
    for sample in samples.keys() {
        assert!(metrics.contains_key(sample.split('{').next().unwrap()), "{sample} is not described");
    }
    assert_eq!(metrics.len(), 12);
    assert!(text.ends_with('\n') && !text.contains("# EOF"));
}

#[test]
fn openmetrics_names_counters_without_their_suffix_and_ends() {
    let snapshot = example();
    let samples = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('#')).map(String::from).collect()
    };
    let open = snapshot.openmetrics();
    assert_eq!(samples(&open), samples(&snapshot.prometheus()));
    assert!(open.ends_with("\n# EOF\n"));
    assert!(open.contains("# TYPE nginx_compress_jobs counter\n"));
    assert!(open.contains("# TYPE nginx_compress_jobs_running gauge\n"));
    assert!(open.lines().filter(|line| line.starts_with("# ")).all(|line| !line.contains("_total")));
}

#[test]
fn each_reason_is_counted_by_its_word() {
    let skips = [
        Skip::Off,
        Skip::Subrequest,
        Skip::Status,
        Skip::Encoded,
        Skip::Range,
        Skip::Length,
        Skip::Type,
        Skip::NoTransform,
        Skip::RequestNoTransform,
        Skip::Bypass,
        Skip::Client,
        Skip::Busy,
    ];
    for skip in skips {
        let counters = Counters::default();
        counters.skipped(skip);
        let shown: Value = serde_json::from_str(&Snapshot::take(&[counters], &[], |_| true).json()).unwrap();
        for (word, count) in shown["responses_skipped"].as_object().unwrap() {
            assert_eq!(count.as_u64(), Some(u64::from(word == skip.as_str())), "{skip:?}: {word}");
        }
    }
}

#[test]
fn a_process_that_is_gone_has_nothing_on_its_hands() {
    let running = |processes: &[Process]| {
        let shown: Value =
            serde_json::from_str(&Snapshot::take(&[], processes, |pid| pid == 11).json()).unwrap();
        shown["jobs_queued"].as_u64().unwrap()
    };
    let processes = [Process::default(), Process::default()];
    for (process, pid) in processes.iter().zip([10, 11]) {
        process.begin(pid);
        process.posted();
    }
    assert_eq!(running(&processes), 1);
    processes[1].posted();
    assert_eq!(running(&processes), 2);
    // A new process in the place of the one that was killed.
    processes[0].begin(11);
    assert_eq!(running(&processes), 2);
}

#[test]
fn the_client_chooses_the_format() {
    use Format::{Json, OpenMetrics, Text};
    let table: [(Option<&str>, &[&str], Format); 20] = [
        (None, &[], Json),
        (None, &["*/*"], Json),
        (None, &[BROWSER], Json),
        (None, &["application/json"], Json),
        (None, &["image/png"], Json),
        (None, &["text/plain"], Text),
        (None, &["text/*;q=0.5"], Text),
        (None, &["Text/Plain; version=0.0.4"], Text),
        (None, &["application/*, text/plain;q=0.9"], Json),
        (None, &["application/json;q=0.1", "text/plain;q=0.2"], Text),
        (None, &["*/*, application/json;q=0, text/plain;q=0"], OpenMetrics),
        (None, &["text/plain;q=high, application/openmetrics-text;q=0.001"], OpenMetrics),
        (None, &[PROMETHEUS_2], OpenMetrics),
        (None, &[PROMETHEUS_3], OpenMetrics),
        (None, &[PROMETHEUS_PROTOBUF], OpenMetrics),
        (None, &[PROMETHEUS_TEXT], Text),
        (Some("prometheus"), &[PROMETHEUS_2], Text),
        (Some("json"), &[PROMETHEUS_2], Json),
        (Some("openmetrics"), &[], OpenMetrics),
        (Some("xml"), &["text/plain"], Text),
    ];
    for (argument, accept, format) in table {
        let lines = accept.iter().map(|line| line.as_bytes());
        assert_eq!(Format::choose(argument.map(str::as_bytes), lines), format, "{argument:?} {accept:?}");
    }
}

/// The names of metrics in a text.
fn named(text: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let names = text.match_indices("nginx_compress_").map(|(at, _)| {
        let rest = &text[at..];
        &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]
    });
    // The reference names the prefix by itself, too.
    names.filter(|name| *name != "nginx_compress_").collect()
}

#[test]
fn dashboard_and_documents_name_the_metrics_that_there_are() {
    let exported = parse(&example().prometheus()).1;
    for (what, text, names_all) in [
        ("the dashboard", DASHBOARD, true),
        ("the reference", REFERENCE, true),
        ("the guide to operation", OPERATIONS, false),
    ] {
        let names = named(text);
        assert!(!names.is_empty());
        for name in &names {
            assert!(exported.contains_key(*name), "{what} names {name}");
        }
        for name in exported.keys().filter(|_| names_all) {
            assert!(names.contains(&name.as_str()), "{what} has no {name}");
        }
    }
}

#[test]
fn the_queries_of_the_dashboard_use_labels_that_there_are() {
    let labels: BTreeMap<_, Vec<_>> = example()
        .metrics()
        .map(|(metric, _)| (metric.name, metric.labels.iter().map(|label| label.name).collect()))
        .collect();
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let mut count = 0;
    for target in targets {
        let expr = target["expr"].as_str().unwrap();
        let known: Vec<_> = named(expr)
            .into_iter()
            .flat_map(|name| {
                let name = name.strip_prefix("nginx_compress_").unwrap();
                labels[name.strip_suffix("_total").unwrap_or(name)].clone()
            })
            .collect();
        // Of `sum by (a, b) (...)` and of `{{a}}` in the legend.
        let by = expr.split("by (").skip(1).flat_map(|rest| rest.split(')').next().unwrap().split(", "));
        let legend = target["legendFormat"].as_str().unwrap();
        let shown = legend.split("{{").skip(1).map(|rest| rest.split("}}").next().unwrap());
        for label in by.clone().chain(shown) {
            assert!(known.contains(&label), "{label} in {expr} as {legend}");
        }
        count += 1;
    }
    assert!(count >= example().metrics().count());
}
