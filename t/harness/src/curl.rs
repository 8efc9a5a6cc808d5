//! The `curl` program, which speaks TLS and whatever else a test wants.

use std::fs;
use std::io;
use std::process::{Command, Output};

use crate::{Response, Version};

/// Runs `curl -sS` with arguments. It trusts any certificate.
pub fn run(arguments: &[&str]) -> io::Result<Output> {
    Command::new("curl").args(["-q", "-sS", "-k", "--max-time", "60"]).args(arguments).output()
}

/// A request over TLS. The body stays encoded; a response that curl calls partial is not complete.
pub(crate) fn send(
    method: &str,
    port: u16,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
    version: Version,
) -> io::Result<Response> {
    let dir = tempfile::tempdir()?;
    let file = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let (head_file, body_file, upload) = (file("head"), file("body"), format!("@{}", file("upload")));
    fs::write(file("upload"), body)?;

    let url = format!("https://localhost:{port}{path}");
    let resolve = format!("localhost:{port}:127.0.0.1");
    let fields: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let mut arguments = vec!["--path-as-is", "--resolve", &resolve, "-D", &head_file, "-o", &body_file];
    arguments.push(match version {
        Version::Http10 => "--http1.0",
        Version::Http11 => "--http1.1",
        Version::Http2 => "--http2",
    });
    if method == "HEAD" {
        arguments.push("-I");
    } else {
        arguments.extend(["-X", method]);
    }
    if !body.is_empty() {
        arguments.extend(["--data-binary", &upload]);
    }
    fields.iter().for_each(|field| arguments.extend(["-H", field]));
    arguments.push(&url);

    let output = run(&arguments)?;
    let head = fs::read(&head_file).unwrap_or_default();
    let mut response = parse_head(&String::from_utf8_lossy(&head)).ok_or_else(|| {
        io::Error::other(format!("curl: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
    })?;
    if method != "HEAD" {
        response.body = fs::read(&body_file).unwrap_or_default();
    }
    response.complete = output.status.success();
    Ok(response)
}

// The last of the headers that curl wrote: interim responses come before it.
fn parse_head(text: &str) -> Option<Response> {
    let head = text.trim_end().rsplit("\r\n\r\n").next()?;
    let mut lines = head.lines();
    let mut status_line = lines.next()?.split(' ');
    let version = match status_line.next()? {
        "HTTP/1.0" => Version::Http10,
        "HTTP/1.1" => Version::Http11,
        "HTTP/2" => Version::Http2,
        _ => return None,
    };
    let status = status_line.next()?.parse().ok()?;
    let fields = lines.filter_map(|line| line.split_once(':'));
    let headers = fields.map(|(name, value)| (name.into(), value.trim().into())).collect();
    Some(Response { version, status, headers, body: Vec::new(), complete: false })
}
