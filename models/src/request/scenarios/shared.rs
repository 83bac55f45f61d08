//! Calls of several threads, and their end.

use std::sync::Arc;

use seatrial_core::request::{Mode, Verb};

use super::{Act, Bed, OK, Tried, attempts, later, needs_exact_time};
use crate::request::calls::Calls;
use crate::request::{History, Request};
use crate::trial::{Ledger as _, Scenario};

/// Tells whether a call is cancelled between two attempts.
fn between_attempts(history: &History) -> bool {
    Calls::some(history, |before, event| {
        let ended = event.noted("cancelled");
        before
            .of
            .values()
            .any(|call| ended == Some(call.begun.number.into()) && call.attempts > 0 && !call.hangs)
    })
}

/// A call is cancelled while it waits for its next attempt.
pub(super) fn cancelled_in_a_pause() -> Scenario<Request> {
    Scenario::<Request>::new(
        "cancelled_in_a_pause",
        "a call is cancelled between two attempts",
        |world| {
            let bed = Bed::new(world, vec![Tried::get(&[later(5), OK])]).shared();
            let token = bed.token();
            let (calls, own) = (Arc::clone(&bed), token.clone());
            let caller = world.spawn("caller", move || calls.call(0, &own));
            bed.cancel(0, &token);
            world.join(caller);
        },
        between_attempts,
    )
    .not_on(needs_exact_time)
}

/// A call is cancelled while it waits for its turn; the call after it gets its turn.
pub(super) fn cancelled_before_its_turn() -> Scenario<Request> {
    Scenario::<Request>::new(
        "cancelled_before_its_turn",
        "a call is cancelled while it waits for its turn, and another call waits as well",
        |world| {
            let calls = (0..3).map(|_| Tried::get(&[])).collect();
            let bed = Bed::new(world, calls).with_turns().shared();
            bed.call(0, &bed.token());
            let token = bed.token();
            let (calls, own) = (Arc::clone(&bed), token.clone());
            let first = world.spawn("first", move || calls.call(1, &own));
            let calls = Arc::clone(&bed);
            let second = world.spawn("second", move || calls.call(2, &calls.token()));
            bed.cancel(1, &token);
            world.quiesce();
            world.join(first);
            world.join(second);
        },
        // Two calls wait, and one is cancelled.
        |history| {
            Calls::some(history, |before, event| {
                event.noted("cancelled").is_some()
                    && before.of.values().filter(|call| call.turns == 0).count() == 2
            })
        },
    )
    .not_on(needs_exact_time)
}

/// A call is cancelled while its server does not answer.
pub(super) fn cancelled_without_an_answer() -> Scenario<Request> {
    Scenario::<Request>::new(
        "cancelled_without_an_answer",
        "calls of every kind are cancelled while the server does not answer",
        |world| {
            let modes = [Mode::Whole, Mode::Stream, Mode::Watch];
            let hangs = |mode| Tried::new(mode, Verb::Get, &[Act::Hangs]);
            let bed = Bed::new(world, modes.map(hangs).to_vec()).shared();
            for number in 0..3 {
                let token = bed.token();
                let (calls, own) = (Arc::clone(&bed), token.clone());
                let caller = world.spawn("caller", move || calls.call(number, &own));
                bed.cancel(number, &token);
                world.quiesce();
                world.join(caller);
            }
        },
        |history| {
            Calls::some(history, |before, event| {
                event.noted("cancelled").is_some() && before.of.values().any(|call| call.hangs)
            })
        },
    )
    .not_on(needs_exact_time)
}

/// Two calls take turns at one limiter, and one of them takes another turn for its second attempt.
pub(super) fn two_take_turns() -> Scenario<Request> {
    Scenario::<Request>::new(
        "two_take_turns",
        "two calls take turns at a limiter, one of them twice",
        |world| {
            let calls =
                vec![Tried::get(&[later(1), OK]), Tried::new(Mode::Watch, Verb::Get, &[later(0)])];
            let bed = Bed::new(world, calls).with_turns().shared();
            let calls = Arc::clone(&bed);
            let other = world.spawn("other", move || calls.call(1, &calls.token()));
            let calls = Arc::clone(&bed);
            let first = world.spawn("first", move || calls.call(0, &calls.token()));
            world.quiesce();
            world.join(first);
            world.join(other);
        },
        |history| attempts(history) == 4,
    )
    .not_on(needs_exact_time)
}

/// One request is sent by two threads at once.
pub(super) fn two_of_one_request() -> Scenario<Request> {
    Scenario::<Request>::new(
        "two_of_one_request",
        "two threads send one request, and each of them retries it",
        |world| {
            let mut tried = Tried::get(&[later(1), later(1), OK, OK]);
            tried.max = 2;
            let bed = Bed::new(world, vec![tried]).shared();
            let calls = Arc::clone(&bed);
            let other = world.spawn("other", move || calls.call(0, &calls.token()));
            bed.call(0, &bed.token());
            world.join(other);
        },
        |history| attempts(history) == 4,
    )
    .not_on(needs_exact_time)
}
