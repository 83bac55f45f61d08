//! One run of a plan.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::reflector::Config;
use seatrial_core::informer::{Change, Informer, Wants};
use seatrial_core::limited_queue::LimitedQueue;
use seatrial_core::pool::awaited::{self, ReconcileAsync};
use seatrial_core::pool::{Action, Attempt, Fault};
use seatrial_core::request::{Base, Client, Collection, Verb};
use seatrial_core::runtime::{Ambient, Instant, Tokio};
use seatrial_sim::apiserver::{self, Answer, Point, Request, Server, Trouble};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::judge::{Object, State, Told};
use crate::plan::{Act, Break, Dice, KEYS, Plan};
use crate::wire::Wire;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// Within this time after the last act everything must have been reconciled: faults strike a bounded
/// number of requests, and no pause between them is longer than half a minute.
const SETTLES: Duration = Duration::from_secs(3600);
/// How many requests there may be a second, and how many at once, whatever goes wrong.
const RATE: (f64, u64) = (4.0, 60);
/// How many work at a time.
const WORKERS: NonZeroUsize = NonZeroUsize::new(2).expect("two");

/// What a task that works is called.
const WORKER: &str = "a worker";
/// How long a reconcile takes at most.
const TAKES: Duration = Duration::from_secs(2);
/// So long a worker has to do all that may wait, and what it has in its hands.
const DRAINS: Duration = Duration::from_secs(TAKES.as_secs() * (KEYS + 1));

/// The paused clock moves on once nobody can take a step.
const AT_ONCE: Duration = Duration::from_millis(10);

/// What a run came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) requests: u64,
    pub(crate) struck: u64,
    pub(crate) told: u64,
    pub(crate) reconciles: u64,
    pub(crate) failures: u64,
    /// How long after the last act everything was reconciled.
    pub(crate) settled: Duration,
}

impl Figures {
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.struck += other.struck;
        self.told += other.told;
        self.reconciles += other.reconciles;
        self.failures += other.failures;
        self.settled = self.settled.max(other.settled);
    }
}

/// Runs a plan, with a link that is broken or with none.
pub(crate) fn run(plan: &Plan, broken: Break) -> Result<Figures, String> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let executor = builder.enable_time().start_paused(true).build().expect("a runtime");
    executor.block_on(Box::pin(tried(plan, broken)))
}

type Shared = Arc<Informer<Object, Tokio>>;
type Queue = Arc<LimitedQueue<String, Tokio>>;

/// What workers did.
#[derive(Default)]
struct Work {
    /// The versions that were reconciled last, of what was there.
    reconciled: State,
    reconciles: u64,
    failures: u64,
    /// Nothing happens any more, and nothing fails.
    calm: bool,
}

struct Worker {
    informer: Shared,
    work: Arc<Mutex<Work>>,
    dice: Mutex<Dice>,
    fails: u64,
    broken: Break,
}

impl Worker {
    /// Reads the store; tells whether the reconcile fails, and how long it takes.
    fn begin(&self) -> (bool, Duration) {
        let mut dice = self.dice.lock().expect("nobody panics");
        let mut work = self.work.lock().expect("nobody panics");
        work.reconciles += 1;
        let fails = !work.calm && dice.one_in(self.fails);
        work.failures += u64::from(fails);
        (
            fails,
            Duration::from_millis(if dice.one_in(3) {
                dice.below(TAKES.as_millis() as u64)
            } else {
                0
            }),
        )
    }
}

impl ReconcileAsync<String> for Worker {
    type Error = String;

    async fn reconcile(&self, key: &String, _: Attempt<'_>) -> Result<Action, Fault<String>> {
        let seen = self.informer.store().get(key).map(|object| object.version());
        let (fails, takes) = self.begin();
        if !takes.is_zero() {
            tokio::time::sleep(takes).await;
        }
        if fails {
            let why = "it is refused".to_owned();
            let forgets = self.broken == Break::FailuresAreForgotten;
            return Err(if forgets { Fault::Terminal(why) } else { Fault::Retry(why) });
        }
        let mut work = self.work.lock().expect("nobody panics");
        match seen {
            Some(version) => work.reconciled.insert(key.clone(), version),
            None => work.reconciled.remove(key),
        };
        Ok(Action::Done)
    }
}

/// Everything of a run.
struct Bed {
    runtime: Tokio,
    wire: Wire,
    informer: Shared,
    queue: Queue,
    token: CancelToken<Tokio>,
    told: Arc<Mutex<Result<Told, String>>>,
    work: Arc<Mutex<Work>>,
    /// The informer, its reader, the workers.
    tasks: Vec<(&'static str, JoinHandle<()>)>,
}

impl Bed {
    fn new(plan: &Plan, broken: Break) -> Self {
        let runtime = Tokio::seeded(plan.seed);
        let wire = Wire::new(&runtime, plan.seed, broken);
        let base = Base::parse("http://server").expect("an address");
        let client = Arc::new(Client::new(&runtime, base, wire.clone()).with_limiter(None));
        let request = client.request(Verb::Get, "/api/v1").namespace("default");
        let source = Arc::new(Collection::new(&client, request.resource("configmaps")));
        let config = Config::default().page_size(plan.page).stream_lists(plan.streams);
        let config = config.resync(plan.resync);
        let informer = Arc::new(Informer::builder(&runtime, source).config(config).build());
        let queue = Arc::new(LimitedQueue::with_default_limiter(&runtime));
        let token = CancelToken::new(&runtime);
        let told = Arc::new(Mutex::new(Ok(Told::default())));
        let (work, tasks) = (Arc::default(), Vec::new());
        let mut bed = Self { runtime, wire, informer, queue, token, told, work, tasks };
        bed.read(broken);
        bed.start(plan, broken);
        bed
    }

    /// Queues what changes.
    fn read(&mut self, broken: Break) {
        let mut changes = self.informer.subscribe_with(Wants::default().resyncs());
        let (queue, told) = (Arc::clone(&self.queue), Arc::clone(&self.told));
        let reader = async move {
            while let Ok(change) = changes.next_async().await {
                let mut told = told.lock().expect("nobody panics");
                let Ok(known) = &mut *told else { break };
                match known.take(&change) {
                    Ok(key) => {
                        let lost = match broken {
                            Break::DeletionsAreNotQueued => matches!(change, Change::Deleted(_)),
                            Break::SomeChangesAreLost => known.count % 5 == 0,
                            _ => false,
                        };
                        if !lost {
                            queue.add(key);
                        }
                    }
                    Err(why) => *told = Err(why),
                }
            }
            if broken == Break::TheReaderStays {
                std::future::pending::<()>().await;
            }
        };
        self.tasks.push(("the reader", tokio::spawn(reader)));
    }

    fn start(&mut self, plan: &Plan, broken: Break) {
        let worker = Arc::new(Worker {
            informer: Arc::clone(&self.informer),
            work: Arc::clone(&self.work),
            dice: Mutex::new(Dice::new(plan.seed ^ 0xdead_beef)),
            fails: plan.fails,
            broken,
        });
        for _ in 0..WORKERS.get() {
            let (queue, worker) = (Arc::clone(&self.queue), Arc::clone(&worker));
            let works = async move { awaited::work(&*queue, &*worker).await };
            self.tasks.push((WORKER, tokio::spawn(works)));
        }
        let (informer, token) = (Arc::clone(&self.informer), self.token.clone());
        let runs = async move { informer.run_async(&token).await.expect("it runs once") };
        self.tasks.push(("the informer", tokio::spawn(runs)));
    }

    fn act(&self, act: &Act) {
        match act {
            Act::Put(key) => self.wire.with(|server, now| put(server, now, *key)),
            Act::Delete(key) => self.wire.with(|server, now| {
                let target = format!("{MAPS}/map-{key}");
                server.handle(now, &Request::new("DELETE", &target));
            }),
            Act::Now(trouble) => self.wire.with(|server, now| strike(server, now, trouble.clone())),
            Act::Strike(fault) => self.wire.with(|server, _| server.inject(fault.clone())),
            Act::Nothing => {}
        }
    }

    /// What the server has.
    fn newest(&self) -> State {
        let answer = self.wire.with(|server, now| {
            // By a copy, so that no fault strikes the question.
            let mut copy = server.clone();
            while copy.pending_faults() > 0 {
                copy.handle(now, &Request::new("GET", MAPS));
            }
            copy.handle(now + LONGEST_LAG, &Request::new("GET", MAPS))
        });
        let Answer::Response(response) = answer else { panic!("{answer:?}") };
        let list = response.json().expect("JSON");
        let items = list["items"].as_array().expect("a list");
        let text = |item: &serde_json::Value, field: &str| {
            item["metadata"][field].as_str().expect("text").to_owned()
        };
        let state =
            |item| (format!("default/{}", text(item, "name")), text(item, "resourceVersion"));
        items.iter().map(state).collect()
    }

    /// Where the parts differ from the server, if they do.
    fn difference(&self) -> Option<String> {
        let newest = self.newest();
        let store = self.informer.store().list();
        let store: State = store.iter().map(|(key, it)| (key.clone(), it.version())).collect();
        let told = self.told.lock().expect("nobody panics");
        let known = told.as_ref().map(|told| told.known().clone()).unwrap_or_default();
        let work = self.work.lock().expect("nobody panics");
        let all = [("the store", &store), ("the reader", &known), ("reconciled", &work.reconciled)];
        let mut differing = all.into_iter().filter(|(_, state)| **state != newest);
        differing.next().map(|(who, state)| format!("{who} has {state:?}, the server {newest:?}"))
    }

    /// Nobody makes requests without end.
    fn is_bounded(&self) -> Result<(), String> {
        let (seconds, (requests, _)) =
            (self.runtime.now().since(Instant::ZERO), self.wire.requests());
        let most = RATE.0.mul_add(seconds.as_secs_f64(), RATE.1 as f64);
        if requests as f64 > most {
            return Err(format!("{requests} requests within {seconds:?}"));
        }
        Ok(())
    }

    async fn settle(&self) -> Result<Duration, String> {
        self.work.lock().expect("nobody panics").calm = true;
        let (began, mut pause) = (self.runtime.now(), Duration::from_millis(100));
        loop {
            self.is_bounded()?;
            let took = self.runtime.now().since(began);
            match self.difference() {
                None => return Ok(took),
                Some(why) if took > SETTLES => return Err(format!("after {took:?} {why}")),
                Some(_) => tokio::time::sleep(pause).await,
            }
            pause = (pause * 2).min(Duration::from_secs(30));
        }
    }

    /// Stops everything: informer and reader end as soon as they take a step, workers when they have
    /// done what waits.
    async fn stop(self) -> Result<(), String> {
        self.token.cancel();
        self.queue.shut_down();
        let now = tokio::time::Instant::now();
        for (who, task) in self.tasks {
            let until = now + if who == WORKER { DRAINS } else { AT_ONCE };
            match tokio::time::timeout_at(until, task).await {
                Ok(ended) => ended.map_err(|error| format!("{who}: {error}"))?,
                Err(_) => return Err(format!("{who} does not end")),
            }
        }
        match self.wire.open() {
            0 => Ok(()),
            open => Err(format!("{open} watches are left open")),
        }
    }
}

/// Longer than a server lags in any plan.
const LONGEST_LAG: Duration = Duration::from_secs(60);

/// Lets something go wrong at once: before a request that nobody else makes.
fn strike(server: &mut Server, now: Duration, what: Trouble) {
    let at = Point { name: Some("none".to_owned()), ..Point::of("DELETE", "configmaps") };
    server.inject(apiserver::Fault { at, after: 0, times: 1, what });
    server.handle(now, &Request::new("DELETE", &format!("{MAPS}/none")));
}

/// Makes an object, or changes it.
fn put(server: &mut Server, now: Duration, key: u64) {
    let target = format!("{MAPS}/map-{key}");
    let name = format!("map-{key}");
    let data = json!({"revision": server.revision().to_string()});
    let object = json!({"metadata": {"name": name}, "data": data});
    let changed = server.handle(now, &Request::new("PUT", &target).json(&object));
    let is_there = matches!(&changed, Answer::Response(response) if response.status < 300);
    if !is_there {
        server.handle(now, &Request::new("POST", MAPS).json(&object));
    }
}

async fn tried(plan: &Plan, broken: Break) -> Result<Figures, String> {
    let bed = Bed::new(plan, broken);
    let mut dice = Dice::new(!plan.seed);
    let is_cut_short = broken == Break::Nothing && dice.one_in(8);
    let acts = if is_cut_short { plan.acts.len() / 2 } else { plan.acts.len() };
    for (pause, act) in &plan.acts[..acts] {
        if !pause.is_zero() {
            tokio::time::sleep(*pause).await;
        }
        bed.act(act);
    }
    // Some are stopped wherever they are.
    let settled = if is_cut_short { Duration::ZERO } else { bed.settle().await? };
    bed.is_bounded()?;
    let told = match &*bed.told.lock().expect("nobody panics") {
        Ok(told) => told.count,
        Err(why) => return Err(why.clone()),
    };
    let (requests, struck) = bed.wire.requests();
    let (reconciles, failures) = {
        let work = bed.work.lock().expect("nobody panics");
        (work.reconciles, work.failures)
    };
    let figures = Figures { requests, struck, told, reconciles, failures, settled };
    bed.stop().await?;
    Ok(figures)
}
