//! The queue in a few lines: the three containers of the reference instead of our slab
//! (`workqueue:WQ`, section 1.1).
//!
//! It is the specification of every call. A mistake, which is one changed line, makes a mutant of it
//! with the name of the mistake; with [`REFERENCE`] it is the faithful variant, which replays every
//! recorded trace.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::queue::{
    Add, DRAINS, Done, DoneKey, Drain, DrainUntil, Finished, GETTERS, Key, Op, Queue, Ret, Token,
    UPDATERS,
};

use crate::shared::Mistakes;
use crate::single_step::row::{in_a_row, up_to};

/// Mistakes that the reference makes to this day, and that our queue avoids. Getters and drains share
/// one condition, of which done signals one. A flag says whether drains wait, and a new drain sets it
/// again. Done of an item that is not in processing queues it again if it is dirty: so it may be
/// handed out twice, and one done ends both deliveries.
pub(super) const REFERENCE: Mistakes =
    &["single_waiter_signal", "new_drain_undoes_release", "done_queues_twice"];

/// Three containers and a flag.
#[derive(Clone, Debug)]
pub struct Plain<K> {
    mistakes: Mistakes,
    /// The items that can be handed out now, in this order.
    pub(in crate::queues) waiting: VecDeque<K>,
    /// The items that need (another) processing.
    pub(in crate::queues) dirty: BTreeSet<K>,
    /// The deliveries that are not done.
    processing: Vec<(Token, K)>,
    /// Whether new items are refused.
    pub(in crate::queues) shutting_down: bool,
    known: Vec<K>,
    deliveries: u32,
    drain: bool,
    shutdowns: u64,
    /// Whether several deliveries are being ended.
    in_done_all: bool,
    /// Whom the calls since the last step have woken.
    pub(in crate::queues) wakes: Wakes,
}

/// Marks a drain that has tested and is about to sleep (`lost_retake`).
const LOOKED: u64 = 1 << 63;

impl<K: Key + Ord> Default for Plain<K> {
    fn default() -> Self {
        Self::with(&[])
    }
}

impl<K: Key + Ord> Plain<K> {
    /// Makes an empty, running queue that makes mistakes.
    pub(in crate::queues) fn with(mistakes: Mistakes) -> Self {
        Self {
            mistakes,
            waiting: VecDeque::new(),
            dirty: BTreeSet::new(),
            processing: Vec::new(),
            shutting_down: false,
            known: Vec::new(),
            deliveries: 0,
            drain: false,
            shutdowns: 0,
            in_done_all: false,
            wakes: Wakes::default(),
        }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn wake_drains(&mut self) {
        if self.makes("single_waiter_signal") {
            self.wakes.one(GETTERS);
        } else {
            self.wakes.all(DRAINS);
        }
    }

    pub(in crate::queues) fn is_in_processing(&self, key: &K) -> bool {
        self.processing.iter().any(|(_, delivered)| delivered == key)
    }

    /// Accepts an item; tells whether it became dirty (`workqueue:WQ-4`).
    pub(in crate::queues) fn add(&mut self, key: K) -> bool {
        if self.shutting_down && !self.makes("accept_after_shutdown") {
            return false;
        }
        if !self.dirty.insert(key.clone()) && !self.makes("no_deduplication") {
            return false;
        }
        if !self.is_in_processing(&key) || self.makes("queue_while_processing") {
            self.waiting.push_back(key);
            self.wakes.one(GETTERS);
        }
        true
    }

    /// Hands out the next item (`workqueue:WQ-10`, `WQ-11`).
    pub(in crate::queues) fn get(&mut self) -> Option<(Token, K)> {
        if self.shutting_down && self.makes("shutdown_ends_consumers") {
            return None;
        }
        let key = if self.makes("last_in_first_out") {
            self.waiting.pop_back()
        } else {
            self.waiting.pop_front()
        };
        let key = key?;
        if !self.makes("clean_at_done") {
            self.dirty.remove(&key);
        }
        self.deliveries += 1;
        let token = Token::new(self.number_of(&key), self.deliveries);
        self.processing.push((token, key.clone()));
        Some((token, key))
    }

    /// Numbers the items in the order of their first delivery.
    fn number_of(&mut self, key: &K) -> u32 {
        let at = self.known.iter().position(|known| known == key).unwrap_or_else(|| {
            self.known.push(key.clone());
            self.known.len() - 1
        });
        u32::try_from(at).expect("few items")
    }

    /// Ends a delivery; tells whether there was one (`workqueue:WQ-16`, `WQ-21`).
    pub(in crate::queues) fn done(&mut self, token: Token) -> bool {
        let by_value = self.makes("done_by_value");
        let named = |delivered: &Token| {
            if by_value { delivered.slot() == token.slot() } else { *delivered == token }
        };
        let at = self.processing.iter().position(|(delivered, _)| named(delivered));
        at.map(|at| self.finish(at)).is_some()
    }

    /// As [`done`](Self::done), for an item that is named by its value.
    pub(in crate::queues) fn done_key(&mut self, key: &K) -> bool {
        if let Some(at) = self.processing.iter().position(|(_, delivered)| delivered == key) {
            self.finish(at);
            return true;
        }
        if self.makes("done_queues_twice") {
            if self.dirty.contains(key) {
                self.waiting.push_back(key.clone());
                self.wakes.one(GETTERS);
            } else if self.processing.is_empty() {
                self.wake_drains();
            }
        }
        false
    }

    fn finish(&mut self, at: usize) {
        let (_, key) = self.processing.remove(at);
        if self.makes("done_queues_twice") {
            // The reference keeps a set of the items in processing: an item that was queued twice
            // is handed out twice, and the first done ends both deliveries.
            self.processing.retain(|(_, delivered)| *delivered != key);
        }
        let forgotten = self.makes("lost_requeue")
            || self.makes("no_requeue_in_shutdown") && self.shutting_down
            || self.makes("done_all_forgets_dirty") && self.in_done_all;
        if self.dirty.contains(&key) && !forgotten {
            if self.makes("requeue_in_front") {
                self.waiting.push_front(key);
            } else {
                self.waiting.push_back(key);
            }
            self.wakes.one(GETTERS);
            if self.makes("single_waiter_signal") {
                return; // the reference signals once, in either branch
            }
        } else {
            self.dirty.remove(&key);
        }
        if self.processing.is_empty() {
            self.wake_drains();
        }
    }

    pub(in crate::queues) fn shut_down(&mut self) {
        self.shutdowns += 1;
        self.drain = false;
        self.begin_shutdown();
    }

    fn begin_shutdown(&mut self) {
        self.shutting_down = true;
        if self.makes("discard_at_shutdown") {
            self.waiting.clear();
            self.dirty.clear();
        }
        self.wakes.all(GETTERS);
        self.wakes.all(DRAINS);
        self.wakes.all(UPDATERS);
    }

    pub(in crate::queues) fn is_drained(&self, until: DrainUntil) -> bool {
        let in_flight_done =
            self.processing.is_empty() || self.makes("drain_looks_at_waiting_only");
        let strict = until == DrainUntil::AllWorkDone;
        let missing = self.makes("strict_drain_ignores_waiting")
            || (self.makes("strict_drain_misses_returning") && self.waiting.len() == 1);
        in_flight_done && (!strict || missing || self.waiting.is_empty())
    }

    pub(in crate::queues) fn drain(&mut self, drain: &mut Drain, cx: &mut Cx<'_>) -> Step<()> {
        if drain.began.is_none() {
            self.drain = true;
            if !self.makes("drain_hides_shutdown") || self.is_drained(drain.until) {
                self.begin_shutdown();
            }
        }
        let began = drain.began.get_or_insert(self.shutdowns);
        let looked = *began & LOOKED != 0;
        *began &= !LOOKED;
        let began = *began;
        let by_flag = self.makes("new_drain_undoes_release") || self.makes("lost_retake");
        let released = if by_flag { !self.drain } else { self.shutdowns != began };
        let on = if self.makes("single_waiter_signal") { GETTERS } else { DRAINS };
        if looked && !self.processing.is_empty() {
            return Step::Wait { on, until: None };
        }
        if self.is_drained(drain.until) || released {
            self.shutting_down = true;
            return Step::Done(());
        }
        if self.makes("lost_retake") {
            drain.began = Some(began | LOOKED);
            // Not `Step::again`: it would pass on the wake-up, and two drains would take turns.
            return Step::Wait { on, until: Some(cx.now() + Duration::from_nanos(1)) };
        }
        Step::Wait { on, until: None }
    }

    fn act(&mut self, op: &mut Op<K>, cx: &mut Cx<'_>) -> Step<Ret<K>> {
        Step::Done(match op {
            Op::Add(Add { key, .. }) => {
                if let Some(key) = key.take() {
                    self.add(key);
                }
                Ret::Add(())
            }
            Op::Get(_) => match self.get() {
                None if !self.shutting_down && !self.makes("empty_is_shut_down") => {
                    return Step::Wait { on: GETTERS, until: None };
                }
                found => Ret::Get(found),
            },
            Op::Done(Done(token)) => Ret::Done(finished(self.done(*token))),
            Op::DoneKey(DoneKey { key, .. }) => Ret::DoneKey(finished(self.done_key(key))),
            Op::AddAll(all) => {
                for key in all.0.iter_mut().filter_map(|add| add.key.take()) {
                    if self.makes("add_all_stops_at_known") && self.dirty.contains(&key) {
                        break;
                    }
                    self.add(key);
                }
                Ret::AddAll(vec![(); all.0.len()])
            }
            Op::GetBatch(batch) => {
                let taken = up_to::<Queue<K>, _, _>(self, batch, cx);
                if self.makes("batch_takes_all") {
                    let left = std::mem::take(&mut self.waiting);
                    self.dirty.retain(|key| !left.contains(key));
                }
                return taken.map(Ret::GetBatch);
            }
            Op::DoneAll(all) => {
                self.in_done_all = true;
                let all = in_a_row::<Queue<K>, _>(self, all, cx);
                self.in_done_all = false;
                Ret::DoneAll(all)
            }
            Op::ShutDown(_)
                if self.makes("shutdown_waits_for_items") && !self.processing.is_empty() =>
            {
                if !self.shutting_down {
                    self.begin_shutdown();
                }
                return Step::Wait { on: DRAINS, until: None };
            }
            Op::ShutDown(_) => {
                self.shut_down();
                Ret::ShutDown(())
            }
            Op::Drain(drain) => return self.drain(drain, cx).map(Ret::Drain),
            Op::Len(_) if self.makes("len_counts_processing") => {
                Ret::Len(self.waiting.len() + self.processing.len())
            }
            Op::Len(_) => Ret::Len(self.waiting.len()),
            Op::Refresh(_) if !self.shutting_down => {
                return Step::Wait { on: UPDATERS, until: None }; // it has no figures to report
            }
            Op::Refresh(_) => Ret::Refresh(()),
            Op::ShuttingDown(_) => Ret::ShuttingDown(self.shutting_down),
        })
    }
}

/// The answer of a call that ends a delivery, or does not.
pub(in crate::queues) fn finished<K>(ended: bool) -> Finished<K> {
    if ended { Finished::Ended(None) } else { Finished::NotInProcessing }
}

impl<K: Key + Ord> Machine for Plain<K> {
    type Op = Op<K>;
    type Ret = Ret<K>;

    fn step(&mut self, op: &mut Op<K>, cx: &mut Cx<'_>) -> Step<Ret<K>> {
        let step = self.act(op, cx);
        cx.wakes = cx.wakes.and(std::mem::take(&mut self.wakes));
        step
    }

    fn describe(&self) -> Option<String> {
        let Self { waiting, processing, dirty, .. } = self;
        let processing: Vec<_> = processing.iter().map(|(_, key)| key).collect();
        Some(format!("waiting {waiting:?}, in processing {processing:?}, dirty {dirty:?}"))
    }
}
