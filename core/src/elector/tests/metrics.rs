//! The reports to the metrics of a process.

use std::sync::Arc;

use super::driver::{Log, Store, config, token};
use crate::elector::{
    Call, Callbacks, Config, Elector, LeaderMetrics, Leadership, LeaseLock, Lock, MemoryStore,
    Record, StoreError, Stored, Version, set_leader_metrics,
};
use crate::runtime::System;

/// Records the reports about this test's elector.
struct Metrics(Arc<Log>);

impl Metrics {
    fn note(&self, name: &str, what: &str) {
        if name == "metered" {
            self.0.note(what);
        }
    }
}

impl LeaderMetrics for Metrics {
    fn on(&self, name: &str) {
        self.note(name, "on");
    }
    fn off(&self, name: &str) {
        self.note(name, "off");
    }
    fn slow_path(&self, name: &str) {
        self.note(name, "slow path");
    }
}

/// Records its calls, and refuses updates.
struct Refuses(LeaseLock<Store>, Arc<Log>);

impl Lock for Refuses {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        self.1.note("get");
        self.0.get(call)
    }
    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        self.1.note("create");
        self.0.create(record, call)
    }
    fn update(&mut self, _: &Record, _: &Version, _: Call<'_>) -> Result<Stored, StoreError> {
        self.1.note("update");
        Err(StoreError::Conflict)
    }
    fn record_event(&self, _: &crate::elector::Name, text: &'static str) {
        self.1.note(text);
    }
    fn describe(&self) -> String {
        self.0.describe()
    }
}

/// Does nothing.
struct Idle;

impl Callbacks<System> for Idle {
    fn started_leading(&self, _: &Leadership<System>) {}
    fn stopped_leading(&self) {}
    fn wants_new_leader(&self) -> bool {
        false
    }
}

// A single test, because a process has only one provider.
#[test]
fn a_new_elector_is_off_and_has_called_nobody() {
    let log = Log::new();
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let make = || {
        let lock = Refuses(LeaseLock::new(Arc::clone(&store), "ns", "lease"), Arc::clone(&log));
        let named = Config { name: "metered".into(), release_on_cancel: false, ..config("a") };
        let named = Config { work_ends_term: false, ..named };
        Elector::new(&System::new(), lock, named).unwrap()
    };
    let made_before = make();
    assert!(set_leader_metrics(Arc::new(Metrics(Arc::clone(&log)))), "the first counts");
    assert!(!set_leader_metrics(Arc::new(Metrics(Log::new()))), "the second changes nothing");
    drop(made_before);
    let elector = make();
    assert_eq!(log.next(), "off", "of the second alone, and nothing was called");

    assert_eq!(elector.run(&token(), &Arc::new(Idle)), Ok(true), "its renewals are refused");
    for expected in ["get", "create", "became leader", "on"] {
        assert_eq!(log.next(), expected);
    }
    let mut last = [String::new(), String::new()];
    let mut seen_slow_path = false;
    while last[1] != "stopped leading" {
        last.swap(0, 1);
        last[1] = log.next();
        seen_slow_path |= last[1] == "slow path";
    }
    assert!(seen_slow_path, "a leader had to read");
    assert_eq!(last[0], "off");
    assert_eq!(elector.attempt(), Ok(false));
}

/// Metrics that panic.
struct Broken;

impl LeaderMetrics for Broken {
    fn on(&self, _: &str) {
        panic!("a bug of the metrics");
    }
    fn off(&self, _: &str) {
        panic!("a bug of the metrics");
    }
    fn slow_path(&self, _: &str) {
        panic!("a bug of the metrics");
    }
}

#[test]
fn metrics_that_panic_end_no_term_and_keep_nobody_from_the_word() {
    let log = Log::new();
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let lock = Refuses(LeaseLock::new(store, "ns", "lease"), Arc::clone(&log));
    let quick = Config { release_on_cancel: false, work_ends_term: false, ..config("a") };
    let mut elector = Elector::new(&System::new(), lock, quick).unwrap();
    elector.metrics = Some(Arc::new(Broken));
    assert_eq!(elector.run(&token(), &Arc::new(Idle)), Ok(true), "its renewals are refused");
    for expected in ["get", "create", "became leader"] {
        assert_eq!(log.next(), expected);
    }
    while log.next() != "stopped leading" {}
    assert_eq!(elector.attempt(), Ok(false));
}
