//! Giving up the lease: which lease, when, and how often it is tried.

use super::bench::{BEGIN, Bench, CANCEL, s, stored, written};
use crate::elector::{Config, GiveUp, Io, IsLeader, Next, Rest, StoreError, Stored, WorkEnded};
use crate::machine::Step;

fn releasing(config: Config) -> Bench {
    Bench::new(Config { release_on_cancel: true, ..config })
}

/// Runs until the callback is started and the first renewal has succeeded with version 2.
fn renewed(mut bench: Bench) -> (Bench, Stored) {
    bench.io(BEGIN);
    let create = bench.reply_io(Err(StoreError::NotFound));
    bench.accept(create, 1);
    let update = bench.rest_io();
    let held = Stored { record: written(update.clone()), ..stored("", 0.0, 2) };
    bench.accept(update, 2);
    (bench, held)
}

#[test]
fn a_released_record_names_nobody_and_keeps_its_transitions() {
    let (mut bench, held) = renewed(releasing(Config::new("me")));
    bench.call(CANCEL);
    bench.call(WorkEnded { term: 1, panicked: false });
    assert_eq!(bench.rest(), call(Io::Get, &bench));
    let Io::Update(record, version) = bench.reply_io(Ok(held.clone())) else { panic!("update") };
    assert_eq!(version, held.version);
    assert!(record.holder.is_empty());
    assert_eq!((record.duration_seconds, record.transitions), (1, 0), "LE-43");
    assert!(record.renew_time.is_some() && record.acquire_time.is_some());
    assert_eq!(bench.accept(Io::Update(record, version), 3), Next::Ended { led: true });
    assert!(bench.notes.stopped_leading && bench.notes.new_leader.is_none(), "LE-45");
    assert!(bench.observed().record.holder.is_empty());
}

/// A call with the deadline of a release that begins now.
fn call(io: Io, bench: &Bench) -> Next {
    Next::Call { io, deadline: Some(bench.now() + s(10.0)), releases: true }
}

#[test]
fn the_lease_of_another_is_not_freed() {
    let (mut bench, _) = renewed(releasing(Config::new("me")));
    bench.call(CANCEL);
    bench.call(WorkEnded { term: 1, panicked: false });
    bench.rest();
    let next = bench.reply(Ok(stored("other", 3.0, 9)));
    assert_eq!(next, Next::Ended { led: true }, "CX-3");
    assert_eq!(bench.observed().record.holder.as_str(), "other", "LE-42");
}

#[test]
fn a_release_waits_for_the_work_but_not_for_ever() {
    let (mut bench, _) = renewed(releasing(Config::new("me")));
    bench.call(CANCEL);
    assert_eq!(bench.turn(Rest), Next::Rest, "draining");
    assert!(bench.notes.metric_off);
    assert_eq!(bench.sleeps(), s(0.9));
    bench.call(WorkEnded { term: 1, panicked: false });
    assert_eq!(bench.turn(Rest), call(Io::Get, &bench));

    let (mut bench, _) = renewed(releasing(Config::new("me")));
    bench.call(CANCEL);
    bench.turn(Rest);
    bench.call(WorkEnded { term: 7, panicked: false }); // not this term's
    assert_eq!(bench.sleeps(), s(0.9));
    let began = bench.now();
    bench.rest_io();
    assert_eq!(bench.now().since(began), s(0.9));
}

#[test]
fn a_conflict_is_tried_again_after_a_pause() {
    let (mut bench, held) = renewed(releasing(Config::new("me")));
    bench.call(CANCEL);
    bench.call(WorkEnded { term: 1, panicked: false });
    bench.rest();
    bench.reply_io(Ok(held.clone()));
    assert_eq!(bench.reply(Err(StoreError::Conflict)), Next::Rest);
    assert_eq!(bench.sleeps(), s(0.1));
    assert_eq!(bench.rest_io(), Io::Get);
    assert!(matches!(bench.reply_io(Ok(held)), Io::Update(..)));
}

#[test]
fn a_release_gives_up_at_its_deadline() {
    let (mut bench, held) = renewed(releasing(Config::new("me")));
    bench.call(CANCEL);
    bench.call(WorkEnded { term: 1, panicked: false });
    bench.rest();
    bench.reply_io(Ok(held));
    bench.pass(s(10.0));
    let next = match bench.reply(Err(StoreError::Conflict)) {
        Next::Rest => bench.rest(),
        next => next,
    };
    assert_eq!(next, Next::Ended { led: true }, "LE-41");
}

#[test]
fn a_read_that_fails_ends_the_release() {
    for error in [StoreError::NotFound, StoreError::Timeout] {
        let (mut bench, _) = renewed(releasing(Config::new("me")));
        bench.call(CANCEL);
        bench.call(WorkEnded { term: 1, panicked: false });
        bench.rest();
        assert_eq!(bench.reply(Err(error)), Next::Ended { led: true });
    }
}

#[test]
fn a_lease_that_may_have_been_won_after_the_cancellation_is_taken_back() {
    let mut bench = releasing(Config::new("me"));
    bench.io(BEGIN);
    let create = bench.reply_io(Err(StoreError::NotFound));
    bench.call(CANCEL);
    let next = bench.reply(Err(StoreError::Cancelled)); // but it was applied
    assert_eq!(next, call(Io::Get, &bench), "LE-33");
    let applied = Stored { record: written(create), ..stored("", 0.0, 1) };
    let update = bench.reply_io(Ok(applied));
    assert_eq!(bench.accept(update, 2), Next::Ended { led: false });
    assert!(!bench.notes.stopped_leading);
}

#[test]
fn a_release_outside_of_a_run_writes_only_for_the_holder() {
    let mut bench = Bench::usual();
    assert_eq!(bench.io(GiveUp), Io::Get);
    assert_eq!(bench.reply(Ok(stored("other", 0.0, 1))), Next::Done(true));
    assert!(!bench.call(IsLeader));
}

#[test]
fn a_release_leaves_the_lease_of_its_former_self_alone() {
    let mut bench = Bench::usual();
    bench.io(GiveUp);
    assert_eq!(bench.reply(Ok(stored("me", 0.0, 1))), Next::Done(true));
}

#[test]
fn a_single_release_ends_its_term_first() {
    let mut bench = Bench::usual();
    bench.io(crate::elector::Try);
    let create = bench.reply_io(Err(StoreError::NotFound));
    bench.accept(create, 1);
    assert!(bench.call(IsLeader));
    bench.io(GiveUp);
    assert!(!bench.call(IsLeader));
    assert!(matches!(bench.step(Rest), Step::Done(turn) if turn.next == Next::Refused));
}
