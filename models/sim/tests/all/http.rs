//! The server over HTTP, as any client sees it.
#![cfg(feature = "http")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use seatrial_sim::apiserver::{Answer, Fault, Options, Point, Request, Server, Trouble};
use seatrial_sim::controllers::Controllers;
use seatrial_sim::http::{Face, Listen};
use serde_json::Value;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn face(listen: &Listen) -> Face {
    Face::listen(Server::new(&Options::default()), listen).expect("a port is free")
}

struct Client {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    fn of(face: &Face) -> Self {
        let stream = TcpStream::connect(face.address()).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        let reader = BufReader::new(stream.try_clone().expect("a second handle"));
        Self { stream, reader }
    }

    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // A server that has heard enough may have hung up.
        drop(self.stream.write_all(bytes.as_ref()));
    }

    fn request(&mut self, method: &str, target: &str, body: &str) -> (u16, Value) {
        let length = body.len();
        self.send(format!(
            "{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        self.response()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line in time");
        line.trim_end().to_owned()
    }

    /// The status and the length of the body; none if chunks follow.
    fn head(&mut self) -> (u16, Option<usize>) {
        let first = self.line();
        let status = first.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        let mut length = None;
        loop {
            let line = self.line();
            if line.is_empty() {
                return (status, length);
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.parse().ok();
            }
        }
    }

    fn response(&mut self) -> (u16, Value) {
        let (status, length) = self.head();
        let mut body = vec![0; length.unwrap_or(0)];
        self.reader.read_exact(&mut body).expect("the body");
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    /// A chunk; empty at the end of the stream.
    fn chunk(&mut self) -> Value {
        let size = usize::from_str_radix(&self.line(), 16).expect("the size of a chunk");
        let mut bytes = vec![0; size + 2];
        self.reader.read_exact(&mut bytes).expect("the chunk");
        serde_json::from_slice(&bytes).unwrap_or(Value::Null)
    }
}

fn map(name: &str) -> String {
    format!("{{\"metadata\":{{\"name\":\"{name}\"}}}}")
}

#[test]
fn requests_share_a_connection() {
    let face = face(&Listen::default());
    let mut client = Client::of(&face);
    assert_eq!(client.request("POST", MAPS, &map("a")).0, 201);
    let (status, list) =
        client.request("GET", &format!("{MAPS}?fieldSelector=metadata.name%3Da"), "");
    assert_eq!((status, list["items"].as_array().map(Vec::len)), (200, Some(1)));
    assert_eq!(client.request("DELETE", &format!("{MAPS}/a"), "").0, 200);
    client.send("POST ");
    client.send(format!("{MAPS} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for part in [&map("b")[..7], &map("b")[7..]] {
        client.send(format!("{:x}\r\n{part}\r\n", part.len()));
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.response().0, 201);
    assert_eq!(face.connections(), 1);
}

#[test]
fn a_watch_tells_what_another_connection_writes_and_ends_in_time() {
    let face = face(&Listen::default());
    let (mut watcher, mut writer) = (Client::of(&face), Client::of(&face));
    let version = face.with(|server| server.revision());
    watcher.send(format!(
        "GET {MAPS}?watch=true&resourceVersion={version}&timeoutSeconds=2 HTTP/1.1\r\n\r\n"
    ));
    assert_eq!(watcher.head(), (200, None));
    assert_eq!(writer.request("POST", MAPS, &map("a")).0, 201);
    let event = watcher.chunk();
    assert_eq!(
        (&event["type"], &event["object"]["metadata"]["name"]),
        (&"ADDED".into(), &"a".into())
    );
    assert_eq!(writer.request("DELETE", &format!("{MAPS}/a"), "").0, 200);
    assert_eq!(watcher.chunk()["type"], "DELETED");
    assert_eq!(watcher.chunk(), Value::Null);
    assert_eq!(watcher.request("GET", MAPS, "").0, 200);
}

#[test]
fn what_is_no_http_is_told_so_and_hung_up_on() {
    let face = face(&Listen::default());
    let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(70_000));
    for (bytes, expected) in [
        ("hello\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\n\r\n", 505),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (long.as_str(), 431),
    ] {
        let mut client = Client::of(&face);
        client.send(bytes);
        assert_eq!(client.head().0, expected, "{}", &bytes[..20.min(bytes.len())]);
    }
    let mut client = Client::of(&face);
    let size = 4 * 1024 * 1024;
    client.send(format!("POST {MAPS} HTTP/1.1\r\nContent-Length: {size}\r\n\r\n"));
    client.send(vec![b' '; 3 * 1024 * 1024 + 1]);
    assert_eq!(client.head().0, 413);
    // Half a request: the client leaves, and its connection with it.
    drop(client);
    Client::of(&face).send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf");
    assert!(face.wait_for_connections(0, Duration::from_secs(10)));
}

#[test]
fn connections_are_bounded_and_idle_ones_end() {
    let listen =
        Listen { connections: 2, patience: Duration::from_millis(300), ..Listen::default() };
    let face = face(&listen);
    let (mut first, mut second) = (Client::of(&face), Client::of(&face));
    assert_eq!(first.request("GET", "/version", "").0, 200);
    assert_eq!(second.request("GET", "/version", "").0, 200);
    assert_eq!(Client::of(&face).head().0, 503);
    assert!(face.wait_for_connections(0, Duration::from_secs(10)));
    assert_eq!(Client::of(&face).request("GET", "/version", "").0, 200);
}

#[test]
fn a_lost_answer_is_a_broken_connection() {
    let face = face(&Listen::default());
    let at = Point::of("POST", "configmaps");
    face.with(|server| server.inject(Fault { at, after: 0, times: 1, what: Trouble::LoseAnswer }));
    let mut client = Client::of(&face);
    client.send(format!(
        "POST {MAPS} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}",
        map("a").len(),
        map("a")
    ));
    let mut rest = Vec::new();
    assert_eq!(client.reader.read_to_end(&mut rest).ok(), Some(0));
    assert_eq!(Client::of(&face).request("GET", &format!("{MAPS}/a"), "").0, 200);
}

#[test]
fn it_listens_on_loopback_alone_and_stops_when_it_is_dropped() {
    let everywhere = Listen { address: ([0, 0, 0, 0], 0).into(), ..Listen::default() };
    let refused = Face::listen(Server::new(&Options::default()), &everywhere);
    assert_eq!(refused.err().map(|it| it.kind()), Some(std::io::ErrorKind::PermissionDenied));
    let face = face(&Listen::default());
    let address = face.address();
    let mut kept_alive = Client::of(&face);
    assert_eq!(kept_alive.request("GET", "/version", "").0, 200);
    drop(face);
    assert!(TcpStream::connect(address).is_err());
    kept_alive.send("GET /version HTTP/1.1\r\nHost: x\r\n\r\n");
    // It has hung up. What was sent to it since may come back as a reset.
    let mut line = String::new();
    match kept_alive.reader.read_line(&mut line) {
        Ok(read) => assert_eq!(read, 0, "nobody is there any more: {line}"),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
    }
}

#[test]
fn controllers_that_were_refused_try_again_though_nothing_is_written() {
    let listen = Listen { controllers: Some(Controllers::all()), ..Listen::default() };
    let face = face(&listen);
    let what = Trouble::Refuse { status: 500, retry_after: None };
    let at = Point::of("POST", "pods");
    face.with(|server| server.inject(Fault { at, after: 0, times: 22, what }));
    let set = serde_json::json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    });
    let mut client = Client::of(&face);
    let sets = "/apis/apps/v1/namespaces/default/replicasets";
    assert_eq!(client.request("POST", sets, &set.to_string()).0, 201);
    let pods = Request::new("GET", "/api/v1/namespaces/default/pods");
    let has_one = face.wait_until(Duration::from_secs(30), |server| {
        let Answer::Response(pods) = server.handle(Duration::ZERO, &pods) else { return false };
        pods.json().is_some_and(|pods| pods["items"].as_array().is_some_and(|it| it.len() == 1))
    });
    assert!(has_one, "no pod within 30 seconds");
}
