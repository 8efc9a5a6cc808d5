//! Pictures of the two figures that matter most.

use std::path::Path;

use plotters::prelude::*;

use crate::results::{Metric, Results, Row, median};
use crate::server::{Variant, br};
use crate::setup::Setup;
use crate::{latency, throughput};

const OURS: RGBColor = RGBColor(0x1b, 0x7f, 0x4d);
const OURS_LIGHT: RGBColor = RGBColor(0x8c, 0xc9, 0xa6);
const PEER: RGBColor = RGBColor(0xc0, 0x39, 0x2b);
const OTHER: RGBColor = RGBColor(0x8a, 0x8f, 0x98);

/// A bar: its name, its height and its colour.
struct Bar {
    name: String,
    value: f64,
    /// The value as it is written.
    text: String,
    color: RGBColor,
}

/// Draws what was measured.
///
/// # Errors
/// A file cannot be written.
pub fn draw(setup: &Setup, results: &Results) -> Result<(), String> {
    let failed = |error: Box<dyn std::error::Error>| error.to_string();
    let latencies = latencies(results);
    if !latencies.is_empty() {
        let path = setup.out.join("latency.svg");
        let title = "99 % of small requests took at most, beside 8 downloads at once (ms)";
        bars(&path, title, &latencies, Axis::Logarithmic).map_err(failed)?;
        println!("The plot of latencies is {}", path.display());
    }
    let costs = costs(results);
    if !costs.is_empty() {
        let path = setup.out.join("cpu.svg");
        let title = "processor time of a response, to the peer's (median over files)";
        bars(&path, title, &costs, Axis::Linear { line: 1.0 }).map_err(failed)?;
        println!("The plot of processor times is {}", path.display());
    }
    Ok(())
}

fn latencies(results: &Results) -> Vec<Bar> {
    let bar = |(variant, load): (Variant, _)| {
        let row = Row::new(latency::PART, latency::FILE, load, &latency::setting(8));
        let (name, color) = match variant {
            Variant::Peer => (format!("peer, {load}"), PEER),
            Variant::Plain => ("uncompressed".into(), OTHER),
            Variant::Gzip => (load.to_string(), OTHER),
            _ => (format!("module, {load}"), OURS),
        };
        let figure = results.figure(&row, variant, Metric::P99)?;
        Some(Bar { name, value: figure.median(), text: figure.text(), color })
    };
    latency::CASES.into_iter().filter_map(bar).collect()
}

fn costs(results: &Results) -> Vec<Bar> {
    let ratio = |level: i32, variant: Variant| {
        let rows = results.figures.iter().filter(|figure| {
            figure.metric == Metric::CpuPerResponse
                && figure.variant == variant
                && figure.row.load == br(level)
                && figure.row.setting == throughput::setting()
        });
        let ratios: Vec<f64> = rows
            .filter_map(|figure| results.ratio(&figure.row, Metric::CpuPerResponse, variant, Variant::Peer))
            .collect();
        median(&ratios)
    };
    let pair = |level: i32| {
        [(1, OURS), (2, OURS_LIGHT)].into_iter().filter_map(move |(threads, color)| {
            let threads_text = if threads == 1 { "1 thread" } else { "2 threads" };
            let name = format!("br {level}, {threads_text}");
            let value = ratio(level, Variant::Pool(threads))?;
            Some(Bar { name, value, text: format!("{value:.2}"), color })
        })
    };
    [1, 4, 5, 6, 9, 11].into_iter().flat_map(pair).collect()
}

enum Axis {
    Logarithmic,
    Linear { line: f64 },
}

/// Bars that lie, one below the other, each with its value.
fn bars(path: &Path, title: &str, bars: &[Bar], axis: Axis) -> Result<(), Box<dyn std::error::Error>> {
    const ROW: i32 = 30;
    const TOP: i32 = 50;
    const LEFT: i32 = 150;
    const WIDTH: i32 = 740;
    const LENGTH: f64 = 500.0;
    let height = TOP + ROW * bars.len() as i32 + 20;
    let area = SVGBackend::new(path, (WIDTH as u32, height as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    area.draw(&Text::new(title.to_owned(), (16, 16), ("sans-serif", 17).into_font()))?;

    let highest = bars.iter().map(|bar| bar.value).fold(1.0, f64::max);
    let lowest = bars.iter().map(|bar| bar.value).fold(highest, f64::min);
    let scale = |value: f64| match axis {
        // From the power of ten below the lowest.
        Axis::Logarithmic => {
            let from = lowest.log10().floor();
            (value.log10() - from) / (highest.log10() - from).max(0.1) * LENGTH
        }
        Axis::Linear { .. } => value / highest * LENGTH,
    };
    let end = |value: f64| LEFT + scale(value).max(1.0) as i32;
    for (bar, top) in bars.iter().zip((TOP..).step_by(ROW as usize)) {
        let label = Text::new(bar.name.clone(), (16, top + 4), ("sans-serif", 15).into_font());
        area.draw(&label)?;
        area.draw(&Rectangle::new([(LEFT, top), (end(bar.value), top + ROW - 8)], bar.color.filled()))?;
        let value =
            Text::new(bar.text.clone(), (end(bar.value) + 6, top + 4), ("sans-serif", 15).into_font());
        area.draw(&value)?;
    }
    match axis {
        Axis::Logarithmic => {
            let tens = (lowest.log10().floor() as i32 + 1)..=(highest.log10().floor() as i32);
            for ten in tens.map(|power| 10f64.powi(power)) {
                area.draw(&PathElement::new(
                    [(end(ten), TOP - 4), (end(ten), height - 20)],
                    BLACK.mix(0.25),
                ))?;
                area.draw(&Text::new(
                    format!("{ten}"),
                    (end(ten), height - 16),
                    ("sans-serif", 12).into_font(),
                ))?;
            }
        }
        Axis::Linear { line } => {
            area.draw(&PathElement::new([(end(line), TOP - 4), (end(line), height - 20)], BLACK))?;
        }
    }
    area.present()?;
    Ok(())
}
