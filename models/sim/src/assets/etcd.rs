//! `etcd`, as far as a test library looks at it: it is there, and it is well. The simulated server keeps
//! its objects itself.

use std::io::{self, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::flags::Flags;
use super::{Program, Stop};
use crate::apiserver::Response;
use crate::http::wire;

/// How long a client may take for its request.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) const PROGRAM: Program = Program {
    name: "etcd",
    about: "Answers to /health in place of etcd. It stores nothing: seatrial's kube-apiserver keeps its \
            objects in memory, and needs no etcd.",
    flags: &[
        ("listen-client-urls", "where to answer, http alone (http://localhost:2379)"),
        ("advertise-client-urls", ""),
        ("data-dir", ""),
        ("initial-advertise-peer-urls", ""),
        ("initial-cluster", ""),
        ("listen-peer-urls", ""),
        ("log-level", ""),
        ("name", ""),
        ("unsafe-no-fsync", ""),
    ],
    run,
};

fn run(flags: &Flags, stop: Stop) -> io::Result<()> {
    let urls = flags.get("listen-client-urls").unwrap_or("http://localhost:2379");
    for url in urls.split(',') {
        let address = url.trim().strip_prefix("http://").ok_or_else(|| {
            let why = "--listen-client-urls: only http is served";
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })?;
        let listener = TcpListener::bind(address.trim_end_matches('/'))?;
        std::thread::Builder::new().name("etcd".to_owned()).spawn(move || serve(&listener))?;
    }
    stop.wait()
}

/// One client after the other: each is quick.
fn serve(listener: &TcpListener) {
    for client in listener.incoming() {
        match client {
            // Its trouble is its own.
            Ok(client) => drop(answer(&client)),
            Err(_) => std::thread::sleep(PATIENCE),
        }
    }
}

fn answer(mut client: &TcpStream) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let Ok(received) = wire::read(&mut BufReader::new(client), &mut io::sink()) else {
        return Ok(());
    };
    let response = match received.request.path.as_str() {
        "/health" | "/livez" | "/readyz" => Response::text(200, r#"{"health":"true","reason":""}"#),
        _ => Response::text(404, "404 page not found\n"),
    };
    let body = response.body.bytes();
    wire::head(&mut client, &response, Some(body.len()), false)?;
    client.write_all(&body)
}
