//! Invariants that only a bug of the client itself breaks. Each convicts a history made for it, and
//! acquits a similar history.

use seatrial_core::request::Mode;
use seatrial_core::runtime::Instant;

use crate::engine::End;
use crate::request::calls::{Begun, Result as Returned, pack};
use crate::request::rule::{After, Outcome, Way};
use crate::request::{Event, History, Request};
use crate::trial::{Component, What};

/// Tells whether an invariant convicts a call with these notes; their times are tenths of a second.
fn convicts(invariant: &str, notes: &[(u64, &'static str, u64)]) -> bool {
    let way = Way { mode: Mode::Whole, reads: true, max: 3 };
    let call = Begun { number: 1, way, takes_turns: true, backs_off: false, timeout: 0 };
    let begins = (0, "begins", call.pack());
    let event = |(tenths, label, value)| Event {
        thread: 1,
        at: Instant::from_nanos(tenths * 100_000_000),
        object: 0,
        what: What::Note { label, value },
        told: None,
    };
    let events = [begins].iter().chain(notes).copied().map(event).collect();
    let history = History { events, end: End::Finished };
    let all = Request::invariants();
    let judged = all.iter().find(|it| it.name == invariant).expect("there is one");
    judged.check(&history).is_err()
}

fn attempts_that_differ_are_noticed() {
    let busy = pack(Outcome::Status(429, After::Seconds(1)));
    let tried = |second| [(0, "sends", 7), (0, "answers", busy), (10, "sends", second)];
    assert!(convicts("attempts_are_equal", &tried(8)));
    assert!(!convicts("attempts_are_equal", &tried(7)));
}

fn turns_that_come_too_often_are_noticed() {
    let turns = |second| [(0, "turn", 0), (second, "turn", 0), (25, "turn", 0)];
    assert!(convicts("the_limiter_keeps_its_rate", &turns(9)));
    assert!(!convicts("the_limiter_keeps_its_rate", &turns(10)));
}

fn what_is_done_after_the_end_is_noticed() {
    let sent = |cancelled| [(cancelled, "cancelled", 1), (5, "sends", 7)];
    assert!(convicts("nothing_after_the_end", &sent(4)));
    assert!(!convicts("nothing_after_the_end", &sent(5)), "at the same time it may seem to go on");
    let cancelled = Returned::Cancelled.pack();
    assert!(convicts("nothing_after_the_end", &[(5, "returns", cancelled)]), "nobody cancelled it");
    let asked = [(4, "cancels", 1), (5, "returns", cancelled)];
    assert!(!convicts("nothing_after_the_end", &asked));
    let other = [(4, "cancels", 2), (5, "returns", cancelled)];
    assert!(convicts("nothing_after_the_end", &other), "another call was cancelled");
    let over = [(5, "returns", Returned::TimeIsOver.pack())];
    assert!(convicts("nothing_after_the_end", &over), "it has no time-out");
}

fn an_end_that_nothing_led_to_is_noticed() {
    let busy = pack(Outcome::Status(429, After::Seconds(1)));
    let ended = |value: Returned| [(0, "answers", busy), (1, "returns", value.pack())];
    for value in [Returned::Status(429), Returned::EndedWatch, Returned::Other] {
        assert!(convicts("the_last_counts", &ended(value)), "{value:?}");
        assert!(convicts("the_last_counts", &ended(value)[1..]), "{value:?}: nothing was tried");
    }
    for value in [Returned::Cancelled, Returned::TimeIsOver] {
        assert!(!convicts("the_last_counts", &ended(value)), "{value:?}");
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    attempts_that_differ_are_noticed,
    turns_that_come_too_often_are_noticed,
    what_is_done_after_the_end_is_noticed,
    an_end_that_nothing_led_to_is_noticed
];
