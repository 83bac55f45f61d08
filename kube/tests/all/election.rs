//! Elections of replicas against a server, in real time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Network, client, serve, soon};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Event;
use kube::Client;
use kube::api::{Api, ListParams};
use seatrial_core::elector::Gate;
use seatrial_kube::election::{
    Bounds, ConfigError, Fence, LeaderElection, LeaderMetrics, Leadership, Timing,
    set_leader_metrics,
};
use seatrial_sim::apiserver::{Fault, Point, Trouble};
use tokio::sync::Notify;

const LEASE: Duration = Duration::from_secs(5);

fn timing() -> Timing {
    Timing { lease: LEASE, renew: Duration::from_secs(3), retry: Duration::from_millis(200) }
}

fn election(client: &Client, identity: &str) -> LeaderElection {
    let bounds =
        Bounds::default().work(Duration::from_millis(300)).scheduling(Duration::from_millis(100));
    LeaderElection::new(client.clone(), "default", "operator")
        .identity(identity)
        .timing(timing())
        .bounds(bounds)
}

async fn lease(client: &Client) -> LeaseSpec {
    let leases: Api<Lease> = Api::namespaced(client.clone(), "default");
    leases.get("operator").await.expect("the Lease").spec.unwrap_or_default()
}

/// The replica that works now, and all that have worked. Two at once are a failure.
#[derive(Default)]
struct Works {
    now: AtomicUsize,
    most: AtomicUsize,
    began: Mutex<Vec<(String, Instant, Fence)>>,
    changed: Notify,
}

impl Works {
    fn begin(self: &Arc<Self>, who: &str, leadership: &Leadership) -> Working {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let began = (who.to_owned(), Instant::now(), leadership.fence().clone());
        self.began.lock().unwrap().push(began);
        self.changed.notify_waiters();
        Working(Arc::clone(self))
    }

    /// Waits until `terms` terms have begun.
    async fn wait(&self, terms: usize) -> (String, Instant) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                if let Some((who, at, _)) = self.began.lock().unwrap().get(terms - 1) {
                    return (who.clone(), *at);
                }
                changed.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait).await.expect("a term begins")
    }
}

struct Working(Arc<Works>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Leads for ever, and ignores the loss of leadership.
async fn stubborn(election: LeaderElection, works: Arc<Works>, who: &'static str) -> Option<()> {
    let work = move |leadership: Leadership| async move {
        let _working = works.begin(who, &leadership);
        std::future::pending::<()>().await;
    };
    election.run(work).await.expect("a good set-up")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_is_gone_is_followed_in_time_and_two_never_work() {
    let face = serve();
    let (client, works) = (client(face.address()), Arc::new(Works::default()));
    let first = tokio::spawn(stubborn(election(&client, "a"), Arc::clone(&works), "a"));
    works.wait(1).await;
    let second = tokio::spawn(stubborn(election(&client, "b"), Arc::clone(&works), "b"));
    tokio::time::sleep(LEASE + LEASE / 2).await;
    assert_eq!(works.began.lock().unwrap().len(), 1, "the holder renews");
    let gone = Instant::now();
    first.abort(); // like a process that is killed: nothing is freed
    let (who, at) = works.wait(2).await;
    assert_eq!(who, "b");
    let waited = at - gone;
    assert!(waited >= LEASE / 2, "nobody freed it, and b takes it after {waited:?}");
    assert_eq!(works.most.load(Ordering::SeqCst), 1, "two replicas worked at once");
    let spec = lease(&client).await;
    assert_eq!(spec.holder_identity.as_deref(), Some("b"));
    assert_eq!(spec.lease_duration_seconds.map(u64::try_from), Some(Ok(LEASE.as_secs())));
    let mut gate = Gate::new();
    let fences: Vec<_> =
        works.began.lock().unwrap().iter().map(|(_, _, fence)| fence.clone()).collect();
    assert!(gate.admit(&fences[0]) && gate.admit(&fences[1]));
    assert!(!gate.admit(&fences[0]), "what the first leader sends late is refused");
    second.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_is_cut_off_has_stopped_before_another_begins() {
    let face = serve();
    let network = Network::to(face.address()).await;
    let (far, near) = (client(network.address), client(face.address()));
    let works = Arc::new(Works::default());
    let first = tokio::spawn(stubborn(election(&far, "a"), Arc::clone(&works), "a"));
    works.wait(1).await;
    let second = tokio::spawn(stubborn(election(&near, "b"), Arc::clone(&works), "b"));
    tokio::time::sleep(LEASE / 2).await;
    network.cut();
    let (who, _) = works.wait(2).await;
    assert_eq!((who.as_str(), works.most.load(Ordering::SeqCst)), ("b", 1));
    let ended = tokio::time::timeout(Duration::from_secs(30), first).await;
    assert_eq!(ended.expect("it gives up").expect("no panic"), None);
    second.abort();
}

/// A replica whose only thread is blocked: it can neither renew nor be told. When it goes on, its
/// next check shows that it leads no longer, although nothing has run in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_stood_still_knows_at_its_next_look() {
    let face = serve();
    let address = face.address();
    let works = Arc::new(Works::default());
    let standing = Arc::clone(&works);
    let (thaw, blocked) = channel::<()>();
    let frozen = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let work = async move |leadership: Leadership| {
                drop(standing.begin("a", &leadership));
                assert!(blocked.recv().is_err()); // the case that is tested: a blocked thread
                leadership.is_valid()
            };
            // The work is a task on the same single thread as the renewal.
            election(&client(address), "a").run(work).await.expect("a good set-up")
        })
    });
    works.wait(1).await;
    let second = stubborn(election(&client(address), "b"), Arc::clone(&works), "b");
    let second = tokio::spawn(second);
    let (who, _) = works.wait(2).await;
    assert_eq!(who, "b");
    drop(thaw);
    let led = tokio::task::spawn_blocking(|| frozen.join()).await.expect("joined");
    assert_ne!(led.expect("no panic"), Some(true), "it takes itself for the leader");
    second.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_frees_the_lease_even_if_the_write_meets_a_conflict() {
    let face = serve();
    let client = client(face.address());
    let timing = Timing::seconds(15, 10, 4);
    let (asked, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (trigger, ending) = (Arc::clone(&asked), Arc::clone(&ended));
    let leads = Arc::new(Notify::new());
    let began = Arc::clone(&leads);
    let run = election(&client, "a")
        .timing(timing)
        .graceful_shutdown_on(async move { trigger.notified().await })
        .run(move |leadership| async move {
            began.notify_one();
            leadership.lost().await;
            ending.notify_one();
            "orderly"
        });
    let run = tokio::spawn(run);
    leads.notified().await;
    // The next renewal is seconds away, so the write that is refused is the one that frees the
    // Lease.
    let at = Point::of("PUT", "leases");
    let what = Trouble::Refuse { status: 409, retry_after: None };
    face.with(|server| server.inject(Fault { at, after: 0, times: 1, what }));
    asked.notify_one();
    assert_eq!(run.await.expect("no panic").expect("a good set-up"), Some("orderly"));
    ended.notified().await;
    assert_eq!(face.with(|server| server.pending_faults()), 0, "the fault has struck");
    let spec = lease(&client).await;
    assert_eq!(spec.holder_identity.as_deref().unwrap_or(""), "", "nobody holds it");
}

/// An abort does not end work in the middle of a poll; until the poll is over nobody else may lead.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_shutdown_frees_no_lease_while_the_work_blocks_its_thread() {
    let face = serve();
    let client = client(face.address());
    let (works, stop) = (Arc::new(Works::default()), Arc::new(Notify::new()));
    let (working, asked) = (Arc::clone(&works), Arc::clone(&stop));
    let (end, blocked) = channel::<()>();
    let first = election(&client, "a")
        .graceful_shutdown_on(async move { asked.notified().await })
        .run(async move |leadership: Leadership| {
            let _working = working.begin("a", &leadership);
            assert!(blocked.recv().is_err()); // the case that is tested: a long poll
        });
    let first = tokio::spawn(first);
    works.wait(1).await;
    let second = tokio::spawn(stubborn(election(&client, "b"), Arc::clone(&works), "b"));
    stop.notify_one();
    // The poll goes on until the second replica has read the Lease some more times.
    let (at, what) =
        (Point::of("GET", "leases"), Trouble::Refuse { status: 500, retry_after: None });
    face.with(|server| server.inject(Fault { at, after: 6, times: 1, what }));
    let led = || works.began.lock().unwrap().len();
    let looked = async || led() > 1 || face.with(|server| server.pending_faults()) == 0;
    soon("the second looks again", looked).await;
    assert_eq!(led(), 1, "the first still works");
    drop(end);
    let (who, _) = works.wait(2).await;
    assert_eq!((who.as_str(), works.most.load(Ordering::SeqCst)), ("b", 1));
    first.await.expect("no panic").expect("a good set-up");
    second.abort();
}

/// Tasks that aborted work has spawned may still run, so the Lease expires.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_must_be_aborted_frees_no_lease() {
    let face = serve();
    let client = client(face.address());
    let (works, stop) = (Arc::new(Works::default()), Arc::new(Notify::new()));
    let asked = Arc::clone(&stop);
    let election =
        election(&client, "a").graceful_shutdown_on(async move { asked.notified().await });
    let run = tokio::spawn(stubborn(election, Arc::clone(&works), "a"));
    works.wait(1).await;
    stop.notify_one();
    assert_eq!(run.await.expect("no panic"), None);
    assert_eq!(lease(&client).await.holder_identity.as_deref(), Some("a"));
}

#[tokio::test]
async fn work_that_is_over_ends_its_term_and_gives_its_value() {
    let face = serve();
    let client = client(face.address());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let election = election(&client, "a").on_new_leader(move |who| {
        sees.lock().unwrap().push(who.to_owned());
    });
    let value = election.run(|leadership| async move { leadership.is_valid() }).await;
    assert_eq!(value.expect("a good set-up"), Some(true));
    assert_eq!(seen.lock().unwrap().first().map(String::as_str), Some("a"));
    assert_eq!(lease(&client).await.holder_identity.as_deref().unwrap_or(""), "");
}

#[tokio::test]
async fn a_panic_of_the_work_frees_the_lease_and_goes_on() {
    let face = serve();
    let client = client(face.address());
    let run = election(&client, "a").run(|_| async { panic!("the work is broken") });
    let panicked = tokio::spawn(async { run.await.map(|_: Option<()>| ()) }).await;
    assert!(panicked.expect_err("it panics").is_panic());
    assert_eq!(lease(&client).await.holder_identity.as_deref().unwrap_or(""), "");
}

#[tokio::test]
async fn a_set_up_that_is_unsafe_is_refused() {
    let face = serve();
    let election = election(&client(face.address()), "a").timing(Timing::seconds(1, 2, 1));
    let refused = election.run(|_| async {}).await;
    assert_eq!(refused, Err(ConfigError::LeaseNotGreaterThanRenew));
}

struct Log(Mutex<Vec<String>>);

impl LeaderMetrics for Log {
    fn on(&self, name: &str) {
        self.0.lock().unwrap().push(format!("on {name}"));
    }
    fn off(&self, name: &str) {
        self.0.lock().unwrap().push(format!("off {name}"));
    }
}

#[tokio::test]
async fn metrics_health_and_events_tell_of_a_term() {
    let face = serve();
    let client = client(face.address());
    let log = Arc::new(Log(Mutex::default()));
    assert!(set_leader_metrics(Arc::clone(&log) as Arc<dyn LeaderMetrics>));
    let election = LeaderElection::new(client.clone(), "default", "measured").events();
    let health = election.health();
    assert_eq!(health.check(), Ok(()));
    let leading = Arc::clone(&log);
    let work = |_| async move {
        let told = leading.0.lock().unwrap().clone();
        (told.iter().any(|line| line == "on measured"), health.check())
    };
    assert_eq!(election.run(work).await.expect("a good set-up"), Some((true, Ok(()))));
    assert_eq!(
        log.0.lock().unwrap().iter().rfind(|it| it.contains("measured")).unwrap(),
        "off measured"
    );
    let events: Api<Event> = Api::namespaced(client, "default");
    soon("two events", async || {
        let events = events.list(&ListParams::default()).await.expect("a list").items;
        let said = |text: &str| {
            let is_it =
                |event: &Event| event.message.as_deref().is_some_and(|it| it.ends_with(text));
            events.iter().any(|event| {
                is_it(event) && event.involved_object.name.as_deref() == Some("measured")
            })
        };
        said("became leader") && said("stopped leading")
    })
    .await;
}
