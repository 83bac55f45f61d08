//! The blocking driver on real threads over a store in memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::elector::{
    AlreadyRunning, Bounds, Call, Callbacks, Config, Elector, HealthCheck, Leadership, LeaseLock,
    LeaseSpec, Lock, MemoryStore, Name, ObjectName, Record, StoreError, Stored, Timing, Version,
};
use crate::queue::WorkQueue;
use crate::runtime::{Ambient, Manual, Runtime, System};

pub(super) type Store = Arc<MemoryStore<System, LeaseSpec>>;

/// Records its callbacks, and works until its leadership is over.
pub(super) struct Log(WorkQueue<(usize, String)>, AtomicUsize);

impl Log {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(WorkQueue::new(&System::new()), AtomicUsize::new(0)))
    }

    pub(super) fn note(&self, what: impl Into<String>) {
        self.0.add((self.1.fetch_add(1, Ordering::SeqCst), what.into()));
    }

    /// Waits for the next line.
    pub(super) fn next(&self) -> String {
        let (token, (_, line)) = self.0.take().unwrap();
        self.0.done(token);
        line
    }
}

impl Callbacks<System> for Log {
    fn started_leading(&self, leadership: &Leadership<System>) {
        self.note(format!("started {}", leadership.fence().transitions));
        leadership.wait();
        self.note("work ended");
    }

    fn stopped_leading(&self) {
        self.note("stopped");
    }

    fn new_leader(&self, leader: &Name) {
        self.note(format!("leader {leader}"));
    }
}

/// Short enough for a test; one second is the shortest lease.
pub(super) fn config(identity: &str) -> Config {
    let timing = Timing {
        lease: Duration::from_secs(1),
        renew: Duration::from_millis(500),
        retry: Duration::from_millis(20),
    };
    let bounds = Bounds { work: Duration::from_millis(300), ..Bounds::default() };
    Config { timing, bounds, release_on_cancel: true, ..Config::new(identity) }
}

pub(super) fn elector(store: &Store, config: Config) -> Arc<Elector<LeaseLock<Store>>> {
    let lock = LeaseLock::new(Arc::clone(store), "ns", "lease");
    Arc::new(Elector::new(&System::new(), lock, config).unwrap())
}

pub(super) fn token() -> CancelToken {
    CancelToken::new(&System::new())
}

pub(super) type Ran = <System as Runtime>::Join<Result<bool, AlreadyRunning>>;

pub(super) fn run(
    elector: &Arc<Elector<LeaseLock<Store>>>,
    token: &CancelToken,
    log: &Arc<Log>,
) -> Ran {
    let (elector, token, log) = (Arc::clone(elector), token.clone(), Arc::clone(log));
    System::new().spawn("run", move || elector.run(&token, &log))
}

#[test]
fn leadership_passes_on_when_the_leader_is_cancelled() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let [a, b] = ["a", "b"].map(|id| elector(&store, config(id)));
    let [log_a, log_b] = [Log::new(), Log::new()];
    let [token_a, token_b] = [token(), token()];
    let run_a = run(&a, &token_a, &log_a);
    let mut first = [log_a.next(), log_a.next()];
    first.sort();
    assert_eq!(first[0], "leader a");
    assert!(first[1].starts_with("started"));
    assert!(a.is_leader());
    let run_b = run(&b, &token_b, &log_b);
    assert_eq!(log_b.next(), "leader a");
    token_a.cancel();
    assert_eq!(System::new().join(run_a).unwrap(), Ok(true));
    assert!(!a.is_leader());
    loop {
        let line = log_b.next(); // "leader" lines of a released record may come first
        if line.starts_with("started") {
            break;
        }
    }
    assert!(b.is_leader());
    token_b.cancel();
    assert_eq!(System::new().join(run_b).unwrap(), Ok(true));
    store.delete(&ObjectName::new("ns", "lease"));
}

#[test]
fn a_run_that_never_leads_calls_the_stop_callback_alone() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let elector = elector(&store, config("a"));
    let log = Log::new();
    let token = token();
    token.cancel();
    assert_eq!(elector.run(&token, &log), Ok(false));
    assert_eq!(log.next(), "stopped");
    assert_eq!(log.0.len(), 0);
}

/// Leads, and does not ask for reports of other leaders.
struct Incurious(Arc<Log>);

impl Callbacks<System> for Incurious {
    fn started_leading(&self, leadership: &Leadership<System>) {
        self.0.started_leading(leadership);
    }

    fn stopped_leading(&self) {
        self.0.stopped_leading();
    }

    fn new_leader(&self, leader: &Name) {
        self.0.new_leader(leader);
    }

    fn wants_new_leader(&self) -> bool {
        false
    }
}

#[test]
fn who_wants_no_reports_gets_none() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let elector = elector(&store, config("a"));
    let log = Log::new();
    let token = token();
    let run = {
        let (elector, token) = (Arc::clone(&elector), token.clone());
        let callbacks = Arc::new(Incurious(Arc::clone(&log)));
        System::new().spawn("run", move || elector.run(&token, &callbacks))
    };
    assert!(log.next().starts_with("started"));
    token.cancel();
    assert_eq!(System::new().join(run).unwrap(), Ok(true));
    let mut rest = [log.next(), log.next()];
    rest.sort();
    assert_eq!(rest, ["stopped", "work ended"]);
    store.delete(&ObjectName::new("ns", "lease"));
}

#[test]
fn a_second_run_is_refused() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let elector = elector(&store, config("a"));
    let log = Log::new();
    let token = token();
    let run = run(&elector, &token, &log);
    log.next();
    assert_eq!(elector.run(&token, &log), Err(AlreadyRunning));
    assert_eq!(elector.attempt(), Err(AlreadyRunning));
    token.cancel();
    System::new().join(run).unwrap().unwrap();
}

#[test]
fn cancelling_wakes_a_long_sleep_at_once() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let slow = Config { timing: Timing::seconds(3_600, 1_800, 600), ..config("b") };
    assert_eq!(
        elector(&store, Config { identity: "a".into(), ..slow.clone() }).attempt(),
        Ok(true)
    );
    let elector = elector(&store, slow);
    let log = Log::new();
    let token = token();
    let run = run(&elector, &token, &log);
    assert_eq!(log.next(), "leader a");
    token.cancel();
    assert_eq!(System::new().join(run).unwrap(), Ok(false));
}

/// Panics on the first call.
struct Broken;

impl Lock for Broken {
    fn get(&mut self, _: Call<'_>) -> Result<Stored, StoreError> {
        panic!("the lock breaks")
    }
    fn create(&mut self, _: &Record, _: Call<'_>) -> Result<Stored, StoreError> {
        unreachable!()
    }
    fn update(&mut self, _: &Record, _: &Version, _: Call<'_>) -> Result<Stored, StoreError> {
        unreachable!()
    }
    fn describe(&self) -> String {
        "broken".to_owned()
    }
}

#[test]
fn a_panic_stops_leading_first_and_is_passed_on() {
    let elector = Elector::new(&System::new(), Broken, config("a")).unwrap();
    let log = Log::new();
    for _ in 0..2 {
        let ran = catch_unwind(AssertUnwindSafe(|| elector.run(&token(), &log)));
        assert!(ran.is_err(), "each time: the elector is ready for another run");
        assert_eq!(log.next(), "stopped");
    }
    assert!(catch_unwind(AssertUnwindSafe(|| elector.attempt())).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| elector.attempt())).is_err());
}

/// Panics when it renews, and records the events for people.
struct BreaksLater(LeaseLock<Store>, Arc<Log>);

impl Lock for BreaksLater {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        self.0.get(call)
    }
    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        self.0.create(record, call)
    }
    fn update(&mut self, _: &Record, _: &Version, _: Call<'_>) -> Result<Stored, StoreError> {
        panic!("the lock breaks")
    }
    fn record_event(&self, identity: &Name, text: &'static str) {
        self.1.note(format!("event: {identity} {text}"));
    }
    fn describe(&self) -> String {
        self.0.describe()
    }
}

#[test]
fn a_leader_that_breaks_down_says_that_it_stopped_leading() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let log = Log::new();
    let lock = BreaksLater(LeaseLock::new(store, "ns", "lease"), Arc::clone(&log));
    let elector = Elector::new(&System::new(), lock, config("a")).unwrap();
    let callbacks = Arc::new(Incurious(Log::new()));
    assert!(catch_unwind(AssertUnwindSafe(|| elector.run(&token(), &callbacks))).is_err());
    assert_eq!([log.next(), log.next()], ["event: a became leader", "event: a stopped leading"]);
}

#[test]
fn single_attempts_and_releases_need_no_run() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let [a, b] = ["a", "b"].map(|id| elector(&store, config(id)));
    assert_eq!(a.attempt(), Ok(true));
    assert_eq!(a.take_report().as_ref().map(|name| name.as_str()), Some("a"));
    assert_eq!(b.attempt(), Ok(false));
    assert_eq!(b.leader().as_str(), "a");
    assert_eq!(a.release(), Ok(true));
    assert_eq!(b.attempt(), Ok(true));
    assert!(b.is_leader() && !a.is_leader());
    assert_eq!(b.observed().record.transitions, 1);
}

#[test]
fn a_health_check_finds_a_leader_that_neither_renews_nor_stops() {
    let (store, clock): (Store, _) = (Arc::new(MemoryStore::new(&System::new())), Manual::new());
    let health = HealthCheck::new(&clock, Duration::ZERO);
    assert_eq!(health.check(), Ok(()), "nothing is attached");
    let named = Config::new("a").name("controller".into());
    let elector = Elector::new(&clock, LeaseLock::new(store, "ns", "lease"), named).unwrap();
    health.attach(&elector);
    assert_eq!(elector.attempt(), Ok(true));
    assert_eq!(health.check(), Ok(()));
    clock.advance(Duration::from_secs(16));
    let wedged = health.check().unwrap_err();
    assert_eq!(&*wedged.lease, "controller");
    assert_eq!(elector.check(Duration::from_secs(60)), Ok(()), "a tolerance helps");
}

/// Passes its leading token on.
struct Handover(Arc<WorkQueue<u8>>);

impl Callbacks<System> for Handover {
    fn started_leading(&self, leadership: &Leadership<System>) {
        let token = leadership.token();
        assert!(!token.is_cancelled());
        self.0.add(1);
        token.wait();
        assert!(!leadership.is_valid());
        self.0.add(2);
    }

    fn stopped_leading(&self) {}
}

#[test]
fn the_leading_token_ends_with_the_term_although_the_run_does_not_hear_of_it() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let lock = Hanging(LeaseLock::new(store, "ns", "lease"));
    let elector = Elector::new(&System::new(), lock, config("a")).unwrap();
    let told = Arc::new(WorkQueue::new(&System::new()));
    let callbacks = Arc::new(Handover(Arc::clone(&told)));
    let token = token();
    assert_eq!(elector.run(&token, &callbacks), Ok(true), "the hanging call ends with the term");
    for expected in [1, 2] {
        let (work, key) = told.take().unwrap();
        assert_eq!(key, expected);
        told.done(work);
    }
    assert!(!token.is_cancelled(), "only its child");
}

/// Never answers an update before its deadline.
struct Hanging<L>(L);

impl<L: Lock> Lock for Hanging<L> {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        self.0.get(call)
    }
    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        self.0.create(record, call)
    }
    fn update(&mut self, _: &Record, _: &Version, call: Call<'_>) -> Result<Stored, StoreError> {
        assert!(!call.is_cancelled());
        System::new().sleep_until(System::new().now() + Duration::from_millis(50));
        let _ = call.deadline.expect("a renewal has a deadline");
        Err(StoreError::Timeout)
    }
    fn describe(&self) -> String {
        self.0.describe()
    }
}
