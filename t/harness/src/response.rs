//! A response as a client saw it.

use crate::decode::{DecodeError, decode};

/// The version that a response came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The version of its status line.
    pub version: Version,
    /// The status code.
    pub status: u16,
    /// The header fields in the order and the spelling they came in (HTTP/2 has them all in lower case).
    pub headers: Vec<(String, String)>,
    /// The body without its framing, still encoded; what came of it, if it is incomplete.
    pub body: Vec<u8>,
    /// Whether the end was told as the framing wants: by the last chunk, the length, or the stream's end. A body
    /// that only the end of the connection ends is complete unless that was a reset.
    pub complete: bool,
}

impl Response {
    /// The value of the first field of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers_named(name).next()
    }

    /// The values of all fields of that name, in any case.
    pub fn headers_named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.headers
            .iter()
            .filter(move |(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The `Content-Encoding`, or an empty text.
    pub fn coding(&self) -> &str {
        self.header("Content-Encoding").unwrap_or_default()
    }

    /// The body with its content codings undone by decoders that share nothing with the module.
    ///
    /// # Errors
    ///
    /// If it is incomplete, does not decode, or has bytes after the end.
    pub fn decoded(&self) -> Result<Vec<u8>, DecodeError> {
        if !self.complete {
            return Err(DecodeError(format!("the response ended after {} bytes of body", self.body.len())));
        }
        let codings: Vec<&str> = self.headers_named("Content-Encoding").flat_map(|v| v.split(',')).collect();
        codings.iter().rev().try_fold(self.body.clone(), |body, coding| decode(coding.trim(), &body))
    }

    /// The decoded body as text.
    ///
    /// # Panics
    ///
    /// If it does not decode.
    #[track_caller]
    pub fn text(&self) -> String {
        let bytes = self.decoded().unwrap_or_else(|err| panic!("{err}"));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
