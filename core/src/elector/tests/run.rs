//! The loops: the times of attempts, the ends of a term, and the reports.

use super::bench::{BEGIN, Bench, CANCEL, s, stored};
use crate::elector::{
    Abort, Begin, Config, GiveUp, Holds, Io, IsLeader, Next, Notes, RUN, Rest, StoreError, TERM,
    Try, Watch, WorkEnded,
};
use crate::machine::Step;

/// Begins a run that wins by creating the lock, up to the start of the callback.
fn leading(mut bench: Bench) -> Bench {
    bench.io(BEGIN);
    let create = bench.reply_io(Err(StoreError::NotFound));
    assert!(matches!(bench.accept(create, 1), Next::Lead { term: 1, .. }));
    bench
}

/// As [`leading`], and renewed once at the same instant: the next round is due after R.
fn renewed(bench: Bench) -> Bench {
    let mut bench = leading(bench);
    let update = bench.rest_io();
    assert_eq!(bench.accept(update, 2), Next::Rest);
    bench
}

#[test]
fn a_candidate_polls_every_jittered_retry_period() {
    let mut bench = Bench::usual();
    bench.io(BEGIN);
    assert_eq!(bench.reply(Err(StoreError::Timeout)), Next::Rest);
    assert_eq!(bench.sleeps(), s(2.0));
    bench.set_entropy(u64::MAX);
    assert_eq!(bench.rest_io(), Io::Get);
    bench.reply(Err(StoreError::Timeout));
    let longest = bench.sleeps();
    assert!(longest > s(4.399) && longest <= s(4.4), "{longest:?}");
}

#[test]
fn winning_is_told_in_order_and_the_first_round_begins_at_once() {
    let mut bench = leading(Bench::usual());
    assert!(bench.notes.became_leader && !bench.notes.metric_off);
    assert_eq!(bench.notes.new_leader.as_ref().map(|name| name.as_str()), Some("me"));
    assert!(bench.call(Holds { term: 1 }));
    assert!(matches!(bench.rest_io(), Io::Update(..)));
}

#[test]
fn rounds_are_a_retry_period_apart() {
    let mut bench = renewed(Bench::usual());
    assert_eq!(bench.sleeps(), s(2.0));
    assert!(matches!(bench.rest_io(), Io::Update(..)));
}

#[test]
fn a_failing_round_makes_five_attempts_and_gives_up_at_its_deadline() {
    let mut bench = renewed(Bench::usual());
    let renewal = bench.now();
    for attempt in 0..5 {
        assert!(matches!(bench.rest_io(), Io::Update(..)), "attempt {attempt}");
        assert_eq!(bench.now().since(renewal), s(2.0 + 2.0 * f64::from(attempt)));
        bench.reply_io(Err(StoreError::Timeout));
        assert_eq!(bench.reply(Err(StoreError::Timeout)), Next::Rest);
    }
    assert_eq!(bench.rest(), Next::Ended { led: true });
    assert_eq!(bench.now().since(renewal), s(12.0), "R + D, LE-37");
    assert!(bench.notes.metric_off && bench.notes.stopped_leading);
    assert!(!bench.call(Holds { term: 1 }));
}

#[test]
fn an_attempt_that_overran_ticks_is_followed_by_one_at_once_and_then_in_step() {
    let mut bench = renewed(Bench::usual());
    bench.rest_io(); // the round begins: ticks at 2, 4, 6, 8
    bench.pass(s(4.5));
    bench.reply_io(Err(StoreError::Timeout));
    bench.reply(Err(StoreError::Timeout));
    assert_eq!(bench.sleeps_or_io(), None, "the tick at 2 was kept, that at 4 dropped");
    bench.reply_io(Err(StoreError::Timeout));
    bench.reply(Err(StoreError::Timeout));
    assert_eq!(bench.sleeps(), s(1.5), "until the tick at 6");
}

#[test]
fn a_success_after_the_deadline_of_the_round_still_counts() {
    let mut bench = renewed(Bench::usual());
    let update = bench.rest_io();
    bench.pass(s(11.0));
    assert_eq!(bench.accept(update, 3), Next::Rest);
    assert_eq!(bench.sleeps(), s(2.0), "ENV-7");
}

#[test]
fn a_call_that_fails_after_the_deadline_is_not_followed_by_another() {
    let mut bench = renewed(Bench::usual());
    bench.rest_io();
    bench.pass(s(10.0));
    assert_eq!(bench.reply(Err(StoreError::Timeout)), Next::Rest, "no read");
    assert_eq!(bench.rest(), Next::Ended { led: true });
}

#[test]
fn calls_of_a_round_carry_its_deadline_or_that_of_the_term() {
    let limit = Config::new("me").acting() - s(2.0);
    let mut bench = renewed(Bench::usual());
    let Next::Call { deadline: Some(deadline), .. } = bench.rest() else { panic!("call") };
    assert_eq!(deadline.since(bench.now()), limit.min(s(10.0)));
    let mut bench = Bench::usual();
    assert!(matches!(bench.turn(BEGIN), Next::Call { deadline: None, .. }), "LE-34");
}

#[test]
fn a_call_and_a_sleep_end_with_the_term_at_the_latest() {
    let timing = crate::elector::Timing::seconds(15, 14, 6);
    let config = Config { timing, ..Config::new("me") };
    let mut bench = leading(Bench::new(config.clone()));
    let Next::Call { io, deadline: Some(deadline), .. } = bench.rest() else { panic!("call") };
    assert_eq!(deadline.since(bench.now()), config.acting(), "shorter than the round");
    bench.pass(s(10.0));
    assert_eq!(bench.accept(io, 2), Next::Rest);
    assert_eq!(bench.sleeps(), config.acting() - s(10.0), "shorter than the retry period");
    assert_eq!(bench.rest(), Next::Ended { led: true });
}

#[test]
fn who_finds_that_the_term_is_over_wakes_the_run() {
    let mut bench = renewed(Bench::usual());
    bench.pass(Config::new("me").acting());
    let (over, wakes) = bench.step_and_wakes(Watch { term: 1 });
    assert!(matches!(over, Step::Done(())));
    assert!(wakes.get(RUN) > 0 && wakes.get(TERM) > 0);
}

#[test]
fn a_term_of_single_attempts_does_not_go_on_in_a_run() {
    let mut bench = Bench::usual();
    bench.io(Try);
    let create = bench.reply_io(Err(StoreError::NotFound));
    bench.accept(create, 1);
    assert!(bench.call(IsLeader));
    assert_eq!(bench.io(BEGIN), Io::Get, "not renewed unread");
    assert!(!bench.call(IsLeader));
}

#[test]
fn cancelling_before_the_first_attempt_makes_none() {
    let mut bench = Bench::usual();
    assert_eq!(bench.turn(Begin { cancelled: true }), Next::Ended { led: false });
    assert!(!bench.notes.stopped_leading, "no event without a renew loop");
    assert_eq!(bench.io(BEGIN), Io::Get, "only that run was cancelled");
    bench.call(CANCEL);
    bench.reply(Err(StoreError::Timeout));
    assert_eq!(bench.sleeps(), s(2.0), "a late cancellation of another run changes nothing");
}

#[test]
fn a_late_cancellation_does_not_reach_a_release_of_its_own() {
    let mut bench = Bench::usual();
    assert_eq!(bench.turn(Begin { cancelled: true }), Next::Ended { led: false });
    assert_eq!(bench.io(GiveUp), Io::Get);
    bench.call(CANCEL);
    bench.reply(Err(StoreError::NotFound));
    bench.io(Try);
    let create = bench.reply_io(Err(StoreError::NotFound));
    assert_eq!(bench.accept(create, 1), Next::Done(true));
    assert!(bench.call(IsLeader), "what it holds now was never cancelled");
}

#[test]
fn cancelling_a_candidate_ends_its_sleep() {
    let mut bench = Bench::usual();
    bench.io(BEGIN);
    bench.reply(Err(StoreError::Timeout));
    bench.call(CANCEL);
    assert_eq!(bench.turn(Rest), Next::Ended { led: false });
}

#[test]
fn cancelling_a_leader_revokes_its_leadership_before_the_run_ends() {
    let mut bench = renewed(Bench::usual());
    assert!(matches!(bench.step(Watch { term: 1 }), Step::Wait { .. }));
    bench.call(CANCEL);
    assert!(!bench.call(Holds { term: 1 }));
    bench.call(Watch { term: 1 });
    assert_eq!(bench.turn(Rest), Next::Ended { led: true });
    assert!(bench.notes.metric_off && bench.notes.stopped_leading, "LE-39");
}

#[test]
fn a_write_that_is_answered_after_the_cancellation_leads_with_a_token_that_has_ended() {
    let mut bench = Bench::usual();
    bench.io(BEGIN);
    let create = bench.reply_io(Err(StoreError::NotFound));
    bench.call(CANCEL);
    assert!(matches!(bench.accept(create, 1), Next::Lead { .. }), "LE-32");
    assert!(!bench.call(Holds { term: 1 }));
    assert_eq!(bench.turn(Rest), Next::Ended { led: true });
}

#[test]
fn a_cancelled_attempt_makes_no_further_call() {
    let mut bench = Bench::usual();
    bench.io(BEGIN);
    bench.call(CANCEL);
    assert_eq!(bench.reply(Err(StoreError::NotFound)), Next::Ended { led: false });
}

#[test]
fn a_leader_stops_when_it_reads_that_another_holds_the_lease() {
    let mut bench = renewed(Bench::usual());
    bench.rest_io();
    bench.reply_io(Err(StoreError::Conflict));
    assert_eq!(bench.reply(Ok(stored("other", 0.0, 9))), Next::Ended { led: true });
    assert_eq!(bench.notes.new_leader.as_ref().map(|name| name.as_str()), Some("other"));
    assert!(bench.notes.metric_off);
}

#[test]
fn a_term_ends_in_the_middle_of_a_round_and_of_a_call() {
    let timing = crate::elector::Timing::seconds(15, 14, 2);
    let config = Config { timing, ..Config::new("me") };
    let mut bench = leading(Bench::new(config.clone()));
    let began = bench.now();
    while bench.rest() != (Next::Ended { led: true }) {
        bench.reply_io(Err(StoreError::Timeout));
        bench.reply(Err(StoreError::Timeout));
    }
    assert_eq!(bench.now(), began + config.acting(), "SF-11");

    let mut bench = leading(Bench::new(config.clone()));
    bench.rest_io();
    let Step::Wait { until: Some(until), .. } = bench.step(Watch { term: 1 }) else { panic!() };
    bench.pass(until.since(bench.now()));
    bench.call(Watch { term: 1 }); // while the call hangs
    assert_eq!(bench.reply(Err(StoreError::Timeout)), Next::Ended { led: true });
}

#[test]
fn a_run_refuses_a_second_one_and_single_attempts() {
    let mut bench = Bench::usual();
    bench.io(BEGIN);
    assert_eq!(bench.turn(BEGIN), Next::Refused);
    assert_eq!(bench.turn(Try), Next::Refused);
    assert_eq!(bench.turn(Rest), Next::Refused, "an answer is awaited");
    bench.reply_io(Err(StoreError::NotFound));
    bench.reply(Err(StoreError::Timeout));
    assert_eq!(bench.reply(Err(StoreError::Timeout)), Next::Refused, "nothing was asked");
    bench.call(Abort);
    assert_eq!(bench.turn(Rest), Next::Refused);
    assert_eq!(bench.io(BEGIN), Io::Get);
}

#[test]
fn a_run_that_breaks_down_says_what_it_leaves() {
    let mut acquires = Bench::usual();
    acquires.io(BEGIN);
    assert_eq!(acquires.call(Abort), Notes::default(), "it never led");

    let mut leads = renewed(Bench::usual());
    leads.rest_io();
    let told = leads.call(Abort);
    assert!(told.stopped_leading && told.metric_off, "LE-35, LE-39: on every exit path");
    assert!(!leads.call(Holds { term: 1 }));
}

#[test]
fn a_release_that_breaks_down_ends_the_term_once() {
    let mut bench = renewed(Bench::new(Config { release_on_cancel: true, ..Config::new("me") }));
    bench.call(WorkEnded { term: 1, panicked: false });
    bench.call(CANCEL);
    assert_eq!(bench.rest_io(), Io::Get);
    assert!(bench.notes.metric_off);
    let told = bench.call(Abort);
    assert!(told.stopped_leading && !told.metric_off);
}

#[test]
fn a_second_run_reads_first() {
    let mut bench = renewed(Bench::usual());
    bench.call(CANCEL);
    bench.turn(Rest);
    assert_eq!(bench.io(BEGIN), Io::Get, "LE-54");
}
