//! The sequential object as a machine, for mutants: its deliveries have tokens, and it wakes.

use seatrial_core::limiter::Exponential;
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::priority_queue::{GETTERS, Op, Prioritized, Ret};
use seatrial_core::queue::{Done, Finished, Token, UPDATERS};
use seatrial_core::runtime::Instant;

use super::ledger::moment;
use super::spec::Spec;
use crate::shared::Mistakes;
use crate::single_step::row::{in_a_row, up_to};

type Ours = Prioritized<u8, Exponential<u8>>;

/// The sequential object, and the deliveries that have not ended.
pub(super) struct OneList {
    spec: Spec,
    held: Vec<(Token, u8)>,
    deliveries: u32,
}

impl OneList {
    pub(super) fn with(mistakes: Mistakes) -> Self {
        Self { spec: Spec::with(mistakes), held: Vec::new(), deliveries: 0 }
    }

    fn move_due(&mut self, cx: &mut Cx<'_>) {
        (0..self.spec.move_due(self.spec.now)).for_each(|_| cx.wakes.one(GETTERS));
    }

    fn get(&mut self, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        let goes_on = self.spec.makes("shutdown_drains") && !self.spec.entries.is_empty();
        if self.spec.shut_down && !goes_on {
            return Step::Done(Ret::Get(None));
        }
        self.move_due(cx);
        let Some((key, priority)) = self.spec.get() else {
            let ends = self.spec.shut_down || self.spec.makes("empty_is_shut_down");
            let until = self.spec.earliest().map(|time| Instant::ZERO + time);
            return if ends {
                Step::Done(Ret::Get(None))
            } else {
                Step::Wait { on: GETTERS, until }
            };
        };
        self.deliveries += 1;
        let token = Token::new(key.into(), self.deliveries);
        self.held.push((token, key));
        Step::Done(Ret::Get(Some((token, key, priority))))
    }

    /// Ends a delivery, in one way or another.
    fn end(
        &mut self,
        token: Token,
        cx: &mut Cx<'_>,
        end: impl FnOnce(&mut Spec, &u8) -> bool,
    ) -> Finished<u8> {
        let by_value = self.spec.makes("done_by_value");
        let named = |held: &Token| {
            if by_value { held.slot() == token.slot() } else { *held == token }
        };
        let Some(at) = self.held.iter().position(|(held, _)| named(held)) else {
            return Finished::NotInProcessing;
        };
        let (_, key) = self.held.remove(at);
        end(&mut self.spec, &key);
        cx.wakes.all(GETTERS);
        Finished::Ended(None)
    }

    fn done_key(&mut self, key: u8, cx: &mut Cx<'_>) -> Finished<u8> {
        let held = self.held.iter().find(|(_, held)| *held == key).map(|(token, _)| *token);
        let ended = held.map_or(Finished::NotInProcessing, |token| self.end(token, cx, Spec::done));
        match () {
            () if self.spec.makes("done_key_says_ended") => Finished::Ended(None),
            () if self.spec.makes("done_key_says_nothing") => Finished::NotInProcessing,
            () => ended,
        }
    }
}

impl Machine for OneList {
    type Op = Op<u8>;
    type Ret = Ret<u8>;

    fn step(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        let now = cx.now();
        self.spec.now = moment(now);
        if matches!(op, Op::Len(_) | Op::ShutDown(_)) {
            self.move_due(cx);
        }
        if matches!(op, Op::Add(_) | Op::AddBatch(_)) && !self.spec.shut_down {
            cx.wakes.all(GETTERS);
        }
        Step::Done(match op {
            Op::Add(add) => {
                let keys: Vec<u8> = add.key.take().into_iter().collect();
                self.spec.add(&keys, add.options, moment(add.called.unwrap_or(now)));
                Ret::Add(())
            }
            Op::AddBatch(batch) => {
                let keys: Vec<u8> = batch.items.iter_mut().filter_map(|it| it.0.take()).collect();
                self.spec.add(&keys, batch.options, moment(batch.called.unwrap_or(now)));
                Ret::AddBatch(())
            }
            Op::Get(_) => return self.get(cx),
            Op::Done(Done(token)) => Ret::Done(self.end(*token, cx, Spec::done)),
            Op::DoneKey(done) => Ret::DoneKey(self.done_key(done.key, cx)),
            Op::GetBatch(batch) => {
                let backwards = self.spec.makes("batch_lowest_first");
                return up_to::<Ours, _, _>(self, batch, cx).map(|mut taken| {
                    if backwards {
                        taken.reverse();
                    }
                    Ret::GetBatch(taken)
                });
            }
            Op::DoneAll(all) => Ret::DoneAll(in_a_row::<Ours, _>(self, all, cx)),
            Op::Settle(settle) => {
                let (outcome, priority) = (settle.outcome, settle.priority);
                let settles = |spec: &mut Spec, key: &u8| spec.settle(key, outcome, priority);
                Ret::Settle(self.end(settle.token, cx, settles))
            }
            Op::Forget(forget) => {
                self.spec.failures.remove(&forget.key);
                if self.spec.makes("forget_removes") {
                    self.spec.entries.retain(|entry| entry.key != forget.key);
                }
                Ret::Forget(())
            }
            Op::NumRequeues(asked) => {
                Ret::NumRequeues(self.spec.failures.get(&asked.key).copied().unwrap_or(0))
            }
            Op::ShutDown(_) => {
                let twice = self.spec.shut_down && self.spec.makes("second_shutdown_panics");
                assert!(!twice, "the channel is closed already");
                self.spec.shut_down = true;
                cx.wakes.all(GETTERS);
                cx.wakes.all(UPDATERS);
                Ret::ShutDown(())
            }
            Op::Refresh(_) if !self.spec.shut_down => {
                return Step::Wait { on: UPDATERS, until: None }; // it has no figures to report
            }
            Op::Refresh(_) => Ret::Refresh(()),
            Op::Len(_) => Ret::Len(self.spec.len()),
            Op::ShuttingDown(_) => Ret::ShuttingDown(self.spec.shut_down),
            Op::Retries(_) => Ret::Retries(self.spec.retries),
        })
    }
}
