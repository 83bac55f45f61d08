//! A controller of replica sets, from end to end: informers of two collections, handlers that turn
//! changes into keys, a queue, and workers that reconcile; against a server in memory.
//!
//! Its decisions are in `rules`, a function without IO. The page `replica_set` of `seatrial-models`
//! checks the same file, and finds the classic mistakes: `cargo seatrial run replica_set`, `cargo
//! seatrial mutants replica_set`.
//!
//! ```text
//! cargo run -p seatrial-core --features informers --example replica_set
//! ```

mod controller;
#[path = "../../../models/src/events/replica_set/rules.rs"]
#[expect(unreachable_pub, reason = "the page that checks them shows them to everybody")]
mod rules;
mod server;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::informer::{FeedError, Informer, ObjectChange, Predicate, Registry, keys};
use seatrial_core::limited_queue::LimitedQueue;
use seatrial_core::pool::Pool;
use seatrial_core::runtime::{Ambient, System};
use seatrial_core::store::index_by;

use controller::{BY_OWNER, Controller, Pod, ReplicaSet, Replicas};
use server::{Server, Thing};

/// The informers of the two collections.
struct Informers {
    sets: Arc<Informer<ReplicaSet>>,
    pods: Arc<Informer<Pod>>,
}

impl Informers {
    fn new(
        registry: &Registry,
        sets: &Server<Replicas>,
        pods: &Server<()>,
    ) -> Result<Self, FeedError> {
        let (sets, pods) = (Arc::new(sets.clone()), Arc::new(pods.clone()));
        let system = System::new();
        let sets = registry.informer("replicasets", || Informer::new(&system, sets))?;
        let pods = registry.informer("pods", || Informer::new(&system, pods))?;
        let owner = |pod: &Pod| {
            let owner = pod.owner.iter().map(|(name, _)| format!("default/{name}"));
            owner.collect::<Vec<_>>()
        };
        pods.store().add_indexers([(BY_OWNER, index_by(owner))]).expect("the store is empty");
        Ok(Self { sets, pods })
    }

    /// Puts the keys of replica sets into a queue when sets or pods change.
    fn feed(&self, queue: &Arc<LimitedQueue<String>>) -> Result<(), FeedError> {
        let by_set = {
            let (queue, wanted) = (Arc::clone(queue), Predicate::generation());
            move |change: ObjectChange<ReplicaSet>| {
                if wanted.wants(&change) {
                    queue.add_all(keys::own(&change));
                }
            }
        };
        let by_pod = {
            let (queue, keys) = (Arc::clone(queue), keys::of_controller("apps", "ReplicaSet"));
            move |change: ObjectChange<Pod>| queue.add_all(keys(&change))
        };
        self.sets.handle(by_set)?;
        self.pods.handle(by_pod)?;
        Ok(())
    }
}

/// Plays users and accidents, and checks how many pods there are in the end.
fn play(sets: &Server<Replicas>, pods: &Server<()>, seen: &Informers) -> Result<(), String> {
    let lose = || pods.any().inspect(|name| pods.delete(name)).expect("there are some");
    let settle = |wanted| {
        settle(&seen.pods, pods, wanted);
        println!("  {wanted} pods");
    };
    println!("a user wants 3 replicas of web");
    sets.create("web", Replicas(3))?;
    settle(3);

    println!("a user wants 5");
    let scale = |to| {
        move |set: &mut Thing<Replicas>| {
            set.spec = Replicas(to);
            set.generation += 1;
        }
    };
    sets.update("web", None, scale(5))?;
    settle(5);

    println!("a node dies, and {} with it", lose());
    settle(5);

    println!("{} goes as well, and the server forgets to tell", lose());
    pods.compact();
    settle(5);

    println!("a user wants 1");
    sets.update("web", None, scale(1))?;
    settle(1);

    println!("a user deletes web, which stays until its pods are gone");
    sets.delete("web");
    settle(0);
    self::settle(&seen.sets, sets, 0);
    println!("  web is gone");
    Ok(())
}

/// Waits until there are as many objects as wanted, and the informer shows them.
fn settle<S: Clone + std::fmt::Debug + Send + Sync + 'static>(
    seen: &Informer<Arc<Thing<S>>>,
    server: &Server<S>,
    wanted: usize,
) {
    let mut changes = seen.subscribe();
    while (server.len(), seen.store().len()) != (wanted, wanted) {
        changes.next().expect("the informer runs");
    }
}

fn main() {
    let system = System::new();
    let (sets, pods) = (Server::new(), Server::new());
    let registry = Registry::new(&system);
    let queue = Arc::new(LimitedQueue::with_default_limiter(&system));

    let informers = Informers::new(&registry, &sets, &pods).expect("nobody has shut it down");
    informers.feed(&queue).expect("nobody has stopped them");
    registry.start();
    let patience = system.now() + Duration::from_secs(10);
    registry.wait_for_sync(patience).expect("the server answers");

    let controller = Controller {
        sets: Arc::clone(&informers.sets),
        pods: Arc::clone(&informers.pods),
        set_client: sets.clone(),
        pod_client: pods.clone(),
    };
    let workers = NonZeroUsize::new(2).expect("two workers");
    let pool = Pool::start(&system, &queue, workers, controller); // after the first lists
    play(&sets, &pods, &informers).expect("the server does what it is told");

    let end = pool.shut_down(Duration::from_secs(10));
    registry.shut_down();
    println!("{end:?}");
    assert!(end.is_complete());
}
