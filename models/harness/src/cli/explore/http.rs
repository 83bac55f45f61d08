//! As much of HTTP as one page on this machine needs, from any client: what is too much is refused.

use std::io::{self, Read, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The longest head of a request: the longest schedule fits.
const HEAD: usize = 1 << 17;
/// The longest body.
const BODY: usize = 1 << 17;
/// How long a request may take to come.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many clients are served at a time.
const CLIENTS: usize = 32;

/// A request.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    /// The path, and the query behind `?`.
    pub(super) path: String,
    pub(super) query: String,
    pub(super) host: String,
    pub(super) token: String,
    pub(super) body: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) kind: &'static str,
    /// A further header, with its end of line; or nothing.
    pub(super) header: String,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn refuse(code: u16, why: &str) -> Self {
        Self {
            code,
            kind: "text/plain; charset=utf-8",
            header: String::new(),
            body: why.to_owned(),
        }
    }
}

type Answers = Arc<dyn Fn(&Request) -> Answer + Send + Sync>;

pub(super) struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    pub(super) fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        Ok(Self { address: listener.local_addr()?, listener })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process ends. Each request has a thread of its own, and so each execution.
    pub(super) fn serve(&self, answers: Answers) {
        let clients = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming().flatten() {
            let Some(place) = Taken::of(&clients, CLIENTS) else { continue }; // it hears that it is closed
            let (answers, hosts) = (Arc::clone(&answers), self.hosts());
            let serves = move || {
                let (mut stream, _place) = (stream, place);
                let answer = match read(&mut stream) {
                    Ok(request) if hosts.contains(&request.host) => answers(&request),
                    Ok(_) => Answer::refuse(403, "this page is for this machine alone"),
                    Err(code) => Answer::refuse(code, "no request that is understood here"),
                };
                drop(write(&mut stream, &answer)); // a client that has gone needs no answer
            };
            drop(std::thread::Builder::new().name("explore".to_owned()).spawn(serves));
        }
    }

    /// Under another name, a page from elsewhere could pass for ours.
    fn hosts(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.address.port()))
    }
}

/// One of a few places, given back also if its holder panics.
pub(super) struct Taken(Arc<AtomicUsize>);

impl Taken {
    /// Takes a place if one is free.
    pub(super) fn of(taken: &Arc<AtomicUsize>, places: usize) -> Option<Self> {
        let place = Self(Arc::clone(taken));
        (taken.fetch_add(1, Ordering::Relaxed) < places).then_some(place)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads a request, or returns the code to refuse it with.
fn read(stream: &mut TcpStream) -> Result<Request, u16> {
    let end = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut looked = 0_usize;
    let head = loop {
        let from = looked.saturating_sub(3); // an end may have come in two pieces
        if let Some(at) = bytes[from..].windows(4).position(|it| it == b"\r\n\r\n") {
            break from + at + 4;
        }
        if bytes.len() > HEAD {
            return Err(431);
        }
        looked = bytes.len();
        more(stream, &mut bytes, end)?;
    };
    let text = std::str::from_utf8(&bytes[..head]).map_err(|_| 400_u16)?;
    let (mut request, length) = parse(text).ok_or(400_u16)?;
    if length > BODY {
        return Err(413);
    }
    while bytes.len() < head + length {
        more(stream, &mut bytes, end)?;
    }
    request.body = bytes[head..head + length].to_vec();
    Ok(request)
}

/// Reads what has come.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, end: Instant) -> Result<(), u16> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
        return Err(408);
    }
    let mut some = [0; 4096];
    match stream.read(&mut some) {
        Ok(0) | Err(_) => Err(400),
        Ok(count) => {
            bytes.extend_from_slice(&some[..count]);
            Ok(())
        }
    }
}

/// Reads a head; returns the request without its body, and the length of that.
fn parse(head: &str) -> Option<(Request, usize)> {
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target, version) = (first.next()?, first.next()?, first.next()?);
    if !version.starts_with("HTTP/1.") || first.next().is_some() {
        return None;
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        ..Request::default()
    };
    let mut length = 0;
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" => request.host = value.to_owned(),
            "x-seatrial-token" => request.token = value.to_owned(),
            "content-length" => length = value.parse().ok()?,
            "transfer-encoding" => return None,
            _ => {}
        }
    }
    Some((request, length))
}

fn write(stream: &mut TcpStream, answer: &Answer) -> io::Result<()> {
    let Answer { code, kind, header, body } = answer;
    let head = format!(
        "HTTP/1.1 {code} -\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n{header}\r\n",
        body.len()
    );
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// Undoes the percent-encoding of a query's value; `None` if it is none.
pub(super) fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}
