//! Protected work that ends before its term: by a panic, or because it is done.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::bench::{BEGIN, Bench, CANCEL, stored};
use super::corners::leads;
use super::driver::{Log, Store, config, elector, token};
use crate::cancel::{CancelToken, OnEnd};
use crate::elector::work::Passed;
use crate::elector::{
    AsyncCallbacks, AsyncLock, Call, Callbacks, Config, Elector, Holds, Io, IsLeader, Leadership,
    LeaseLock, Lock, MemoryStore, Name, Next, ObjectName, Record, Rest, StoreError, Stored, Timing,
    Version, WorkEnded,
};
use crate::machine::Step;
use crate::queue::WorkQueue;
use crate::runtime::bell::Breaks;
use crate::runtime::{Ambient, Runtime, System};

/// How the work ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ends {
    Panics,
    Returns,
}

struct Works(Ends, Arc<Log>);

impl Works {
    fn work(&self) {
        self.1.note("works");
        assert!(self.0 == Ends::Returns, "the work breaks");
    }
}

impl Callbacks<System> for Works {
    fn started_leading(&self, _: &Leadership<System>) {
        self.work();
    }

    fn stopped_leading(&self) {
        self.1.note("stopped");
    }
}

/// As [`Works`], for tasks.
struct Awaited(Works);

impl AsyncCallbacks<System> for Awaited {
    async fn started_leading(&self, _: Leadership<System>) {
        self.0.work();
    }

    fn stopped_leading(&self) {
        Callbacks::stopped_leading(&self.0);
    }
}

/// Settings under which a run would last for minutes if the end of the work did not end it.
fn patient() -> Config {
    Config { timing: Timing::seconds(3_600, 1_800, 600), ..config("a") }
}

type Electing = Elector<LeaseLock<Store>>;

fn ended_by_its_work(ends: Ends, elector: &Electing, run: impl FnOnce() -> bool, log: &Log) {
    let ran = catch_unwind(AssertUnwindSafe(run));
    match ends {
        Ends::Returns => assert!(ran.expect("nothing breaks"), "it has led"),
        Ends::Panics => {
            let panic = ran.expect_err("the panic is passed on");
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"the work breaks"), "{ends:?}");
        }
    }
    assert_eq!([log.next(), log.next()], ["works", "stopped"]);
    assert!(!elector.is_leader());
    assert_eq!(elector.observed().record.holder, Name::EMPTY, "the lease is freed");
    assert_eq!(elector.attempt(), Ok(true), "the elector can be used again");
}

#[test]
fn the_end_of_the_work_ends_a_blocking_run() {
    for ends in [Ends::Returns, Ends::Panics] {
        let store: Store = Arc::new(MemoryStore::new(&System::new()));
        let (elector, log) = (elector(&store, patient()), Log::new());
        let works = Arc::new(Works(ends, Arc::clone(&log)));
        let run = || elector.run(&token(), &works).expect("it does not run yet");
        ended_by_its_work(ends, &elector, run, &log);
    }
}

#[test]
fn the_end_of_the_work_ends_an_awaited_run() {
    for ends in [Ends::Returns, Ends::Panics] {
        let store: Store = Arc::new(MemoryStore::new(&System::new()));
        let (elector, log) = (elector(&store, patient()), Log::new());
        let works = Awaited(Works(ends, Arc::clone(&log)));
        let run = || {
            let ran = System::new().block_on(elector.run_async(&token(), &works));
            ran.expect("it does not run yet")
        };
        ended_by_its_work(ends, &elector, run, &log);
    }
}

/// Everything in it panics: the work, a hook on its leading token, the stop callback.
struct AllBreaks(Arc<Log>, Mutex<Option<OnEnd<System>>>);

impl AllBreaks {
    fn work(&self, leading: &CancelToken<System>) {
        *self.1.lock() = Some(leading.on_end(Breaks::waker("the hook breaks")));
        self.0.note("works");
        panic!("the work breaks");
    }

    fn stop(&self) {
        self.0.note("stopped");
        panic!("the stop callback breaks");
    }
}

impl Callbacks<System> for AllBreaks {
    fn started_leading(&self, leadership: &Leadership<System>) {
        self.work(&leadership.token());
    }

    fn stopped_leading(&self) {
        self.stop();
    }
}

struct AllBreaksAwaited(AllBreaks);

impl AsyncCallbacks<System> for AllBreaksAwaited {
    async fn started_leading(&self, leadership: Leadership<System>) {
        self.0.work(&leadership.token());
    }

    fn stopped_leading(&self) {
        self.0.stop();
    }
}

#[test]
fn of_several_panics_the_first_is_passed_on_and_the_lease_is_freed() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let (elector, log) = (elector(&store, patient()), Log::new());
    let breaks = || AllBreaks(Arc::clone(&log), Mutex::default());
    let blocking = Arc::new(breaks());
    let run = || elector.run(&token(), &blocking).expect("it does not run yet");
    ended_by_its_work(Ends::Panics, &elector, run, &log);
    assert_eq!(elector.release(), Ok(true));
    let awaited = AllBreaksAwaited(breaks());
    let run = || {
        let ran = System::new().block_on(elector.run_async(&token(), &awaited));
        ran.expect("it does not run yet")
    };
    ended_by_its_work(Ends::Panics, &elector, run, &log);
}

/// Says that the work of the first term has ended.
fn ended(panicked: bool) -> WorkEnded {
    WorkEnded { term: 1, panicked }
}

#[test]
fn the_end_of_the_work_is_a_cancellation_of_its_run() {
    for panicked in [false, true] {
        let mut bench = leads(Bench::new(Config { release_on_cancel: true, ..Config::new("me") }));
        assert!(bench.call(ended(panicked)), "the run ends");
        assert!(!bench.call(IsLeader) && !bench.call(Holds { term: 1 }));
        assert_eq!(bench.rest_io(), Io::Get, "it is released at once: nobody works any more");
        assert!(!bench.call(ended(panicked)), "it has ended already");
    }
}

#[test]
fn a_leader_without_work_goes_on_if_it_shall() {
    let config = Config { work_ends_term: false, ..Config::new("me") };
    let mut bench = leads(Bench::new(config));
    assert!(!bench.call(ended(false)), "the run goes on");
    assert!(bench.call(Holds { term: 1 }));
    assert!(bench.call(ended(true)), "but not if the work broke");
    assert_eq!(bench.turn(Rest), Next::Ended { led: true });
}

#[test]
fn the_end_of_earlier_work_is_not_that_of_this_term() {
    let mut bench = leads(Bench::usual());
    bench.call(CANCEL);
    assert_eq!(bench.turn(Rest), Next::Ended { led: true });
    bench.io(BEGIN);
    assert!(!bench.call(ended(true)), "it acquires a term of its own");
    let write = bench.reply_io(Ok(stored("me", 0.0, 7)));
    assert!(matches!(bench.accept(write, 8), Next::Lead { term: 2, .. }));
    assert!(!bench.call(ended(true)));
    assert!(bench.call(Holds { term: 2 }));
    assert!(matches!(bench.step(Rest), Step::Done(turn) if turn.next != Next::Ended { led: true }));
}

/// Checks its leading tokens right after the run was cancelled.
struct LooksAtOnce(CancelToken, WorkQueue<bool>);

impl Callbacks<System> for LooksAtOnce {
    fn started_leading(&self, leadership: &Leadership<System>) {
        let leading = leadership.token();
        let own = leadership.token();
        own.cancel();
        assert!(!leading.is_cancelled(), "each is cancelled for itself");
        self.0.cancel();
        self.1.add(leading.is_cancelled() && leadership.token().is_cancelled());
    }

    fn stopped_leading(&self) {}
}

#[test]
fn the_leading_token_is_a_child_of_that_of_the_run() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let elector = elector(&store, config("a"));
    let token = token();
    let looks = Arc::new(LooksAtOnce(token.clone(), WorkQueue::new(&System::new())));
    assert_eq!(elector.run(&token, &looks), Ok(true));
    let (_, was_cancelled) = looks.1.take().expect("it has looked");
    assert!(was_cancelled, "LE-46: no thread had to hear of it");
}

/// Asks for its leading token often, and reports how many threads that took.
struct AsksOften(WorkQueue<usize>);

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

impl Callbacks<System> for AsksOften {
    fn started_leading(&self, leadership: &Leadership<System>) {
        let before = threads();
        let tokens: Vec<_> = (0..500).map(|_| leadership.token()).collect();
        let more = threads().saturating_sub(before);
        self.0.add(more);
        for token in &tokens {
            token.wait();
        }
        assert!(!leadership.is_valid(), "it was told in time, and not before");
    }

    fn stopped_leading(&self) {}
}

/// The run is not cancelled: the store is lost, and the term runs out.
#[test]
fn leading_tokens_end_with_the_term_and_take_no_threads() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let elector = elector(&store, config("a"));
    let asks = Arc::new(AsksOften(WorkQueue::new(&System::new())));
    let (runs, token) = (Arc::clone(&elector), token());
    let (asked, run_token) = (Arc::clone(&asks), token.clone());
    let run = System::new().spawn("run", move || runs.run(&run_token, &asked));
    let (_, more) = asks.0.take().expect("it has asked");
    assert!(more < 100, "{more} threads for 500 tokens; other tests may start some");
    store.delete(&ObjectName::new("ns", "lease"));
    assert_eq!(System::new().join(run).unwrap(), Ok(true));
}

/// Answers no renewal before its token ends.
struct Hangs(LeaseLock<Store>);

impl Lock for Hangs {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        Lock::get(&mut self.0, call)
    }
    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        Lock::create(&mut self.0, record, call)
    }
    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        call: Call<'_>,
    ) -> Result<Stored, StoreError> {
        if record.holder == Name::EMPTY {
            return Lock::update(&mut self.0, record, version, call);
        }
        let system = System::new();
        let patience = system.now() + Duration::from_secs(60);
        while !call.is_cancelled() {
            assert!(system.now() < patience, "the end of the work ends the call");
            system.sleep_until(system.now() + Duration::from_millis(1));
        }
        Err(StoreError::Cancelled)
    }
    fn describe(&self) -> String {
        Lock::describe(&self.0)
    }
}

impl AsyncLock for Hangs {
    async fn get(&mut self) -> Result<Stored, StoreError> {
        AsyncLock::get(&mut self.0).await
    }
    async fn create(&mut self, record: &Record) -> Result<Stored, StoreError> {
        AsyncLock::create(&mut self.0, record).await
    }
    async fn update(&mut self, record: &Record, version: &Version) -> Result<Stored, StoreError> {
        if record.holder == Name::EMPTY {
            return AsyncLock::update(&mut self.0, record, version).await;
        }
        std::future::pending().await
    }
    fn describe(&self) -> String {
        Lock::describe(&self.0)
    }
}

#[test]
fn a_renewal_that_hangs_does_not_hold_up_the_end_of_the_work() {
    for is_async in [false, true] {
        let store: Store = Arc::new(MemoryStore::new(&System::new()));
        let lock = Hangs(LeaseLock::new(Arc::clone(&store), "ns", "lease"));
        let elector = Elector::new(&System::new(), lock, patient()).expect("it is valid");
        let log = Log::new();
        let works = Works(Ends::Panics, Arc::clone(&log));
        let ran = catch_unwind(AssertUnwindSafe(|| {
            if is_async {
                System::new().block_on(elector.run_async(&token(), &Awaited(works)))
            } else {
                elector.run(&token(), &Arc::new(works))
            }
        }));
        assert!(ran.is_err(), "the panic of the work is passed on");
        assert_eq!(elector.observed().record.holder, Name::EMPTY, "and the lease freed");
    }
}

#[test]
fn a_panic_of_work_whose_run_is_over_goes_on_where_it_is() {
    let passed = Passed::new(&System::new());
    passed.pass(Box::new("in time"));
    assert!(passed.close().is_some());
    let late = catch_unwind(AssertUnwindSafe(|| passed.pass(Box::new("late"))));
    assert_eq!(late.expect_err("nobody looks any more").downcast_ref::<&str>(), Some(&"late"));
    assert!(passed.close().is_none());
}
