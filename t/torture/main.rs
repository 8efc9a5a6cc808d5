//! `make torture`: an NGINX that is treated badly for some minutes, and must not mind.
//!
//! Clients ask for bodies of all sizes at all levels, by HTTP/1 and HTTP/2, with and without TLS, of files and of an
//! upstream server; they read, read slowly, leave, or close their half of the connection, at random. Every body that
//! comes whole is decoded, by decoders that share no code with the module, and compared.
//!
//! Two NGINXes take the same load: one is never reloaded, so that its memory can be watched, and the other is reloaded
//! every few seconds.
//!
//! `MINUTES` is how long it takes (5), `SEED` makes the same choices again; `CLIENTS` is how many there are (40).

mod case;
mod catalog;
mod client;
mod counts;
mod http1;
mod http2;
mod judge;
mod origin;
mod server;
mod transport;
mod watch;

use std::env;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use harness::corpus::Random;
use harness::locate;

use crate::case::Site;
use crate::catalog::Catalog;
use crate::counts::Counts;
use crate::server::Server;

/// The part of the time after which memory is looked at for the first time, unless that is over a minute.
const FIRST: f64 = 0.4;

fn main() -> ExitCode {
    let settings = match Settings::from_environment() {
        Ok(settings) => settings,
        Err(reason) => {
            eprintln!("torture: {reason}");
            return ExitCode::FAILURE;
        }
    };
    println!(
        "SEED={} MINUTES={} CLIENTS={}, {} with {}",
        settings.seed,
        settings.minutes,
        settings.clients,
        locate::nginx().display(),
        locate::module().display()
    );
    if torture(&settings) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What the environment says.
struct Settings {
    minutes: f64,
    seed: u64,
    clients: usize,
}

impl Settings {
    fn from_environment() -> Result<Self, String> {
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_millis() as u64);
        let settings = Self {
            minutes: variable("MINUTES")?.unwrap_or(5.0),
            seed: variable("SEED")?.unwrap_or(clock % 1_000_000),
            clients: variable("CLIENTS")?.unwrap_or(40),
        };
        if !(0.1..=10_000.0).contains(&settings.minutes) || settings.clients == 0 {
            return Err("MINUTES is from 0.1 to 10000, and there is at least one of CLIENTS".into());
        }
        if !locate::nginx_has("--with-threads") {
            return Err("this NGINX was built without --with-threads".into());
        }
        Ok(settings)
    }
}

fn variable<T: std::str::FromStr>(name: &str) -> Result<Option<T>, String> {
    match env::var(name) {
        Ok(text) if !text.is_empty() => {
            text.parse().map(Some).map_err(|_| format!("{name}={text} is no number"))
        }
        _ => Ok(None),
    }
}

/// Does it all, prints the table, and says whether all was well.
fn torture(settings: &Settings) -> bool {
    let catalog = Arc::new(Catalog::make());
    let origin = origin::start(catalog.clone());
    let files = catalog.write();
    let mut servers = ["steady", "reloaded"].map(|name| Server::start(name, files.path(), &origin.url()));
    let counts = Arc::new(Counts::default());

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("threads for the clients");
    let mut random = Random::new(settings.seed);
    let total = Duration::from_secs_f64(settings.minutes * 60.0);
    let first = total.mul_f64(FIRST).min(Duration::from_secs(60));
    for (phase, time, is_first) in [("the first part", first, true), ("the rest", total - first, false)] {
        let sites = Arc::new(servers.iter().map(|server| Site::new(&server.nginx)).collect::<Vec<_>>());
        let end = Instant::now() + time;
        let clients: Vec<_> = (0..settings.clients)
            .map(|_| client::Client::new(sites.clone(), catalog.clone(), counts.clone(), &mut random))
            .map(|mut client| {
                runtime.spawn(async move {
                    if is_first {
                        client.begin().await;
                    }
                    client.run(end).await;
                })
            })
            .collect();
        watch::watch(&mut servers, end, &counts, &mut random);
        runtime.block_on(client::wait_for(clients, &counts));
        watch::wait_until_quiet(&mut servers, &counts);
        println!("{phase} is over after {:.0} s", time.as_secs_f64());
    }
    let reports = servers.map(|server| server.end(&counts));
    counts.print();
    reports.iter().for_each(server::Report::print);
    counts.is_good() && reports.iter().all(server::Report::is_good)
}
