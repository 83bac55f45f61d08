//! If the owner of an elector is told something at the wrong time, the checks notice.
//!
//! The driver calls back, and no mutant of the rules changes the driver. So these tests take
//! histories of the rules that ship, and move the calls of the callbacks.

use std::time::Duration;

use seatrial_core::elector::{
    Begin, Cancel, Name, Op, Record, Reply, Rest, StoreError, Stored, Version,
};
use seatrial_core::machine::Cx;
use seatrial_core::runtime::{Ambient, Instant, WallTime};

use crate::elector::part::{Answer, Ask, Call, Part, SetUp};
use crate::elector::scene::{IS_TOLD, RETURNS, STARTS, STOPS, strict, told};
use crate::elector::{Elector, Event, History};
use crate::engine::End;
use crate::trial::{Component, MachineOf, What};

/// Writes down the calls on an elector, and the calls of its owner's callbacks.
struct Teller {
    part: MachineOf<Elector>,
    now: Instant,
    events: Vec<Event>,
}

struct Clock(Instant);

impl Ambient for Clock {
    fn now(&self) -> Instant {
        self.0
    }

    fn wall(&self) -> WallTime {
        WallTime::from_nanos(1)
    }

    fn entropy(&self) -> u64 {
        0
    }
}

impl Teller {
    fn step(&mut self, op: Call) {
        let clock = Clock(self.now);
        let mut cx = Cx::new(&clock);
        let outcome = self.part.step(&mut op.clone(), &mut cx);
        self.push(What::Step { op, outcome, wakes: cx.wakes });
    }

    fn ask(&mut self, op: Op) {
        self.step(Call::Ask(Ask(op)));
    }

    fn answer(&mut self, answer: Result<Stored, StoreError>) {
        self.ask(Op::Reply(Reply(Some(answer))));
    }

    fn tell(&mut self, label: &'static str, value: u64) {
        self.push(What::Note { label, value });
    }

    fn push(&mut self, what: What<Call, Answer>) {
        self.events.push(Event { thread: 0, at: self.now, object: 0, what, told: None });
    }
}

fn stored(holder: &str, version: u64) -> Stored {
    let record = Record::default().holder(Name::new(holder)).duration_seconds(3);
    Stored::new(record, Version::Number(version), "uid".into())
}

fn is_told(leader: &str) -> u64 {
    told(0, &Name::new(leader))
}

/// An elector sees that another leads, takes the lease when it is free, leads, and is cancelled.
fn proper() -> History {
    let mut teller = Teller { part: Part::shipped(), now: Instant::ZERO, events: Vec::new() };
    teller.step(Call::SetUp(SetUp { config: strict("a"), number: 0 }));
    teller.ask(Op::Begin(Begin { cancelled: false }));
    teller.answer(Ok(stored("b", 1)));
    teller.tell(IS_TOLD, is_told("b"));
    teller.now = Instant::ZERO + Duration::from_secs(2);
    teller.ask(Op::Rest(Rest));
    teller.answer(Ok(stored("", 2)));
    teller.answer(Ok(stored("a", 3)));
    teller.tell(IS_TOLD, is_told("a"));
    teller.tell(STARTS, 0);
    teller.ask(Op::Cancel(Cancel { run: 1 }));
    teller.ask(Op::Rest(Rest));
    teller.tell(STOPS, 0);
    teller.tell(RETURNS, 0);
    History { events: teller.events, end: End::Finished }
}

fn noted(history: &History, label: &str) -> usize {
    let is_it = |event: &Event| event.noted(label).is_some();
    history.events.iter().position(is_it).expect("it is noted")
}

fn cancelled(history: &History) -> usize {
    let is_it =
        |event: &Event| matches!(&event.what, What::Step { op: Call::Ask(Ask(Op::Cancel(_))), .. });
    history.events.iter().position(is_it).expect("it is cancelled")
}

/// Returns the reason, if a history breaks an invariant.
fn broken(history: &History, invariant: &str) -> Option<String> {
    let all = Elector::invariants();
    let one = all.iter().find(|one| one.name == invariant).expect("there is that invariant");
    one.check(history).err().map(|violation| violation.because)
}

#[track_caller]
fn breaks(invariant: &str, because: &str, change: impl FnOnce(&mut History)) {
    let mut history = proper();
    change(&mut history);
    assert_eq!(broken(&history, invariant).as_deref(), Some(because));
}

fn what_is_told_in_time_breaks_nothing() {
    for invariant in Elector::invariants() {
        assert_eq!(broken(&proper(), invariant.name), None, "{}", invariant.name);
    }
}

fn nobody_is_told_to_stop_while_the_run_goes_on() {
    breaks("stops_once", "a is told to stop while its run goes on", |history| {
        let stops = history.events.remove(noted(history, STOPS));
        history.events.insert(cancelled(history), stops);
    });
}

fn nobody_is_told_to_stop_twice() {
    breaks("stops_once", "a is told to stop twice", |history| {
        let again = history.events[noted(history, STOPS)].clone();
        history.events.push(again); // after the return, by which one call was counted
    });
}

fn no_run_returns_before_its_owner_is_told_to_stop() {
    breaks("stops_once", "a run of a returns after 0 stop callbacks", |history| {
        history.events.remove(noted(history, STOPS));
    });
}

fn no_work_starts_without_a_term() {
    breaks("stops_once", "a starts to work without a term", |history| {
        let at = noted(history, STARTS);
        history.events.insert(at, history.events[at].clone());
    });
}

fn no_execution_ends_before_a_cancelled_run() {
    breaks("cancelled_runs_return", "a was cancelled, and its run does not return", |history| {
        history.events.truncate(cancelled(history) + 1);
    });
}

fn no_leader_is_told_before_an_earlier_one() {
    breaks("reports_in_order", "a is told of a leader out of turn", |history| {
        let earlier = history.events.remove(noted(history, IS_TOLD));
        let later = noted(history, IS_TOLD);
        history.events.insert(later + 1, earlier);
    });
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    what_is_told_in_time_breaks_nothing,
    nobody_is_told_to_stop_while_the_run_goes_on,
    nobody_is_told_to_stop_twice,
    no_run_returns_before_its_owner_is_told_to_stop,
    no_work_starts_without_a_term,
    no_execution_ends_before_a_cancelled_run,
    no_leader_is_told_before_an_earlier_one
];
