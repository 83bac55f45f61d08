//! HTTP/2, agreed upon in the greeting of TLS: the limits of a real server, watches, goodbyes.
#![cfg(feature = "tls")]

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use seatrial_sim::apiserver::{Options, Request as Asked, Server};
use seatrial_sim::http::{Face, Listen, Tls};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PATIENCE: Duration = Duration::from_secs(60);

fn face(tls: &Tls) -> Face {
    patient(tls, PATIENCE)
}

fn patient(tls: &Tls, patience: Duration) -> Face {
    let listen = Listen { tls: Some(tls.clone()), patience, ..Listen::default() };
    Face::listen(Server::new(&Options::default()), &listen).expect("a port is free")
}

/// Runs a test with a server.
fn with<F: Future<Output = ()>>(change: fn(Tls) -> Tls, test: impl FnOnce(Face, Tls) -> F) {
    let tls = change(Tls::generate([127, 0, 0, 1].into()).expect("a certificate"));
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().expect("it starts");
    let face = face(&tls);
    runtime.block_on(async {
        tokio::time::timeout(PATIENCE, test(face, tls)).await.expect("in time");
    });
}

/// A connection, and the task that drives it: it ends when the connection does.
type Client = (SendRequest<Full<Bytes>>, JoinHandle<()>);

/// What the server chooses, of these.
async fn greet(
    face: &Face,
    tls: &Tls,
    offered: &[&[u8]],
) -> tokio_rustls::client::TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(tls.authority().as_bytes());
    roots.add(authority.expect("it is PEM")).expect("it is a certificate");
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions();
    let config = config.expect("versions").with_root_certificates(roots);
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = offered.iter().map(|it| it.to_vec()).collect();
    let socket = TcpStream::connect(face.address()).await.expect("it listens");
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, socket).await.expect("it greets")
}

async fn client(face: &Face, tls: &Tls) -> Client {
    let stream = greet(face, tls, &[b"h2", b"http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (sender, connection) =
        handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("it speaks HTTP/2");
    (sender, tokio::spawn(async { drop(connection.await) }))
}

fn request(method: &str, path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let uri = format!("https://localhost{path}");
    let builder = Request::builder().method(method).uri(uri);
    let builder = builder.header("content-type", "application/json");
    builder.body(Full::new(body.into())).expect("a request")
}

async fn get(sender: &mut SendRequest<Full<Bytes>>, path: &str) -> Response<Incoming> {
    sender.send_request(request("GET", path, "")).await.expect("an answer")
}

fn create(face: &Face, name: &str) {
    face.with(|server| {
        let body = serde_json::json!({"metadata": {"name": name}});
        drop(server.handle(Duration::ZERO, &Asked::new("POST", MAPS).json(&body)));
    });
}

#[test]
fn a_client_that_offers_both_gets_http2_and_one_that_does_not_gets_the_other() {
    with(
        |tls| tls,
        |face, tls| async move {
            let (mut sender, _) = client(&face, &tls).await;
            let answer = get(&mut sender, "/version").await;
            assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_2));
            let whole = answer.into_body().collect().await.expect("a body").to_bytes();
            assert!(String::from_utf8_lossy(&whole).contains("gitVersion"));
            let old = greet(&face, &tls, &[b"http/1.1"]).await;
            assert_eq!(old.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        },
    );
    with(Tls::without_http2, |face, tls| async move {
        let old = greet(&face, &tls, &[b"h2", b"http/1.1"]).await;
        assert_eq!(old.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    });
}

#[test]
fn a_hundred_watches_fill_a_connection_until_one_of_them_is_dropped() {
    with(
        |tls| tls,
        |face, tls| async move {
            let (mut sender, _) = client(&face, &tls).await;
            let watch = format!("{MAPS}?watch=true");
            let mut watches = Vec::new();
            for _ in 0..100 {
                watches.push(get(&mut sender, &watch).await.into_body());
            }
            let mut next = Box::pin(sender.send_request(request("GET", "/version", "")));
            assert!((&mut next).now_or_never().is_none());
            create(&face, "a");
            for body in &mut watches {
                let frame = body.frame().await.expect("an event").expect("it is whole");
                let line = frame.into_data().expect("data");
                assert!(String::from_utf8_lossy(&line).contains(r#""type":"ADDED""#));
            }
            assert!((&mut next).now_or_never().is_none(), "a stream too many");
            drop(watches.pop());
            assert_eq!(next.await.expect("an answer").status(), 200);
        },
    );
}

#[test]
fn a_body_that_is_too_large_is_refused_and_the_connection_goes_on() {
    with(
        |tls| tls,
        |face, tls| async move {
            let (mut sender, _) = client(&face, &tls).await;
            let large = vec![b' '; 3 * 1024 * 1024 + 1];
            let refused = sender.send_request(request("POST", MAPS, large)).await;
            assert_eq!(refused.expect("an answer").status(), 413);
            let whole = sender.send_request(request("POST", MAPS, r#"{"metadata":{"name":"b"}}"#));
            assert_eq!(whole.await.expect("an answer").status(), 201);
            let head = sender.send_request(request("HEAD", MAPS, "")).await.expect("an answer");
            assert_eq!(head.status(), 405);
        },
    );
}

#[test]
fn after_so_many_requests_the_server_says_goodbye_and_what_is_under_way_goes_on() {
    with(
        |tls| tls.goaway_after(2),
        |face, tls| async move {
            let (mut sender, connection) = client(&face, &tls).await;
            let mut body = get(&mut sender, &format!("{MAPS}?watch=true")).await.into_body();
            get(&mut sender, "/version").await;
            // Those on their way are answered, until the client has heard of it.
            while sender.send_request(request("GET", "/version", "")).await.is_ok() {}
            create(&face, "c");
            assert!(body.frame().await.is_some_and(|frame| frame.is_ok()), "the watch goes on");
            drop(body);
            connection.await.expect("the connection ends with it");
        },
    );
}

/// Also how long a greeting may take: long enough for a machine that is busy.
const SHORT: Duration = Duration::from_secs(3);

/// A client that leaves much unread: it takes a kibibyte of each body until it asks for more.
async fn stingy(face: &Face, tls: &Tls) -> Client {
    let stream = greet(face, tls, &[b"h2"]).await;
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(1_024);
    let (sender, connection) =
        builder.handshake(TokioIo::new(stream)).await.expect("it speaks HTTP/2");
    (sender, tokio::spawn(async { drop(connection.await) }))
}

fn quiet_watch(face: &Face) -> String {
    let version = face.with(|server| server.revision());
    format!("{MAPS}?watch=true&resourceVersion={version}")
}

#[test]
fn a_client_that_reads_nothing_is_given_up_and_one_that_hears_nothing_is_not() {
    with(
        |tls| tls,
        |_, tls| async move {
            let face = patient(&tls, SHORT);
            (0..50).for_each(|n| create(&face, &format!("m{n}")));
            let (mut sender, _) = client(&face, &tls).await;
            let mut quiet = get(&mut sender, &quiet_watch(&face)).await.into_body();
            let (mut other, connection) = stingy(&face, &tls).await;
            let unread = get(&mut other, MAPS).await.into_body();
            connection.await.expect("the server ends it");
            drop(unread);
            create(&face, "d");
            assert!(quiet.frame().await.is_some_and(|frame| frame.is_ok()), "the watch goes on");
        },
    );
}

#[test]
fn neither_a_quiet_watch_nor_more_requests_excuse_a_body_that_is_not_read() {
    with(
        |tls| tls,
        |_, tls| async move {
            let face = patient(&tls, SHORT);
            // The first list is one piece, the other one is many.
            for count in [50, 500] {
                (0..count).for_each(|n| create(&face, &format!("m{count}-{n}")));
                let (mut sender, connection) = stingy(&face, &tls).await;
                let quiet = get(&mut sender, &quiet_watch(&face)).await.into_body();
                let unread = get(&mut sender, MAPS).await.into_body();
                // It would do so for ever.
                while let Ok(answer) = sender.send_request(request("GET", "/version", "")).await {
                    drop(answer.into_body().collect().await);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                connection.await.expect("the server ends it");
                drop((quiet, unread));
            }
        },
    );
}

#[test]
fn a_connection_ends_with_its_server() {
    with(
        |tls| tls,
        |face, tls| async move {
            let (mut sender, connection) = client(&face, &tls).await;
            let mut body = get(&mut sender, &format!("{MAPS}?watch=true")).await.into_body();
            tokio::task::spawn_blocking(move || drop(face)).await.expect("it stops");
            assert!(body.frame().await.is_none_or(|frame| frame.is_err()));
            connection.await.expect("it ends");
        },
    );
}
