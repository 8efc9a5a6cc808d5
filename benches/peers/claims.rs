//! What the project says of itself, and whether the figures bear it out.

use crate::results::{Metric, Results, Row, median};
use crate::server::{Load, NONE, Variant, br, zstd};
use crate::setup::{JQUERY, JSON, REACT, TYPESCRIPT};
use crate::{alone, event_loop, latency, memory, rates, small, throughput};

const POOL: Variant = Variant::Pool(2);
const LARGE: [&str; 3] = [REACT, JSON, TYPESCRIPT];

/// A statement, the figure that decides it and the limit of that.
pub struct Claim {
    pub text: String,
    pub limit: Limit,
    /// The figure, and what it is of. None if it was not measured.
    pub seen: Option<(f64, String)>,
}

#[derive(Clone, Copy)]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Claim {
    /// Whether it holds, if that was measured.
    pub fn holds(&self) -> Option<bool> {
        let (value, _) = self.seen.as_ref()?;
        Some(match self.limit {
            Limit::AtMost(limit) => *value <= limit,
            Limit::AtLeast(limit) => *value >= limit,
        })
    }
}

/// Decides all claims.
pub fn check(results: &Results) -> Vec<Claim> {
    let mut claims = latencies(results);
    claims.extend(lengths(results));
    claims.extend(processor(results));
    claims.extend(zstd_pool(results));
    claims.extend(speed(results));
    claims.extend(peaks(results));
    claims
}

/// Prints them.
pub fn print(claims: &[Claim]) {
    println!("{:<74} {:>9} {:>9}  holds", "claim", "limit", "figure");
    for claim in claims {
        let limit = match claim.limit {
            Limit::AtMost(limit) => format!("<= {limit}"),
            Limit::AtLeast(limit) => format!(">= {limit}"),
        };
        let (figure, of) = match &claim.seen {
            Some((value, of)) => (format!("{value:.3}"), of.as_str()),
            None => (String::new(), ""),
        };
        let holds = claim.holds().map_or("not measured", |holds| if holds { "yes" } else { "NO" });
        println!("{:<74} {limit:>9} {figure:>9}  {holds:<3} {of}", claim.text);
    }
}

/// The claim about the worst of some figures.
fn worst(text: &str, limit: Limit, figures: impl IntoIterator<Item = (Option<f64>, String)>) -> Claim {
    let measured = figures.into_iter().filter_map(|(value, of)| Some((value?, of)));
    let seen = match limit {
        Limit::AtMost(_) => measured.max_by(|a, b| a.0.total_cmp(&b.0)),
        Limit::AtLeast(_) => measured.min_by(|a, b| a.0.total_cmp(&b.0)),
    };
    Claim { text: text.into(), limit, seen }
}

fn latencies(results: &Results) -> Vec<Claim> {
    let p99 = |variant, load| {
        let row = Row::new(latency::PART, latency::FILE, load, &latency::setting(8));
        results.median(&row, variant, Metric::P99)
    };
    let claim = |load: Load| {
        let ratio = p99(POOL, load).zip(p99(Variant::Plain, NONE)).map(|(a, b)| a / b);
        let text = format!("p99 of small requests beside {load}, to that beside uncompressed");
        worst(&text, Limit::AtMost(1.5), [(ratio, String::new())])
    };
    [br(6), br(11), zstd(19)].map(claim).into()
}

fn row(file: &'static str, load: Load) -> Row {
    Row::new(throughput::PART, file, load, &throughput::setting())
}

fn of(file: &str, load: Load) -> String {
    format!("({load}, {file})")
}

fn files(results: &Results) -> Vec<&'static str> {
    let mut files: Vec<&'static str> = Vec::new();
    for figure in results.figures.iter().filter(|figure| figure.row.part == throughput::PART) {
        if !files.contains(&figure.row.file) {
            files.push(figure.row.file);
        }
    }
    files
}

/// The ratios of a metric over files and levels, each with its name.
fn ratios(
    results: &Results,
    metric: Metric,
    files: &[&'static str],
    loads: &[Load],
    [variant, to]: [Variant; 2],
) -> Vec<(Option<f64>, String)> {
    let each = |file, load| (results.ratio(&row(file, load), metric, variant, to), of(file, load));
    loads.iter().flat_map(|load| files.iter().map(move |file| each(*file, *load))).collect()
}

fn lengths(results: &Results) -> Vec<Claim> {
    let to_peer = |files: &[&'static str], levels: &[i32]| {
        let loads: Vec<Load> = levels.iter().copied().map(br).collect();
        let alone = ratios(results, Metric::BytesAlone, files, &loads, [POOL, Variant::Peer]);
        let beside = ratios(results, Metric::BytesPerResponse, files, &loads, [POOL, Variant::Peer]);
        alone.into_iter().chain(beside)
    };
    let every = to_peer(&files(results), &[4, 5, 6, 9, 11]);
    let large = to_peer(&LARGE, &[4, 5, 6]);
    vec![
        worst("bytes at br 4, 5, 6, 9 and 11 on every file, to the peer's", Limit::AtMost(1.002), every),
        worst("bytes at br 4, 5 and 6 on the larger files, to the peer's", Limit::AtMost(0.98), large),
    ]
}

/// The worst level's median over the files.
fn median_over_files(
    text: &str,
    limit: Limit,
    results: &Results,
    loads: &[Load],
    pair: [Variant; 2],
) -> Claim {
    let each = |load: &Load| {
        let ratios = ratios(results, Metric::CpuPerResponse, &files(results), &[*load], pair);
        let measured: Vec<f64> = ratios.into_iter().filter_map(|(ratio, _)| ratio).collect();
        (median(&measured), format!("({load})"))
    };
    worst(text, limit, loads.iter().map(each))
}

fn processor(results: &Results) -> Vec<Claim> {
    let usual = [br(4), br(5), br(6)];
    let one = [Variant::Pool(1), Variant::Peer];
    let two = [POOL, Variant::Peer];
    let on = |text: &str, limit, files: &[&'static str], pair| {
        worst(text, Limit::AtMost(limit), ratios(results, Metric::CpuPerResponse, files, &[br(9)], pair))
    };
    vec![
        median_over_files(
            "processor time at br 4, 5 and 6, a pool of 1 thread, to the peer's",
            Limit::AtMost(1.0),
            results,
            &usual,
            one,
        ),
        median_over_files("the same with 2 threads", Limit::AtMost(1.1), results, &usual, two),
        on("processor time at br 9 on jquery, 1 thread, to the peer's", 0.25, &[JQUERY], one),
        on("processor time at br 9 on the larger files, 1 thread, to the peer's", 0.8, &LARGE, one),
        median_over_files(
            "processor time at br 11, 1 thread, to the peer's",
            Limit::AtMost(1.0),
            results,
            &[br(11)],
            one,
        ),
    ]
}

fn zstd_pool(results: &Results) -> Vec<Claim> {
    let loads = [1, 3, 9, 15, 19].map(zstd);
    let pair = [POOL, Variant::Inline];
    let alone = ratios(results, Metric::BytesAlone, &files(results), &loads, pair);
    let beside = ratios(results, Metric::BytesPerResponse, &files(results), &loads, pair);
    vec![
        median_over_files(
            "processor time of zstd on the pool, to the event loop's",
            Limit::AtMost(1.05),
            results,
            &loads,
            pair,
        ),
        worst(
            "bytes of zstd on the pool, to the event loop's",
            Limit::AtMost(1.003),
            alone.into_iter().chain(beside),
        ),
    ]
}

fn speed(results: &Results) -> Vec<Claim> {
    let rates = [REACT, JSON].map(|file| {
        let row = Row::new(rates::PART, file, br(6), &rates::setting(8));
        (results.ratio(&row, Metric::ResponsesPerSecond, POOL, Variant::Peer), of(file, br(6)))
    });
    let row = Row::new(alone::PART, alone::FILE, alone::LOAD, &alone::setting(4));
    let time = results.ratio(&row, Metric::Time, POOL, Variant::Peer);
    let small = |to| results.ratio(&small::row("as configured"), Metric::ResponsesPerSecond, POOL, to);
    let looped = {
        let median = |metric| results.median(&event_loop::plain_row(), POOL, metric);
        median(Metric::LoopCpuPerResponse).zip(median(Metric::CpuPerResponse)).map(|(part, all)| part / all)
    };
    let none = String::new;
    vec![
        worst("responses/s at br 6, 8 connections, to the peer's", Limit::AtLeast(1.7), rates),
        worst("time of 2.5 MB JSON alone at br 6, to the peer's", Limit::AtMost(0.6), [(time, none())]),
        worst(
            "responses/s of 2 KB JSON, pool to no pool",
            Limit::AtLeast(0.97),
            [(small(Variant::Inline), none())],
        ),
        worst(
            "responses/s of 2 KB JSON, to the peer's",
            Limit::AtLeast(1.0),
            [(small(Variant::Peer), none())],
        ),
        worst(
            "processor time of the event loop, to that of its worker",
            Limit::AtMost(0.04),
            [(looped, none())],
        ),
    ]
}

fn peaks(results: &Results) -> Vec<Claim> {
    let row = |level, connections| memory::row(memory::FILE, br(level), connections);
    let to_peer = |level| {
        let ratio = results.ratio(&row(level, 8), Metric::PeakMemory, POOL, Variant::Peer);
        (ratio, of(memory::FILE, br(level)))
    };
    let growth = |level| {
        let peak = |connections| results.median(&row(level, connections), POOL, Metric::PeakMemory);
        (peak(256).zip(peak(8)).map(|(many, few)| many / few), of(memory::FILE, br(level)))
    };
    let peak = |row: &Row| results.median(row, POOL, Metric::PeakMemory);
    let more = peak(&memory::row(JQUERY, zstd(19), 8))
        .zip(peak(&memory::idle_row()))
        .map(|(busy, idle)| busy - idle);
    vec![
        worst(
            "MiB at zstd 19 on jquery, beyond an idle worker",
            Limit::AtMost(20.0),
            [(more, String::new())],
        ),
        worst(
            "peak memory at br 4, 5 and 6, 8 connections, to the peer's",
            Limit::AtMost(3.5),
            [4, 5, 6].map(to_peer),
        ),
        worst("the same at br 9", Limit::AtMost(2.5), [to_peer(9)]),
        worst("peak memory at 256 connections, to that at 8", Limit::AtMost(1.25), [4, 5, 6, 9].map(growth)),
    ]
}
