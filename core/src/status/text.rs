//! The formats that a snapshot is shown in.

use std::fmt::Write as _;

use super::{Label, Metric, Snapshot};

const PREFIX: &str = "nginx_compress_";

impl Snapshot {
    /// An object with a member for each metric. The values of a label are members of an object in there, one level
    /// for each label.
    pub fn json(&self) -> String {
        let mut out = String::from("{");
        for (i, (metric, values)) in self.metrics().enumerate() {
            out.push_str(if i == 0 { "\n" } else { ",\n" });
            let _ = write!(out, "  \"{}\": ", metric.name);
            nest(&mut out, metric, metric.labels, values);
        }
        out.push_str("\n}\n");
        out
    }

    /// The text format of Prometheus, 0.0.4.
    pub fn prometheus(&self) -> String {
        let mut out = String::new();
        self.metrics().for_each(|(metric, values)| expose(&mut out, metric, values, suffix(metric)));
        out
    }

    /// OpenMetrics, 1.0.0: it names a counter without its suffix where it describes it, and has an end.
    pub fn openmetrics(&self) -> String {
        let mut out = String::new();
        self.metrics().for_each(|(metric, values)| expose(&mut out, metric, values, ""));
        out.push_str("# EOF\n");
        out
    }
}

fn suffix(metric: &Metric) -> &'static str {
    if metric.is_counter { "_total" } else { "" }
}

/// The values, in objects by what is left of their labels.
fn nest(out: &mut String, metric: &Metric, labels: &[Label], values: &[u64]) {
    let [label, inner @ ..] = labels else { return value(out, metric, values[0]) };
    for (i, (name, values)) in
        label.values.iter().zip(values.chunks(values.len() / label.values.len())).enumerate()
    {
        let _ = write!(out, "{}\"{name}\": ", if i == 0 { "{" } else { ", " });
        nest(out, metric, inner, values);
    }
    out.push('}');
}

/// The lines of a metric, described under its name with `described` after it.
fn expose(out: &mut String, metric: &Metric, values: &[u64], described: &str) {
    let Metric { name, help, .. } = metric;
    let kind = if metric.is_counter { "counter" } else { "gauge" };
    let _ = write!(out, "# HELP {PREFIX}{name}{described} {help}\n# TYPE {PREFIX}{name}{described} {kind}\n");
    for (i, n) in values.iter().enumerate() {
        let _ = write!(out, "{PREFIX}{name}{}", suffix(metric));
        let mut stride = values.len();
        for (depth, label) in metric.labels.iter().enumerate() {
            stride /= label.values.len();
            let word = label.values[i / stride % label.values.len()];
            let _ = write!(out, "{}{}=\"{word}\"", if depth == 0 { '{' } else { ',' }, label.name);
        }
        out.push_str(if metric.labels.is_empty() { " " } else { "} " });
        value(out, metric, *n);
        out.push('\n');
    }
}

fn value(out: &mut String, metric: &Metric, n: u64) {
    let _ = if metric.is_time {
        write!(out, "{}.{:09}", n / 1_000_000_000, n % 1_000_000_000)
    } else {
        write!(out, "{n}")
    };
}
