//! A client that throws bodies away: it must not need the processor that the server is measured on.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

const BUFFER: usize = 1 << 18;

/// A connection that is kept from one request to the next.
#[derive(Debug)]
pub struct Client {
    reader: BufReader<TcpStream>,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// There is no server.
    pub fn connect(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::with_capacity(BUFFER, stream) })
    }

    /// The longest that a read may take.
    ///
    /// # Errors
    /// It is zero.
    pub fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.reader.get_ref().set_read_timeout(Some(timeout))
    }

    /// Asks for `path`, and reads to the end of the response; gives the length of the body as it was sent.
    ///
    /// # Errors
    /// The server has another answer than 200 with `coding`, or none.
    pub fn get(&mut self, path: &str, coding: &str) -> io::Result<u64> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: {coding}\r\n\r\n");
        self.reader.get_mut().write_all(request.as_bytes())?;

        let status = self.line()?;
        if !status.starts_with("HTTP/1.1 200 ") {
            return Err(invalid(status));
        }
        let (mut length, mut answered) = (None, String::from("identity"));
        loop {
            let line = self.line()?;
            match line.split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().ok(),
                Some(("Content-Encoding", value)) => answered = value.into(),
                Some(_) => {}
                None => break,
            }
        }
        if answered != coding {
            return Err(invalid(format!("{coding} was asked for, and {answered} sent")));
        }
        match length {
            Some(length) => self.skip(length).map(|()| length),
            None => self.skip_chunks(),
        }
    }

    fn skip_chunks(&mut self) -> io::Result<u64> {
        let mut total = 0;
        loop {
            let line = self.line()?;
            let length = u64::from_str_radix(&line, 16).map_err(|_| invalid(line))?;
            self.skip(length + 2)?;
            if length == 0 {
                return Ok(total);
            }
            total += length;
        }
    }

    fn skip(&mut self, mut count: u64) -> io::Result<()> {
        while count > 0 {
            let available = self.reader.fill_buf()?.len() as u64;
            if available == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let n = available.min(count);
            self.reader.consume(n as usize);
            count -= n;
        }
        Ok(())
    }

    /// The next line without its end.
    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        let text = line.strip_suffix("\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(text.into())
    }
}

fn invalid(words: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, words)
}
