//! A simulated server on loopback, clients of it, and a network that can be cut.

pub(crate) mod small;
pub(crate) mod switch;

use std::net::SocketAddr;
use std::time::Duration;

use kube::{Client, Config};
use seatrial_sim::apiserver::{Options, Server};
use seatrial_sim::http::{Face, Listen};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// Starts a server with an empty cluster.
pub(crate) fn serve() -> Face {
    Face::listen(Server::new(&Options::default()), &Listen::default()).expect("a port is free")
}

pub(crate) fn client(address: SocketAddr) -> Client {
    let config = Config::new(format!("http://{address}").parse().expect("an address"));
    Client::try_from(config).expect("a client")
}

/// A connection to the server that can be cut: calls under way hang, and later ones, too.
pub(crate) struct Network {
    pub(crate) address: SocketAddr,
    forwarder: JoinHandle<()>,
    is_cut: tokio::sync::watch::Sender<bool>,
}

impl Network {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("an address");
        let (is_cut, cut) = tokio::sync::watch::channel(false);
        let forwarder = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut inner, _)) = listener.accept().await {
                let mut cut = cut.clone();
                connections.spawn(async move {
                    let forward = async {
                        let mut outer = TcpStream::connect(server).await.expect("it listens");
                        drop(tokio::io::copy_bidirectional(&mut inner, &mut outer).await);
                    };
                    let is_cut = async { drop(cut.wait_for(|cut| *cut).await) };
                    tokio::select! {
                        biased;
                        () = is_cut => std::future::pending().await,
                        () = forward => {}
                    }
                });
            }
        });
        Self { address, forwarder, is_cut }
    }

    pub(crate) fn cut(&self) {
        self.is_cut.send_replace(true);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.forwarder.abort();
    }
}

/// Waits until a condition is true; fails if that takes too long.
pub(crate) async fn soon(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..6_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what}: not within a minute");
}
