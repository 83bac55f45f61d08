//! The driver of tasks over a store in memory.

use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::driver::{Log, Store, config, token};
use crate::elector::{
    AlreadyRunning, AsyncCallbacks, AsyncLock, AsyncObjectStore, Config, Elector, Leadership,
    LeaseLock, MemoryStore, Name, PairLock, Record, StoreError, Stored, Version,
};
use crate::runtime::{Ambient, Runtime, System};

type Electing = Elector<LeaseLock<Store>>;

fn elector(store: &Store, config: Config) -> Electing {
    let lock = LeaseLock::new(Arc::clone(store), "ns", "lease");
    Elector::new(&System::new(), lock, config).unwrap()
}

fn store() -> Store {
    Arc::new(MemoryStore::new(&System::new()))
}

/// The behaviour of a leader's work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Works {
    UntilItIsLost,
    ForEver,
    Panics,
}

/// Records its callbacks.
struct Told(Arc<Log>, Works);

/// Records that it was dropped.
struct Dropped<'a>(&'a Log);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.note("work dropped");
    }
}

impl AsyncCallbacks<System> for Told {
    async fn started_leading(&self, leadership: Leadership<System>) {
        let _dropped = Dropped(&self.0);
        assert!(leadership.is_valid());
        self.0.note(format!("started {}", leadership.fence().transitions));
        match self.1 {
            Works::UntilItIsLost => leadership.lost().await,
            Works::ForEver => pending().await,
            Works::Panics => panic!("the work breaks"),
        }
        assert!(!leadership.is_valid());
        self.0.note("work ended");
    }

    fn stopped_leading(&self) {
        self.0.note("stopped");
    }

    fn new_leader(&self, leader: &Name) {
        self.0.note(format!("leader {leader}"));
    }
}

fn lines<const N: usize>(log: &Log) -> [String; N] {
    std::array::from_fn(|_| log.next())
}

/// Polls a future once.
fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn an_awaited_run_leads_and_frees_the_lease_when_it_is_cancelled() {
    let store = store();
    let a = elector(&store, config("a"));
    let (log, token) = (Log::new(), token());
    let system = System::new();
    let canceller = {
        let (log, token) = (Arc::clone(&log), token.clone());
        system.spawn("canceller", move || {
            let lines = lines::<2>(&log);
            token.cancel();
            lines
        })
    };
    let told = Told(Arc::clone(&log), Works::UntilItIsLost);
    assert_eq!(system.block_on(a.run_async(&token, &told)), Ok(true));
    assert_eq!(system.join(canceller).unwrap(), ["leader a", "started 0"]);
    assert_eq!(lines(&log), ["work ended", "work dropped", "stopped"]);
    assert!(!a.is_leader());
    let b = elector(&store, config("b"));
    assert_eq!(system.block_on(b.attempt_async()), Ok(true), "the lease is free");
    assert_eq!(system.block_on(b.release_async()), Ok(true));
}

#[test]
fn work_that_does_not_end_is_dropped_before_the_lease_is_freed() {
    let store = store();
    let a = elector(&store, config("a"));
    let (log, token) = (Log::new(), token());
    let told = Told(Arc::clone(&log), Works::ForEver);
    let system = System::new();
    let mut run = pin!(a.run_async(&token, &told));
    assert!(poll_once(run.as_mut()).is_pending());
    token.cancel();
    let cancelled = system.now();
    assert_eq!(system.block_on(run), Ok(true));
    assert!(system.now().since(cancelled) >= Duration::from_millis(300), "the work has its time");
    assert_eq!(lines(&log), ["leader a", "started 0", "work dropped", "stopped"]);
}

#[test]
fn a_run_that_is_dropped_loses_its_leadership_and_leaves_the_lease() {
    let store = store();
    let (a, b) = (elector(&store, config("a")), elector(&store, config("b")));
    let (log, token) = (Log::new(), token());
    let told = Told(Arc::clone(&log), Works::ForEver);
    {
        let mut run = pin!(a.run_async(&token, &told));
        assert!(poll_once(run.as_mut()).is_pending());
        assert!(a.is_leader());
        let second = System::new().block_on(a.run_async(&token, &told));
        assert_eq!(second, Err(AlreadyRunning), "while the first is under way");
        assert_eq!(System::new().block_on(a.attempt_async()), Err(AlreadyRunning));
        assert_eq!(a.attempt(), Err(AlreadyRunning), "also of the blocking calls");
    }
    assert!(!a.is_leader());
    assert_eq!(lines(&log), ["leader a", "started 0", "work dropped", "stopped"]);
    assert_eq!(b.attempt(), Ok(false), "nobody freed it");
    assert_eq!(a.attempt(), Ok(true), "the elector is ready for another run");
}

#[test]
fn a_run_that_never_leads_calls_the_stop_callback_alone() {
    let store = store();
    assert_eq!(elector(&store, config("a")).attempt(), Ok(true));
    let (log, token) = (Log::new(), token());
    let told = Told(Arc::clone(&log), Works::ForEver);
    let b = elector(&store, config("b"));
    let mut run = pin!(b.run_async(&token, &told));
    assert!(poll_once(run.as_mut()).is_pending());
    token.cancel();
    assert_eq!(System::new().block_on(run), Ok(false));
    assert_eq!(lines(&log), ["leader a", "stopped"]);
}

#[test]
fn a_panic_of_the_work_stops_leading_first_and_is_passed_on() {
    let store = store();
    let a = elector(&store, config("a"));
    let (log, token) = (Log::new(), token());
    let told = Told(Arc::clone(&log), Works::Panics);
    let run = || System::new().block_on(a.run_async(&token, &told));
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    assert!(!a.is_leader());
    assert_eq!(lines(&log), ["leader a", "started 0", "work dropped", "stopped"]);
    assert_eq!(a.attempt(), Ok(true));
}

/// Never answers a call of that kind.
struct Hangs {
    lock: LeaseLock<Store>,
    reads: bool,
}

impl AsyncLock for Hangs {
    async fn get(&mut self) -> Result<Stored, StoreError> {
        if self.reads {
            pending::<()>().await;
        }
        AsyncLock::get(&mut self.lock).await
    }
    async fn create(&mut self, record: &Record) -> Result<Stored, StoreError> {
        AsyncLock::create(&mut self.lock, record).await
    }
    async fn update(&mut self, _: &Record, _: &Version) -> Result<Stored, StoreError> {
        pending().await
    }
    fn describe(&self) -> String {
        AsyncLock::describe(&self.lock)
    }
}

#[test]
fn a_call_that_is_never_answered_ends_with_its_deadline_or_its_token() {
    let lock = |reads| Hangs { lock: LeaseLock::new(store(), "ns", "lease"), reads };
    let system = System::new();
    let make = |reads| Elector::new(&system, lock(reads), config("a")).unwrap();

    let (renews, log, token) = (make(false), Log::new(), token());
    let told = Told(Arc::clone(&log), Works::UntilItIsLost);
    let began = system.now();
    assert_eq!(system.block_on(renews.run_async(&token, &told)), Ok(true));
    let took = system.now().since(began);
    assert!(took >= Duration::from_millis(500), "the renew deadline, then a release: {took:?}");

    let acquires = make(true);
    let mut run = pin!(acquires.run_async(&token, &told));
    assert!(poll_once(run.as_mut()).is_pending(), "no deadline in the acquire loop");
    token.cancel();
    assert_eq!(system.block_on(run), Ok(false));
}

#[test]
fn a_pair_of_locks_is_awaited_as_well() {
    let (first, second) = (store(), store());
    let pair = |identity: &str| {
        let [a, b] = [&first, &second].map(|store| LeaseLock::new(Arc::clone(store), "n", "l"));
        let lock = PairLock::new(identity.into(), a, b);
        Elector::new(&System::new(), lock, config(identity)).unwrap()
    };
    let (a, b) = (pair("a"), pair("b"));
    let system = System::new();
    for expected in [Ok(true), Ok(true)] {
        assert_eq!(system.block_on(a.attempt_async()), expected);
    }
    assert_eq!(system.block_on(b.attempt_async()), Ok(false));
    assert_eq!(system.block_on(a.release_async()), Ok(true));
    assert_eq!(system.block_on(b.attempt_async()), Ok(true));
    let name = crate::elector::ObjectName::new("n", "l");
    for store in [&first, &second] {
        let lease = system.block_on(AsyncObjectStore::get(store, &name)).unwrap();
        assert_eq!(lease.content.holder, Some("b".into()));
    }
}

#[test]
fn an_awaited_run_can_be_moved_to_another_thread() {
    fn is_send(_: &impl Send) {}
    let (a, token) = (elector(&store(), config("a")), token());
    let told = Told(Log::new(), Works::ForEver);
    is_send(&a.run_async(&token, &told));
}
