//! The search finds an order of calls if there is one, and none otherwise.

use seatrial_core::runtime::Instant;

use crate::indexed_store::book::{Answer, Call, Ended};
use crate::indexed_store::moments::in_order;
use crate::indexed_store::op::Labelled;

fn object(version: u8) -> Labelled {
    Labelled { key: 1, version, bits: 0 }
}

fn ended(call: Call, answer: Answer, from: usize, to: usize) -> Ended {
    let (began, at) = (Instant::ZERO, Instant::ZERO);
    Ended { call, answer, from, began, to, at }
}

fn calls_that_overlap_may_take_effect_in_either_order() {
    let put = |from, to| ended(Call::Put(object(1)), Answer::Done, from, to);
    let list = |seen: Vec<Labelled>| ended(Call::List, Answer::Objects(seen), 1, 3);
    assert_eq!(in_order(&[put(0, 2), list(vec![object(1)])]), Some(vec![0, 1]));
    assert_eq!(in_order(&[put(0, 2), list(vec![])]), Some(vec![1, 0]));
}

fn what_has_ended_is_seen_by_who_begins_later() {
    let put = ended(Call::Put(object(1)), Answer::Done, 0, 1);
    let blind = ended(Call::List, Answer::Objects(vec![]), 2, 3);
    assert_eq!(in_order(&[put, blind]), None);
}

fn nobody_sees_a_newer_state_and_then_an_older_one() {
    let write = |version, from, to| ended(Call::Put(object(version)), Answer::Done, from, to);
    let read =
        |version, from, to| ended(Call::Get(1), Answer::Objects(vec![object(version)]), from, to);
    let forth = [write(1, 0, 1), write(2, 2, 9), read(1, 3, 4), read(2, 5, 6)];
    assert!(in_order(&forth).is_some());
    let back = [write(1, 0, 1), write(2, 2, 9), read(2, 3, 4), read(1, 5, 6)];
    assert!(in_order(&back).is_none());
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    calls_that_overlap_may_take_effect_in_either_order,
    what_has_ended_is_seen_by_who_begins_later,
    nobody_sees_a_newer_state_and_then_an_older_one
];
