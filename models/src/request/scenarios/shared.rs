//! Calls of several threads, and their end.

use std::sync::Arc;

use seatrial_core::request::{Mode, Verb};
use seatrial_core::runtime::Runtime;

use super::{Act, Bed, OK, Tried, attempts, later, needs_exact_time};
use crate::engine::Engine;
use crate::request::calls::Calls;
use crate::request::{History, Request};
use crate::trial::{Ledger as _, Scenario, World};

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
pub(super) struct CancelledInAPause;

impl Scenario<Request> for CancelledInAPause {
    const NAME: &'static str = "cancelled_in_a_pause";
    const SAYS: &'static str = "a call is cancelled between two attempts";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
        let bed = Bed::new(world, vec![Tried::get(&[later(5), OK])]).shared();
        let token = bed.token();
        let (calls, own) = (Arc::clone(&bed), token.clone());
        let caller = world.spawn("caller", move || calls.call(0, &own));
        bed.cancel(0, &token);
        world.join(caller);
    }

    fn reaches(history: &History) -> bool {
        between_attempts(history)
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        needs_exact_time(engine)
    }
}

/// A call is cancelled while it waits for its turn; the call after it gets its turn.
pub(super) struct CancelledBeforeItsTurn;

impl Scenario<Request> for CancelledBeforeItsTurn {
    const NAME: &'static str = "cancelled_before_its_turn";
    const SAYS: &'static str =
        "a call is cancelled while it waits for its turn, and another call waits as well";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
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
    }

    /// Two calls wait, and one is cancelled.
    fn reaches(history: &History) -> bool {
        Calls::some(history, |before, event| {
            event.noted("cancelled").is_some()
                && before.of.values().filter(|call| call.turns == 0).count() == 2
        })
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        needs_exact_time(engine)
    }
}

/// A call is cancelled while its server does not answer.
pub(super) struct CancelledWithoutAnAnswer;

impl Scenario<Request> for CancelledWithoutAnAnswer {
    const NAME: &'static str = "cancelled_without_an_answer";
    const SAYS: &'static str = "calls of every kind are cancelled while the server does not answer";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
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
    }

    fn reaches(history: &History) -> bool {
        Calls::some(history, |before, event| {
            event.noted("cancelled").is_some() && before.of.values().any(|call| call.hangs)
        })
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        needs_exact_time(engine)
    }
}

/// Two calls take turns at one limiter, and one of them takes another turn for its second attempt.
pub(super) struct TwoTakeTurns;

impl Scenario<Request> for TwoTakeTurns {
    const NAME: &'static str = "two_take_turns";
    const SAYS: &'static str = "two calls take turns at a limiter, one of them twice";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
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
    }

    fn reaches(history: &History) -> bool {
        attempts(history) == 4
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        needs_exact_time(engine)
    }
}

/// One request is sent by two threads at once.
pub(super) struct TwoOfOneRequest;

impl Scenario<Request> for TwoOfOneRequest {
    const NAME: &'static str = "two_of_one_request";
    const SAYS: &'static str = "two threads send one request, and each of them retries it";

    fn run<R: Runtime>(&self, world: &World<R, Request>) {
        let mut tried = Tried::get(&[later(1), later(1), OK, OK]);
        tried.max = 2;
        let bed = Bed::new(world, vec![tried]).shared();
        let calls = Arc::clone(&bed);
        let other = world.spawn("other", move || calls.call(0, &calls.token()));
        bed.call(0, &bed.token());
        world.join(other);
    }

    fn reaches(history: &History) -> bool {
        attempts(history) == 4
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        needs_exact_time(engine)
    }
}
