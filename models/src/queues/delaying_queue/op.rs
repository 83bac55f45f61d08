//! Sequences of calls, and the property that the machine agrees with the sequential object.

use std::fmt::Debug;
use std::iter;
use std::time::Duration;

use seatrial_core::delaying_queue::{
    AddAfter, Delaying, Drain, Op as Call, Ret, Retries, ShutDown,
};
use seatrial_core::machine::{Embed, Machine, Step, UpTo};
use seatrial_core::queue::{
    Add, Done, DoneKey, DrainUntil, Finished, Get, Len, Refresh, ShuttingDown, Token,
};

use super::{DelayingQueue, Plain};
use crate::queues::fixtures::pair::{Pair, given};
use crate::queues::queue::AT_ONCE;
use crate::single_step::{Behind, each_call, hash};
use crate::trial::{Alone, Component};

/// A call; times are in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the queue")]
pub enum Op {
    Add(u8),
    AddAfter(u8, u16),
    /// Several calls for one item, each with an earlier time than the one before.
    Sooner(u8, u16),
    /// Many items, with times in no order. When all are due, one of them is delayed again; then
    /// all are taken and ended.
    Many(u8),
    Advance(u16),
    Get,
    Done(u8),
    DoneByValue(u8),
    Len,
    ShutDown,
    Drain,
    DrainAll,
}

/// Runs calls on the machine that ships and on the sequential object.
///
/// # Panics
/// If the two disagree, or the machine breaks a rule of its own.
pub fn check(ops: &[Op]) {
    check_on(ops, Behind(DelayingQueue::machine()));
}

/// As [`check`], on a machine in place of the one that ships.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], machine: impl Machine<Op = Call<u8>, Ret = Ret<u8>>) {
    let (alone, recorded) = Alone::<DelayingQueue>::with(Box::new(machine));
    let mut pair = Pair::<Delaying<u8>, _>::new(recorded, Plain::default());
    for op in each_call(ops) {
        pair.step_delaying(*op);
    }
    pair.refresh(); // the last call may have left many due items to the next one
    alone.tells_what_is_so();
}

/// Reads calls from bytes: one byte for the call, one for the item, one for the time.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let op = |bytes: &[u8]| {
        let (key, time) = (bytes[1] % 5, u16::from(bytes[2]) % 20);
        match bytes[0] % 16 {
            0..3 => Op::Add(key),
            3 if bytes[2] >= 224 => Op::Sooner(key, time + 10),
            3 if bytes[2] < 16 => Op::Many(72 + bytes[1] % 56),
            3..7 => Op::AddAfter(key, time),
            7..9 => Op::Advance(time),
            9..12 => Op::Get,
            12 => Op::Done(key),
            13 => Op::DoneByValue(key),
            14 => Op::Len,
            _ => match bytes[2] % 16 {
                0 => Op::ShutDown,
                1 => Op::Drain,
                2 => Op::DrainAll,
                _ => Op::Len,
            },
        }
    };
    bytes.chunks_exact(3).map(op).collect()
}

/// A plain machine with a delaying queue in it.
pub(crate) trait HasDelays {
    /// Returns that queue.
    fn delaying(&mut self) -> &mut Plain;
}

impl HasDelays for Plain {
    fn delaying(&mut self) -> &mut Self {
        self
    }
}

impl<M: Machine<Op: Debug, Ret: Debug>, S: HasDelays> Pair<M, S>
where
    Add<u8>: Embed<M>,
    AddAfter<u8>: Embed<M>,
    Get: Embed<M, Ret = Option<(Token, u8)>>,
    UpTo<Get>: Embed<M, Ret = Vec<(Token, u8)>>,
    Done: Embed<M, Ret = Finished<u8>>,
    DoneKey<u8>: Embed<M, Ret = Finished<u8>>,
    ShutDown<u8>: Embed<M>,
    Drain<u8>: Embed<M>,
    Refresh: Embed<M>,
    Len: Embed<M, Ret = usize>,
    Retries: Embed<M, Ret = u64>,
    ShuttingDown: Embed<M, Ret = bool>,
{
    /// Makes a call that every queue with delays has.
    pub(in crate::queues) fn step_delaying(&mut self, op: Op) {
        match op {
            Op::Add(key) => {
                self.call(Add { key: Some(key), hash: hash(&key) });
                self.spec.delaying().add(key);
            }
            Op::AddAfter(key, delay) => self.add_after(key, Duration::from_millis(delay.into())),
            Op::Sooner(key, times) => {
                let delays = (1..=times).rev().map(|delay| Duration::from_millis(delay.into()));
                delays.for_each(|delay| self.add_after(key, delay));
            }
            Op::Many(items) => self.many(items),
            Op::Advance(by) => self.advance(Duration::from_millis(by.into())),
            Op::Get => self.get(),
            Op::Done(key) => {
                if let Some(token) = self.deliveries.get(&key) {
                    let finished = self.call(Done(*token));
                    self.done(key, &finished);
                }
            }
            Op::DoneByValue(key) => {
                let finished = self.call(DoneKey { key, hash: hash(&key) });
                self.done(key, &finished);
            }
            Op::Len => {
                self.refresh();
                assert_eq!(self.call(Len), self.spec.delaying().queue.waiting.len());
            }
            Op::ShutDown => {
                self.call(ShutDown::<u8>::new());
                self.spec.delaying().shut_down();
            }
            Op::Drain => self.drain(DrainUntil::NothingInFlight),
            Op::DrainAll => self.drain(DrainUntil::AllWorkDone),
        }
        self.compare();
    }

    /// Compares what both say of themselves.
    pub(in crate::queues) fn compare(&mut self) {
        assert_eq!(self.call(Retries), self.spec.delaying().retries, "retries");
        assert_eq!(self.call(ShuttingDown), self.spec.delaying().queue.shutting_down);
    }

    fn add_after(&mut self, key: u8, delay: Duration) {
        let called = key.is_multiple_of(2).then(|| self.ours.now()); // both ways to tell the time
        self.call(AddAfter { key: Some(key), hash: hash(&key), delay, called });
        let plain = self.spec.delaying();
        plain.add_after(key, plain.now, delay);
    }

    fn advance(&mut self, by: Duration) {
        self.ours.advance(by);
        self.spec.delaying().advance(by);
    }

    /// Delays more items than one step adds. The first call after their time adds a part of them,
    /// and delays the first one of the rest again. None of them may wait already: else that call
    /// tells of fewer items than it adds.
    fn many(&mut self, items: u8) {
        self.advance(Duration::from_millis(30));
        self.refresh();
        if self.spec.delaying().queue.dirty.iter().any(|key| *key >= 100) {
            return;
        }
        let mut delays: Vec<(u64, u8)> =
            (0..items).map(|item| (u64::from(item) * 37 % 16, 100 + item)).collect();
        for (delay, item) in &delays {
            self.add_after(*item, Duration::from_millis(*delay));
        }
        self.advance(Duration::from_millis(16));
        delays.retain(|(delay, _)| *delay > 0);
        delays.sort_by_key(|(delay, _)| *delay);
        if let Some((_, first_of_the_rest)) = delays.get(AT_ONCE) {
            self.add_after(*first_of_the_rest, Duration::from_millis(3));
        }
        while !self.spec.delaying().queue.waiting.is_empty() {
            self.get();
        }
        let delivered: Vec<u8> = self.deliveries.keys().copied().collect();
        delivered.into_iter().for_each(|key| self.step_delaying(Op::Done(key)));
        self.advance(Duration::from_millis(3));
        self.step_delaying(Op::Len);
    }

    fn get(&mut self) {
        let (step, expected) =
            self.take(Get, |spec| spec.delaying().queue.get().map(|(_, key)| key));
        let spec = self.spec.delaying();
        let tokens = given(step, &expected, spec.queue.shutting_down, spec.earliest());
        self.deliveries.extend(iter::zip(expected, tokens));
    }

    fn done(&mut self, key: u8, finished: &Finished<u8>) {
        let ended = self.spec.delaying().queue.done_key(&key);
        assert_eq!(ended, *finished != Finished::NotInProcessing);
    }

    fn drain(&mut self, until: DrainUntil) {
        self.spec.delaying().shut_down();
        let over = self.spec.delaying().queue.is_drained(until);
        let step = self.ours.step(Drain::<u8>::new(until).embed());
        assert_eq!(matches!(step, Step::Done(_)), over, "{step:?}");
    }
}
