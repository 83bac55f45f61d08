//! Violations of the rules on which workers rely.

use seatrial_core::limited_queue::{Op, Outcome, Ret, Settle};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::queue::{Done, GETTERS, Get, Token};

use super::{BASE, Pool, Rules, rules};
use crate::trial::{MachineOf, Mutant, mutants};

type Bend = fn(&mut Rules, &mut Op<u8>, &mut Cx<'_>) -> Step<Ret<u8>>;

/// The machine that ships, with some of its steps replaced.
struct Bent {
    rules: Rules,
    step: Bend,
}

impl Machine for Bent {
    type Op = Op<u8>;
    type Ret = Ret<u8>;

    fn step(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        (self.step)(&mut self.rules, op, cx)
    }

    fn cancel(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) {
        self.rules.cancel(op, cx);
    }

    fn assert_valid(&self) {
        self.rules.assert_valid();
    }
}

fn bent(step: Bend) -> MachineOf<Pool> {
    Box::new(Bent { rules: rules(), step })
}

/// Settles some deliveries with another outcome.
fn instead(
    (rules, op, cx): (&mut Rules, &mut Op<u8>, &mut Cx<'_>),
    other: impl Fn(Token, Outcome) -> Option<Outcome>,
) -> Step<Ret<u8>> {
    if let Op::Settle(Settle { token, outcome, .. }) = op
        && let Some(other) = other(*token, *outcome)
    {
        return rules.step(&mut Op::Settle(Settle::new(*token, other)), cx);
    }
    rules.step(op, cx)
}

/// Ends a delivery without an outcome.
fn end(rules: &mut Rules, settle: &Settle<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
    rules.step(&mut Op::Done(Done(settle.token)), cx).map(|ret| match ret {
        Ret::Done(finished) => Ret::Settle(finished),
        other => other,
    })
}

/// Ends every delivery of a key except its first, before any caller gets it.
fn swallow_retries(rules: &mut Rules, op: &mut Op<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
    loop {
        let step = rules.step(op, cx);
        match &step {
            Step::Done(Ret::Get(Some((token, _)))) if token.delivery() > 1 => {
                let _ended = rules.step(&mut Op::Done(Done(*token)), cx);
            }
            _ => return step,
        }
    }
}

pub(super) fn all() -> Vec<Mutant<Pool>> {
    [deliveries(), judged(), ends(), of_waking()].concat()
}

fn deliveries() -> Vec<Mutant<Pool>> {
    const AT_ONCE: Outcome = Outcome::RequeueAfter(std::time::Duration::ZERO);
    mutants! { bent:
        Seeded "retry_at_once" from "own: a failed key is requeued at once, without the limiter":
            (|rules, op, cx| instead((rules, op, cx), |_, it| {
                (it == Outcome::Retry).then_some(AT_ONCE)
            }))
            breaks ["backs_off"];
        Seeded "retry_gives_up" from "own: a failed key is given up":
            (|rules, op, cx| instead((rules, op, cx), |_, it| {
                (it == Outcome::Retry).then_some(Outcome::GiveUp)
            }))
            breaks ["failed_is_tried_again"];
        Seeded "retry_is_taken_by_nobody"
            from "own: later deliveries of a key end before a worker gets them":
            (swallow_retries) breaks ["failed_is_tried_again"];
        Seeded "success_keeps_failures" from "own: success does not reset the failures":
            (|rules, op, cx| match op {
                Op::Settle(settle) if settle.outcome == Outcome::Success => end(rules, settle, cx),
                op => rules.step(op, cx),
            }) breaks ["failures_are_counted"];
        Seeded "delivery_ends_at_once" from "own: done is called before the key is reconciled":
            (|rules, op, cx| {
                let step = rules.step(op, cx);
                if let Step::Done(Ret::Get(Some((token, _)))) = &step {
                    let _ended = rules.step(&mut Op::Done(Done(*token)), cx);
                }
                step
            }) breaks ["never_concurrent"];
    }
}

/// Mutants that ignore the details of an error.
fn judged() -> Vec<Mutant<Pool>> {
    mutants! { bent:
        Seeded "given_up_is_retried" from "own: an error is retried even if it is final":
            (|rules, op, cx| instead((rules, op, cx), |_, it| {
                (it == Outcome::GiveUp).then_some(Outcome::Retry)
            }))
            breaks ["given_up_is_given_up"];
        Seeded "given_up_comes_back" from "own: a key that was given up is requeued after a delay":
            // Limited in number, so that the workers come to an end.
            (|rules, op, cx| instead((rules, op, cx), |token, it| {
                let few = token.delivery() < 3;
                (it == Outcome::GiveUp && few).then_some(Outcome::RequeueAfter(BASE))
            })) breaks ["given_up_is_given_up"];
        Seeded "retry_by_the_limiter_alone" from "own: the delay that an error names is ignored":
            (|rules, op, cx| instead((rules, op, cx), |_, it| {
                matches!(it, Outcome::RetryAfter(_)).then_some(Outcome::Retry)
            })) breaks ["backs_off"];
        Seeded "timed_retry_forgets"
            from "own: an error with a delay counts as a requeue, which resets the failures":
            (|rules, op, cx| instead((rules, op, cx), |_, it| match it {
                Outcome::RetryAfter(delay) => Some(Outcome::RequeueAfter(delay)),
                _ => None,
            })) breaks ["failures_are_counted"];
        Seeded "attempts_are_not_counted" from "own: the number of the attempt is always one":
            (|rules, op, cx| match rules.step(op, cx) {
                Step::Done(Ret::NumRequeues(_)) => Step::Done(Ret::NumRequeues(0)),
                step => step,
            }) breaks ["given_up_is_given_up", "failures_are_counted"];
    }
}

fn ends() -> Vec<Mutant<Pool>> {
    mutants! { bent:
        Seeded "shutdown_discards_waiting" from "own: shutdown clears the queue":
            (|rules, op, cx| {
                let step = rules.step(op, cx);
                while matches!(op, Op::ShutDown(_)) && !rules.delaying().queue().is_empty() {
                    if let Step::Done(Ret::Get(Some((token, _)))) =
                        rules.step(&mut Op::Get(Get), cx)
                    {
                        let _ended = rules.step(&mut Op::Done(Done(token)), cx);
                    }
                }
                step
            }) breaks ["ends_as_it_says"];
        Seeded "shutdown_at_rest_is_ignored"
            from "own: a pool that is dropped stops its workers, and leaves its queue open":
            (|rules, op, cx| match op {
                Op::ShutDown(_) if rules.delaying().queue().is_empty() => {
                    Step::Done(Ret::ShutDown(()))
                }
                op => rules.step(op, cx),
            }) breaks ["ends_as_it_says"];
    }
}

fn of_waking() -> Vec<Mutant<Pool>> {
    mutants! { Edited(rules()):
        Seeded "shutdown_wakes_one" from "own: shutdown wakes one worker instead of all":
            (|op, wakes, _| if matches!(op, Op::ShutDown(_)) {
                wakes.set(GETTERS, 1);
            }) breaks ["ends_as_it_says"];
    }
}
