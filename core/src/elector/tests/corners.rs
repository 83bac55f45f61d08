//! Cases in which a single wrong line of the rules shows, and which other tests rarely reach.

use super::bench::{BEGIN, Bench, CANCEL, s, stored, written};
use crate::elector::{
    Abort, Begin, Config, Election, GiveUp, Holds, Io, Next, Record, Rest, StoreError, Stored,
    Timing, Try, WorkEnded,
};

fn releasing() -> Bench {
    Bench::new(Config { release_on_cancel: true, ..Config::new("me") })
}

/// Returns the content of a store in which `holder` took the lease with this number of transitions.
fn held(holder: &str, transitions: i64, version: u64) -> Stored {
    let stored = stored(holder, 0.0, version);
    Stored { record: Record { transitions, ..stored.record }, ..stored }
}

/// Creates the lease in a run, up to the order to start the callback.
pub(super) fn leads(mut bench: Bench) -> Bench {
    bench.io(BEGIN);
    let create = bench.reply_io(Err(StoreError::NotFound));
    assert!(matches!(bench.accept(create, 1), Next::Lead { .. }));
    bench
}

/// Takes over an expired lease of another: the eighth transition.
fn taken_over(mut bench: Bench) -> Bench {
    bench.io(Try);
    bench.reply(Ok(stored("other", 0.0, 1)));
    bench.pass(s(20.0));
    bench.io(Try);
    let update = bench.reply_io(Ok(stored("other", 0.0, 1)));
    assert_eq!(bench.accept(update, 2), Next::Done(true));
    bench
}

#[test]
fn a_write_of_an_earlier_attempt_is_not_taken_back() {
    let mut bench = releasing();
    bench.io(BEGIN);
    bench.reply_io(Err(StoreError::NotFound));
    assert_eq!(bench.reply(Err(StoreError::AlreadyExists)), Next::Rest);
    assert_eq!(bench.rest_io(), Io::Get);
    bench.reply(Ok(stored("other", 0.0, 1)));
    bench.call(CANCEL);
    assert_eq!(bench.rest(), Next::Ended { led: false }, "LE-33");
}

#[test]
fn a_renewal_keeps_the_count_of_its_term() {
    let mut bench = taken_over(Bench::usual());
    assert_eq!(written(bench.io(Try)).transitions, 8, "LE-18");
}

#[test]
fn a_leader_whose_lease_has_run_out_reads_first() {
    let mut bench = taken_over(Bench::usual());
    bench.pass(s(15.0));
    assert_eq!(bench.io(Try), Io::Get, "LE-18");
}

#[test]
fn the_lease_of_the_second_term_is_released_as_well() {
    let mut bench = Bench::usual();
    bench.io(Try);
    let create = bench.reply_io(Err(StoreError::NotFound));
    bench.accept(create, 1);
    bench.pass(s(20.0));
    let mut bench = taken_over(bench);
    bench.io(GiveUp);
    assert!(matches!(bench.reply_io(Ok(held("me", 8, 2))), Io::Update(..)), "LE-42");
}

#[test]
fn the_count_alone_makes_no_record_the_own() {
    let mut bench = leads(Bench::usual());
    bench.rest_io();
    bench.reply_io(Err(StoreError::Conflict));
    bench.reply(Ok(held("other", 0, 9)));
    assert!(!bench.call(Holds { term: 1 }), "LE-38");

    let mut bench = leads(releasing());
    bench.call(CANCEL);
    bench.call(WorkEnded { term: 1, panicked: false });
    assert_eq!(bench.rest_io(), Io::Get);
    assert_eq!(bench.reply(Ok(held("other", 0, 9))), Next::Ended { led: true }, "LE-42");
}

#[test]
fn a_renewal_prolongs_a_term() {
    let mut bench = taken_over(Bench::usual());
    let before = bench.election.valid_until().expect("a term");
    bench.pass(s(2.0));
    let update = bench.io(Try);
    bench.accept(update, 3);
    assert_eq!(bench.election.valid_until().expect("a term").since(before), s(2.0), "SF-11");
}

#[test]
fn a_renewal_that_comes_after_the_end_begins_no_term() {
    let mut bench = leads(releasing());
    let update = bench.rest_io();
    bench.call(CANCEL);
    bench.accept(update, 2);
    assert!(!bench.call(Holds { term: 1 }) && !bench.call(Holds { term: 2 }), "LE-51");
}

#[test]
fn what_a_failing_driver_says_depends_on_where_it_failed() {
    let mut bench = leads(Bench::usual());
    assert!(bench.call(Abort).stopped_leading, "before the first renewal");

    let mut bench = leads(releasing());
    bench.call(CANCEL);
    assert_eq!(bench.turn(Rest), Next::Rest, "the work goes on");
    assert!(bench.call(Abort).stopped_leading, "while it waits for the work");

    let mut bench = releasing();
    bench.io(BEGIN);
    bench.reply_io(Err(StoreError::NotFound));
    bench.call(CANCEL);
    bench.reply(Err(StoreError::Cancelled));
    assert!(!bench.call(Abort).stopped_leading, "while it takes back what it may have won");
}

#[test]
fn a_release_is_refused_while_a_run_is_under_way() {
    let mut bench = Bench::usual();
    bench.io(BEGIN);
    assert_eq!(bench.turn(GiveUp), Next::Refused);
}

#[test]
fn a_conflict_is_tried_again_only_after_a_write() {
    let mut bench = leads(releasing());
    bench.call(CANCEL);
    bench.call(WorkEnded { term: 1, panicked: false });
    bench.rest_io();
    assert_eq!(bench.reply(Err(StoreError::Conflict)), Next::Ended { led: true });
}

#[test]
fn a_pause_of_a_release_ends_with_its_deadline() {
    let mut bench = leads(releasing());
    bench.call(CANCEL);
    bench.call(WorkEnded { term: 1, panicked: false });
    bench.rest_io();
    bench.reply_io(Ok(held("me", 0, 1)));
    bench.pass(s(9.95));
    bench.reply(Err(StoreError::Conflict));
    assert_eq!(bench.sleeps(), s(0.05), "LE-41");
}

#[test]
fn a_run_that_is_cancelled_before_it_begins_reports_nobody() {
    let mut bench = Bench::usual();
    bench.io(Try);
    bench.reply(Ok(stored("other", 0.0, 1)));
    assert_eq!(bench.turn(Begin { cancelled: true }), Next::Ended { led: false });
    assert_eq!(bench.notes.new_leader, None);
}

#[test]
fn a_cancelled_renewal_makes_no_further_call() {
    let mut bench = leads(Bench::usual());
    bench.rest_io();
    bench.call(CANCEL);
    let ends = Next::Ended { led: true };
    assert_eq!(bench.reply(Err(StoreError::Conflict)), ends, "election:INV-13");
}

#[test]
fn a_round_that_fails_ends_the_term_while_the_work_winds_up() {
    let mut bench = leads(releasing());
    while !bench.notes.metric_off {
        match bench.rest() {
            Next::Call { .. } => {
                if let Next::Call { .. } = bench.reply(Err(StoreError::Timeout)) {
                    bench.reply(Err(StoreError::Timeout));
                }
            }
            next => assert_eq!(next, Next::Rest),
        }
    }
    assert!(!bench.call(Holds { term: 1 }), "LE-50");
}

#[test]
fn the_time_for_the_work_counts_from_the_end_of_the_term() {
    let mut bench = leads(releasing());
    bench.call(CANCEL);
    bench.pass(s(0.5));
    bench.turn(Rest);
    assert_eq!(bench.sleeps(), s(0.4), "LE-42");
}

#[test]
fn a_round_ends_at_its_deadline_also_between_two_ticks() {
    let timing = Timing::seconds(15, 5, 2);
    let mut bench = leads(Bench::new(Config { timing, ..Config::new("me") }));
    let began = bench.now();
    let over = loop {
        match bench.rest() {
            Next::Call { .. } => {
                bench.reply_io(Err(StoreError::Timeout));
                bench.reply(Err(StoreError::Timeout));
            }
            next => break next,
        }
    };
    assert_eq!((over, bench.now().since(began)), (Next::Ended { led: true }, s(5.0)), "LE-36");
}

#[test]
fn a_period_of_nothing_does_not_break_a_round() {
    let timing = Timing::seconds(15, 10, 0);
    let mut bench = Bench::usual();
    bench.election = Election::unchecked(Config { timing, ..Config::new("me") });
    let mut bench = leads(bench);
    bench.rest_io();
    bench.reply_io(Err(StoreError::Timeout));
    bench.reply(Err(StoreError::Timeout));
    assert!(matches!(bench.rest_io(), Io::Update(..)));
}
