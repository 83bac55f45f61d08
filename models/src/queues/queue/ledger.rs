//! Follows a history call by call: the items that were added, handed out and done, and the threads
//! that sleep.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::slice;

use seatrial_core::machine::Step;
use seatrial_core::queue::{Add, Done, DoneKey, Drain, DrainUntil, Finished, Op, Ret, Token};

use super::{Event, Plain, Queue};
use crate::queues::fixtures::batches;
use crate::trial::{self, What};

/// A drain that has not returned.
#[derive(Clone, Debug)]
pub(super) struct Draining {
    pub(super) until: DrainUntil,
    /// Whether its condition held at some moment since it began.
    pub(super) was_satisfied: bool,
    /// Whether `shut_down` was called since it began.
    pub(super) was_released: bool,
}

/// The state before an event.
///
/// It follows the *returned* values of the calls: an item is in processing because a `get` returned
/// it, not because a rule says that it should be. Only `spec` follows the rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueLedger {
    /// The sequential object, which gets the same calls.
    pub(super) spec: Plain<u8>,
    /// Deliveries that have not ended, by token.
    pub(super) deliveries: BTreeMap<(u8, u64), u8>,
    /// Gets that returned an item, per item.
    pub(super) gets: BTreeMap<u8, u32>,
    /// Accepted adds that made an item dirty, per item.
    pub(super) needs: BTreeMap<u8, u32>,
    /// Threads asleep in `get`.
    pub(super) getters: Vec<u8>,
    /// Drains that have begun and have not returned, by thread.
    pub(super) drains: BTreeMap<u8, Draining>,
    /// How many deliveries of each item are allowed after shutdown began.
    pub(super) allowed_after_shutdown: Option<BTreeMap<u8, u32>>,
}

/// A token as a number: its text is stable and unique in one queue.
pub(super) fn token_number(token: Token) -> u64 {
    u64::from(token.slot()) << 32 | u64::from(token.delivery())
}

impl QueueLedger {
    /// Tells whether an item is in processing, by the returned values of the calls.
    pub(super) fn in_processing(&self, key: u8) -> bool {
        self.deliveries.values().any(|delivered| *delivered == key)
    }

    fn satisfied(&self, until: DrainUntil) -> bool {
        self.deliveries.is_empty()
            && (until == DrainUntil::NothingInFlight || self.spec.dirty.is_empty())
    }

    fn begin_shutdown(&mut self) {
        self.spec.shutting_down = true;
        let spec = &self.spec;
        self.allowed_after_shutdown
            .get_or_insert_with(|| spec.dirty.iter().map(|key| (*key, 1)).collect());
    }

    fn end_delivery(&mut self, object: u8, token: u64) {
        if let Some(key) = self.deliveries.remove(&(object, token)) {
            self.spec.done_key(&key);
        }
    }

    fn note_satisfied_drains(&mut self) {
        let satisfied: Vec<_> =
            self.drains.iter().filter(|(_, drain)| self.satisfied(drain.until)).collect();
        let threads: Vec<u8> = satisfied.into_iter().map(|(thread, _)| *thread).collect();
        for thread in threads {
            if let Some(drain) = self.drains.get_mut(&thread) {
                drain.was_satisfied = true;
            }
        }
    }

    /// Tells whether a drain that begins now, or that has begun, may return.
    pub(super) fn may_return(&self, thread: u8, until: DrainUntil) -> bool {
        match self.drains.get(&thread) {
            Some(drain) => drain.was_satisfied || drain.was_released,
            None => self.satisfied(until),
        }
    }
}

impl trial::Ledger<Queue> for QueueLedger {
    fn apply(&mut self, event: &Event) {
        if let What::Cancel { .. } = event.what {
            self.getters.retain(|thread| *thread != event.thread);
            self.drains.remove(&event.thread);
        }
        let What::Step { op, outcome, .. } = &event.what else { return };
        self.getters.retain(|thread| *thread != event.thread);
        match (op, outcome) {
            (Op::Add(add), _) => {
                let key = add.key.expect("a call to add carries its item");
                if self.spec.add(key) {
                    *self.needs.entry(key).or_default() += 1;
                }
            }
            (Op::Get(_), Step::Wait { .. }) => self.getters.push(event.thread),
            (Op::Get(_), Step::Done(Ret::Get(Some((token, key))))) => {
                let _same = self.spec.get();
                *self.gets.entry(*key).or_default() += 1;
                self.deliveries.insert((event.object, token_number(*token)), *key);
            }
            (Op::Done(Done(token)), Step::Done(Ret::Done(Finished::Ended(_)))) => {
                self.end_delivery(event.object, token_number(*token));
            }
            (Op::DoneKey(DoneKey { key, .. }), Step::Done(Ret::DoneKey(Finished::Ended(_)))) => {
                let found = self.deliveries.iter().find(|(_, delivered)| *delivered == key);
                if let Some(&(object, token)) = found.map(|(token, _)| token) {
                    self.end_delivery(object, token);
                }
            }
            (Op::ShutDown(_), _) => {
                self.begin_shutdown();
                self.drains.values_mut().for_each(|drain| drain.was_released = true);
            }
            (Op::Drain(Drain { until, .. }), Step::Wait { .. }) => {
                self.begin_shutdown();
                self.drains.entry(event.thread).or_insert(Draining {
                    until: *until,
                    was_satisfied: false,
                    was_released: false,
                });
            }
            (Op::Drain(_), _) => {
                self.begin_shutdown();
                self.drains.remove(&event.thread);
            }
            _ => {}
        }
        self.note_satisfied_drains();
    }

    fn parts(event: &Event) -> Cow<'_, [Event]> {
        let What::Step { op, outcome, .. } = &event.what else {
            return Cow::Borrowed(slice::from_ref(event));
        };
        match (op, outcome) {
            (Op::AddAll(all), Step::Done(_)) => {
                let add =
                    |add: &Add<u8>| event.instead(Op::Add(add.clone()), Step::Done(Ret::Add(())));
                all.0.iter().map(add).collect()
            }
            (Op::GetBatch(batch), Step::Wait { on, until }) => {
                batches::waits(event, Op::Get(batch.call.clone()), (*on, *until))
            }
            (Op::GetBatch(batch), Step::Done(Ret::GetBatch(taken))) => {
                batches::gets(event, &Op::Get(batch.call.clone()), taken, Ret::Get)
            }
            (Op::DoneAll(all), Step::Done(Ret::DoneAll(finished))) => {
                batches::dones(event, &all.0, finished, Op::Done, Ret::Done)
            }
            _ => Cow::Borrowed(slice::from_ref(event)),
        }
    }
}
