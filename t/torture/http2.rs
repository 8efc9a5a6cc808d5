//! A client of HTTP/2: some streams on one connection, each of which behaves as its case says.

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{Error, Reason, RecvStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::case::{Case, Manner};
use crate::client::{Pace, SILENCE};
use crate::judge::{End, Received};
use crate::transport::Stream;

/// A connection.
pub struct Connection {
    sender: SendRequest<Bytes>,
    driver: JoinHandle<()>,
}

impl Connection {
    /// Begins to speak; at most `window` bytes of a body are under way.
    pub async fn new(stream: Box<dyn Stream>, window: u32) -> Result<Self, Error> {
        let mut builder = h2::client::Builder::new();
        builder
            .initial_window_size(window)
            .initial_connection_window_size(window.max(1 << 20))
            .enable_push(false);
        let (sender, connection) = builder.handshake(stream).await?;
        let driver = tokio::spawn(async {
            // The streams see the error.
            let _ = connection.await;
        });
        Ok(Self { sender, driver })
    }

    /// What sends requests on it.
    pub fn sender(&self) -> SendRequest<Bytes> {
        self.sender.clone()
    }

    /// Ends the connection, with all its streams, at once.
    pub fn leave(self) {
        self.driver.abort();
    }
}

/// Sends the request of a case, and receives the response, or as much of it as the case wants.
pub async fn exchange(sender: SendRequest<Bytes>, case: &Case, tls: bool) -> Received {
    let mut received = Received::default();
    let exchanging = try_exchange(sender, case, tls, &mut received);
    let ended = match case.manner {
        // The stream is dropped, which resets it.
        Manner::LeaveIn(time) => timeout(time, exchanging).await.unwrap_or(Err(End::Left)),
        _ => exchanging.await,
    };
    if let Err(end) = ended {
        received.end = end;
    }
    received
}

async fn try_exchange(
    sender: SendRequest<Bytes>,
    case: &Case,
    tls: bool,
    received: &mut Received,
) -> Result<(), End> {
    let scheme = if tls { "https" } else { "http" };
    let request = http::Request::get(format!("{scheme}://localhost{}", case.path))
        .header("accept-encoding", case.accept)
        .body(())
        .expect("a good request");
    let asking = async {
        let mut sender = sender.ready().await?;
        let (response, sending) = sender.send_request(request, true)?;
        Ok((response.await?, sending))
    };
    let (response, mut sending) = match timeout(SILENCE, asking).await {
        Ok(answer) => answer.map_err(before_header)?,
        Err(_) => return Err(End::Silence),
    };
    received.status = response.status().as_u16();
    let coding = response.headers().get("content-encoding").map(|value| value.as_bytes().to_vec());
    received.coding = String::from_utf8_lossy(&coding.unwrap_or_default()).into_owned();
    let ended = read_body(response.into_body(), received, case.manner).await;
    if ended == Err(End::Left) {
        sending.send_reset(Reason::CANCEL);
    }
    ended
}

async fn read_body(mut body: RecvStream, received: &mut Received, manner: Manner) -> Result<(), End> {
    let mut pace = Pace::new(manner);
    loop {
        let piece = match timeout(SILENCE, body.data()).await {
            Ok(None) => return Ok(()),
            Ok(Some(piece)) => piece.map_err(|error| End::Cut(error.to_string()))?,
            Err(_) => return Err(End::Silence),
        };
        received.body.extend_from_slice(&piece);
        pace.took(piece.len()).await?;
        body.flow_control().release_capacity(piece.len()).map_err(|error| End::Cut(error.to_string()))?;
    }
}

/// A connection that is closed, or will be, does not take the request.
fn before_header(error: Error) -> End {
    let is_closed = error.is_go_away() || error.is_io() || error.reason() == Some(Reason::REFUSED_STREAM);
    if is_closed { End::Nothing(error.to_string()) } else { End::Cut(error.to_string()) }
}
