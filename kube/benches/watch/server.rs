//! A server of watches, with and without TLS: every request gets as many events as it asks for.

use std::net::Ipv4Addr;
use std::sync::Arc;

use seatrial_sim::http::Tls;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::events::{BLOCK, block};

/// The ports, and the certificate of the authority that signed the server's.
pub(crate) struct Server {
    pub(crate) plain: u16,
    pub(crate) encrypted: u16,
    pub(crate) authority: String,
    _threads: tokio::runtime::Runtime,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let threads = builder.worker_threads(1).enable_all().build().expect("a runtime");
        let tls = Tls::generate(Ipv4Addr::LOCALHOST.into()).expect("there is randomness");
        let (acceptor, authority) = (TlsAcceptor::from(tls.config()), tls.authority().to_owned());
        let chunk: Arc<str> = format!("{:x}\r\n{}\r\n", block().len(), block()).into();
        let bind = || threads.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
        let (plain, encrypted) = (bind(), bind());
        let port = |it: &TcpListener| it.local_addr().expect("it is bound").port();
        let (plain_port, encrypted_port) = (port(&plain), port(&encrypted));
        let own = Arc::clone(&chunk);
        threads.spawn(async move {
            while let Ok((stream, _)) = plain.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&own)));
            }
        });
        threads.spawn(async move {
            while let Ok((stream, _)) = encrypted.accept().await {
                let (acceptor, chunk) = (acceptor.clone(), Arc::clone(&chunk));
                tokio::spawn(async move { serve(acceptor.accept(stream).await?, chunk).await });
            }
        });
        Self { plain: plain_port, encrypted: encrypted_port, authority, _threads: threads }
    }
}

/// Answers one request, whose query says how many events it wants.
async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    chunk: Arc<str>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head);
    let wanted = head.split("events=").nth(1).unwrap_or_default();
    let digits: String = wanted.chars().take_while(char::is_ascii_digit).collect();
    let blocks = digits.parse::<usize>().unwrap_or(0) / BLOCK;
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    for _ in 0..blocks {
        stream.write_all(chunk.as_bytes()).await?;
    }
    stream.write_all(b"0\r\n\r\n").await?;
    stream.flush().await
}
