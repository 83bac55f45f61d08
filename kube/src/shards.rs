//! Distributes one controller's objects over replicas: one Lease for each shard, and each object
//! belongs to one shard.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use k8s_openapi::api::core::v1::ConfigMap;
//! # use kube::{Api, Client};
//! use seatrial_kube::controller::{Action, Controller};
//! use seatrial_kube::shards::Shards;
//! use seatrial_kube::watcher::Config;
//!
//! # async fn reconcile(_: Arc<ConfigMap>, _: Arc<Client>) -> kube::Result<Action> { Ok(Action::Done) }
//! # async fn operator(client: Client) -> Result<(), Box<dyn std::error::Error>> {
//! let shards = Shards::new(client.clone(), "operators", "my-operator", 4)?;
//! shards
//!     .run(move |shard, leadership| {
//!         let client = client.clone();
//!         async move {
//!             let ended = Controller::new(Api::<ConfigMap>::all(client.clone()), Config::default())
//!                 .shard(shard)
//!                 .graceful_shutdown_on(async move { leadership.lost().await })
//!                 .run(reconcile, |_, _, _| Action::Requeue, Arc::new(client))
//!                 .await;
//!             if let Err(error) = ended {
//!                 eprintln!("{error}"); // another replica may try it
//!             }
//!         }
//!     })
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees
//!
//! As long as clocks keep their rate, at most one replica reconciles an object: the replica that
//! leads the object's shard by the rules of [`election`](crate::election). When a replica dies,
//! each of its shards is taken over as a single Lease is. All replicas must have the same number of
//! shards, so change it only while none of them runs.
//!
//! # By hash or by label
//!
//! [`Controller::shard`](crate::controller::Controller::shard) reconciles the objects whose name
//! has the shard's hash. Each shard then follows the whole collection, so a replica that leads
//! several shards stores the collection several times. If your objects have a label with the number
//! of their shard, give [`Shard::selector`] to [`Config::labels`](crate::watcher::Config::labels)
//! instead: then each shard lists and watches only its own objects.
//!
//! # Distribution of shards
//!
//! Replicas begin with different shards, and a replica that leads some waits before it competes for
//! the next. So replicas that start together share the shards. A replica that comes later gets only
//! shards that others give up or lose; a healthy replica loses nothing.

use std::fmt;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use kube::Client;
use seatrial_core::runtime::{Ambient, Tokio};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::election::{ConfigError, LeaderElection, Leadership};
use crate::object_ref::ObjectRef;

/// A replica waits for this time, for each shard that it leads, before it competes for one more. So
/// replicas that have just begun come first.
const PAUSE: Duration = Duration::from_secs(1);

/// One of the parts into which a controller's objects are divided.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shard {
    number: u32,
    of: NonZeroU32,
}

impl Shard {
    /// Returns the shard with that number, from 0; `None` if there is no such shard.
    #[must_use]
    pub fn new(number: u32, of: u32) -> Option<Self> {
        let of = NonZeroU32::new(of)?;
        (number < of.get()).then_some(Self { number, of })
    }

    /// Its number, from 0.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Tells whether an object belongs to the shard. Of all shards exactly one has the object, and
    /// this does not change between releases.
    #[must_use]
    pub fn has(&self, object: &ObjectRef) -> bool {
        // FNV-1a, folded with its upper half, which is mixed better.
        let hash = object.to_string().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        (hash ^ (hash >> 32)) % u64::from(self.of.get()) == u64::from(self.number)
    }

    /// Returns the selector of the objects whose label has the shard's number.
    #[must_use]
    pub fn selector(&self, label: &str) -> String {
        format!("{label}={}", self.number)
    }
}

/// `number/of`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// The number of shards is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoShards;

impl fmt::Display for NoShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a controller has one shard at least: ask for one or more")
    }
}

impl std::error::Error for NoShards {}

type Settings = dyn Fn(LeaderElection) -> LeaderElection + Send + Sync;

/// A replica that takes part in the elections of all shards.
pub struct Shards {
    client: Client,
    namespace: String,
    lease: String,
    of: NonZeroU32,
    settings: Box<Settings>,
    shutdown: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Shards {
    /// Takes part in the elections of that many shards. The name of each Lease is the given one
    /// with the shard's number, for example `my-operator-3`.
    ///
    /// # Errors
    /// The number of shards is zero.
    pub fn new(client: Client, namespace: &str, lease: &str, of: u32) -> Result<Self, NoShards> {
        Ok(Self {
            client,
            namespace: namespace.to_owned(),
            lease: lease.to_owned(),
            of: NonZeroU32::new(of).ok_or(NoShards)?,
            settings: Box::new(|election| election),
            shutdown: Box::pin(std::future::pending()),
        })
    }

    /// Sets properties of all elections, such as the timing. Do not set the identity, which is new
    /// for each term, or the shutdown.
    #[must_use]
    pub fn elections(
        mut self,
        settings: impl Fn(LeaderElection) -> LeaderElection + Send + Sync + 'static,
    ) -> Self {
        self.settings = Box::new(settings);
        self
    }

    /// Ends all elections when this future is ready: running work loses its leadership, and the
    /// Leases are freed.
    #[must_use]
    pub fn graceful_shutdown_on(
        mut self,
        trigger: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        self.shutdown = Box::pin(trigger);
        self
    }

    /// Does the work of each shard that it leads, term after term, until the shutdown. Work that
    /// ends by itself frees its shard, and this replica competes for the shard again.
    ///
    /// Dropping the future loses all shards at once; see [`LeaderElection::run`].
    ///
    /// # Errors
    /// The settings of the elections are refused.
    ///
    /// # Panics
    /// If the work panics. Outside of a tokio runtime: tokio's own panic.
    pub async fn run<F, W>(self, work: F) -> Result<(), ConfigError>
    where
        F: Fn(Shard, Leadership) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let Self { client, namespace, lease, of, settings, shutdown } = self;
        let (stop, stopped) = watch::channel(false);
        let leads = AtomicU32::new(0);
        let all = Arc::new(All { client, namespace, lease, settings, work, leads, stopped });
        let first = Tokio::current().entropy() % u64::from(of.get());
        let mut tasks = JoinSet::new(); // aborted when it drops
        for place in 0..of.get() {
            let number = (first + u64::from(place)) % u64::from(of.get());
            let shard = Shard { number: number as u32, of };
            tasks.spawn(terms(Arc::clone(&all), shard, place));
        }
        let mut shutdown = Some(shutdown);
        loop {
            let ended = match shutdown.take() {
                None => tasks.join_next().await,
                Some(mut trigger) => {
                    let asked = std::future::poll_fn(|context| trigger.as_mut().poll(context));
                    let Some(ended) = crate::race::first(tasks.join_next(), asked).await else {
                        stop.send_replace(true);
                        continue; // its trigger is dropped: the elections end now
                    };
                    shutdown = Some(trigger);
                    ended
                }
            };
            match ended {
                None => return Ok(()),
                Some(Ok(result)) => result?,
                Some(Err(error)) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(_aborted) => {}
                },
            }
        }
    }
}

/// The parts that the elections of all shards share.
struct All<F> {
    client: Client,
    namespace: String,
    lease: String,
    settings: Box<Settings>,
    work: F,
    /// How many shards this replica leads.
    leads: AtomicU32,
    stopped: watch::Receiver<bool>,
}

/// Counts a shard that is led, until it drops.
struct Led<F>(Arc<All<F>>);

impl<F> Drop for Led<F> {
    fn drop(&mut self) {
        self.0.leads.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs the terms of one shard. Shards start one after the other, by their places, and wait one
/// more pause for each shard that is led, so that replicas share.
async fn terms<F, W>(all: Arc<All<F>>, shard: Shard, place: u32) -> Result<(), ConfigError>
where
    F: Fn(Shard, Leadership) -> W + Send + Sync + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let mut behind = place;
    loop {
        let (mut asked, mut stopped) = (all.stopped.clone(), all.stopped.clone());
        let waited = async {
            let mut pauses = 0;
            while pauses < behind + all.leads.load(Ordering::Relaxed) {
                tokio::time::sleep(PAUSE).await;
                pauses += 1;
            }
        };
        let asked = async move { drop(asked.wait_for(|stop| *stop).await) };
        if crate::race::first(waited, asked).await.is_none() {
            return Ok(());
        }
        let lease = format!("{}-{}", all.lease, shard.number);
        let election = LeaderElection::new(all.client.clone(), &all.namespace, &lease);
        let election = (all.settings)(election)
            .graceful_shutdown_on(async move { drop(stopped.wait_for(|stop| *stop).await) });
        let works = Arc::clone(&all);
        election
            .run(move |leadership| {
                works.leads.fetch_add(1, Ordering::Relaxed);
                let led = Led(Arc::clone(&works));
                let work = (works.work)(shard, leadership);
                async move {
                    work.await;
                    drop(led);
                }
            })
            .await?;
        behind = 1;
    }
}

impl fmt::Debug for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shards")
            .field("lease", &self.lease)
            .field("of", &self.of)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_one_shard_and_the_shards_are_alike() {
        let shards: Vec<_> = (0..4).filter_map(|number| Shard::new(number, 4)).collect();
        let mut sizes = [0; 4];
        for number in 0..4_000 {
            let object = ObjectRef::new(&format!("web-{number}")).within("default");
            let owners: Vec<_> = shards.iter().filter(|shard| shard.has(&object)).collect();
            assert_eq!(owners.len(), 1, "{object}");
            sizes[owners[0].number() as usize] += 1;
        }
        assert!(sizes.iter().all(|size| (800..1_200).contains(size)), "{sizes:?}");
    }

    #[test]
    fn an_object_stays_in_its_shard_from_release_to_release() {
        let of = |name: &str| {
            let object = ObjectRef::new(name).within("default");
            (0..7).find(|number| Shard::new(*number, 7).is_some_and(|it| it.has(&object)))
        };
        assert_eq!([of("a"), of("web"), of("database-0")], [Some(4), Some(5), Some(1)]);
    }

    #[test]
    fn there_are_as_many_as_were_asked_for() {
        assert_eq!(Shard::new(3, 3), None);
        assert_eq!(Shard::new(0, 0), None);
        let last = Shard::new(2, 3).expect("it is one of three");
        assert_eq!((last.to_string(), last.selector("shard")), ("2/3".into(), "shard=2".into()));
    }
}
