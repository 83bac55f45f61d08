//! The server over TLS: a client that trusts its authority is served, any other is not.
#![cfg(feature = "tls")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use seatrial_sim::apiserver::{Options, Server};
use seatrial_sim::http::{Face, Listen, Tls};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

type Client = StreamOwned<ClientConnection, TcpStream>;

fn tls() -> Tls {
    Tls::generate([127, 0, 0, 1].into()).expect("a certificate")
}

fn face(tls: Tls) -> Face {
    let listen = Listen { tls: Some(tls), ..Listen::default() };
    Face::listen(Server::new(&Options::default()), &listen).expect("a port is free")
}

fn client(face: &Face, trusts: &Tls, name: &'static str) -> Client {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(trusts.authority().as_bytes());
    roots.add(authority.expect("it is PEM")).expect("it is a certificate");
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(name).expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    let socket = TcpStream::connect(face.address()).expect("it listens");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    StreamOwned::new(connection, socket)
}

fn until(client: &mut Client, end: &str) -> String {
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains(end) {
        let mut more = [0; 4096];
        let count = client.read(&mut more).expect("an answer in time");
        assert!(count > 0, "{}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&more[..count]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_client_that_trusts_the_authority_is_served_by_address_and_by_name() {
    let tls = tls();
    let face = face(tls.clone());
    for name in ["127.0.0.1", "localhost"] {
        let mut client = client(&face, &tls, name);
        for _ in 0..2 {
            client.write_all(b"GET /version HTTP/1.1\r\n\r\n").expect("it reads");
            assert!(until(&mut client, "gitVersion").starts_with("HTTP/1.1 200 OK"));
        }
    }
}

#[test]
fn a_client_that_trusts_another_authority_and_one_without_tls_get_nothing() {
    let face = face(tls());
    let mut stranger = client(&face, &tls(), "localhost");
    assert!(stranger.write_all(b"GET /version HTTP/1.1\r\n\r\n").is_err());
    let mut plain = TcpStream::connect(face.address()).expect("it listens");
    plain.write_all(b"GET /version HTTP/1.1\r\n\r\n").expect("it reads");
    let mut said = Vec::new();
    drop(plain.read_to_end(&mut said));
    assert!(!String::from_utf8_lossy(&said).contains("HTTP/1.1 200"));
    drop((stranger, plain));
    assert!(face.wait_for_connections(0, Duration::from_secs(10)));
}

#[test]
fn a_client_that_was_told_of_the_end_finds_room_again() {
    let tls = tls();
    let listen = Listen { tls: Some(tls.clone()), connections: 1, ..Listen::default() };
    let face = Face::listen(Server::new(&Options::default()), &listen).expect("a port is free");
    for round in 0..100 {
        let mut client = client(&face, &tls, "localhost");
        client.write_all(b"GET /version HTTP/1.1\r\nConnection: close\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap_or_else(|why| panic!("{round}: {why}"));
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{round}: {answer}");
    }
}

#[test]
fn a_watch_ends_when_its_client_says_goodbye() {
    let tls = tls();
    let face = face(tls.clone());
    let mut watcher = client(&face, &tls, "localhost");
    let target = format!("GET {MAPS}?watch=true HTTP/1.1\r\n\r\n");
    watcher.write_all(target.as_bytes()).expect("it reads");
    until(&mut watcher, "\r\n\r\n");
    let mut writer = client(&face, &tls, "localhost");
    let body = r#"{"metadata":{"name":"a"}}"#;
    let post = format!("POST {MAPS} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    writer.write_all(post.as_bytes()).expect("it reads");
    assert!(until(&mut watcher, "\n\r\n").contains(r#""type":"ADDED""#));
    assert_eq!(face.connections(), 2);
    // The socket stays open: the goodbye inside TLS is enough.
    watcher.conn.send_close_notify();
    watcher.flush().expect("it reads");
    assert!(face.wait_for_connections(1, Duration::from_secs(10)));
    drop(watcher);
}
