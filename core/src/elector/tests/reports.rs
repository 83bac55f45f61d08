//! Reports of new leaders.

use std::sync::Arc;
use std::time::Duration;

use super::bench::stored;
use super::driver::{Log, Store, config, elector, run, token};
use crate::elector::{
    Call, Callbacks, Elector, Leadership, Lock, MemoryStore, Name, Record, StoreError, Stored,
    Version,
};
use crate::queue::WorkQueue;
use crate::runtime::{Ambient, Runtime, System};

#[test]
fn every_run_reports_to_callbacks_of_its_own() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let (a, b) = (elector(&store, config("a")), elector(&store, config("b")));
    let watches = |expected: &[&str]| {
        let (log, token) = (Log::new(), token());
        let ran = run(&a, &token, &log);
        for line in expected {
            assert_eq!(log.next(), *line);
        }
        token.cancel();
        assert_eq!(System::new().join(ran).unwrap(), Ok(false));
    };
    assert_eq!(b.attempt(), Ok(true));
    watches(&["leader b"]);
    let c = elector(&store, config("c"));
    assert_eq!(b.release(), Ok(true));
    assert_eq!(c.attempt(), Ok(true));
    watches(&["leader c"]);
}

/// Shows one holder after the other.
pub(super) struct Script(pub(super) Vec<&'static str>, pub(super) usize);

impl Lock for Script {
    fn get(&mut self, _: Call<'_>) -> Result<Stored, StoreError> {
        let holder = self.0[self.1.min(self.0.len() - 1)];
        self.1 += 1;
        Ok(stored(holder, 0.0, self.1 as u64))
    }
    fn create(&mut self, _: &Record, _: Call<'_>) -> Result<Stored, StoreError> {
        unreachable!()
    }
    fn update(&mut self, _: &Record, _: &Version, _: Call<'_>) -> Result<Stored, StoreError> {
        unreachable!()
    }
    fn describe(&self) -> String {
        "script".to_owned()
    }
}

/// Records reports, the first one only after the gate is opened.
struct Slow {
    log: Arc<Log>,
    seen: WorkQueue<()>,
    gate: WorkQueue<()>,
}

impl Slow {
    fn new(log: &Arc<Log>) -> Arc<Self> {
        let queue = || WorkQueue::new(&System::new());
        Arc::new(Self { log: Arc::clone(log), seen: queue(), gate: queue() })
    }

    fn wait_for_the_first_report(&self) {
        self.seen.work(|()| ());
    }

    fn open(&self) {
        self.gate.shut_down();
    }
}

impl Callbacks<System> for Slow {
    fn started_leading(&self, _: &Leadership<System>) {}
    fn stopped_leading(&self) {}
    fn new_leader(&self, leader: &Name) {
        self.seen.shut_down();
        self.gate.work(|()| ());
        self.log.note(format!("leader {leader}"));
    }
}

fn pause() {
    let system = System::new();
    system.sleep_until(system.now() + Duration::from_millis(300));
}

#[test]
fn leaders_that_come_back_while_a_report_hangs_are_each_reported() {
    let lock = Script(vec!["b", "c", "b", "c"], 0);
    let a = Arc::new(Elector::new(&System::new(), lock, config("a")).unwrap());
    let (log, token) = (Log::new(), token());
    let slow = Slow::new(&log);
    let ran = {
        let (a, token, slow) = (Arc::clone(&a), token.clone(), Arc::clone(&slow));
        System::new().spawn("run", move || a.run(&token, &slow))
    };
    slow.wait_for_the_first_report();
    pause(); // all four are seen meanwhile, while the first is being reported
    slow.open();
    for expected in ["leader b", "leader c", "leader b", "leader c"] {
        assert_eq!(log.next(), expected);
    }
    token.cancel();
    assert_eq!(System::new().join(ran).unwrap(), Ok(false));
}

#[test]
fn a_report_of_an_earlier_run_comes_before_those_of_the_next() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let [a, b, c] = ["a", "b", "c"].map(|identity| elector(&store, config(identity)));
    assert_eq!(b.attempt(), Ok(true));
    let log = Log::new();
    let slow = Slow::new(&log);
    let first = token();
    let ran = {
        let (a, token, slow) = (Arc::clone(&a), first.clone(), Arc::clone(&slow));
        System::new().spawn("run", move || a.run(&token, &slow))
    };
    slow.wait_for_the_first_report();
    first.cancel();
    assert_eq!(System::new().join(ran).unwrap(), Ok(false), "a run waits for no report");
    assert_eq!(b.release(), Ok(true));
    assert_eq!(c.attempt(), Ok(true));
    let second = token();
    let ran = run(&a, &second, &log);
    pause();
    slow.open();
    assert_eq!([log.next(), log.next()], ["leader b", "leader c"]);
    second.cancel();
    assert_eq!(System::new().join(ran).unwrap(), Ok(false));
}
