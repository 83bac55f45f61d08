//! Two replicas and one Lease, on the server of `KUBECONFIG` or on their own. The leader dies
//! without freeing the Lease; the other one waits until the Lease has expired, and takes over. The
//! example ends by itself within six seconds.
//!
//! ```text
//! cargo run -p seatrial-kube --example election
//! ```

mod place;

use std::time::Duration;

use kube::Client;
use seatrial_kube::election::{Bounds, LeaderElection, Leadership, Timing};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// A replica that leads until it is told to stop.
fn replica(
    client: &Client,
    name: &'static str,
    leads: &mpsc::Sender<&'static str>,
) -> LeaderElection {
    // These times are too short for a cluster, but nobody has to wait here.
    let timing = Timing {
        lease: Duration::from_secs(3),
        renew: Duration::from_secs(2),
        retry: Duration::from_millis(300),
    };
    let leads = leads.clone();
    LeaderElection::new(client.clone(), "default", "example")
        .identity(name)
        .timing(timing)
        .bounds(Bounds::default().work(Duration::from_millis(200)))
        .on_new_leader(move |leader| {
            if leader == name {
                let _full = leads.try_send(name); // a full channel has been told before
            }
        })
}

async fn work(leadership: Leadership) {
    println!("leading, with {:?}", leadership.fence());
    leadership.lost().await;
    println!("leading no longer");
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Your operator uses `Client::try_default().await?` instead.
    let (client, _server) = place::connect().await?;

    let (tell, mut leads) = mpsc::channel(2);
    let first = tokio::spawn(replica(&client, "first", &tell).run(work));
    println!("{} leads", leads.recv().await.unwrap_or_default());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let second =
        replica(&client, "second", &tell).graceful_shutdown_on(async move { drop(stopped.await) });
    let second = tokio::spawn(second.run(work));
    tokio::time::sleep(Duration::from_millis(500)).await;
    println!("the first dies");
    let died = Instant::now();
    first.abort();
    let successor = leads.recv().await.unwrap_or_default();
    println!("{successor} leads after {:.1} s", died.elapsed().as_secs_f64());
    drop(stop); // an orderly end: the Lease is freed
    let _value = second.await??;
    Ok(())
}
