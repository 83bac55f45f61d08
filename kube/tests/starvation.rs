//! How long keys wait behind hot keys: our controller and kube's, on the same work.
//!
//! Hot keys take 20 ms and ask to be reconciled again at once; there are twice as many of them as
//! workers, or one more. Three cold keys ask to be reconciled every five seconds. Both controllers
//! run in tokio's paused time, so nothing really sleeps.
//!
//! `RUNS=100 SECONDS=30 cargo test -p seatrial-kube --test starvation -- --nocapture` prints the
//! table with the figures of the documentation.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream;
use http::{Request, Response};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use kube::runtime::controller::{Action as TheirAction, Config as TheirConfig};
use kube::runtime::{Controller as TheirController, watcher};
use kube::{Api, Client, ResourceExt};
use seatrial_kube::controller::{Action, Controller};
use seatrial_kube::watcher::Config;
use serde_json::json;
use tokio::time::Instant;

const COLD: usize = 3;
const WORK: Duration = Duration::from_millis(20);
const PERIOD: Duration = Duration::from_secs(5);

/// A client of a server with maps that never change.
fn client(hot: usize) -> Client {
    let name = |number: usize| match number {
        0..COLD => format!("cold-{number}"),
        _ => format!("hot-{}", number - COLD),
    };
    let item = |number| {
        let name = name(number);
        json!({"metadata": {"name": name, "namespace": "default", "resourceVersion": "1"}})
    };
    let items: Vec<_> = (0..COLD + hot).map(item).collect();
    let list = json!({
        "kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"},
        "items": items,
    });
    let list = Arc::new(list.to_string());
    let service = tower::service_fn(move |request: Request<Body>| {
        let list = Arc::clone(&list);
        async move {
            if request.uri().query().is_some_and(|query| query.contains("watch=true")) {
                std::future::pending::<()>().await; // nothing ever happens
            }
            Ok::<_, Infallible>(Response::new(Body::from(list.as_bytes().to_vec())))
        }
    });
    Client::new(service, "default")
}

/// When each reconcile of a key began.
type Log = Arc<Mutex<BTreeMap<String, Vec<Instant>>>>;

/// Does the work of a key, and returns when it asks to be reconciled again.
async fn work(map: Arc<ConfigMap>, log: Log) -> Duration {
    let name = map.name_any();
    let is_hot = name.starts_with("hot");
    log.lock().unwrap().entry(name).or_default().push(Instant::now());
    if !is_hot {
        return PERIOD;
    }
    tokio::time::sleep(WORK).await;
    Duration::ZERO
}

async fn ours(client: Client, workers: u16, log: Log) {
    let reconcile = async |map, log: Arc<Log>| {
        Ok::<_, Infallible>(Action::RequeueAfter(work(map, (*log).clone()).await))
    };
    Controller::new(Api::<ConfigMap>::all(client), Config::default().list_watch())
        .concurrency(workers)
        .run(reconcile, |_, _, _| Action::Requeue, Arc::new(log))
        .await
        .expect("all is listed");
}

async fn theirs(client: Client, workers: u16, log: Log) {
    let reconcile = async |map, log: Arc<Log>| {
        Ok::<_, Infallible>(TheirAction::requeue(work(map, (*log).clone()).await))
    };
    let results = TheirController::new(Api::<ConfigMap>::all(client), watcher::Config::default())
        .with_config(TheirConfig::default().concurrency(workers))
        .run(reconcile, |_, _, _| TheirAction::await_change(), Arc::new(log));
    let mut results = pin!(results);
    poll_fn(|context| {
        while let Poll::Ready(result) = results.as_mut().poll_next(context) {
            if result.is_none() {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    })
    .await;
}

/// Measurements of the cold keys.
#[derive(Default)]
struct Figures {
    runs: u32,
    /// Runs in which a cold key was reconciled at most once.
    starved: u32,
    /// The longest time that a cold key waited beyond its period; for its first run, from the
    /// start.
    longest: Duration,
    reconciles: usize,
}

impl Figures {
    fn add(&mut self, log: &BTreeMap<String, Vec<Instant>>, began: Instant, ended: Instant) {
        self.runs += 1;
        self.reconciles += log.values().map(Vec::len).sum::<usize>();
        let mut is_starved = false;
        for number in 0..COLD {
            let times = log.get(&format!("cold-{number}")).map_or(&[][..], Vec::as_slice);
            is_starved |= times.len() <= 1;
            let mut due = began;
            for time in times.iter().copied().chain(Some(ended)) {
                self.longest = self.longest.max(time.saturating_duration_since(due));
                due = time + PERIOD;
            }
        }
        self.starved += u32::from(is_starved);
    }
}

fn measure<W: Future<Output = ()>>(
    runs: u32,
    length: Duration,
    (workers, hot): (u16, usize),
    controller: impl Fn(Client, u16, Log) -> W,
) -> Figures {
    let mut figures = Figures::default();
    for _ in 0..runs {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let (log, began) = (Log::default(), Instant::now());
            let run = controller(client(hot), workers, Arc::clone(&log));
            drop(tokio::time::timeout(length, run).await);
            figures.add(&log.lock().unwrap(), began, Instant::now());
        });
    }
    figures
}

fn asked(variable: &str, otherwise: u32) -> u32 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn cold_keys_run_in_time_however_many_are_hot() {
    let (runs, seconds) = (asked("RUNS", 2), asked("SECONDS", 20));
    let length = Duration::from_secs(seconds.into());
    println!("{runs} runs of {seconds} s; starved: a cold key was reconciled at most once\n");
    println!(
        "| workers | hot keys | ours: starved | longest wait | kube's: starved | longest wait |"
    );
    println!("|---|---|---|---|---|---|");
    for workers in [1_u16, 2, 3] {
        for hot in [2 * usize::from(workers), 2 * usize::from(workers) + 1] {
            let our = measure(runs, length, (workers, hot), ours);
            let their = measure(runs, length, (workers, hot), theirs);
            let share = |it: &Figures| 100 * it.starved / it.runs;
            println!(
                "| {workers} | {hot} | {} % | {:.2?} | {} % | {:.2?} |",
                share(&our),
                our.longest,
                share(&their),
                their.longest,
            );
            assert_eq!(our.starved, 0);
            // At first they wait behind others for five seconds and one check; then there is a
            // single line.
            let line = WORK * u32::try_from(hot + COLD).unwrap() / workers.into();
            let bound = Duration::from_secs(6) + line + WORK;
            assert!(our.longest <= bound, "{:?}", our.longest);
            // Both do the maximum of work that the time allows.
            let full = our.runs as usize
                * usize::from(workers)
                * (length.as_millis() / WORK.as_millis()) as usize;
            for figures in [&our, &their] {
                assert!(figures.reconciles * 10 >= full * 9, "{} of {full}", figures.reconciles);
            }
        }
    }
}
