//! Awaited locks that take their time.

use std::future::{pending, poll_fn};
use std::mem::replace;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use crate::cancel::CancelToken;
use crate::elector::{
    AsyncCallbacks, AsyncLock, Call, Config, Elector, Leadership, LeaseLock, MemoryStore,
    ObjectName, ObjectStore, Record, StoreError, Stored, Timing, Version,
};
use crate::runtime::bell::{Bell, poll};
use crate::runtime::{Manual, Runtime};

type Store = Arc<MemoryStore<Manual>>;

fn lease(clock: &Manual) -> (Store, LeaseLock<Store>) {
    let store = Arc::new(MemoryStore::new(clock));
    (Arc::clone(&store), LeaseLock::new(store, "ns", "lease"))
}

/// A lock that yields once before every call.
struct Slow(LeaseLock<Store>);

async fn turn() {
    let mut asked = false;
    poll_fn(|context| {
        if replace(&mut asked, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl AsyncLock for Slow {
    async fn get(&mut self) -> Result<Stored, StoreError> {
        turn().await;
        AsyncLock::get(&mut self.0).await
    }
    async fn create(&mut self, record: &Record) -> Result<Stored, StoreError> {
        turn().await;
        AsyncLock::create(&mut self.0, record).await
    }
    async fn update(&mut self, record: &Record, version: &Version) -> Result<Stored, StoreError> {
        turn().await;
        AsyncLock::update(&mut self.0, record, version).await
    }
    fn describe(&self) -> String {
        AsyncLock::describe(&self.0)
    }
}

/// A lock whose updates are never answered.
struct Mute(LeaseLock<Store>);

impl AsyncLock for Mute {
    async fn get(&mut self) -> Result<Stored, StoreError> {
        AsyncLock::get(&mut self.0).await
    }
    async fn create(&mut self, record: &Record) -> Result<Stored, StoreError> {
        AsyncLock::create(&mut self.0, record).await
    }
    async fn update(&mut self, _: &Record, _: &Version) -> Result<Stored, StoreError> {
        pending().await
    }
    fn describe(&self) -> String {
        AsyncLock::describe(&self.0)
    }
}

/// Works until its leadership is lost.
struct Works;

impl AsyncCallbacks<Manual> for Works {
    async fn started_leading(&self, leadership: Leadership<Manual>) {
        leadership.lost().await;
    }
}

#[test]
fn a_release_that_takes_its_time_is_not_ended_by_the_token_that_ended_the_run() {
    let (clock, bell) = (Manual::new(), Arc::<Bell>::default());
    let config = Config::new("a");
    let (store, lock) = lease(&clock);
    let config = Config { release_on_cancel: true, ..config };
    let elector = Elector::new(&clock, Slow(lock), config).unwrap();
    let token = CancelToken::new(&clock);
    let mut run = pin!(elector.run_async(&token, &Works));
    for then in ["it reads", "it creates", "it leads"] {
        assert!(poll(run.as_mut(), &bell).is_pending(), "{then}");
    }
    assert!(elector.is_leader());
    token.cancel();
    assert_eq!(clock.block_on(run), Ok(true));
    let object = store.get(&ObjectName::new("ns", "lease"), Call::default()).unwrap();
    assert!(object.content.to_record().holder.is_empty(), "the lease is free (LE-40)");
}

#[test]
fn a_call_that_is_never_answered_wakes_its_run_at_the_deadline() {
    let (clock, bell) = (Manual::new(), Arc::<Bell>::default());
    let elector = Elector::new(&clock, Mute(lease(&clock).1), Config::new("a")).unwrap();
    let token = CancelToken::new(&clock);
    let mut run = pin!(elector.run_async(&token, &Works));
    assert!(poll(run.as_mut(), &bell).is_pending(), "it leads");
    clock.advance(Timing::DEFAULT.retry);
    assert!(poll(run.as_mut(), &bell).is_pending(), "it renews");
    let rings = bell.rings();
    clock.advance(Timing::DEFAULT.renew);
    assert!(bell.rings() > rings);
    assert_eq!(poll(run.as_mut(), &bell), Poll::Ready(Ok(true)));
}

#[test]
fn an_attempt_that_is_dropped_during_a_call_leaves_the_elector_ready_for_another() {
    let (clock, bell) = (Manual::new(), Arc::<Bell>::default());
    let elector = Elector::new(&clock, Slow(lease(&clock).1), Config::new("a")).unwrap();
    {
        let mut attempt = pin!(elector.attempt_async());
        assert!(poll(attempt.as_mut(), &bell).is_pending());
    }
    assert_eq!(clock.block_on(elector.attempt_async()), Ok(true));
}

#[test]
fn a_call_that_is_answered_counts_although_its_token_has_ended_meanwhile() {
    let (clock, bell) = (Manual::new(), Arc::<Bell>::default());
    let elector = Elector::new(&clock, Slow(lease(&clock).1), Config::new("a")).unwrap();
    let token = CancelToken::new(&clock);
    let mut run = pin!(elector.run_async(&token, &Works));
    for then in ["it reads", "it creates"] {
        assert!(poll(run.as_mut(), &bell).is_pending(), "{then}");
    }
    token.cancel();
    assert_eq!(clock.block_on(run), Ok(true), "it led");
}
