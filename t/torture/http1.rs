//! A client of HTTP/1, which behaves as a case says.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::case::{Case, Manner};
use crate::client::{Pace, SILENCE};
use crate::judge::{End, Received};
use crate::transport::{self, Stream};

/// A connection, with what came and was not read yet.
pub struct Connection {
    stream: Box<dyn Stream>,
    buffer: Vec<u8>,
    /// Whether a response came.
    pub has_served: bool,
    /// Whether NGINX keeps it for another request.
    pub is_open: bool,
}

/// What tells where a body ends.
enum Framing {
    Length(usize),
    Chunks,
    Close,
}

impl Connection {
    pub fn new(stream: Box<dyn Stream>) -> Self {
        Self { stream, buffer: Vec::new(), has_served: false, is_open: true }
    }

    /// Sends the request of a case; `version` is 0 or 1.
    pub async fn send(&mut self, case: &Case, version: u8) -> Result<(), End> {
        let Case { path, accept, manner, .. } = case;
        let keep = if version == 1 { "" } else { "Connection: close\r\n" };
        let request = format!(
            "GET {path} HTTP/1.{version}\r\nHost: localhost\r\n{keep}Accept-Encoding: {accept}\r\n\r\n"
        );
        let sent = async {
            self.stream.write_all(request.as_bytes()).await?;
            self.stream.flush().await?;
            if *manner == Manner::HalfClose { self.stream.shutdown().await } else { Ok(()) }
        };
        match timeout(SILENCE, sent).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(End::Nothing(error.to_string())),
            Err(_) => Err(End::Silence),
        }
    }

    /// Receives the response, or as much of it as the case wants.
    pub async fn receive(&mut self, case: &Case) -> Received {
        let mut received = Received::default();
        let receiving = self.read(case, &mut received);
        let ended = match case.manner {
            Manner::LeaveIn(time) => timeout(time, receiving).await.unwrap_or(Err(End::Left)),
            _ => receiving.await,
        };
        if let Err(end) = ended {
            self.is_open = false;
            received.end = end;
        }
        self.has_served = true;
        received
    }

    /// Ends the connection, by a reset or not.
    pub fn leave(self, by_reset: bool) {
        if by_reset {
            transport::reset_at_end(self.stream.as_ref());
        }
    }

    async fn read(&mut self, case: &Case, received: &mut Received) -> Result<(), End> {
        let framing = self.read_head(received).await?;
        let mut pace = Pace::new(case.manner);
        match framing {
            Framing::Length(length) => self.read_bytes(length, received, &mut pace).await?,
            Framing::Chunks => while self.read_chunk(received, &mut pace).await? {},
            Framing::Close => {
                self.is_open = false;
                received.is_unframed = true;
                while self.read_piece(usize::MAX, received, &mut pace).await? {}
            }
        }
        Ok(())
    }

    async fn read_head(&mut self, received: &mut Received) -> Result<Framing, End> {
        loop {
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut head = httparse::Response::new(&mut headers);
            let parsed =
                head.parse(&self.buffer).map_err(|error| End::Cut(format!("bad header: {error}")))?;
            if let httparse::Status::Complete(used) = parsed {
                let field = |name: &str| {
                    let field = head.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
                    field.map(|field| String::from_utf8_lossy(field.value).into_owned())
                };
                received.status = head.code.unwrap_or_default();
                received.coding = field("Content-Encoding").unwrap_or_default();
                if field("Connection").is_some_and(|value| value == "close") {
                    self.is_open = false;
                }
                let framing = match (field("Transfer-Encoding"), field("Content-Length")) {
                    (Some(_), None) => Framing::Chunks,
                    (None, Some(length)) => {
                        Framing::Length(length.parse().map_err(|_| End::Cut("a bad length".into()))?)
                    }
                    (None, None) => Framing::Close,
                    (Some(_), Some(_)) => return Err(End::Cut("both chunks and a length".into())),
                };
                self.buffer.drain(..used);
                return Ok(framing);
            }
            let is_first = self.buffer.is_empty();
            if !self.fill().await.map_err(|end| if is_first { nothing(end) } else { end })? {
                let reason = "the connection was closed".to_owned();
                return Err(if is_first { End::Nothing(reason) } else { End::Cut(reason) });
            }
        }
    }

    async fn read_bytes(
        &mut self,
        length: usize,
        received: &mut Received,
        pace: &mut Pace,
    ) -> Result<(), End> {
        let end = received.body.len() + length;
        while received.body.len() < end {
            if !self.read_piece(end - received.body.len(), received, pace).await? {
                return Err(End::Cut("the connection was closed".into()));
            }
        }
        Ok(())
    }

    /// Says whether there are more.
    async fn read_chunk(&mut self, received: &mut Received, pace: &mut Pace) -> Result<bool, End> {
        let size = loop {
            match httparse::parse_chunk_size(&self.buffer) {
                Ok(httparse::Status::Complete((used, size))) => {
                    self.buffer.drain(..used);
                    break size as usize;
                }
                Ok(httparse::Status::Partial) => self.need_more().await?,
                Err(_) => return Err(End::Cut("a bad chunk".into())),
            }
        };
        self.read_bytes(size, received, pace).await?;
        while self.buffer.len() < 2 {
            self.need_more().await?;
        }
        if !self.buffer.starts_with(b"\r\n") {
            return Err(End::Cut("no line end after a chunk".into()));
        }
        self.buffer.drain(..2);
        Ok(size > 0)
    }

    /// Moves at most so many bytes to the body; says whether there were any.
    async fn read_piece(
        &mut self,
        most: usize,
        received: &mut Received,
        pace: &mut Pace,
    ) -> Result<bool, End> {
        if self.buffer.is_empty() && !self.fill().await? {
            return Ok(false);
        }
        let count = self.buffer.len().min(most);
        received.body.extend(self.buffer.drain(..count));
        pace.took(count).await?;
        Ok(true)
    }

    async fn need_more(&mut self) -> Result<(), End> {
        match self.fill().await? {
            true => Ok(()),
            false => Err(End::Cut("the connection was closed".into())),
        }
    }

    /// Reads what there is; says whether there was anything before the end.
    async fn fill(&mut self) -> Result<bool, End> {
        let start = self.buffer.len();
        self.buffer.resize(start + (16 << 10), 0);
        let read = timeout(SILENCE, self.stream.read(&mut self.buffer[start..])).await;
        self.buffer.truncate(start + read.as_ref().map_or(0, |read| *read.as_ref().unwrap_or(&0)));
        match read {
            Ok(Ok(count)) => Ok(count > 0),
            Ok(Err(error)) => Err(End::Cut(error.to_string())),
            Err(_) => Err(End::Silence),
        }
    }
}

fn nothing(end: End) -> End {
    if let End::Cut(reason) = end { End::Nothing(reason) } else { end }
}

/// So long at most does a connection take to be made.
pub const CONNECT: Duration = Duration::from_secs(30);
