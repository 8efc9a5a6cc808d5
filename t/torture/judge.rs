//! What a response was: the end that it came to, and whether its body is right.

use std::sync::Arc;

use harness::decode::decode;
use tokio::sync::Semaphore;

use crate::case::{Case, Manner};
use crate::catalog::Catalog;
use crate::counts::{Counts, Outcome};

/// Bodies that are decoded at once.
static DECODERS: Semaphore = Semaphore::const_new(2);

/// A response as far as it came.
#[derive(Debug, Default)]
pub struct Received {
    pub status: u16,
    pub coding: String,
    pub body: Vec<u8>,
    pub end: End,
    /// Without a length, chunks or frames: the end of the connection is that of the body.
    pub is_unframed: bool,
}

/// How it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// As the framing wants.
    #[default]
    Whole,
    /// The client left.
    Left,
    /// The connection or stream ended before it.
    Cut(String),
    /// The connection ended before there was any of it.
    Nothing(String),
    /// Nothing came any more.
    Silence,
}

/// Says what became of a case. `is_reused` says that the connection had served before, so that it could close.
pub async fn judge(
    case: &Case,
    received: Received,
    is_reused: bool,
    catalog: &Arc<Catalog>,
    counts: &Counts,
) -> Outcome {
    match &received.end {
        End::Whole => {}
        End::Left => return Outcome::Aborted,
        End::Silence => return Outcome::Hang(format!("nothing came after {} bytes", received.body.len())),
        // NGINX may take a half that is closed for a client that leaves.
        End::Cut(_) | End::Nothing(_) if case.manner == Manner::HalfClose => return Outcome::Aborted,
        End::Nothing(_) if is_reused => return Outcome::Again,
        // A reset can come before the header was read.
        End::Cut(_) | End::Nothing(_) if case.is_short => return Outcome::Short,
        End::Cut(reason) | End::Nothing(reason) => {
            return Outcome::Failed(format!("ended after {} bytes: {reason}", received.body.len()));
        }
    }
    if received.status != 200 {
        // An upstream server that resets may be gone before its header was read.
        let is_gone = case.is_short && received.status == 502;
        return if is_gone { Outcome::Short } else { Outcome::Failed(format!("status {}", received.status)) };
    }
    if case.is_short && received.is_unframed && received.coding.is_empty() {
        // Nothing tells the client, and the module has no part in it.
        return Outcome::Short;
    }
    if !received.coding.is_empty() && !case.accept.contains(&received.coding) {
        return Outcome::Mismatch(format!("coding {} was not accepted", received.coding));
    }
    decode_and_compare(case, received, catalog, counts).await
}

async fn decode_and_compare(
    case: &Case,
    received: Received,
    catalog: &Arc<Catalog>,
    counts: &Counts,
) -> Outcome {
    let _permit = DECODERS.acquire().await.expect("it is never closed");
    let (case, catalog) = (case.clone(), catalog.clone());
    let coding = received.coding.clone();
    let judged = tokio::task::spawn_blocking(move || {
        let Received { coding, body, .. } = received;
        match decode(&coding, &body) {
            Ok(decoded) if case.is_right(&catalog, &decoded) && !case.is_short => Ok(decoded.len()),
            Ok(decoded) => Err(format!("{coding}: {} bytes are not the body", decoded.len())),
            Err(error) => Err(format!("{coding}: {} bytes do not decode: {error}", body.len())),
        }
    });
    match judged.await.expect("decoders do not panic") {
        Ok(length) => {
            counts.add_body(length, coding == "br" || coding == "zstd");
            Outcome::Complete
        }
        Err(reason) => Outcome::Mismatch(reason),
    }
}
