//! What a client asks for, and how it behaves: all at random.

use std::time::Duration;

use harness::Nginx;
use harness::corpus::Random;

use crate::catalog::{self, Catalog, Kind, TAIL};
use crate::origin::Way;
use crate::server::{PROFILES, Profile};

/// Where an NGINX listens.
#[derive(Clone, Debug)]
pub struct Site {
    pub http1: u16,
    pub http2: u16,
    pub tls: u16,
}

impl Site {
    pub fn new(nginx: &Nginx) -> Self {
        Self { http1: nginx.port(), http2: nginx.http2_port(), tls: nginx.tls_port() }
    }
}

/// A request and its client.
#[derive(Clone, Debug)]
pub struct Case {
    pub path: String,
    pub accept: &'static str,
    pub kind: Kind,
    pub length: usize,
    /// A sub-request adds something.
    pub has_tail: bool,
    /// The upstream server breaks off.
    pub is_short: bool,
    pub manner: Manner,
}

/// How a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// All, as it comes.
    Whole,
    /// All, with so long a pause after so many bytes, for some seconds at most.
    Slow { piece: usize, pause: Duration },
    /// Leaves after so many bytes of the body.
    LeaveAfter(usize),
    /// Leaves after some time.
    LeaveIn(Duration),
    /// Says with the request that nothing more will come from it. NGINX may take that for leaving. Of HTTP/1 alone.
    HalfClose,
}

const ACCEPTS: [&str; 7] =
    ["br", "zstd", "br, zstd;q=0.9", "zstd, br", "gzip, deflate, br, zstd", "gzip", "identity"];

impl Case {
    /// Any case.
    pub fn new(random: &mut Random) -> Self {
        let profile = PROFILES[random.below(PROFILES.len())];
        let kind = Kind::ALL[[0, 0, 1, 1, 2][random.below(5)]];
        let accept = ACCEPTS[[0, 0, 0, 1, 1, 1, 2, 3, 4, 5, 6][random.below(11)]];
        let proxied = random.below(2) == 0;
        let manner = Manner::new(random);
        let (place, length, way) = if proxied {
            let way = Way::ALL[[0, 0, 1, 1, 2, 2, 3, 3, 4, 5][random.below(10)]];
            let place = ["buffered", "unbuffered"][random.below(2)];
            let most = if way == Way::Drops { profile.most.min(200_000) } else { profile.most };
            // Something must be missing of a body that breaks off.
            let length = length(random, most).max(if way.is_short() { 1000 } else { 0 });
            (place, length, Some(way))
        } else {
            let place = ["sendfile", "copied", "aio", "limited", "tail"][random.below(5)];
            (place, file_length(random, profile), None)
        };
        let directory = way.map_or(String::new(), |way| format!("{}/", way.name()));
        Self {
            path: format!("/{place}/{}/{directory}{length}.{}", profile.name, kind.name()),
            accept,
            kind,
            length,
            has_tail: place == "tail",
            is_short: way.is_some_and(Way::is_short),
            manner,
        }
    }

    /// One that needs as much memory as any: with many of them at once, all threads need it at one time.
    pub fn costly(length: usize) -> Self {
        Self {
            path: format!("/buffered/dense/length/{length}.json"),
            accept: "br",
            kind: Kind::Json,
            length,
            has_tail: false,
            is_short: false,
            manner: Manner::Whole,
        }
    }

    /// Whether the bytes are those that the response must have.
    pub fn is_right(&self, catalog: &Catalog, bytes: &[u8]) -> bool {
        let body = catalog.body(self.kind, self.length);
        match bytes.split_at_checked(body.len()) {
            Some((begin, rest)) => begin == body && rest == if self.has_tail { TAIL } else { b"" },
            None => false,
        }
    }
}

impl Manner {
    fn new(random: &mut Random) -> Self {
        match random.below(20) {
            0..=10 => Self::Whole,
            11..=12 => Self::Slow {
                piece: 1 << (10 + random.below(7)),
                pause: Duration::from_millis(1 + random.below(50) as u64),
            },
            13..=15 => Self::LeaveAfter(below_one_of(random, [100, 10_000, 1_000_000])),
            16..=18 => Self::LeaveIn(Duration::from_millis(below_one_of(random, [3, 30, 1000]) as u64)),
            _ => Self::HalfClose,
        }
    }
}

fn below_one_of(random: &mut Random, limits: [usize; 3]) -> usize {
    let limit = limits[random.below(3)];
    random.below(limit)
}

/// Mostly short, sometimes as long as it can be.
fn length(random: &mut Random, most: usize) -> usize {
    let scale =
        [30, 3_000, 3_000, 30_000, 30_000, 300_000, 300_000, 3_000_000, catalog::LONGEST][random.below(9)];
    random.below(scale.min(most) + 1)
}

fn file_length(random: &mut Random, profile: Profile) -> usize {
    let wanted = length(random, profile.most);
    catalog::FILES.into_iter().filter(|length| *length <= wanted.max(1)).max().unwrap_or(0)
}
