//! A callback for new leaders that panics. Everybody else is still told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::bench::stored;
use super::driver::{config, token};
use super::reports::Script;
use crate::elector::{
    AsyncCallbacks, AsyncLock, Callbacks, Elector, LeaderMetrics, Leadership, Name, Record,
    StoreError, Stored, Version,
};
use crate::runtime::{Ambient, Runtime, System};

/// Panics when it is told of the leader "b".
#[derive(Default)]
struct Touchy(Mutex<Vec<String>>);

impl Touchy {
    fn is_told(&self, leader: &Name) {
        self.0.lock().push(leader.to_string());
        assert!(*leader != Name::new("b"), "a bug of the callback");
    }
}

impl Callbacks<System> for Touchy {
    fn started_leading(&self, _: &Leadership<System>) {}

    fn stopped_leading(&self) {}

    fn new_leader(&self, leader: &Name) {
        self.is_told(leader);
    }
}

impl AsyncCallbacks<System> for Touchy {
    async fn started_leading(&self, leadership: Leadership<System>) {
        leadership.lost().await;
    }

    fn new_leader(&self, leader: &Name) {
        self.is_told(leader);
    }
}

#[test]
fn later_leaders_are_reported_although_the_report_of_an_earlier_one_panics() {
    let (system, token, touchy) = (System::new(), token(), Arc::<Touchy>::default());
    let lock = Script(vec!["b", "c", "b", "d"], 0);
    let elector = Elector::new(&system, lock, config("a")).unwrap();
    let ran = {
        let (token, touchy) = (token.clone(), Arc::clone(&touchy));
        system.spawn("run", move || elector.run(&token, &touchy))
    };
    let late = system.now() + Duration::from_secs(10);
    while touchy.0.lock().len() < 4 && system.now() < late {
        system.sleep_until(system.now() + Duration::from_millis(1));
    }
    token.cancel();
    assert_eq!(system.join(ran).unwrap(), Ok(false));
    assert_eq!(*touchy.0.lock(), ["b", "c", "b", "d"]);
}

/// A lease that the elector creates and that then belongs to "b".
struct Robbed {
    created: bool,
}

impl AsyncLock for Robbed {
    async fn get(&mut self) -> Result<Stored, StoreError> {
        if self.created { Ok(stored("b", 0.0, 2)) } else { Err(StoreError::NotFound) }
    }

    async fn create(&mut self, record: &Record) -> Result<Stored, StoreError> {
        self.created = true;
        Ok(Stored { record: record.clone(), ..stored("a", 0.0, 1) })
    }

    async fn update(&mut self, _: &Record, _: &Version) -> Result<Stored, StoreError> {
        Err(StoreError::Conflict)
    }

    fn describe(&self) -> String {
        "robbed".to_owned()
    }
}

/// Keeps what it is told.
#[derive(Default)]
struct Metrics(Mutex<Vec<&'static str>>);

impl LeaderMetrics for Metrics {
    fn on(&self, _: &str) {
        self.0.lock().push("on");
    }

    fn off(&self, _: &str) {
        self.0.lock().push("off");
    }
}

#[test]
fn the_metrics_learn_of_a_loss_although_the_report_of_the_next_leader_panics() {
    let (system, metrics) = (System::new(), Arc::<Metrics>::default());
    let mut elector = Elector::new(&system, Robbed { created: false }, config("a")).unwrap();
    elector.metrics = Some(Arc::clone(&metrics) as Arc<_>);
    let (token, touchy) = (token(), Touchy::default());
    let run = AssertUnwindSafe(|| system.block_on(elector.run_async(&token, &touchy)));
    assert!(catch_unwind(run).is_err(), "it is the task that the callback panics in");
    assert_eq!(*touchy.0.lock(), ["a", "b"]);
    assert_eq!(*metrics.0.lock(), ["on", "off"]);
    assert!(!elector.is_leader());
}
