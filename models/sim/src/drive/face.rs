//! The address of a run: TLS, HTTP/1.1 and HTTP/2, as clients know it from a real server.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tower_service::Service as _;

use super::inside::Inside;
use super::process::listener;
use crate::http::Tls;
use crate::tower::Service;

/// How many connections a run may have; the next ones wait.
const CONNECTIONS: usize = 128;
/// How long a client may take to greet, and for the head of a request.
const PATIENCE: Duration = Duration::from_secs(30);

/// Begins to listen in this runtime, and ends with it.
pub(super) fn listen(service: Service<Inside>, tls: &Tls) -> io::Result<SocketAddr> {
    let listener = listener()?;
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let (address, acceptor) = (listener.local_addr()?, tls.acceptor());
    tokio::spawn(accept(listener, acceptor, service));
    Ok(address)
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, service: Service<Inside>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        let Ok((socket, _)) = listener.accept().await else {
            // Out of descriptors: the next connection that ends frees one.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (acceptor, service) = (acceptor.clone(), service.clone());
        tokio::spawn(async move {
            // A client that speaks otherwise is hung up on.
            drop(serve(socket, acceptor, service).await);
            drop(place);
        });
    }
}

async fn serve(
    socket: TcpStream,
    acceptor: TlsAcceptor,
    service: Service<Inside>,
) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let stream = tokio::time::timeout(PATIENCE, acceptor.accept(socket)).await??;
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let answers = hyper::service::service_fn(move |request: http::Request<Incoming>| {
        service.clone().call(request)
    });
    let (stream, timer) = (TokioIo::new(stream), TokioTimer::new());
    if is_http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(timer).max_concurrent_streams(100);
        return builder.serve_connection(stream, answers).await.map_err(io::Error::other);
    }
    let mut builder = http1::Builder::new();
    builder.timer(timer).header_read_timeout(PATIENCE * 4);
    builder.serve_connection(stream, answers).await.map_err(io::Error::other)
}

/// Writes the kubeconfig of a process.
pub(super) fn kubeconfig(
    path: &Path,
    address: SocketAddr,
    tls: &Tls,
    token: &str,
) -> io::Result<()> {
    let authority = STANDARD.encode(tls.authority());
    let cluster =
        json!({"server": format!("https://{address}"), "certificate-authority-data": authority});
    let context = json!({"cluster": "seatrial", "user": "seatrial", "namespace": "default"});
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "seatrial", "cluster": cluster}],
        "users": [{"name": "seatrial", "user": {"token": token}}],
        "contexts": [{"name": "seatrial", "context": context}],
        "current-context": "seatrial",
    });
    std::fs::write(path, format!("{config:#}\n"))
}
