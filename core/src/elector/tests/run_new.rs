//! Making, watching and running in one call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::driver::{AnySeconds, Store, token};
use crate::elector::{
    Callbacks, Config, ConfigError, Elector, HealthCheck, Leadership, LeaseLock, MemoryStore,
    Timing,
};
use crate::runtime::{Ambient, Manual, Runtime, System};

/// Does nothing.
struct Idle;

impl Callbacks<System> for Idle {
    fn started_leading(&self, _: &Leadership<System>) {}
    fn stopped_leading(&self) {}
}

fn lock() -> AnySeconds<LeaseLock<Store>> {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    AnySeconds(LeaseLock::new(store, "ns", "lease"))
}

#[test]
fn a_run_in_one_call_is_watched() {
    let millis = Duration::from_millis;
    let timing = Timing { lease: millis(30), renew: millis(20), retry: millis(1) };
    let config = Config { timing, name: "controller".into(), ..Config::classic("a") };
    let system = System::new();
    let health = HealthCheck::new(&system, Duration::ZERO);
    let callbacks = Arc::new(Idle);
    let ran = Elector::run_new(&system, lock(), config, &token(), &callbacks, Some(&health));
    assert_eq!(ran, Ok(true), "its renewals are refused");
    system.sleep_until(system.now() + millis(40));
    // A classic elector considers itself the leader as long as it sees no other.
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
        Elector::new(&runtime, lock, Config { name: name.into(), ..Config::classic("a") }).unwrap()
    };
    let (one, two) = (elector("one"), elector("two"));
    let health = HealthCheck::new(&runtime, Duration::ZERO);
    health.attach(&one);
    health.attach(&two);
    assert_eq!(two.attempt(), Ok(true));
    runtime.advance(Duration::from_secs(20));
    assert_eq!(&*health.check().unwrap_err().lease, "two");
}
