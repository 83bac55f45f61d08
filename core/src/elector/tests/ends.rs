//! How a run ends, and the order of its callbacks.

use std::future::{Future, pending};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;

use super::driver::{Store, config, elector, token};
use crate::cancel::CancelToken;
use crate::elector::{
    AsyncCallbacks, AsyncLock, AsyncObjectStore, Call, Callbacks, Config, Elector, EventRecorder,
    Leadership, LeaseLock, LeaseSpec, LockEvent, MemoryStore, Name, Object, ObjectName,
    ObjectStore, Record, StoreError, Stored, Version,
};
use crate::runtime::bell::{Bell, poll};
use crate::runtime::{Manual, Runtime, System};

type Lines = Arc<Mutex<Vec<&'static str>>>;

fn store() -> Store {
    Arc::new(MemoryStore::new(&System::new()))
}

/// Uses the elector again as soon as it learns that its run is over.
#[derive(Default)]
struct Again(OnceLock<Arc<Elector<LeaseLock<Store>>>>, AtomicU32);

impl Again {
    fn attempts(&self) {
        let elector = self.0.get().expect("the elector is made before it runs");
        assert!(elector.attempt().is_ok(), "the run is over");
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

impl Callbacks<System> for Again {
    fn started_leading(&self, _: &Leadership<System>) {}

    fn stopped_leading(&self) {
        self.attempts();
    }
}

impl AsyncCallbacks<System> for Again {
    async fn started_leading(&self, _: Leadership<System>) {}

    fn stopped_leading(&self) {
        self.attempts();
    }
}

#[test]
fn an_elector_can_be_used_once_its_run_is_known_to_be_over() {
    let (again, token) = (Arc::new(Again::default()), token());
    let elector = again.0.get_or_init(|| elector(&store(), config("a")));
    token.cancel();
    elector.run(&token, &again).unwrap();
    System::new().block_on(elector.run_async(&token, &*again)).unwrap();
    assert_eq!(again.1.load(Ordering::SeqCst), 2);
}

/// A lock that does not answer.
struct Silent;

impl AsyncLock for Silent {
    async fn get(&mut self) -> Result<Stored, StoreError> {
        pending().await
    }

    async fn create(&mut self, _: &Record) -> Result<Stored, StoreError> {
        pending().await
    }

    async fn update(&mut self, _: &Record, _: &Version) -> Result<Stored, StoreError> {
        pending().await
    }

    fn describe(&self) -> String {
        "silent".to_owned()
    }
}

struct NoWork;

impl AsyncCallbacks<System> for NoWork {
    async fn started_leading(&self, _: Leadership<System>) {}
}

#[test]
fn a_run_that_moved_to_another_task_is_woken_there() {
    let (token, bell) = (token(), Arc::<Bell>::default());
    let elector = Elector::new(&System::new(), Silent, Config::new("a")).unwrap();
    let mut run = Box::pin(elector.run_async(&token, &NoWork));
    assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(poll(run.as_mut(), &bell).is_pending());
    token.cancel();
    assert!(bell.rings() > 0, "the waker of the last poll");
    assert_eq!(poll(run.as_mut(), &bell), Poll::Ready(Ok(false)));
}

/// A store that refuses renewals, and records when a lease is freed.
struct Stubborn(MemoryStore<Manual>, Lines);

impl AsyncObjectStore<LeaseSpec> for Stubborn {
    async fn get(&self, name: &ObjectName) -> Result<Object<LeaseSpec>, StoreError> {
        ObjectStore::get(&self.0, name, Call::default())
    }

    async fn create(&self, object: &Object<LeaseSpec>) -> Result<Object<LeaseSpec>, StoreError> {
        ObjectStore::create(&self.0, object, Call::default())
    }

    async fn update(&self, object: &Object<LeaseSpec>) -> Result<Object<LeaseSpec>, StoreError> {
        if !object.content.to_record().holder.is_empty() {
            return Err(StoreError::Timeout);
        }
        self.1.lock().push("lease freed");
        ObjectStore::update(&self.0, object, Call::default())
    }
}

/// Works for ever, and records when its work is dropped.
struct Works(Lines);

struct Dropped<'a>(&'a Lines);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.lock().push("work dropped");
    }
}

impl AsyncCallbacks<Manual> for Works {
    async fn started_leading(&self, _: Leadership<Manual>) {
        let _dropped = Dropped(&self.0);
        pending::<()>().await;
    }
}

#[test]
fn a_term_that_ends_by_itself_ends_its_work_before_the_lease_is_freed() {
    let (runtime, lines) = (Manual::new(), Lines::default());
    let store = Arc::new(Stubborn(MemoryStore::new(&runtime), Arc::clone(&lines)));
    let config = Config { release_on_cancel: true, ..Config::new("a") };
    let elector = Elector::new(&runtime, LeaseLock::new(store, "ns", "lease"), config).unwrap();
    let (inner, works) = (runtime.clone(), Works(Arc::clone(&lines)));
    let run = runtime.spawn("run", move || {
        let token = CancelToken::new(&inner);
        inner.block_on(elector.run_async(&token, &works))
    });
    for _ in 0..400 {
        if lines.lock().len() == 2 {
            break;
        }
        let _asleep = runtime.until_waiting(1, Duration::from_millis(20));
        runtime.advance(Duration::from_millis(250));
    }
    assert_eq!(*lines.lock(), ["work dropped", "lease freed"], "LE-42");
    assert_eq!(runtime.join(run).unwrap(), Ok(true));
}

/// Records its callbacks and events.
struct Teller(Lines, CancelToken<System>);

impl EventRecorder for Teller {
    fn record(&self, event: LockEvent) {
        let became = event.message.contains("became leader");
        self.0.lock().push(if became { "became leader" } else { "stopped leading" });
    }
}

impl AsyncCallbacks<System> for Teller {
    async fn started_leading(&self, _: Leadership<System>) {
        self.1.cancel();
    }

    fn new_leader(&self, _: &Name) {
        self.0.lock().push("new leader");
    }
}

#[test]
fn the_leader_is_named_before_it_says_that_it_leads() {
    let (system, lines, token) = (System::new(), Lines::default(), token());
    let teller = || Teller(Arc::clone(&lines), token.clone());
    let lock = LeaseLock::new(store(), "ns", "lease").with_recorder(Arc::new(teller()));
    let elector = Elector::new(&system, lock, Config::new("a")).unwrap();
    system.block_on(elector.run_async(&token, &teller())).unwrap();
    assert_eq!(*lines.lock(), ["new leader", "became leader", "stopped leading"]);
}
