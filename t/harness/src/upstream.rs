//! A server for NGINX to proxy to, which answers as a test says, byte by byte if need be.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use crate::TIMEOUT;

/// A server that runs until it is dropped. Each connection has a thread.
#[derive(Debug)]
pub struct Upstream {
    port: u16,
    stopping: Arc<AtomicBool>,
    connections: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Upstream {
    /// Starts a server that hands each connection to `handler`. A connection ends when its handler does.
    pub fn start(handler: impl Fn(Conn) + Send + Sync + 'static) -> Upstream {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("listening on a free port");
        let port = listener.local_addr().expect("the address of a listener").port();
        let (stopping, connections) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stop, count, handler) = (Arc::clone(&stopping), Arc::clone(&connections), Arc::new(handler));
        let thread = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                count.fetch_add(1, Ordering::SeqCst);
                let handler = Arc::clone(&handler);
                thread::spawn(move || handler(Conn::new(stream)));
            }
        });
        Upstream { port, stopping, connections, thread: Some(thread) }
    }

    /// Starts a server that answers every request with these bytes, header and all, and closes.
    pub fn fixed(response: impl Into<Vec<u8>>) -> Upstream {
        let response = response.into();
        Upstream::start(move |mut conn| {
            if conn.read_request().is_some() {
                conn.send(&response);
            }
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address, for `proxy_pass`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How many connections it took.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes accept().
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A request that NGINX sent.
#[derive(Clone, Debug)]
pub struct UpstreamRequest {
    /// Such as GET.
    pub method: String,
    /// The target as sent.
    pub path: String,
    /// The header fields in order.
    pub headers: Vec<(String, String)>,
    /// The body, if it came with a length.
    pub body: Vec<u8>,
}

impl UpstreamRequest {
    /// The value of the first field of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// A connection that NGINX made. Writing to one that NGINX closed is no error: [`Conn::is_closed`] tells.
#[derive(Debug)]
pub struct Conn {
    stream: TcpStream,
    buffer: Vec<u8>,
    closed: bool,
}

impl Conn {
    fn new(stream: TcpStream) -> Conn {
        let _ = stream.set_nodelay(true);
        let _ = stream.set_read_timeout(Some(TIMEOUT));
        let _ = stream.set_write_timeout(Some(TIMEOUT));
        Conn { stream, buffer: Vec::new(), closed: false }
    }

    /// Reads the next request; none if the connection ended.
    pub fn read_request(&mut self) -> Option<UpstreamRequest> {
        let (mut request, used) = loop {
            if let Some(parsed) = parse_request(&self.buffer) {
                break parsed;
            }
            self.fill().ok()?;
        };
        self.buffer.drain(..used);
        let length = request.header("Content-Length").and_then(|value| value.parse().ok()).unwrap_or(0);
        while self.buffer.len() < length {
            self.fill().ok()?;
        }
        request.body = self.buffer.drain(..length).collect();
        Some(request)
    }

    /// Sends bytes as they are, at once.
    pub fn send(&mut self, bytes: &[u8]) {
        self.closed |= self.stream.write_all(bytes).is_err();
    }

    /// Sends a status line and header fields (`"Content-Type: text/html"`).
    pub fn send_head(&mut self, status: u16, fields: &[&str]) {
        let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        self.send(format!("HTTP/1.1 {status} Status\r\n{fields}\r\n").as_bytes());
    }

    /// Sends one chunk of a body in chunks.
    pub fn send_chunk(&mut self, bytes: &[u8]) {
        self.send(&[format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat());
    }

    /// Ends a body in chunks.
    pub fn send_last_chunk(&mut self) {
        self.send(b"0\r\n\r\n");
    }

    /// Waits.
    pub fn pause(&self, time: Duration) {
        sleep(time);
    }

    /// Whether NGINX has closed the connection.
    pub fn is_closed(&mut self) -> bool {
        if !self.closed {
            let _ = self.stream.set_nonblocking(true);
            let result = self.stream.peek(&mut [0]);
            let _ = self.stream.set_nonblocking(false);
            self.closed = match result {
                Ok(count) => count == 0,
                Err(err) => err.kind() != io::ErrorKind::WouldBlock,
            };
        }
        self.closed
    }

    /// Waits until NGINX has closed the connection; says whether it did in time.
    pub fn wait_closed(&mut self, timeout: Duration) -> bool {
        crate::try_wait_until(timeout, || self.is_closed())
    }

    /// Closes the connection in an orderly way.
    pub fn close(self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Ends the connection by a reset.
    pub fn reset(self) {
        let _ = set_socket_linger(&self.stream, Some(Duration::ZERO));
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = [0; 1 << 14];
        match self.stream.read(&mut bytes)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.buffer.extend_from_slice(&bytes[..count]);
                Ok(())
            }
        }
    }
}

fn parse_request(bytes: &[u8]) -> Option<(UpstreamRequest, usize)> {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut parsed = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(used) = parsed.parse(bytes).ok()? else { return None };
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let request = UpstreamRequest {
        method: parsed.method?.into(),
        path: parsed.path?.into(),
        headers: parsed.headers.iter().map(|field| (field.name.into(), text(field.value))).collect(),
        body: Vec::new(),
    };
    Some((request, used))
}
