//! A network between client and server that breaks connections in each way that networks know.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

/// How long a connection that says nothing any more is kept.
const SILENCE: Duration = Duration::from_secs(600);

/// The way to a server.
pub(super) struct Network {
    pub(super) port: u16,
    /// How many connections were broken.
    pub(super) broken: Arc<AtomicU64>,
}

/// How a connection ends that is broken.
#[derive(Clone, Copy)]
enum End {
    /// Both sides are told that the other one is gone.
    Reset,
    /// Nothing comes any more, in either direction, and nobody is told.
    Stall,
    /// The server says nothing more, and hears all.
    HalfClosed,
}

/// Every fourth connection lasts.
const ENDS: [Option<End>; 4] = [Some(End::Reset), None, Some(End::Stall), Some(End::HalfClosed)];

impl Network {
    /// Leads to a port of this machine. Connections that are broken last for a multiple of `time`.
    pub(super) fn to(server: u16, time: Duration, tokio: &Runtime) -> Self {
        let _inside = tokio.enter();
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        listener.set_nonblocking(true).expect("a listener that does not block");
        let port = listener.local_addr().expect("it has a port").port();
        let listener = TcpListener::from_std(listener).expect("tokio takes it");
        let broken = Arc::new(AtomicU64::new(0));
        let counts = Arc::clone(&broken);
        tokio.spawn(async move {
            for nth in 0_usize.. {
                let Ok((client, _)) = listener.accept().await else { continue };
                let counts = Arc::clone(&counts);
                let lasts = time * (1 + nth as u32 % 3);
                tokio::spawn(async move {
                    if let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await {
                        carry(client, server, ENDS[nth % 4], lasts, &counts).await;
                    }
                });
            }
        });
        Self { port, broken }
    }

    /// Waits until a connection was broken, as sooner or later most of them are.
    pub(super) async fn until_broken(&self) {
        while self.broken.load(Ordering::Relaxed) == 0 {
            sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn carry(
    mut client: TcpStream,
    mut server: TcpStream,
    end: Option<End>,
    lasts: Duration,
    broken: &AtomicU64,
) {
    let (_, _) = (client.set_nodelay(true), server.set_nodelay(true));
    let lasts = if end.is_some() { lasts } else { SILENCE };
    let carried = tokio::io::copy_bidirectional(&mut client, &mut server);
    if timeout(lasts, carried).await.is_ok() {
        return;
    }
    broken.fetch_add(1, Ordering::Relaxed);
    match end {
        Some(End::Reset) | None => {}
        Some(End::Stall) => sleep(SILENCE).await,
        Some(End::HalfClosed) => {
            let _gone = client.shutdown().await;
            let mut heard = [0; 4096];
            while let Ok(Ok(1..)) = timeout(SILENCE, client.read(&mut heard)).await {}
        }
    }
}
