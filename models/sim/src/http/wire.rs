//! Requests and responses as bytes.

use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;

use crate::apiserver::{Request, Response};

/// The largest head of a request.
const HEAD: u64 = 64 * 1024;
/// The largest body that is read: one byte more than the server takes, so that it says so itself.
const BODY: usize = 3 * 1024 * 1024 + 1;

/// A request, and whether the connection goes on after it.
pub(crate) struct Received {
    pub(crate) request: Request,
    pub(crate) goes_on: bool,
}

/// Why there is no request.
pub(crate) enum Trouble {
    /// The client is gone, or too slow.
    Gone,
    /// It is not HTTP that we can read; this is the status to answer with.
    Bad(u16),
}

impl From<io::Error> for Trouble {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// Reads one request. `to` is where the client hears that it may go on with its body.
pub(crate) fn read(from: &mut impl BufRead, to: &mut impl Write) -> Result<Received, Trouble> {
    let mut head = from.by_ref().take(HEAD);
    let first = line(&mut head)?;
    let mut parts = first.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Trouble::Bad(400));
    };
    if !version.starts_with("HTTP/1.") {
        return Err(Trouble::Bad(505));
    }
    let mut request = Request::new(method, target);
    loop {
        let line = line(&mut head)?;
        if line.is_empty() {
            break;
        }
        let (key, value) = line.split_once(':').ok_or(Trouble::Bad(400))?;
        request.headers.push((key.to_owned(), value.trim().to_owned()));
    }
    let says = |header: &str, word: &str| {
        request.header(header).is_some_and(|it| it.to_ascii_lowercase().contains(word))
    };
    let goes_on = if version == "HTTP/1.0" {
        says("Connection", "keep-alive")
    } else {
        !says("Connection", "close")
    };
    if says("Expect", "100-continue") {
        to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        to.flush()?;
    }
    let (body, is_whole) = if says("Transfer-Encoding", "chunked") {
        chunks(from)?
    } else {
        match request.header("Content-Length").map(str::parse::<usize>) {
            None => (Vec::new(), true),
            Some(Ok(length)) => exact(from, length)?,
            Some(Err(_)) => return Err(Trouble::Bad(400)),
        }
    };
    request.body = body;
    Ok(Received { request, goes_on: goes_on && is_whole })
}

/// A line without its end.
fn line(from: &mut impl BufRead) -> Result<String, Trouble> {
    let mut bytes = Vec::new();
    from.read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Err(Trouble::Gone);
    }
    if bytes.pop() != Some(b'\n') {
        return Err(Trouble::Bad(431));
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    String::from_utf8(bytes).map_err(|_| Trouble::Bad(400))
}

/// A body of a known length. Bytes beyond the limit are not read, and the connection is then of no
/// use.
fn exact(from: &mut impl BufRead, length: usize) -> Result<(Vec<u8>, bool), Trouble> {
    let mut body = Vec::new();
    from.take(length.min(BODY) as u64).read_to_end(&mut body)?;
    if body.len() < length.min(BODY) {
        return Err(Trouble::Gone);
    }
    Ok((body, length <= BODY))
}

fn chunks(from: &mut impl BufRead) -> Result<(Vec<u8>, bool), Trouble> {
    let mut body = Vec::new();
    loop {
        let size = line(&mut from.by_ref().take(HEAD))?;
        let size = size.split(';').next().unwrap_or("").trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| Trouble::Bad(400))?;
        if size == 0 {
            // Trailer fields may follow; they are ignored.
            while !line(&mut from.by_ref().take(HEAD))?.is_empty() {}
            return Ok((body, true));
        }
        let (chunk, is_whole) = exact(from, size)?;
        body.extend(chunk);
        if !is_whole || body.len() >= BODY {
            body.truncate(BODY);
            return Ok((body, false));
        }
        if !line(&mut from.by_ref().take(HEAD))?.is_empty() {
            return Err(Trouble::Bad(400));
        }
    }
}

/// Writes the head of a response; `length` is none for a stream of chunks.
pub(crate) fn head(
    to: &mut impl Write,
    response: &Response,
    length: Option<usize>,
    goes_on: bool,
) -> io::Result<()> {
    let mut text = format!("HTTP/1.1 {} {}\r\n", response.status, phrase(response.status));
    for (key, value) in &response.headers {
        text.push_str(&format!("{key}: {value}\r\n"));
    }
    match length {
        Some(length) => text.push_str(&format!("Content-Length: {length}\r\n")),
        None => text.push_str("Transfer-Encoding: chunked\r\n"),
    }
    if !goes_on {
        text.push_str("Connection: close\r\n");
    }
    text.push_str("\r\n");
    to.write_all(text.as_bytes())
}

/// Writes a chunk; an empty one ends the stream.
pub(crate) fn chunk(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
    to.write_all(&out)?;
    to.flush()
}

/// Reports the error in a request that cannot be read.
pub(crate) fn complain(to: &mut impl Write, status: u16) -> io::Result<()> {
    let phrase = phrase(status);
    let length = phrase.len();
    let head = format!(
        "HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{phrase}"
    );
    to.write_all(head.as_bytes())?;
    to.flush()
}

/// Sends away a client when there is no connection left.
pub(crate) fn refuse(mut stream: &TcpStream) -> io::Result<()> {
    complain(&mut stream, 503)
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        409 => "Conflict",
        410 => "Gone",
        413 => "Request Entity Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "Unknown",
    }
}
