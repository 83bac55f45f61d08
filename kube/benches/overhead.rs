//! The costs of a controller beside its work: ours and kube's, with a reconcile that does nothing.
//!
//! `cargo bench -p seatrial-kube` prints the table. Time is that of the single thread, so a busy
//! machine changes little.

use std::alloc::System;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use cap::Cap;
use futures_core::Stream;
use http::{Request, Response};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use kube::runtime::controller::{Action as TheirAction, Config as TheirConfig};
use kube::runtime::{Controller as TheirController, watcher};
use kube::{Api, Client};
use rustix::time::{ClockId, clock_gettime};
use seatrial_kube::controller::{Action, Controller};
use seatrial_kube::watcher::Config;
use serde_json::{Value, json};
use tokio::sync::Notify;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// How many objects are reconciled at once.
const WORKERS: u16 = 10;
const MANY: usize = 100_000;
const FEW: usize = 1_000;
/// How many rounds over the few objects there are.
const ROUNDS: usize = 100;

fn main() {
    let list = list(MANY);
    let before = MEMORY.allocated();
    let began = spent();
    let objects: Vec<Arc<ConfigMap>> = objects(&list);
    let (alone, parsing) = (MEMORY.allocated() - before, spent() - began);
    drop(objects);
    // Reading the list is the same work for both, so it is not counted.
    let once =
        |(took, memory): (Duration, usize)| (MANY as f64 / (took - parsing).as_secs_f64(), memory);
    let (our_once, our_memory) = once(run(&list, MANY, false, ours));
    let (their_once, their_memory) = once(run(&list, MANY, false, theirs));
    drop(list);
    let (our_again, their_again) = (again(ours), again(theirs));
    println!("| {WORKERS} workers, an empty reconcile | ours | kube's |");
    println!("|---|---|---|");
    println!("| {MANY} objects, each once: reconciles/s | {our_once:.0} | {their_once:.0} |");
    println!(
        "| {FEW} objects, each at once again: reconciles/s | {our_again:.0} | {their_again:.0} |"
    );
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!(
        "| {MANY} objects in the store: MiB (the objects alone: {:.0}) | {:.0} | {:.0} |",
        mib(alone),
        mib(our_memory),
        mib(their_memory),
    );
    let beyond = |bytes: usize| bytes.saturating_sub(alone) / MANY;
    println!(
        "| bytes an object beyond the object | {} | {} |",
        beyond(our_memory),
        beyond(their_memory),
    );
}

/// A list in the form that a server sends; small objects, which are the most common.
fn list(count: usize) -> Arc<Vec<u8>> {
    let item = |number: usize| {
        json!({
            "metadata": {
                "name": format!("map-{number}"), "namespace": "default",
                "uid": format!("00000000-0000-4000-8000-{number:012}"),
                "resourceVersion": number.to_string(), "generation": 1,
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": {"app.kubernetes.io/name": "bench", "app.kubernetes.io/part-of": "table"},
            },
            "data": {"key": "a value of some length", "other": "and one more"},
        })
    };
    let items: Vec<Value> = (1..=count).map(item).collect();
    let list = json!({
        "kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "1000000"},
        "items": items,
    });
    Arc::new(list.to_string().into_bytes())
}

fn objects(list: &[u8]) -> Vec<Arc<ConfigMap>> {
    let list: kube::core::ObjectList<ConfigMap> = serde_json::from_slice(list).expect("a list");
    // Into a new vector: collecting in place would keep the room of the whole objects.
    let mut objects = Vec::with_capacity(list.items.len());
    objects.extend(list.items.into_iter().map(Arc::new));
    objects
}

/// A client of a server with that list, which never changes.
fn client(list: &Arc<Vec<u8>>) -> Client {
    let list = Arc::clone(list);
    let service = tower::service_fn(move |request: Request<Body>| {
        let list = Arc::clone(&list);
        async move {
            if request.uri().query().is_some_and(|query| query.contains("watch=true")) {
                std::future::pending::<()>().await; // nothing ever happens
            }
            Ok::<_, Infallible>(Response::new(Body::from(list.as_ref().clone())))
        }
    });
    Client::new(service, "default")
}

/// Counts reconciles, and tells when there are enough.
struct Work {
    done: AtomicUsize,
    enough: usize,
    reached: Notify,
    comes_again: bool,
}

impl Work {
    fn one(&self) -> bool {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done == self.enough {
            self.reached.notify_one();
        }
        self.comes_again
    }
}

/// The processor time of this thread.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

async fn ours(client: Client, work: Arc<Work>) {
    let reconcile = async |_, work: Arc<Work>| {
        let again = work.one();
        Ok::<_, Infallible>(if again { Action::RequeueAfter(Duration::ZERO) } else { Action::Done })
    };
    Controller::new(Api::<ConfigMap>::all(client), Config::default().list_watch())
        .concurrency(WORKERS)
        .run(reconcile, |_, _, _| Action::Requeue, work)
        .await
        .expect("all is listed");
}

async fn theirs(client: Client, work: Arc<Work>) {
    let reconcile = async |_, work: Arc<Work>| {
        let again = work.one();
        let action = || TheirAction::requeue(Duration::ZERO);
        Ok::<_, Infallible>(if again { action() } else { TheirAction::await_change() })
    };
    let results = TheirController::new(Api::<ConfigMap>::all(client), watcher::Config::default())
        .with_config(TheirConfig::default().concurrency(WORKERS))
        .run(reconcile, |_, _, _| TheirAction::await_change(), work);
    let mut results = pin!(results);
    poll_fn(|context| {
        while let Poll::Ready(Some(_)) = results.as_mut().poll_next(context) {}
        Poll::<()>::Pending
    })
    .await;
}

/// Runs a controller until there are enough reconciles; returns how long that takes, and the memory
/// then.
fn run<W: Future<Output = ()> + 'static>(
    list: &Arc<Vec<u8>>,
    enough: usize,
    comes_again: bool,
    controller: impl Fn(Client, Arc<Work>) -> W,
) -> (Duration, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let before = MEMORY.allocated();
    let work =
        Arc::new(Work { done: AtomicUsize::new(0), enough, reached: Notify::new(), comes_again });
    runtime.block_on(async {
        let began = spent();
        let local = tokio::task::LocalSet::new();
        let running = local.spawn_local(controller(client(list), Arc::clone(&work)));
        local.run_until(work.reached.notified()).await;
        let took = spent() - began;
        // Running reconciles finish, so that only the stores are left.
        local.run_until(tokio::time::sleep(Duration::from_secs(1))).await;
        let memory = MEMORY.allocated().saturating_sub(before);
        running.abort();
        (took, memory)
    })
}

fn again<W: Future<Output = ()> + 'static>(controller: impl Fn(Client, Arc<Work>) -> W) -> f64 {
    let (took, _) = run(&list(FEW), FEW * ROUNDS, true, controller);
    (FEW * ROUNDS) as f64 / took.as_secs_f64()
}
