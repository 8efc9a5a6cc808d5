//! A connection of a client that speaks HTTP/1, down to the bytes: for framing, pipelining, aborts, slow reading.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, sockopt};

use crate::{Response, TIMEOUT, Version};

/// A connection to a port of this machine.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    framing: Framing,
}

/// What tells where the body that is being read ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    None,
    Length(u64),
    Chunks,
    Chunk { left: u64 },
    Close,
}

impl Connection {
    /// Connects.
    pub fn connect(port: u16) -> io::Result<Connection> {
        Self::new(TcpStream::connect((Ipv4Addr::LOCALHOST, port))?)
    }

    /// Connects, and sends a GET request that accepts these content codings.
    pub fn get(port: u16, path: &str, accept: &str) -> io::Result<Connection> {
        let mut connection = Self::connect(port)?;
        connection.send_request("GET", path, &[("Accept-Encoding", accept)])?;
        Ok(connection)
    }

    /// Connects with a small buffer for what comes, so that a reader who pauses stops the server soon.
    pub fn connect_with_buffer(port: u16, receive_buffer: usize) -> io::Result<Connection> {
        let socket: OwnedFd = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
        sockopt::set_socket_recv_buffer_size(&socket, receive_buffer)?;
        rustix::net::connect(&socket, &SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)))?;
        Self::new(TcpStream::from(socket))
    }

    fn new(stream: TcpStream) -> io::Result<Connection> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, buffer: Vec::new(), framing: Framing::None })
    }

    /// The longest that any one read may take.
    pub fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(timeout))
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a request without a body that keeps the connection; `headers` are added to `Host`.
    pub fn send_request(&mut self, method: &str, path: &str, headers: &[(&str, &str)]) -> io::Result<()> {
        let fields: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        self.send(format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n").as_bytes())
    }

    /// Reads a status line and header; the response's body is still empty and not complete.
    /// [`Connection::read_piece`] reads it. Interim responses (1xx) are passed over.
    pub fn read_head(&mut self, method: &str) -> io::Result<Response> {
        loop {
            let (response, used) = loop {
                if let Some(parsed) = parse_head(&self.buffer)? {
                    break parsed;
                }
                self.fill()?;
            };
            self.buffer.drain(..used);
            if response.status >= 200 {
                self.framing = Framing::of(method, &response)?;
                return Ok(response);
            }
        }
    }

    /// Reads the next piece of the body, as soon as there is any; none at its end.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` if the connection ended before the body did, `TimedOut` if nothing came.
    pub fn read_piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            match self.framing {
                Framing::None | Framing::Length(0) => {
                    self.framing = Framing::None;
                    return Ok(None);
                }
                Framing::Length(left) => {
                    let piece = self.take(left)?;
                    self.framing = Framing::Length(left - piece.len() as u64);
                    return Ok(Some(piece));
                }
                Framing::Chunks => self.read_chunk_size()?,
                Framing::Chunk { left: 0 } => {
                    self.expect_line_end()?;
                    self.framing = Framing::Chunks;
                }
                Framing::Chunk { left } => {
                    let piece = self.take(left)?;
                    self.framing = Framing::Chunk { left: left - piece.len() as u64 };
                    return Ok(Some(piece));
                }
                Framing::Close => {
                    return match self.take(u64::MAX) {
                        Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
                        result => result.map(Some),
                    };
                }
            }
        }
    }

    /// Reads a whole response. One whose body was cut off is returned as not complete.
    ///
    /// # Errors
    ///
    /// If there was no response, or it stalled for the whole time limit.
    pub fn read_response(&mut self, method: &str) -> io::Result<Response> {
        let mut response = self.read_head(method)?;
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

    /// Reads all until the server closes the connection, framing and all.
    pub fn read_raw_to_end(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.buffer);
        self.stream.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// What was received and not read yet.
    pub fn unread(&self) -> &[u8] {
        &self.buffer
    }

    /// Tells the server that no more will be sent.
    pub fn shutdown_write(&self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }

    /// Ends the connection by a reset.
    pub fn reset(self) -> io::Result<()> {
        Ok(sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO))?)
    }

    fn read_chunk_size(&mut self) -> io::Result<()> {
        loop {
            match httparse::parse_chunk_size(&self.buffer).map_err(|_| invalid("a bad chunk size"))? {
                httparse::Status::Complete((used, size)) => {
                    self.buffer.drain(..used);
                    self.framing = Framing::Chunk { left: size };
                    if size == 0 {
                        // NGINX's trailers are off unless a test turns them on.
                        self.expect_line_end()?;
                        self.framing = Framing::None;
                    }
                    return Ok(());
                }
                httparse::Status::Partial => self.fill()?,
            }
        }
    }

    fn expect_line_end(&mut self) -> io::Result<()> {
        while self.buffer.len() < 2 {
            self.fill()?;
        }
        if !self.buffer.starts_with(b"\r\n") {
            return Err(invalid("no line end after a chunk"));
        }
        self.buffer.drain(..2);
        Ok(())
    }

    fn take(&mut self, most: u64) -> io::Result<Vec<u8>> {
        if self.buffer.is_empty() {
            self.fill()?;
        }
        let count = (self.buffer.len() as u64).min(most) as usize;
        Ok(self.buffer.drain(..count).collect())
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = [0; 1 << 14];
        let count = self.stream.read(&mut bytes).map_err(|err| match err.kind() {
            io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::TimedOut, "the server sent nothing"),
            _ => err,
        })?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection"));
        }
        self.buffer.extend_from_slice(&bytes[..count]);
        Ok(())
    }
}

impl Framing {
    fn of(method: &str, response: &Response) -> io::Result<Framing> {
        if method == "HEAD" || matches!(response.status, 204 | 304) {
            return Ok(Framing::None);
        }
        let lengths: Vec<&str> = response.headers_named("Content-Length").collect();
        match (response.header("Transfer-Encoding"), lengths.as_slice()) {
            (Some("chunked"), []) => Ok(Framing::Chunks),
            (None, [length]) => {
                length.parse().map(Framing::Length).map_err(|_| invalid("a bad Content-Length"))
            }
            (None, []) => Ok(Framing::Close),
            _ => Err(invalid("framing that RFC 9112 forbids")),
        }
    }
}

fn parse_head(bytes: &[u8]) -> io::Result<Option<(Response, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut parsed = httparse::Response::new(&mut headers);
    let status = parsed.parse(bytes).map_err(|err| invalid(&format!("a bad header: {err}")))?;
    let httparse::Status::Complete(used) = status else { return Ok(None) };
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let response = Response {
        version: if parsed.version == Some(0) { Version::Http10 } else { Version::Http11 },
        status: parsed.code.unwrap_or_default(),
        headers: parsed.headers.iter().map(|field| (field.name.into(), text(field.value))).collect(),
        body: Vec::new(),
        complete: false,
    };
    Ok(Some((response, used)))
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
