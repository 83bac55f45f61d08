//! Making, watching and running in one call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::driver::{Store, token};
use crate::cancel::CancelToken;
use crate::elector::{
    Callbacks, Config, ConfigError, Elector, HealthCheck, Leadership, LeaseLock, MemoryStore,
};
use crate::runtime::{Manual, Runtime, System};

/// Does nothing.
struct Idle;

impl<R: Runtime> Callbacks<R> for Idle {
    fn started_leading(&self, _: &Leadership<R>) {}
    fn stopped_leading(&self) {}
}

fn lock() -> LeaseLock<Store> {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    LeaseLock::new(store, "ns", "lease")
}

#[test]
fn a_run_in_one_call_is_watched() {
    let config = Config::new("a").name("controller".into());
    let clock = Manual::new();
    let health = HealthCheck::new(&clock, Duration::ZERO);
    let (token, callbacks) = (CancelToken::new(&clock), Arc::new(Idle));
    let ran = Elector::run_new(&clock, lock(), config, &token, &callbacks, Some(&health));
    assert_eq!(ran, Ok(true), "its work is nothing");
    clock.advance(Duration::from_secs(16));
    // The record that it has seen last still names it.
    assert_eq!(&*health.check().unwrap_err().lease, "controller");
}

#[test]
fn a_set_up_that_is_refused_does_not_run() {
    let (system, callbacks) = (System::new(), Arc::new(Idle));
    let config = Config::new("");
    let ran = Elector::run_new(&system, lock(), config.clone(), &token(), &callbacks, None);
    assert_eq!(ran, Err(ConfigError::EmptyIdentity));
    let dies = || Elector::run_or_die(&system, lock(), config, &token(), &callbacks, None);
    assert!(catch_unwind(AssertUnwindSafe(dies)).is_err());
}

#[test]
fn a_health_check_watches_the_elector_that_was_attached_last() {
    let runtime = Manual::new();
    let store: Arc<MemoryStore<Manual>> = Arc::new(MemoryStore::new(&runtime));
    let elector = |name: &str| {
        let lock = LeaseLock::new(Arc::clone(&store), "ns", name);
        Elector::new(&runtime, lock, Config { name: name.into(), ..Config::new("a") }).unwrap()
    };
    let (one, two) = (elector("one"), elector("two"));
    let health = HealthCheck::new(&runtime, Duration::ZERO);
    health.attach(&one);
    health.attach(&two);
    assert_eq!(two.attempt(), Ok(true));
    runtime.advance(Duration::from_secs(20));
    assert_eq!(&*health.check().unwrap_err().lease, "two");
}
