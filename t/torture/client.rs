//! A client: connects again and again, and has some requests on each connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::corpus::Random;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::case::{Case, Manner, Site};
use crate::catalog::Catalog;
use crate::counts::{Counts, Outcome};
use crate::judge::{End, Received, judge};
use crate::{http1, http2, transport};

/// So long without a byte is no answer.
pub const SILENCE: Duration = Duration::from_secs(60);
/// So long do slow readers pause in all.
const SLOW: Duration = Duration::from_secs(6);
/// So many costly requests does a client begin with, for bodies of such a length.
const COSTLY: usize = 2;
const COSTLY_LENGTH: usize = 1_048_576;
/// So long may clients take after the end.
const GRACE: Duration = Duration::from_secs(180);

/// One client.
pub struct Client {
    sites: Arc<Vec<Site>>,
    catalog: Arc<Catalog>,
    counts: Arc<Counts>,
    random: Random,
}

impl Client {
    pub fn new(
        sites: Arc<Vec<Site>>,
        catalog: Arc<Catalog>,
        counts: Arc<Counts>,
        random: &mut Random,
    ) -> Self {
        Self { sites, catalog, counts, random: Random::new(random.number()) }
    }

    /// Asks each server, at the time at which all others do, for what is most costly. What memory a server needs at
    /// most is known then; otherwise it would be chance when as much comes together again.
    pub async fn begin(&mut self) {
        for site in self.sites.clone().iter() {
            for _ in 0..COSTLY {
                let case = Case::costly(COSTLY_LENGTH);
                let connecting = timeout(http1::CONNECT, transport::connect(site.http1, false, None));
                let Some(stream) = self.connected(connecting.await, site.http1) else { return };
                let mut connection = http1::Connection::new(stream);
                let received = match connection.send(&case, 1).await {
                    Ok(()) => connection.receive(&case).await,
                    Err(end) => Received { end, ..Default::default() },
                };
                self.judge(&case, received, false, "at the beginning").await;
            }
        }
    }

    /// Has one connection after the other until `end`.
    pub async fn run(mut self, end: Instant) {
        while Instant::now() < end {
            let place = self.random.below(self.sites.len());
            let site = self.sites[place].clone();
            let is_reloaded = place > 0;
            match self.random.below(4) {
                0 => self.http1(site.http1, None, end).await,
                1 => self.http1(site.tls, Some(b"http/1.1"), end).await,
                2 => self.http2(site.http2, None, is_reloaded).await,
                _ => self.http2(site.tls, Some(b"h2"), is_reloaded).await,
            }
        }
    }

    async fn http1(&mut self, port: u16, alpn: Option<&'static [u8]>, end: Instant) {
        let small_buffer = self.random.below(4) == 0;
        let connecting = transport::connect(port, small_buffer, alpn);
        let Some(stream) = self.connected(timeout(http1::CONNECT, connecting).await, port) else { return };
        let from = local_port(stream.as_ref());
        let mut connection = http1::Connection::new(stream);
        let mut ahead: Option<Case> = None;
        for left in (0..=self.random.below(6)).rev() {
            let version = u8::from(left > 0 || ahead.is_some() || self.random.below(2) == 0);
            let name = format!("HTTP/1.{version} to port {port} from {from}");
            let case = match ahead.take() {
                Some(case) => case,
                None => {
                    let case = Case::new(&mut self.random);
                    let sent = connection.send(&case, version).await;
                    if let Err(end) = sent {
                        let received = Received { end, ..Default::default() };
                        return self.judge(&case, received, connection.has_served, &name).await;
                    }
                    case
                }
            };
            // The next request may come before the response to this one, which is read then.
            if left > 0 && case.manner == Manner::Whole && self.random.below(6) == 0 {
                let next = Case { manner: Manner::Whole, ..Case::new(&mut self.random) };
                ahead = connection.send(&next, 1).await.ok().map(|()| next);
            }
            let was_used = connection.has_served;
            let received = connection.receive(&case).await;
            self.judge(&case, received, was_used, &name).await;
            if !connection.is_open || case.manner == Manner::HalfClose || Instant::now() >= end {
                break;
            }
        }
        connection.leave(self.random.below(2) == 0);
    }

    async fn http2(&mut self, port: u16, alpn: Option<&'static [u8]>, is_reloaded: bool) {
        let connecting = transport::connect(port, false, alpn);
        let Some(stream) = self.connected(timeout(http1::CONNECT, connecting).await, port) else { return };
        let name = format!("HTTP/2 to port {port} from {}", local_port(stream.as_ref()));
        let window = [16_000, 65_535, 1 << 20][self.random.below(3)];
        let connection = match http2::Connection::new(stream, window).await {
            Ok(connection) => connection,
            Err(error) if is_reloaded && error.is_io() => return,
            Err(error) => {
                return self.counts.add(&Outcome::Failed(format!("HTTP/2 to port {port}: {error}")), "");
            }
        };
        let mut streams = JoinSet::new();
        for _ in 0..=self.random.below(5) {
            let (sender, case) = (connection.sender(), Case::new(&mut self.random));
            let (catalog, counts, name) = (self.catalog.clone(), self.counts.clone(), name.clone());
            streams.spawn(async move {
                let received = http2::exchange(sender, &case, alpn.is_some()).await;
                let outcome = judge(&case, received, is_reloaded, &catalog, &counts).await;
                counts.add(&outcome, &format!("{name}, {case:?}"));
            });
        }
        if self.random.below(6) == 0 {
            // All at once, wherever they are.
            sleep(Duration::from_millis(self.random.below(300) as u64)).await;
            let left = streams.len();
            streams.abort_all();
            connection.leave();
            (0..left).for_each(|_| self.counts.add(&Outcome::Aborted, ""));
            return;
        }
        while streams.join_next().await.is_some() {}
    }

    fn connected<T>(
        &self,
        connected: Result<std::io::Result<T>, tokio::time::error::Elapsed>,
        port: u16,
    ) -> Option<T> {
        match connected {
            Ok(Ok(stream)) => return Some(stream),
            Ok(Err(error)) => {
                self.counts.add(&Outcome::Failed(format!("connecting to port {port}: {error}")), "");
            }
            Err(_) => self.counts.add(&Outcome::Hang(format!("connecting to port {port}")), ""),
        }
        None
    }

    async fn judge(&self, case: &Case, received: Received, was_used: bool, connection: &str) {
        let outcome = judge(case, received, was_used, &self.catalog, &self.counts).await;
        self.counts.add(&outcome, &format!("{connection}, {case:?}"));
    }
}

/// What tells connections apart.
fn local_port(stream: &dyn transport::Stream) -> u16 {
    stream.socket().local_addr().map_or(0, |address| address.port())
}

/// Waits for the clients, but not for ever.
pub async fn wait_for(clients: Vec<JoinHandle<()>>, counts: &Counts) {
    let end = tokio::time::Instant::now() + GRACE;
    for client in clients {
        match tokio::time::timeout_at(end, client).await {
            Ok(ended) => ended.expect("clients do not panic"),
            Err(_) => counts.hang("a client does not come to its end"),
        }
    }
}

/// How a body is read.
pub struct Pace {
    manner: Manner,
    taken: usize,
    since_pause: usize,
    paused: Duration,
}

impl Pace {
    pub fn new(manner: Manner) -> Self {
        Self { manner, taken: 0, since_pause: 0, paused: Duration::ZERO }
    }

    /// So many more bytes came.
    ///
    /// # Errors
    /// The client leaves.
    pub async fn took(&mut self, count: usize) -> Result<(), End> {
        self.taken += count;
        self.since_pause += count;
        match self.manner {
            Manner::LeaveAfter(length) if self.taken >= length => return Err(End::Left),
            Manner::Slow { piece, pause } if self.since_pause >= piece && self.paused < SLOW => {
                self.since_pause = 0;
                self.paused += pause;
                sleep(pause).await;
            }
            _ => {}
        }
        Ok(())
    }
}
