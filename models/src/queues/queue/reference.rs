//! The reference's algorithm, with the mistakes that a programmer may make in it.
//!
//! It has three containers instead of our slab, so that a mistake is one changed line. Without a
//! mistake it behaves like the machine that ships. With the reference's own three mistakes it is
//! the faithful variant, which replays every recorded trace.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::queue::{
    Add, DRAINS, Done, DoneKey, Drain, DrainUntil, Finished, GETTERS, Key, Op, Queue, Ret, Token,
    UPDATERS,
};

use crate::single_step::row::{in_a_row, up_to};

/// One changed line. The mutant that makes a mistake describes those without a comment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mistake {
    // Mistakes that the reference makes to this day.
    /// Getters and drains share one condition, and done signals one of them.
    OneCondition,
    /// A flag says whether drains wait; a new drain sets it again.
    DrainFlag,
    /// Done of an item that is not in processing queues it again if it is dirty. So an item may be
    /// handed out twice, and one done ends both deliveries.
    DoneUnchecked,
    // Mistakes that the reference made once.
    /// A drain tests, releases the lock, takes it again and sleeps without a second test.
    DrainTestsThenSleeps,
    /// Shutdown ends consumers at once, as the documentation of the reference said.
    ShutdownEndsConsumers,
    // Mistakes that any programmer may make.
    QueueWhileProcessing,
    ForgetDirtyAtDone,
    /// The item leaves the dirty set at done, not at get.
    CleanAtDone,
    NoDeduplication,
    NoRequeueInShutdown,
    DiscardAtShutdown,
    EmptyIsShutDown,
    AcceptAfterShutdown,
    LastInFirstOut,
    RequeueInFront,
    LenCountsProcessing,
    /// A drain ignores the items in processing.
    DrainLooksAtWaitingOnly,
    /// The strict drain looks only at the items in processing.
    StrictDrainIgnoresWaiting,
    /// The strict drain misses an item that this very done queues again.
    StrictDrainMissesReturning,
    DrainHidesShutdown,
    /// Shutdown waits for the items in processing.
    ShutdownWaitsForItems,
    /// Done ends any delivery of the item that is under way.
    DoneByValue,
    AddAllStopsAtKnown,
    DoneAllForgetsDirty,
    BatchTakesAll,
}

use Mistake::*;

/// The containers of the reference.
#[derive(Clone, Debug)]
pub(super) struct ThreeSets<K> {
    mistakes: &'static [Mistake],
    storage: VecDeque<K>,
    dirty: BTreeSet<K>,
    processing: Vec<(Token, K)>,
    known: Vec<K>,
    deliveries: u32,
    shutting_down: bool,
    drain: bool,
    shutdowns: u64,
    /// Whether several deliveries are being ended.
    in_done_all: bool,
}

/// Marks a drain that has tested and is about to sleep ([`DrainTestsThenSleeps`]).
const LOOKED: u64 = 1 << 63;

impl<K: Key + Ord> ThreeSets<K> {
    pub(super) fn with(mistakes: &'static [Mistake]) -> Self {
        Self {
            mistakes,
            storage: VecDeque::new(),
            dirty: BTreeSet::new(),
            processing: Vec::new(),
            known: Vec::new(),
            deliveries: 0,
            shutting_down: false,
            drain: false,
            shutdowns: 0,
            in_done_all: false,
        }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn wake_drains(&self, wakes: &mut Wakes) {
        if self.makes(OneCondition) {
            wakes.one(GETTERS);
        } else {
            wakes.all(DRAINS);
        }
    }

    fn is_in_processing(&self, key: &K) -> bool {
        self.processing.iter().any(|(_, delivered)| delivered == key)
    }

    fn add(&mut self, key: K, wakes: &mut Wakes) {
        if self.shutting_down && !self.makes(AcceptAfterShutdown) {
            return;
        }
        if !self.dirty.insert(key.clone()) && !self.makes(NoDeduplication) {
            return;
        }
        if self.is_in_processing(&key) && !self.makes(QueueWhileProcessing) {
            return;
        }
        self.storage.push_back(key);
        wakes.one(GETTERS);
    }

    fn get(&mut self) -> Option<(Token, K)> {
        if self.shutting_down && self.makes(ShutdownEndsConsumers) {
            return None;
        }
        let key = if self.makes(LastInFirstOut) {
            self.storage.pop_back()
        } else {
            self.storage.pop_front()
        };
        let key = key?;
        if !self.makes(CleanAtDone) {
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

    fn done_token(&mut self, token: Token, wakes: &mut Wakes) -> Finished<K> {
        let by_value = self.makes(DoneByValue);
        let named = |delivered: &Token| {
            if by_value { delivered.slot() == token.slot() } else { *delivered == token }
        };
        match self.processing.iter().position(|(delivered, _)| named(delivered)) {
            Some(at) => self.finish(at, wakes),
            None => Finished::NotInProcessing,
        }
    }

    fn done_key(&mut self, key: &K, wakes: &mut Wakes) -> Finished<K> {
        if let Some(at) = self.processing.iter().position(|(_, delivered)| delivered == key) {
            return self.finish(at, wakes);
        }
        if self.makes(DoneUnchecked) {
            if self.dirty.contains(key) {
                self.storage.push_back(key.clone());
                wakes.one(GETTERS);
            } else if self.processing.is_empty() {
                self.wake_drains(wakes);
            }
        }
        Finished::NotInProcessing
    }

    fn finish(&mut self, at: usize, wakes: &mut Wakes) -> Finished<K> {
        let (_, key) = self.processing.remove(at);
        if self.makes(DoneUnchecked) {
            // The reference keeps a set of the items in processing: an item that was queued twice
            // is handed out twice, and the first done ends both deliveries.
            self.processing.retain(|(_, delivered)| *delivered != key);
        }
        let forgotten = self.makes(ForgetDirtyAtDone)
            || self.makes(NoRequeueInShutdown) && self.shutting_down
            || self.makes(DoneAllForgetsDirty) && self.in_done_all;
        if self.dirty.contains(&key) && !forgotten {
            if self.makes(RequeueInFront) {
                self.storage.push_front(key);
            } else {
                self.storage.push_back(key);
            }
            wakes.one(GETTERS);
            if self.makes(OneCondition) {
                return Finished::Ended(None); // the reference signals once, in either branch
            }
        } else {
            self.dirty.remove(&key);
        }
        if self.processing.is_empty() {
            self.wake_drains(wakes);
        }
        Finished::Ended(None)
    }

    fn shut_down(&mut self, wakes: &mut Wakes) {
        self.shutdowns += 1;
        self.drain = false;
        self.begin_shutdown(wakes);
    }

    fn begin_shutdown(&mut self, wakes: &mut Wakes) {
        self.shutting_down = true;
        if self.makes(DiscardAtShutdown) {
            self.storage.clear();
            self.dirty.clear();
        }
        wakes.all(GETTERS);
        wakes.all(DRAINS);
        wakes.all(UPDATERS);
    }

    fn is_drained(&self, until: DrainUntil) -> bool {
        let in_flight_done = self.processing.is_empty() || self.makes(DrainLooksAtWaitingOnly);
        let strict = until == DrainUntil::AllWorkDone;
        let missing = self.makes(StrictDrainIgnoresWaiting)
            || (self.makes(StrictDrainMissesReturning) && self.storage.len() == 1);
        in_flight_done && (!strict || missing || self.storage.is_empty())
    }

    fn drain(&mut self, drain: &mut Drain, cx: &mut Cx<'_>) -> Step<Ret<K>> {
        if drain.began.is_none() {
            self.drain = true;
            if !self.makes(DrainHidesShutdown) || self.is_drained(drain.until) {
                self.begin_shutdown(&mut cx.wakes);
            }
        }
        let began = drain.began.get_or_insert(self.shutdowns);
        let looked = *began & LOOKED != 0;
        *began &= !LOOKED;
        let began = *began;
        let released = if self.makes(DrainFlag) { !self.drain } else { self.shutdowns != began };
        let on = if self.makes(OneCondition) { GETTERS } else { DRAINS };
        if looked && !self.processing.is_empty() {
            return Step::Wait { on, until: None };
        }
        if self.is_drained(drain.until) || released {
            self.shutting_down = true;
            return Step::Done(Ret::Drain(()));
        }
        if self.makes(DrainTestsThenSleeps) {
            drain.began = Some(began | LOOKED);
            // Not `Step::again`: it would pass on the wake-up, and two drains would take turns.
            return Step::Wait { on, until: Some(cx.now() + Duration::from_nanos(1)) };
        }
        Step::Wait { on, until: None }
    }
}

impl<K: Key + Ord> Machine for ThreeSets<K> {
    type Op = Op<K>;
    type Ret = Ret<K>;

    fn step(&mut self, op: &mut Op<K>, cx: &mut Cx<'_>) -> Step<Ret<K>> {
        Step::Done(match op {
            Op::Add(Add { key, .. }) => {
                if let Some(key) = key.take() {
                    self.add(key, &mut cx.wakes);
                }
                Ret::Add(())
            }
            Op::Get(_) => match self.get() {
                None if !self.shutting_down && !self.makes(EmptyIsShutDown) => {
                    return Step::Wait { on: GETTERS, until: None };
                }
                found => Ret::Get(found),
            },
            Op::Done(Done(token)) => Ret::Done(self.done_token(*token, &mut cx.wakes)),
            Op::DoneKey(DoneKey { key, .. }) => Ret::DoneKey(self.done_key(key, &mut cx.wakes)),
            Op::AddAll(all) => {
                for key in all.0.iter_mut().filter_map(|add| add.key.take()) {
                    if self.makes(AddAllStopsAtKnown) && self.dirty.contains(&key) {
                        break;
                    }
                    self.add(key, &mut cx.wakes);
                }
                Ret::AddAll(vec![(); all.0.len()])
            }
            Op::GetBatch(batch) => {
                let taken = up_to::<Queue<K>, _, _>(self, batch, cx);
                if self.makes(BatchTakesAll) {
                    let left = std::mem::take(&mut self.storage);
                    self.dirty.retain(|key| !left.contains(key));
                }
                return taken.map(Ret::GetBatch);
            }
            Op::DoneAll(all) => {
                self.in_done_all = true;
                let finished = in_a_row::<Queue<K>, _>(self, all, cx);
                self.in_done_all = false;
                Ret::DoneAll(finished)
            }
            Op::ShutDown(_) if self.makes(ShutdownWaitsForItems) && !self.processing.is_empty() => {
                if !self.shutting_down {
                    self.begin_shutdown(&mut cx.wakes);
                }
                return Step::Wait { on: DRAINS, until: None };
            }
            Op::ShutDown(_) => {
                self.shut_down(&mut cx.wakes);
                Ret::ShutDown(())
            }
            Op::Drain(drain) => return self.drain(drain, cx),
            Op::Len(_) if self.makes(LenCountsProcessing) => {
                Ret::Len(self.storage.len() + self.processing.len())
            }
            Op::Len(_) => Ret::Len(self.storage.len()),
            Op::Refresh(_) if !self.shutting_down => {
                return Step::Wait { on: UPDATERS, until: None }; // it has no figures to report
            }
            Op::Refresh(_) => Ret::Refresh(()),
            Op::ShuttingDown(_) => Ret::ShuttingDown(self.shutting_down),
        })
    }

    fn describe(&self) -> Option<String> {
        let Self { storage, processing, dirty, .. } = self;
        let processing: Vec<_> = processing.iter().map(|(_, key)| key).collect();
        Some(format!("waiting {storage:?}, in processing {processing:?}, dirty {dirty:?}"))
    }
}
