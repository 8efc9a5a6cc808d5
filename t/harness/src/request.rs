//! Asking a running NGINX for something, over any version of HTTP.

use std::io;
use std::time::Duration;

use crate::{Connection, Http2, Nginx, Response, TIMEOUT, Version, curl};

/// A request; see [`get`].
#[derive(Clone, Debug)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    version: Version,
    tls: bool,
    timeout: Duration,
    port: u16,
    http2_port: Option<u16>,
    tls_port: Option<u16>,
}

/// A GET request over HTTP/1.1.
pub fn get(nginx: &Nginx, path: &str) -> Request {
    request(nginx, "GET", path)
}

/// A HEAD request.
pub fn head(nginx: &Nginx, path: &str) -> Request {
    request(nginx, "HEAD", path)
}

/// A POST request with a body.
pub fn post(nginx: &Nginx, path: &str, body: impl Into<Vec<u8>>) -> Request {
    let mut request = request(nginx, "POST", path);
    request.body = body.into();
    request
}

/// A request of any method.
pub fn request(nginx: &Nginx, method: &str, path: &str) -> Request {
    Request {
        method: method.into(),
        path: path.into(),
        headers: Vec::new(),
        body: Vec::new(),
        version: Version::Http11,
        tls: false,
        timeout: TIMEOUT,
        port: nginx.find_port("PORT").expect("the server has a port for HTTP/1"),
        http2_port: nginx.find_port("PORT_HTTP2"),
        tls_port: nginx.find_port("PORT_TLS"),
    }
}

impl Request {
    /// Adds a header field. `Host` and `Connection: close` are sent unless set here.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets `Accept-Encoding`.
    pub fn accept(self, codings: &str) -> Self {
        self.header("Accept-Encoding", codings)
    }

    /// Sends it over HTTP/1.0.
    pub fn http10(mut self) -> Self {
        self.version = Version::Http10;
        self
    }

    /// Sends it over HTTP/2: with prior knowledge, or over TLS after [`Request::tls`].
    pub fn http2(mut self) -> Self {
        self.version = Version::Http2;
        self
    }

    /// Sends it over TLS, by the `curl` program. NGINX must have been built with [`crate::Builder::tls`].
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// Sends it to another port.
    pub fn port(mut self, port: u16) -> Self {
        (self.port, self.http2_port, self.tls_port) = (port, Some(port), Some(port));
        self
    }

    /// The longest that any one read may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sends the request and returns the response.
    ///
    /// # Panics
    ///
    /// If there was none. A response that ended early is no panic: see [`Response::complete`].
    #[track_caller]
    pub fn send(self) -> Response {
        let what = format!("{} {}", self.method, self.path);
        self.try_send().unwrap_or_else(|err| panic!("{what}: {err}"))
    }

    /// Sends the request and returns the response.
    ///
    /// # Errors
    ///
    /// If there was none.
    pub fn try_send(self) -> io::Result<Response> {
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        if self.tls {
            let port = self.tls_port.expect("the server has a port for TLS");
            return curl::send(&self.method, port, &self.path, &headers, &self.body, self.version);
        }
        if self.version == Version::Http2 {
            let port = self.http2_port.expect("the server has a port for HTTP/2");
            let client = Http2::connect(port)?;
            return client
                .request(&self.method, &self.path, &headers, &self.body)?
                .timeout(self.timeout)
                .finish();
        }
        let mut connection = Connection::connect(self.port)?;
        connection.set_timeout(self.timeout)?;
        connection.send(&self.head())?;
        connection.send(&self.body)?;
        connection.read_response(&self.method)
    }

    fn head(&self) -> Vec<u8> {
        let version = if self.version == Version::Http10 { "1.0" } else { "1.1" };
        let mut head = format!("{} {} HTTP/{version}\r\n", self.method, self.path);
        let mut field = |name: &str, value: &str| head.push_str(&format!("{name}: {value}\r\n"));
        let is_set = |name: &str| self.headers.iter().any(|(field, _)| field.eq_ignore_ascii_case(name));
        if !is_set("Host") {
            field("Host", "localhost");
        }
        if !is_set("Connection") {
            field("Connection", "close");
        }
        if !self.body.is_empty() && !is_set("Content-Length") {
            field("Content-Length", &self.body.len().to_string());
        }
        self.headers.iter().for_each(|(name, value)| field(name, value));
        head.push_str("\r\n");
        head.into_bytes()
    }
}
