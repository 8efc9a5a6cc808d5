//! A client that speaks HTTP/2 with prior knowledge, several streams on one connection.

use std::future::Future;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream};
use tokio::net::TcpStream;
use tokio::runtime::{self, Runtime};
use tokio::time::timeout;

use crate::{Response, TIMEOUT, Version};

/// A connection. It closes when it and its streams are dropped.
pub struct Http2 {
    runtime: Arc<Runtime>,
    sender: SendRequest<Bytes>,
}

/// One request and its response.
pub struct Http2Stream {
    runtime: Arc<Runtime>,
    sending: SendStream<Bytes>,
    response: Option<ResponseFuture>,
    body: Option<RecvStream>,
    timeout: Duration,
}

impl Http2 {
    /// Connects, with windows that stop no response.
    pub fn connect(port: u16) -> io::Result<Http2> {
        Self::connect_with_window(port, 1 << 24)
    }

    /// Connects; at most `window` bytes of each body are under way until they are read.
    pub fn connect_with_window(port: u16, window: u32) -> io::Result<Http2> {
        let runtime = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (sender, connection) = block(&runtime, TIMEOUT, async {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
            let mut builder = h2::client::Builder::new();
            builder.initial_window_size(window).initial_connection_window_size(1 << 26).enable_push(false);
            builder.handshake(stream).await.map_err(into_io)
        })?;
        runtime.spawn(async {
            // Its streams see the error.
            let _ = connection.await;
        });
        Ok(Http2 { runtime: Arc::new(runtime), sender })
    }

    /// Sends a GET request.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> io::Result<Http2Stream> {
        self.request("GET", path, headers, &[])
    }

    /// Sends a request.
    pub fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Http2Stream> {
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("http://localhost{path}"))
            .version(http::Version::HTTP_2);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).map_err(io::Error::other)?;
        let sender = self.sender.clone();
        let (response, mut sending) = block(&self.runtime, TIMEOUT, async {
            sender
                .ready()
                .await
                .and_then(|mut sender| sender.send_request(request, body.is_empty()))
                .map_err(into_io)
        })?;
        if !body.is_empty() {
            // A server may answer and end the stream before it has the body; what went wrong otherwise, the answer shows.
            let _ = sending.send_data(Bytes::copy_from_slice(body), true);
        }
        let runtime = Arc::clone(&self.runtime);
        Ok(Http2Stream { runtime, sending, response: Some(response), body: None, timeout: TIMEOUT })
    }
}

impl Http2Stream {
    /// The longest that any one read may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Reads the header; the response's body is still empty and not complete. Call it once, before the pieces.
    pub fn read_head(&mut self) -> io::Result<Response> {
        let response = self.response.take().ok_or_else(|| io::Error::other("the header was read before"))?;
        let (head, body) =
            block(&self.runtime, self.timeout, async { response.await.map_err(into_io) })?.into_parts();
        self.body = Some(body);
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Ok(Response {
            version: Version::Http2,
            status: head.status.as_u16(),
            headers: head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
            body: Vec::new(),
            complete: false,
        })
    }

    /// Reads the next piece of the body; none at its end. What was not read holds the server back.
    ///
    /// # Errors
    ///
    /// `ConnectionReset` if the stream was reset, or the connection ended.
    pub fn read_piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(body) = &mut self.body else { return Err(io::Error::other("read the header first")) };
        loop {
            let piece =
                block(&self.runtime, self.timeout, async { body.data().await.transpose().map_err(into_io) })?;
            let Some(piece) = piece else { return Ok(None) };
            body.flow_control().release_capacity(piece.len()).map_err(into_io)?;
            // A frame that only ends the stream has no bytes.
            if !piece.is_empty() {
                return Ok(Some(piece.to_vec()));
            }
        }
    }

    /// Reads the whole response. One whose stream was reset is returned as not complete.
    ///
    /// # Errors
    ///
    /// If there was no response, or it stalled for the whole time limit.
    pub fn finish(mut self) -> io::Result<Response> {
        let mut response = self.read_head()?;
        loop {
            match self.read_piece() {
                Ok(Some(piece)) => response.body.extend(piece),
                Ok(None) => {
                    response.complete = true;
                    return Ok(response);
                }
                Err(err) if err.kind() == io::ErrorKind::TimedOut => return Err(err),
                Err(_) => return Ok(response),
            }
        }
    }

    /// Ends the stream by RST_STREAM, as a browser does that needs the response no more.
    pub fn reset(mut self) {
        self.sending.send_reset(Reason::CANCEL);
    }
}

fn block<T>(runtime: &Runtime, limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    runtime.block_on(async {
        match timeout(limit, work).await {
            Ok(result) => result,
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the server sent nothing")),
        }
    })
}

fn into_io(err: h2::Error) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, err)
}
