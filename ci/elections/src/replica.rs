//! One replica of an election: a process that says `act` whenever its library says that it leads.
//!
//! A Lease is good for six seconds. What else a library lets its user choose has the same share of the
//! Lease as by default, in whole seconds where it takes no others.

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use seatrial_sim_libc::{Guard, Remedies};

/// How long a Lease is good.
pub const LEASE: Duration = Duration::from_secs(6);
/// How often a leader acts.
pub const ACT: Duration = Duration::from_millis(20);

type Done = Result<(), Box<dyn Error + Send + Sync>>;

/// Takes part in an election until the process is killed. Its wall clock is `ahead` of the machine's.
pub fn run(library: &str, identity: &str, server: &str, ahead: Duration, lease: &str) -> Done {
    // Threads of their own would have the machine's clock, so there is one.
    let remedies =
        Remedies { random: false, ahash: false, fastrand: false, hostname: false, clock: true };
    let (start, wall) = (Instant::now(), SystemTime::UNIX_EPOCH.elapsed()?);
    let guard = Guard::new(0, remedies);
    if !ahead.is_zero() {
        guard.set_clock(wall + ahead, move || Some(start.elapsed()));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match library {
            "seatrial-kube" => ours(identity, server, lease).await,
            "kube-leader-election" => kube_leader_election(identity, server, lease).await,
            "kube-lease-manager" => kube_lease_manager(identity, server, lease).await,
            "kube-coordinate" => kube_coordinate(identity, server, lease).await,
            "kubert" => kubert(identity, server, lease).await,
            "k8s-controller" => k8s_controller(identity, server, lease).await,
            other => Err(format!("no library has the name {other}").into()),
        }
    })
}

/// Acts whenever it may, for ever.
async fn act(may: impl Fn() -> bool) -> Done {
    loop {
        if may() {
            let mut out = std::io::stdout();
            out.write_all(b"act\n").and_then(|()| out.flush())?;
        }
        tokio::time::sleep(ACT).await;
    }
}

async fn ours(identity: &str, server: &str, lease: &str) -> Done {
    use seatrial_kube::election::{LeaderElection, Timing};
    // A real server wants to know who asks.
    let mut config = match server.starts_with("https:") {
        true => kube::Config::infer().await?,
        false => kube::Config::new(server.parse()?),
    };
    config.cluster_url = server.parse()?;
    let client = kube::Client::try_from(config)?;
    let timing =
        Timing { lease: LEASE, renew: Duration::from_secs(4), retry: Duration::from_millis(800) };
    for term in 0.. {
        // An identity is good for one term.
        LeaderElection::new(client.clone(), "default", lease)
            .identity(&format!("{identity}-{term}"))
            .timing(timing)
            .run(async |leadership| drop(act(|| leadership.is_valid()).await))
            .await?;
    }
    Ok(())
}

async fn kube_leader_election(identity: &str, server: &str, lease: &str) -> Done {
    use kube_leader_election::{LeaseLock, LeaseLockParams, LeaseLockResult};
    let client = kube_4::Client::try_from(kube_4::Config::new(server.parse()?))?;
    let params = LeaseLockParams {
        holder_id: identity.to_owned(),
        lease_name: lease.to_owned(),
        lease_ttl: LEASE,
    };
    let lock = LeaseLock::new(client, "default", params);
    let leads = Arc::new(AtomicBool::new(false));
    let known = Arc::clone(&leads);
    // As its page says: in the background, every third of the Lease; the result is shared. Its
    // example ends at an error; here an error ends leadership, which is kinder.
    tokio::spawn(async move {
        loop {
            let result = lock.try_acquire_or_renew().await;
            let is_leader = matches!(result, Ok(LeaseLockResult::Acquired(_)));
            known.store(is_leader, Ordering::Relaxed);
            tokio::time::sleep(LEASE / 3).await;
        }
    });
    act(|| leads.load(Ordering::Relaxed)).await
}

async fn kube_lease_manager(identity: &str, server: &str, lease: &str) -> Done {
    use kube_lease_manager::LeaseManagerBuilder;
    let client = kube::Client::try_from(kube::Config::new(server.parse()?))?;
    let manager = LeaseManagerBuilder::new(client, lease)
        .with_namespace("default")
        .with_identity(identity)
        .with_duration(LEASE.as_secs())
        .with_grace(1) // a sixth of the Lease, as by default
        .build()
        .await?;
    let (leads, _task) = manager.watch().await;
    act(|| *leads.borrow()).await
}

async fn kube_coordinate(identity: &str, server: &str, lease: &str) -> Done {
    use kube_coordinate::{Config, LeaderElector};
    let client = kube_2::Client::try_from(kube_2::Config::new(server.parse()?))?;
    let config = Config::default()
        .name(lease)
        .namespace("default")
        .identity(identity)
        .manager("elections")
        .lease_duration(LEASE)
        .renew_deadline(Duration::from_secs(4))
        .retry_period(Duration::from_secs(1)) // it refuses less
        .api_timeout(Duration::from_secs(2));
    let handle = LeaderElector::spawn(config, client)?;
    let state = handle.state();
    act(|| state.borrow().is_leader()).await
}

async fn kubert(identity: &str, server: &str, lease: &str) -> Done {
    use k8s_openapi_of_kube_1::api::coordination::v1::{Lease, LeaseSpec};
    use kube_1::api::{Api, PostParams};
    use kubert::lease::{ClaimParams, LeaseManager};
    let client = kube_1::Client::try_from(kube_1::Config::new(server.parse()?))?;
    let leases = Api::<Lease>::namespaced(client, "default");
    // It wants a Lease that is there.
    let mut empty = Lease { spec: Some(LeaseSpec::default()), ..Lease::default() };
    empty.metadata.name = Some(lease.to_owned());
    match leases.create(&PostParams::default(), &empty).await {
        Err(kube_1::Error::Api(status)) if status.code == 409 => {}
        created => drop(created?),
    }
    let params = ClaimParams { lease_duration: LEASE, renew_grace_period: Duration::from_secs(1) };
    let manager = LeaseManager::init(leases, lease).await?;
    let (claim, _task) = manager.spawn(identity, params).await?;
    act(|| claim.borrow().is_current_for(identity)).await
}

async fn k8s_controller(identity: &str, server: &str, lease: &str) -> Done {
    use k8s_controller::LeaderElection;
    let client = kube::Client::try_from(kube::Config::new(server.parse()?))?;
    let election = LeaderElection::new(client, "default", lease, identity)
        .with_lease_duration(LEASE)
        .with_renew_deadline(Duration::from_secs(4))
        .with_retry_period(Duration::from_millis(800));
    loop {
        election.with_lease(act(|| true)).await.transpose()?;
    }
}
