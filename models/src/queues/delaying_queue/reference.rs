//! The reference's construction, with the mistakes that a programmer may make in it: a queue, and
//! around it a list of items that wait for their time.
//!
//! The list is plain instead of our heap, so that a mistake is one changed line. The queue inside
//! is the one that ships, or one of the mutants of the queue.

use seatrial_core::delaying_queue::{AddAfter, Delaying, Op, Ret};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::queue::{self as core, Add, GETTERS, ShuttingDown, Token};
use seatrial_core::runtime::Instant;

use crate::queue::Queue;
use crate::queues::fixtures::inside::as_another;
use crate::queues::queue::AT_ONCE;
use crate::single_step::row::{in_a_row, up_to};
use crate::trial::MachineOf;

/// One changed line. The mutant that makes a mistake describes those without a comment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mistake {
    TicksOfTen,
    FirstDelayCounts,
    LastDelayCounts,
    /// Every call makes an entry of its own.
    OneEntryPerCall,
    /// Adding an item at once ends its waiting.
    AddCancelsDelay,
    /// A due item is added, and stays in the list.
    DueIsNotRemoved,
    DueLostWhileProcessing,
    /// Due items are added in the order of their calls.
    OrderOfCalls,
    DoneForgetsDue,
    AddForgetsDue,
    LenForgetsDue,
    /// Len counts the items that wait for their time.
    LenCountsDelayed,
    SleepUntilLatest,
    /// A consumer sleeps without a deadline.
    SleepWithoutTime,
    BatchSleepsWithoutTime,
    BatchTakesEarly,
    /// An earlier time wakes no sleeper.
    EarlierTimeWakesNobody,
    /// Only delays that change a time are counted.
    RetriesCountKept,
    /// A call without a delay is not counted.
    ZeroDelayIsNotCounted,
    /// A shutdown of a queue that already refuses items has no effect.
    SecondShutDownIsNothing,
    ShutDownForgetsDue,
    ShutDownAddsAPart,
    DrainForgetsDue,
    DrainBeginsLate,
    /// Shutdown adds the items that wait for their time.
    FlushAtShutdown,
    DrainWaitsForDelayed,
    AcceptDelaysAfterShutdown,
}

use Mistake::*;

struct Entry {
    key: u8,
    deadline: Instant,
}

/// A queue and a list of items that wait for their time.
pub(super) struct TwoLayers {
    mistakes: &'static [Mistake],
    queue: MachineOf<Queue>,
    /// Items in the order in which their times were given.
    later: Vec<Entry>,
    processing: Vec<(Token, u8)>,
    retries: u64,
}

impl TwoLayers {
    pub(super) fn with(mistakes: &'static [Mistake], queue: MachineOf<Queue>) -> Self {
        Self { mistakes, queue, later: Vec::new(), processing: Vec::new(), retries: 0 }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn inner(&mut self, mut op: core::Op<u8>, cx: &mut Cx<'_>) -> Step<core::Ret<u8>> {
        self.queue.step(&mut op, cx)
    }

    fn add(&mut self, key: u8, cx: &mut Cx<'_>) {
        if self.makes(AddCancelsDelay) {
            self.later.retain(|entry| entry.key != key);
        }
        let add = Add { key: Some(key), hash: crate::single_step::hash(&key) };
        let _unit = self.inner(core::Op::Add(add), cx);
    }

    fn is_due(&self, entry: &Entry, now: Instant) -> bool {
        let ticks = |at: Instant| at.as_nanos().div_ceil(10_000_000);
        entry.deadline != Instant::NEVER
            && (entry.deadline <= now
                || self.makes(TicksOfTen) && ticks(entry.deadline) <= ticks(now) + 1)
    }

    fn move_due(&mut self, cx: &mut Cx<'_>) {
        self.move_some(usize::MAX, cx);
    }

    /// Adds the first due items, at most this number.
    fn move_some(&mut self, most: usize, cx: &mut Cx<'_>) {
        let now = cx.now();
        let (mut due, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.later).into_iter().partition(|it| self.is_due(it, now));
        self.later = rest;
        if !self.makes(OrderOfCalls) {
            due.sort_by_key(|entry| entry.deadline);
        }
        self.later.extend(due.split_off(most.min(due.len())));
        for Entry { key, deadline } in due {
            if !self.makes(DueLostWhileProcessing) || !self.is_processed(key) {
                self.add(key, cx);
            }
            if self.makes(DueIsNotRemoved) {
                self.later.push(Entry { key, deadline });
            }
        }
    }

    fn is_shutting_down(&mut self, cx: &mut Cx<'_>) -> bool {
        let says = self.inner(core::Op::ShuttingDown(ShuttingDown), cx);
        matches!(says, Step::Done(core::Ret::ShuttingDown(true)))
    }

    fn add_after(&mut self, call: &AddAfter<u8>, cx: &mut Cx<'_>) {
        let Some(key) = call.key else { return };
        if self.is_shutting_down(cx) && !self.makes(AcceptDelaysAfterShutdown) {
            return;
        }
        self.move_due(cx);
        if call.delay.is_zero() {
            self.retries += u64::from(!self.makes(ZeroDelayIsNotCounted));
            return self.add(key, cx);
        }
        let called = call.called.unwrap_or_else(|| cx.now());
        let changes = self.wait_until(Entry { key, deadline: called + call.delay });
        self.retries += u64::from(changes || !self.makes(RetriesCountKept));
        if changes && !self.makes(EarlierTimeWakesNobody) {
            cx.wakes.all(GETTERS);
        }
    }

    /// Gives an item a time; tells whether that changes its time.
    fn wait_until(&mut self, new: Entry) -> bool {
        let before = self.later.iter().position(|entry| entry.key == new.key);
        match before.filter(|_| !self.makes(OneEntryPerCall)) {
            Some(_) if self.makes(FirstDelayCounts) => return false,
            Some(at) if self.makes(LastDelayCounts) => drop(self.later.remove(at)),
            Some(at) if self.later[at].deadline <= new.deadline => return false,
            Some(at) => drop(self.later.remove(at)),
            None => {}
        }
        self.later.push(new);
        true
    }

    fn next_time(&self) -> Option<Instant> {
        let times = self.later.iter().map(|entry| entry.deadline);
        if self.makes(SleepWithoutTime) {
            None
        } else if self.makes(SleepUntilLatest) {
            times.max()
        } else {
            times.min()
        }
    }

    fn discard_later(&mut self, cx: &mut Cx<'_>) {
        for Entry { key, .. } in std::mem::take(&mut self.later) {
            if self.makes(FlushAtShutdown) {
                self.add(key, cx);
            }
        }
    }

    fn is_processed(&self, key: u8) -> bool {
        self.processing.iter().any(|(_, processed)| *processed == key)
    }

    fn get(&mut self, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        self.move_due(cx);
        match self.inner(core::Op::Get(core::Get), cx) {
            Step::Wait { on, .. } => Step::Wait { on, until: self.next_time() },
            taken => {
                if let Step::Done(core::Ret::Get(Some(taken))) = &taken {
                    self.processing.push(*taken);
                }
                taken.map(outer)
            }
        }
    }

    fn get_batch(&mut self, batch: &core::GetBatch, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        if self.makes(BatchTakesEarly) {
            std::mem::take(&mut self.later).iter().for_each(|entry| self.add(entry.key, cx));
        }
        match up_to::<Delaying<u8>, _, _>(self, batch, cx).map(Ret::GetBatch) {
            Step::Wait { on, .. } if self.makes(BatchSleepsWithoutTime) => {
                Step::Wait { on, until: None }
            }
            step => step,
        }
    }

    fn drain(&mut self, drain: &mut core::Drain, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        if drain.began.is_none() {
            if !self.makes(DrainForgetsDue) {
                self.move_due(cx);
            }
            if self.makes(DrainWaitsForDelayed) && !self.later.is_empty() {
                return Step::Wait { on: core::DRAINS, until: None };
            }
            if self.makes(DrainBeginsLate) && self.later.len() > AT_ONCE {
                self.later.drain(..AT_ONCE);
                let _ends_later = self.inner(core::Op::Drain(drain.clone()), cx);
                return Step::again(core::UPDATERS);
            }
            self.discard_later(cx);
        }
        let mut op = core::Op::Drain(drain.clone());
        let step = self.queue.step(&mut op, cx);
        if let core::Op::Drain(stepped) = op {
            *drain = stepped;
        }
        step.map(outer)
    }
}

type Inner = core::Ret<u8>;

fn outer(ret: Inner) -> Ret<u8> {
    as_another!(ret, Inner => Ret
        [Add Get Done DoneKey AddAll GetBatch DoneAll ShutDown Drain Refresh Len ShuttingDown],
    )
}

impl Machine for TwoLayers {
    type Op = Op<u8>;
    type Ret = Ret<u8>;

    fn step(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        match op {
            Op::Add(add) => {
                if !self.makes(AddForgetsDue) {
                    self.move_due(cx);
                }
                if let Some(key) = add.key.take() {
                    self.add(key, cx);
                }
                Step::Done(Ret::Add(()))
            }
            Op::AddAfter(call) => {
                self.add_after(call, cx);
                Step::Done(Ret::AddAfter(()))
            }
            Op::Get(_) => self.get(cx),
            Op::Done(done) => {
                if !self.makes(DoneForgetsDue) {
                    self.move_due(cx);
                }
                self.processing.retain(|(token, _)| *token != done.0);
                self.inner(core::Op::Done(done.clone()), cx).map(outer)
            }
            Op::DoneKey(done) => {
                self.move_due(cx);
                self.processing.retain(|(_, processed)| *processed != done.key);
                self.inner(core::Op::DoneKey(done.clone()), cx).map(outer)
            }
            Op::AddAll(all) => Step::Done(Ret::AddAll(in_a_row::<Delaying<u8>, _>(self, all, cx))),
            Op::GetBatch(batch) => self.get_batch(batch, cx),
            Op::DoneAll(all) => {
                Step::Done(Ret::DoneAll(in_a_row::<Delaying<u8>, _>(self, all, cx)))
            }
            Op::ShutDown(_) => {
                if self.makes(SecondShutDownIsNothing) && self.is_shutting_down(cx) {
                    return Step::Done(Ret::ShutDown(()));
                }
                if !self.makes(ShutDownForgetsDue) {
                    let part = self.makes(ShutDownAddsAPart);
                    self.move_some(if part { AT_ONCE } else { usize::MAX }, cx);
                }
                self.discard_later(cx);
                self.inner(core::Op::ShutDown(core::ShutDown), cx).map(outer)
            }
            Op::Drain(drain) => self.drain(&mut drain.inner, cx),
            Op::Len(_) => {
                if !self.makes(LenForgetsDue) {
                    self.move_due(cx);
                }
                let step = self.inner(core::Op::Len(core::Len), cx);
                let more = if self.makes(LenCountsDelayed) { self.later.len() } else { 0 };
                step.map(|ret| match ret {
                    core::Ret::Len(len) => Ret::Len(len + more),
                    other => outer(other),
                })
            }
            Op::Refresh(refresh) => self.inner(core::Op::Refresh(refresh.clone()), cx).map(outer),
            Op::ShuttingDown(ask) => self.inner(core::Op::ShuttingDown(ask.clone()), cx).map(outer),
            Op::Retries(_) => Step::Done(Ret::Retries(self.retries)),
        }
    }
}
