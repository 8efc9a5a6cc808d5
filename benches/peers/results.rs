//! The figures of a run.

use harness::load::Latency;

use crate::server::{Load, Variant};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    ResponsesPerSecond,
    CpuPerResponse,
    LoopCpuPerResponse,
    BytesPerResponse,
    /// Of the response that was decoded and compared, with nothing beside it.
    BytesAlone,
    PeakMemory,
    P50,
    P99,
    Longest,
    Time,
    /// How many downloads ended each second beside which latencies were measured.
    DownloadsPerSecond,
}

/// What a figure belongs to, but for who made it: a row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub part: &'static str,
    pub file: &'static str,
    pub load: Load,
    /// What else was set, such as `8 connections`.
    pub setting: String,
}

/// What was seen, once a repetition.
#[derive(Debug)]
pub struct Figure {
    pub row: Row,
    pub variant: Variant,
    pub metric: Metric,
    pub values: Vec<f64>,
    /// Whether a value is only what it was at least, as the measurement ended before it was known.
    pub is_bound: bool,
}

/// All figures, in the order in which they came.
#[derive(Debug, Default)]
pub struct Results {
    pub figures: Vec<Figure>,
}

impl Results {
    /// Adds what a repetition saw.
    pub fn add(&mut self, row: &Row, variant: Variant, metric: Metric, value: f64) {
        match self.figures.iter_mut().find(|figure| figure.is(row, variant, metric)) {
            Some(figure) => figure.values.push(value),
            None => self.figures.push(Figure {
                row: row.clone(),
                variant,
                metric,
                values: vec![value],
                is_bound: false,
            }),
        }
    }

    /// Adds a latency in milliseconds, or what it is at least.
    pub fn add_latency(&mut self, row: &Row, variant: Variant, metric: Metric, latency: Latency) {
        self.add(row, variant, metric, latency.seconds * 1000.0);
        if let Some(figure) = self.figures.iter_mut().find(|figure| figure.is(row, variant, metric)) {
            figure.is_bound |= latency.is_bound;
        }
    }

    /// A figure, if it was measured.
    pub fn figure(&self, row: &Row, variant: Variant, metric: Metric) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.is(row, variant, metric))
    }

    /// The median of a figure, if it was measured.
    pub fn median(&self, row: &Row, variant: Variant, metric: Metric) -> Option<f64> {
        self.figure(row, variant, metric).map(Figure::median)
    }

    /// How many times one variant's figure is another's: the median over the repetitions, in each of which one was
    /// measured after the other.
    pub fn ratio(&self, row: &Row, metric: Metric, variant: Variant, to: Variant) -> Option<f64> {
        let (ours, theirs) = (self.figure(row, variant, metric)?, self.figure(row, to, metric)?);
        if ours.values.len() != theirs.values.len() {
            return Some(ours.median() / theirs.median());
        }
        let ratios: Vec<f64> = ours.values.iter().zip(&theirs.values).map(|(a, b)| a / b).collect();
        median(&ratios)
    }
}

impl Figure {
    pub fn median(&self) -> f64 {
        median(&self.values).expect("a figure has a value")
    }

    /// The median as text.
    pub fn text(&self) -> String {
        let value = self.median();
        let decimals = match value {
            1000.0.. => 0,
            10.0.. => 1,
            _ => 3,
        };
        format!("{}{value:.decimals$}", if self.is_bound { "> " } else { "" })
    }

    fn is(&self, row: &Row, variant: Variant, metric: Metric) -> bool {
        self.metric == metric && self.variant == variant && self.row == *row
    }
}

impl Row {
    pub fn new(part: &'static str, file: &'static str, load: Load, setting: &str) -> Self {
        Self { part, file, load, setting: setting.into() }
    }
}

impl Metric {
    /// What it is, and its unit.
    pub fn title(self) -> (&'static str, &'static str) {
        match self {
            Self::ResponsesPerSecond => ("responses", "1/s"),
            Self::CpuPerResponse => ("processor time of a response", "ms"),
            Self::LoopCpuPerResponse => ("processor time of a response in the event loop", "ms"),
            Self::BytesPerResponse => ("length of a response beside others", "bytes"),
            Self::BytesAlone => ("length of a response alone", "bytes"),
            Self::PeakMemory => ("most memory of the worker", "MiB"),
            Self::P50 => ("half of the small requests took at most", "ms"),
            Self::P99 => ("99 % of the small requests took at most", "ms"),
            Self::Longest => ("the longest small request took", "ms"),
            Self::Time => ("time of a response", "ms"),
            Self::DownloadsPerSecond => ("downloads that ended meanwhile", "1/s"),
        }
    }
}

/// The middle value, or the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}
