//! `make doctest`: runs all that the documents show: the configurations, and the commands in a copy of the sources.

#[path = "../configurations.rs"]
mod configurations;
mod stage;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use harness::documents::{self, Block};

use self::stage::Stage;

/// What became of the blocks of a document.
#[derive(Default)]
struct Count {
    run: usize,
    failed: usize,
    not_run: usize,
    text: usize,
}

fn main() -> ExitCode {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let stage = Stage::new();
    let mut counts = BTreeMap::new();
    for name in documents::names() {
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let count: &mut Count = counts.entry(name.clone()).or_default();
        for block in documents::blocks(&name) {
            let place = block.place();
            if let Some(reason) = &block.not_run {
                println!("{place}: not run: {reason}");
                count.not_run += 1;
                continue;
            }
            if block.language == "text" {
                count.text += 1;
                continue;
            }
            let begin = Instant::now();
            match catch_unwind(AssertUnwindSafe(|| run(&stage, &block))) {
                Ok(Ok(())) => {
                    println!("{place}: {} block, {:.1} s", block.language, begin.elapsed().as_secs_f64());
                    count.run += 1;
                }
                Ok(Err(reason)) => {
                    println!("{place}: not run: {reason}");
                    count.not_run += 1;
                }
                // The panic said why.
                Err(_) => {
                    println!("{place}: FAILED");
                    count.failed += 1;
                }
            }
        }
    }
    println!();
    for (name, Count { run, failed, not_run, text }) in &counts {
        println!("{name}: {run} run, {failed} failed, {not_run} not run, {text} that are text only");
    }
    let good = counts.values().all(|count| count.failed == 0) && counts.values().any(|count| count.run > 0);
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(stage: &Stage, block: &Block) -> Result<(), String> {
    match block.language.as_str() {
        "nginx" => configurations::run(block)?,
        "yaml" => configurations::scrape(block),
        "sh" => stage.run(block),
        language => panic!("{}: how is {language:?} run?", block.place()),
    }
    Ok(())
}
