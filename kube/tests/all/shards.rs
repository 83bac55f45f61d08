//! Two replicas that share a controller's objects by shards, on a server, in real time.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Network, client, serve, soon};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt};
use seatrial_kube::controller::{Action, Controller, ObjectRef};
use seatrial_kube::election::{Bounds, ConfigError, Timing};
use seatrial_kube::shards::{NoShards, Shard, Shards};
use seatrial_kube::watcher::Config;
use tokio::sync::oneshot;

const SHARDS: u32 = 4;
const OBJECTS: usize = 24;
const LEASE: Duration = Duration::from_secs(4);

/// The work of both replicas, seen from outside.
#[derive(Default)]
struct Work {
    /// The objects that are being reconciled, and by which replica.
    now: BTreeSet<(String, &'static str)>,
    /// An object that two replicas reconciled at once, and their names.
    twice: Option<(String, [&'static str; 2])>,
    /// The replica that reconciled an object last, and when.
    last: BTreeMap<String, (&'static str, Instant)>,
    began: usize,
}

impl Work {
    fn begin(&mut self, object: &str, who: &'static str) {
        if let Some((_, other)) = self.now.iter().find(|(it, _)| it == object) {
            self.twice.get_or_insert((object.to_owned(), [*other, who]));
        }
        self.now.insert((object.to_owned(), who));
        self.last.insert(object.to_owned(), (who, Instant::now()));
        self.began += 1;
    }

    /// Counts the objects that each replica reconciled last.
    fn shares(&self) -> BTreeMap<&'static str, usize> {
        let mut shares = BTreeMap::new();
        for (who, _) in self.last.values() {
            *shares.entry(*who).or_default() += 1;
        }
        shares
    }
}

type Seen = Arc<Mutex<Work>>;

/// An object that is being reconciled; dropping this ends it, even in the middle.
struct Busy(Seen, (String, &'static str));

impl Busy {
    fn new(seen: &Seen, object: &str, who: &'static str) -> Self {
        seen.lock().unwrap().begin(object, who);
        Self(Arc::clone(seen), (object.to_owned(), who))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.lock().unwrap().now.remove(&self.1);
    }
}

fn shards(client: &Client) -> Shards {
    let timing =
        Timing { lease: LEASE, renew: Duration::from_secs(2), retry: Duration::from_millis(200) };
    let bounds = Bounds::default().work(Duration::from_millis(500));
    let shards = Shards::new(client.clone(), "default", "dealt", SHARDS).expect("some");
    shards.elections(move |it| it.timing(timing).bounds(bounds))
}

/// Reconciles its shards until the process ends: each object again and again.
async fn operate(shards: Shards, client: Client, seen: Seen, who: &'static str) {
    let work = move |shard, leadership: seatrial_kube::election::Leadership| {
        let (client, seen) = (client.clone(), Arc::clone(&seen));
        let reconcile = async move |map: Arc<ConfigMap>, seen: Arc<Seen>| {
            let busy = Busy::new(&seen, &map.name_any(), who);
            tokio::time::sleep(Duration::from_millis(20)).await;
            drop(busy);
            Ok::<_, kube::Error>(Action::RequeueAfter(Duration::from_millis(200)))
        };
        async move {
            Controller::new(Api::<ConfigMap>::default_namespaced(client), Config::default())
                .shard(shard)
                .concurrency(2)
                .graceful_shutdown_on(async move { leadership.lost().await })
                .run(reconcile, |_, _, _| Action::Requeue, Arc::new(seen))
                .await
                .expect("all is listed");
        }
    };
    shards.run(work).await.expect("a good set-up");
}

/// Starts a replica on its own thread and runtime. Using the returned sender ends it like a kill:
/// everything stops in the middle, and nothing is freed.
fn replica(address: SocketAddr, seen: &Seen, who: &'static str) -> oneshot::Sender<()> {
    let (kill, killed) = oneshot::channel();
    let seen = Arc::clone(seen);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = client(address);
            tokio::select! {
                biased;
                _ = killed => {}
                () = operate(shards(&client), client.clone(), seen, who) => {}
            }
        });
        runtime.shutdown_background();
    });
    kill
}

async fn objects(client: &Client) {
    let maps = Api::<ConfigMap>::default_namespaced(client.clone());
    for number in 0..OBJECTS {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(format!("map-{number}"));
        maps.create(&PostParams::default(), &map).await.expect("created");
    }
}

/// Waits until all objects are reconciled, and each replica has some of them.
async fn both_share(seen: &Seen) {
    soon("both have some", async || {
        let shares = seen.lock().unwrap().shares();
        shares.len() == 2 && shares.values().sum::<usize>() == OBJECTS
    })
    .await;
}

/// Waits until `who` has reconciled all objects after that time.
async fn all_are_of(seen: &Seen, who: &str, after: Instant) {
    soon("the other one has all", async || {
        let seen = seen.lock().unwrap();
        seen.last.len() == OBJECTS && seen.last.values().all(|it| it.0 == who && it.1 > after)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_replica_had_is_taken_over_and_no_object_has_two() {
    let face = serve();
    objects(&client(face.address())).await;
    let seen = Seen::default();
    let first = replica(face.address(), &seen, "first");
    let _second = replica(face.address(), &seen, "second");
    both_share(&seen).await;
    tokio::time::sleep(LEASE).await;
    assert_eq!(seen.lock().unwrap().shares().len(), 2, "they keep what they have");
    let killed = Instant::now();
    drop(first);
    all_are_of(&seen, "second", killed).await;
    let seen = seen.lock().unwrap();
    assert_eq!(seen.twice, None, "two replicas at once");
    assert!(seen.began > 4 * OBJECTS, "{} reconciles are too few to tell", seen.began);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_is_cut_off_has_stopped_before_another_takes_its_objects() {
    let face = serve();
    let network = Network::to(face.address()).await;
    objects(&client(face.address())).await;
    let seen = Seen::default();
    let _first = replica(network.address, &seen, "first");
    let _second = replica(face.address(), &seen, "second");
    both_share(&seen).await;
    let cut = Instant::now();
    network.cut();
    all_are_of(&seen, "second", cut).await;
    assert_eq!(seen.lock().unwrap().twice, None, "two replicas at once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_frees_all_shards() {
    let face = serve();
    let client = client(face.address());
    objects(&client).await;
    let (seen, (stop, stopped)) = (Seen::default(), oneshot::channel::<()>());
    let shards = shards(&client).graceful_shutdown_on(async move { drop(stopped.await) });
    let run = tokio::spawn(operate(shards, client.clone(), Arc::clone(&seen), "only"));
    soon("it has all", async || seen.lock().unwrap().last.len() == OBJECTS).await;
    drop(stop);
    run.await.expect("no panic");
    assert!(seen.lock().unwrap().now.is_empty(), "what was begun is finished");
    let leases = Api::<Lease>::default_namespaced(client);
    for number in 0..SHARDS {
        let lease = leases.get(&format!("dealt-{number}")).await.expect("a Lease");
        let holder = lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default();
        assert_eq!(holder, "", "shard {number}");
    }
}

#[tokio::test]
async fn a_set_up_that_is_wrong_is_refused() {
    let face = serve();
    let client = client(face.address());
    assert_eq!(Shards::new(client.clone(), "default", "none", 0).map(drop), Err(NoShards));
    let shards = Shards::new(client, "default", "unsafe", 2).expect("some");
    let shards = shards.elections(|election| election.timing(Timing::seconds(1, 2, 1)));
    let refused = shards.run(|_, _| async {}).await;
    assert_eq!(refused, Err(ConfigError::LeaseNotGreaterThanRenew));
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "the work is broken")]
async fn a_panic_of_the_work_goes_on() {
    let face = seatrial_sim_tower();
    let shards = Shards::new(face, "default", "broken", 2).expect("some");
    let _ended = shards.run(|_, _| async { panic!("the work is broken") }).await;
}

/// This includes replicas that begin with the same shard, as one pair in four does, even if the
/// first one is always faster.
#[tokio::test(start_paused = true)]
async fn those_that_start_together_share() {
    for pair in 0..16 {
        let client = seatrial_sim_tower();
        let led = Arc::new(Mutex::new([0; 2]));
        let mut replicas = tokio::task::JoinSet::new();
        for replica in 0..2 {
            let (shards, led) = (shards(&client), Arc::clone(&led));
            replicas.spawn(shards.run(move |_, leadership| {
                led.lock().unwrap()[replica] += 1;
                async move { leadership.lost().await }
            }));
        }
        tokio::time::sleep(Duration::from_secs(20)).await;
        let led = *led.lock().unwrap();
        assert!(led.iter().all(|count| *count > 0), "pair {pair}: {led:?}");
        assert_eq!(led.iter().sum::<u32>(), SHARDS, "pair {pair}: {led:?}");
    }
}

fn seatrial_sim_tower() -> Client {
    use seatrial_sim::apiserver::{Options, Server};
    Client::new(
        seatrial_sim::tower::Face::new(Server::new(&Options::default())).service(),
        "default",
    )
}

/// By label: the server is asked only for the objects of one shard.
#[tokio::test]
async fn a_selector_has_the_objects_of_one_shard() {
    let shard = Shard::new(1, SHARDS).expect("it is one of four");
    let config = Config::default().labels(&shard.selector("example.dev/shard"));
    assert_eq!(config.label_selector.as_deref(), Some("example.dev/shard=1"));
    let object = ObjectRef::new("map-0").within("default");
    let owners = (0..SHARDS).filter(|it| Shard::new(*it, SHARDS).is_some_and(|it| it.has(&object)));
    assert_eq!(owners.count(), 1);
}
