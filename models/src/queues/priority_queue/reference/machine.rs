//! The calls on the list.

use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::limiter::Exponential;
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::priority_queue::{AddOptions, GETTERS, Op, Prioritized, Ret, Settle};
use seatrial_core::queue::{Done, Finished, Token, UPDATERS};

use crate::single_step::row::{in_a_row, up_to};

use super::Mistake::*;
use super::OneList;

type Ours = Prioritized<u8, Exponential<u8>>;

impl OneList {
    fn get(&mut self, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        let goes_on = self.makes(ShutdownDrains) && !self.entries.is_empty();
        if self.shut_down && !goes_on {
            return Step::Done(Ret::Get(None));
        }
        let now = cx.now();
        self.move_due(now, cx);
        match self.hand_out() {
            None if self.shut_down || self.makes(EmptyIsShutDown) => Step::Done(Ret::Get(None)),
            None => Step::Wait { on: GETTERS, until: self.earliest() },
            taken => Step::Done(Ret::Get(taken)),
        }
    }

    fn done(&mut self, token: Token, cx: &mut Cx<'_>) -> Finished<u8> {
        let Some(at) = self.held_at(token) else { return Finished::NotInProcessing };
        self.held.remove(at);
        cx.wakes.all(GETTERS);
        Finished::Ended(None)
    }

    fn settle(&mut self, settle: &Settle<u8>, cx: &mut Cx<'_>) -> Finished<u8> {
        let Some(at) = self.held_at(settle.token) else { return Finished::NotInProcessing };
        let key = self.held[at].1;
        let is_retry = matches!(settle.outcome, Outcome::Retry | Outcome::RetryAfter(_));
        let remembers = settle.outcome == Outcome::RequeueAfter(Duration::ZERO)
            && self.makes(RequeueAtOnceRemembers);
        if !(is_retry || remembers) || is_retry && self.makes(RetryForgets) {
            self.failures.remove(&key);
        }
        let loses = if is_retry { RetryLosesPriority } else { RequeueLosesPriority };
        let priority = if self.makes(loses) { 0 } else { settle.priority };
        let again = match settle.outcome {
            Outcome::Success | Outcome::GiveUp => None,
            Outcome::Retry
                if self.makes(GivenPriorityHurries) && self.had.get(&key) != Some(&priority) =>
            {
                Some(AddOptions { after: Some(Duration::ZERO), rate_limited: true, priority })
            }
            Outcome::Retry => Some(AddOptions { after: None, rate_limited: true, priority }),
            Outcome::RetryAfter(delay) => {
                if !self.shut_down || self.makes(SettledAfterShutdownFails) {
                    *self.failures.entry(key).or_default() += 1;
                }
                Some(AddOptions { after: Some(delay), rate_limited: false, priority })
            }
            Outcome::RequeueAfter(delay) => {
                Some(AddOptions { after: Some(delay), rate_limited: false, priority })
            }
        };
        if let Some(options) = again {
            let now = cx.now();
            self.add(&[key], options, now, cx);
        }
        self.done(settle.token, cx)
    }
}

impl Machine for OneList {
    type Op = Op<u8>;
    type Ret = Ret<u8>;

    fn step(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        let now = cx.now();
        if matches!(op, Op::Len(_) | Op::ShutDown(_)) {
            self.move_due(now, cx);
        }
        Step::Done(match op {
            Op::Add(add) => {
                let keys: Vec<u8> = add.key.take().into_iter().collect();
                self.add(&keys, add.options, add.called.unwrap_or(now), cx);
                Ret::Add(())
            }
            Op::AddBatch(batch) => {
                let keys: Vec<u8> = batch.items.iter_mut().filter_map(|it| it.0.take()).collect();
                self.add(&keys, batch.options, batch.called.unwrap_or(now), cx);
                Ret::AddBatch(())
            }
            Op::Get(_) => return self.get(cx),
            Op::Done(Done(token)) => Ret::Done(self.done(*token, cx)),
            Op::DoneKey(done) => {
                let held = self.held.iter().find(|(_, key)| *key == done.key);
                let ended = match held.map(|(token, _)| *token) {
                    Some(token) => self.done(token, cx),
                    None => Finished::NotInProcessing,
                };
                Ret::DoneKey(match ended {
                    _ if self.makes(DoneKeySaysEnded) => Finished::Ended(None),
                    _ if self.makes(DoneKeySaysNothing) => Finished::NotInProcessing,
                    ended => ended,
                })
            }
            Op::GetBatch(batch) => {
                let backwards = self.makes(BatchLowestFirst);
                return up_to::<Ours, _, _>(self, batch, cx).map(|mut taken| {
                    if backwards {
                        taken.reverse();
                    }
                    Ret::GetBatch(taken)
                });
            }
            Op::DoneAll(all) => Ret::DoneAll(in_a_row::<Ours, _>(self, all, cx)),
            Op::Settle(settle) => Ret::Settle(self.settle(settle, cx)),
            Op::Forget(forget) => {
                self.failures.remove(&forget.key);
                if self.makes(ForgetRemoves) {
                    self.entries.retain(|entry| entry.key != forget.key);
                }
                Ret::Forget(())
            }
            Op::NumRequeues(asked) => {
                Ret::NumRequeues(self.failures.get(&asked.key).copied().unwrap_or(0))
            }
            Op::ShutDown(_) => {
                let twice = self.shut_down && self.makes(SecondShutdownPanics);
                assert!(!twice, "the channel is closed already");
                self.shut_down = true;
                cx.wakes.all(GETTERS);
                cx.wakes.all(UPDATERS);
                Ret::ShutDown(())
            }
            Op::Refresh(_) if !self.shut_down => {
                return Step::Wait { on: UPDATERS, until: None }; // it has no figures to report
            }
            Op::Refresh(_) => Ret::Refresh(()),
            Op::Len(_) => Ret::Len(self.len()),
            Op::ShuttingDown(_) => Ret::ShuttingDown(self.shut_down),
            Op::Retries(_) => Ret::Retries(self.retries),
        })
    }
}
