//! A server that listens somewhere, as a target: to hold a real one against ours.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use super::Target;
use crate::apiserver::{Answer, Body, Events, Request, Response, WatchEvent, WatchId};

type Stream = BufReader<StreamOwned<ClientConnection, TcpStream>>;

/// How long a watch must be quiet until it counts as read.
const QUIET: Duration = Duration::from_millis(200);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server behind TLS, on loopback as a rule.
#[derive(Debug)]
pub struct Live {
    address: SocketAddr,
    token: String,
    config: Arc<ClientConfig>,
    kept: Option<Stream>,
    /// The streams, each with the beginning of an unfinished line.
    watches: BTreeMap<WatchId, (Stream, Vec<u8>)>,
    next: u64,
    is_hasty: bool,
}

impl Live {
    /// A client of the server at an address. `authority` holds the trusted certificates, in PEM.
    /// The token identifies the client, if it is not empty.
    ///
    /// # Errors
    ///
    /// There is no certificate in the text.
    pub fn new(address: SocketAddr, authority: &str, token: &str) -> io::Result<Self> {
        let refused = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
            let certificate = certificate.map_err(|error| refused(format!("{error:?}")))?;
            roots.add(certificate).map_err(|error| refused(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(refused("no certificate to trust".to_owned()));
        }
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let (config, watches) = (Arc::new(config), BTreeMap::new());
        Ok(Self {
            address,
            token: token.to_owned(),
            config,
            kept: None,
            watches,
            next: 1,
            is_hasty: false,
        })
    }

    /// The same client, but without requests of its own, so its answers may be old.
    #[must_use]
    pub fn hasty(self) -> Self {
        Self { is_hasty: true, ..self }
    }

    fn connect(&self) -> io::Result<Stream> {
        let socket = TcpStream::connect(self.address)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let name = ServerName::from(self.address.ip());
        let connection = ClientConnection::new(Arc::clone(&self.config), name);
        let connection = connection.map_err(io::Error::other)?;
        Ok(BufReader::new(StreamOwned::new(connection, socket)))
    }

    /// Sends a request and reads the answer. An idle connection that the server closed is made anew
    /// once, if nothing of an answer came: any other trouble may leave a request that was carried
    /// out, which must not be sent twice.
    fn exchange(&mut self, request: &Request) -> io::Result<Answer> {
        let kept = self.kept.take();
        let was_kept = kept.is_some();
        let mut stream = kept.map_or_else(|| self.connect(), Ok)?;
        let mut begun = self.begin(&mut stream, request);
        if was_kept && begun.as_ref().is_err_and(is_closed) {
            stream = self.connect()?;
            begun = self.begin(&mut stream, request);
        }
        begun?;
        let head = Head::read(&mut stream)?;
        let is_watch = request.parameter("watch").is_some() || request.path.contains("/watch/");
        if is_watch && head.status == 200 && head.is_chunked {
            let id = WatchId(self.next);
            self.next += 1;
            self.watches.insert(id, (stream, Vec::new()));
            return Ok(Answer::Watch { id, head: head.response(Body::Empty) });
        }
        let body = head.body(&mut stream)?;
        self.kept = Some(stream);
        let body = match serde_json::from_slice::<Value>(&body) {
            Ok(value) => Body::Json(Arc::new(value)),
            Err(_) => Body::Text(String::from_utf8_lossy(&body).into_owned()),
        };
        Ok(Answer::Response(head.response(body)))
    }

    /// Sends a request and waits for the first byte of the answer.
    fn begin(&self, stream: &mut Stream, request: &Request) -> io::Result<()> {
        self.write(stream, request)?;
        if stream.fill_buf()?.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    fn write(&self, stream: &mut Stream, request: &Request) -> io::Result<()> {
        let escaped = |text: &str| {
            let bytes = text.bytes().map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    char::from(byte).to_string()
                }
                _ => format!("%{byte:02X}"),
            });
            bytes.collect::<String>()
        };
        let query = request.query.iter();
        let query: Vec<_> =
            query.map(|(key, value)| format!("{}={}", escaped(key), escaped(value))).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        let (method, path, address) = (&request.method, &request.path, self.address);
        let mut head = format!("{method} {path}{mark}{} HTTP/1.1\r\n", query.join("&"));
        head.push_str(&format!("Host: {address}\r\nContent-Length: {}\r\n", request.body.len()));
        if !self.token.is_empty() {
            head.push_str(&format!("Authorization: Bearer {}\r\n", self.token));
        }
        if request.header("Accept").is_none() {
            head.push_str("Accept: application/json\r\n");
        }
        for (key, value) in &request.headers {
            head.push_str(&format!("{key}: {value}\r\n"));
        }
        let stream = stream.get_mut();
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        stream.write_all(&request.body)?;
        stream.flush()
    }

    /// A server that reads from its cache is asked first for the newest state, which brings the cache
    /// up to it.
    fn catch_up(&mut self, request: &Request) {
        let reads_cache = request.method == "GET" && !request.query.is_empty();
        if reads_cache || request.method == "DELETE" {
            let mut path = request.path.replace("/v1/watch/", "/v1/");
            let is_named = path.split_once("/namespaces/").is_some_and(|(_, it)| {
                it.matches('/').count() == 2 // the list of all is what counts
            });
            if let (true, Some((list, _))) = (is_named, path.rsplit_once('/')) {
                path.truncate(list.len());
            }
            drop(self.exchange(&Request::new("GET", &path)));
        }
    }
}

impl Target for Live {
    fn pass(&mut self, time: Duration) {
        // Between two steps nothing needs to pass; who waits for an end waits in `events`.
        if time >= Duration::from_secs(1) {
            for (stream, _) in self.watches.values_mut() {
                drop(stream.get_mut().sock.set_read_timeout(Some(time)));
            }
        }
    }

    fn send(&mut self, request: &Request) -> Answer {
        if !self.is_hasty {
            self.catch_up(request);
        }
        self.exchange(request).unwrap_or(Answer::Lost)
    }

    fn events(&mut self, id: WatchId) -> Events {
        let mut events = Events::default();
        let Some((mut stream, mut line)) = self.watches.remove(&id) else {
            return Events { has_ended: true, ..events };
        };
        if stream.get_ref().sock.read_timeout().is_ok_and(|it| it == Some(PATIENCE)) {
            drop(stream.get_mut().sock.set_read_timeout(Some(QUIET)));
        }
        loop {
            match chunk(&mut stream) {
                Ok(bytes) if bytes.is_empty() => {
                    events.has_ended = true;
                    return events;
                }
                Ok(bytes) => {
                    line.extend(bytes);
                    // A long line comes in more than one piece.
                    let whole = line.iter().rposition(|it| *it == b'\n').map_or(0, |at| at + 1);
                    let lines: Vec<u8> = line.drain(..whole).collect();
                    events.events.extend(lines.split(|it| *it == b'\n').filter_map(event));
                }
                Err(error) => {
                    let quiet = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut];
                    events.has_ended = !quiet.contains(&error.kind());
                    break;
                }
            }
        }
        if !events.has_ended {
            drop(stream.get_mut().sock.set_read_timeout(Some(QUIET)));
            self.watches.insert(id, (stream, line));
        }
        events
    }

    fn close(&mut self, id: WatchId) {
        self.watches.remove(&id);
    }

    fn compact(&mut self) -> bool {
        false
    }
}

fn event(line: &[u8]) -> Option<WatchEvent> {
    let mut event: Value = serde_json::from_slice(line).ok()?;
    let kinds = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"];
    let kind = kinds.into_iter().find(|kind| event["type"] == *kind)?;
    Some(WatchEvent { kind, object: Arc::new(event["object"].take()) })
}

/// The other side had closed the connection.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

/// The head of an answer.
struct Head {
    status: u16,
    headers: Vec<(&'static str, String)>,
    length: usize,
    is_chunked: bool,
}

fn line(stream: &mut Stream) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

/// The most bytes of an answer that are read at once; a server that announces more is refused.
const LARGEST: usize = 64 * 1024 * 1024;

fn bytes(stream: &mut Stream, length: usize) -> io::Result<Vec<u8>> {
    if length > LARGEST {
        return Err(io::Error::other(format!("{length} bytes in one piece")));
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A chunk of a body; empty at its end.
fn chunk(stream: &mut Stream) -> io::Result<Vec<u8>> {
    let size = usize::from_str_radix(&line(stream)?, 16).map_err(io::Error::other)?;
    let chunk = bytes(stream, size)?;
    bytes(stream, 2)?; // the end of its line
    Ok(chunk)
}

impl Head {
    fn read(stream: &mut Stream) -> io::Result<Self> {
        let status = line(stream)?;
        let status = status.split(' ').nth(1).and_then(|it| it.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("no HTTP"))?;
        let mut head = Self { status, headers: Vec::new(), length: 0, is_chunked: false };
        loop {
            let line = line(stream)?;
            let Some((key, value)) = line.split_once(": ") else { return Ok(head) };
            match key.to_ascii_lowercase().as_str() {
                "content-length" => head.length = value.parse().map_err(io::Error::other)?,
                "transfer-encoding" => head.is_chunked = value == "chunked",
                "content-type" => head.headers.push(("Content-Type", value.to_owned())),
                "retry-after" => head.headers.push(("Retry-After", value.to_owned())),
                "warning" => head.headers.push(("Warning", value.to_owned())),
                _ => {}
            }
        }
    }

    fn body(&self, stream: &mut Stream) -> io::Result<Vec<u8>> {
        if !self.is_chunked {
            return bytes(stream, self.length);
        }
        let mut body = Vec::new();
        loop {
            let chunk = chunk(stream)?;
            if chunk.is_empty() {
                return Ok(body);
            }
            body.extend(chunk);
        }
    }

    fn response(&self, body: Body) -> Response {
        let headers = self.headers.clone();
        Response { status: self.status, headers, body, after: Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use rustls::{ServerConfig, ServerConnection};

    use super::*;
    use crate::http::Tls;

    const WHOLE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

    /// Answers one request after the other. After anything but a whole answer it hangs up.
    fn serve(listener: &TcpListener, config: &Arc<ServerConfig>, replies: &[&str]) {
        let mut replies = replies.iter();
        while replies.len() > 0 {
            let Ok((socket, _)) = listener.accept() else { return };
            let connection = ServerConnection::new(Arc::clone(config)).expect("a server");
            let mut stream = BufReader::new(StreamOwned::new(connection, socket));
            for reply in replies.by_ref() {
                let mut line = String::from("begin");
                while !line.trim_end().is_empty() {
                    line.clear();
                    stream.read_line(&mut line).expect("a request");
                }
                stream.get_mut().write_all(reply.as_bytes()).expect("the client reads");
                if *reply != WHOLE {
                    break;
                }
            }
        }
    }

    #[test]
    fn a_request_is_sent_again_only_if_a_kept_connection_was_closed_before_the_answer() {
        for (reply, is_sent_again) in [
            ("", true),
            ("nonsense\r\n", false),
            ("HTTP/1.1 200 OK\r\nContent-", false),
            ("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", false),
        ] {
            let tls = Tls::generate([127, 0, 0, 1].into()).expect("a certificate");
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = listener.local_addr().expect("an address");
            let config = tls.config();
            // A client that sends the request again gets an answer. Otherwise the thread ends with
            // the test.
            let replies = [WHOLE, reply, WHOLE];
            drop(std::thread::spawn(move || serve(&listener, &config, &replies)));
            let mut live = Live::new(address, tls.authority(), "").expect("a client");
            let mut send = || live.send(&Request::new("GET", "/version"));
            assert!(matches!(send(), Answer::Response(_)), "{reply:?}");
            assert_eq!(matches!(send(), Answer::Response(_)), is_sent_again, "{reply:?}");
        }
    }
}
