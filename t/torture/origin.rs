//! The upstream server: sends any body, framed and paced as the path says: `/WAY/LENGTH.KIND`.

use std::sync::Arc;
use std::time::Duration;

use harness::corpus::Random;
use harness::{Conn, Upstream};

use crate::catalog::{Catalog, Kind};

/// How a body comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// With its length, at once.
    Length,
    /// In chunks, at once.
    Chunks,
    /// Until the connection ends.
    Close,
    /// In small chunks with pauses.
    Drops,
    /// Half of it, and then the connection ends.
    Half,
    /// Half of it, and then the connection is reset.
    Reset,
}

impl Way {
    pub const ALL: [Self; 6] =
        [Self::Length, Self::Chunks, Self::Close, Self::Drops, Self::Half, Self::Reset];

    pub fn name(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Chunks => "chunks",
            Self::Close => "close",
            Self::Drops => "drops",
            Self::Half => "half",
            Self::Reset => "reset",
        }
    }

    /// Whether the body breaks off.
    pub fn is_short(self) -> bool {
        matches!(self, Self::Half | Self::Reset)
    }
}

/// Starts the server.
pub fn start(catalog: Arc<Catalog>) -> Upstream {
    Upstream::start(move |mut conn| {
        let Some(request) = conn.read_request() else { return };
        let Some((way, kind, length)) = parse(&request.path) else {
            conn.send_head(400, &["Content-Length: 0"]);
            return;
        };
        answer(conn, way, kind, catalog.body(kind, length));
    })
}

fn parse(path: &str) -> Option<(Way, Kind, usize)> {
    let (way, file) = path.strip_prefix('/')?.split_once('/')?;
    let (length, kind) = file.split_once('.')?;
    let way = Way::ALL.into_iter().find(|known| known.name() == way)?;
    let kind = Kind::ALL.into_iter().find(|known| known.name() == kind)?;
    Some((way, kind, length.parse().ok()?))
}

fn answer(mut conn: Conn, way: Way, kind: Kind, body: &[u8]) {
    let media_type = format!("Content-Type: {}", kind.media_type());
    let length = format!("Content-Length: {}", body.len());
    match way {
        Way::Length => {
            conn.send_head(200, &[&media_type, &length, "Connection: close"]);
            conn.send(body);
        }
        Way::Close => {
            conn.send_head(200, &[&media_type, "Connection: close"]);
            conn.send(body);
        }
        Way::Chunks => {
            conn.send_head(200, &[&media_type, "Transfer-Encoding: chunked"]);
            send_chunks(&mut conn, body, 65_000);
            conn.send_last_chunk();
        }
        Way::Drops => {
            conn.send_head(200, &[&media_type, "Transfer-Encoding: chunked"]);
            drip(&mut conn, body);
            conn.send_last_chunk();
        }
        Way::Half => {
            conn.send_head(200, &[&media_type, &length]);
            conn.send(&body[..body.len() / 2]);
        }
        Way::Reset => {
            conn.send_head(200, &[&media_type, "Transfer-Encoding: chunked"]);
            send_chunks(&mut conn, &body[..body.len() / 2], 30_000);
            conn.reset();
        }
    }
}

fn send_chunks(conn: &mut Conn, body: &[u8], chunk: usize) {
    for chunk in body.chunks(chunk) {
        if conn.is_closed() {
            return;
        }
        conn.send_chunk(chunk);
    }
}

/// About 40 pieces with pauses of up to 20 ms.
fn drip(conn: &mut Conn, body: &[u8]) {
    let mut random = Random::new(body.len() as u64);
    let mut rest = body;
    while !rest.is_empty() && !conn.is_closed() {
        let piece;
        (piece, rest) = rest.split_at((1 + random.below(body.len() / 20 + 1)).min(rest.len()));
        conn.send_chunk(piece);
        conn.pause(Duration::from_millis(random.below(20) as u64));
    }
}
