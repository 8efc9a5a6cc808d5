//! Sizes and times at several levels, each body decoded and compared with what went in.

use std::time::{Duration, Instant};

use harness::{Nginx, corpus, get};

use crate::{Place, location};

const MIB: usize = 1 << 20;

/// Level 11 of 3 MiB, on a machine that does something else too.
const PATIENCE: Duration = Duration::from_secs(60);

const CASES: [Case; 5] = [
    Case { coding: "br", directive: "brotli", level: 4 },
    Case { coding: "br", directive: "brotli", level: 6 },
    Case { coding: "br", directive: "brotli", level: 11 },
    Case { coding: "zstd", directive: "zstd", level: 3 },
    Case { coding: "zstd", directive: "zstd", level: 19 },
];

struct Case {
    coding: &'static str,
    directive: &'static str,
    level: i32,
}

impl Case {
    fn name(&self) -> String {
        format!("{}{}", self.coding, self.level)
    }

    fn location(&self) -> String {
        let Self { directive, level, .. } = self;
        location(
            &self.name(),
            &format!(
                "{directive} on; {directive}_comp_level {level}; {directive}_thread_pool compress;
                 {directive}_types text/plain application/json;"
            ),
        )
    }
}

/// The body that the latencies are measured with, too.
pub fn source_text() -> (String, Vec<u8>) {
    ("source.txt".into(), corpus::nginx_source_text(MIB))
}

/// Prints the table.
///
/// # Errors
/// A body did not come out as it went in.
pub fn compare(place: &Place) -> Result<(), String> {
    let files = [
        source_text(),
        ("source.html".into(), corpus::nginx_source_text(3 * MIB)),
        ("records.json".into(), corpus::json(MIB)),
    ];
    let locations: String = CASES.iter().map(Case::location).collect();
    let (nginx, port) = place.start(&files, &locations);

    println!("Every body on the thread pool, decoded and compared with the file:\n");
    println!(
        "{:<14} {:<6} {:>5} {:>10} {:>10} {:>6} {:>9}  same",
        "file", "coding", "level", "bytes in", "bytes out", "ratio", "time"
    );
    let mut wrong = 0;
    for (name, bytes) in &files {
        for case in &CASES {
            let same = row(&nginx, port, case, name, bytes);
            wrong += usize::from(!same);
        }
    }
    println!();
    if wrong > 0 { Err(format!("{wrong} bodies did not come out as they went in")) } else { Ok(()) }
}

/// Prints one row; says whether the body is right.
fn row(nginx: &Nginx, port: u16, case: &Case, file: &str, bytes: &[u8]) -> bool {
    let request = get(nginx, &format!("/{}/{file}", case.name())).port(port).accept(case.coding);
    let begin = Instant::now();
    let response = request.timeout(PATIENCE).send();
    let time = begin.elapsed().as_secs_f64() * 1000.0;
    let same = if response.coding() != case.coding {
        Err(format!("NO: the coding is \"{}\"", response.coding()))
    } else {
        match response.decoded() {
            Ok(decoded) if decoded == bytes => Ok(()),
            Ok(_) => Err("NO: other bytes".into()),
            Err(error) => Err(format!("NO: {error}")),
        }
    };
    println!(
        "{file:<14} {:<6} {:>5} {:>10} {:>10} {:>6.2} {time:>6.0} ms  {}",
        case.coding,
        case.level,
        bytes.len(),
        response.body.len(),
        bytes.len() as f64 / response.body.len().max(1) as f64,
        same.as_ref().map_or_else(String::as_str, |()| "yes")
    );
    same.is_ok()
}
