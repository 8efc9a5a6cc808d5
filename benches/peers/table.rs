//! Figures on the terminal: a table for each metric of a part.

use crate::results::{Figure, Metric, Results, Row};
use crate::server::Variant;

/// Prints the tables of a part. The last column is the module, with two threads where it has a pool, to the peer.
pub fn print(results: &Results, part: &str) {
    let mut metrics: Vec<Metric> = Vec::new();
    for figure in results.figures.iter().filter(|figure| figure.row.part == part) {
        if !metrics.contains(&figure.metric) {
            metrics.push(figure.metric);
        }
    }
    for metric in metrics {
        print_metric(results, part, metric);
    }
}

fn print_metric(results: &Results, part: &str, metric: Metric) {
    let (mut rows, mut variants): (Vec<&Row>, Vec<Variant>) = (Vec::new(), Vec::new());
    for figure in results.figures.iter().filter(|figure| figure.row.part == part && figure.metric == metric) {
        if !rows.contains(&&figure.row) {
            rows.push(&figure.row);
        }
        if !variants.contains(&figure.variant) {
            variants.push(figure.variant);
        }
    }
    let (title, unit) = metric.title();
    println!("{part}: {title} ({unit})\n");
    print!("{:<15} {:<8} {:<22}", "file", "load", "setting");
    variants.iter().for_each(|variant| print!(" {:>11}", variant.to_string()));
    println!(" {:>11}", "pool 2/peer");
    for row in rows {
        print!("{:<15} {:<8} {:<22}", row.file, row.load.to_string(), row.setting);
        for variant in &variants {
            print!(" {:>11}", results.figure(row, *variant, metric).map_or(String::new(), Figure::text));
        }
        let ratio = results.ratio(row, metric, Variant::Pool(2), Variant::Peer);
        println!(" {:>11}", ratio.map_or(String::new(), |ratio| format!("{ratio:.4}")));
    }
    println!();
}
