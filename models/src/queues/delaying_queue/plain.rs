//! The delaying queue in a few lines: the plain queue, and around it a plain list of items that wait
//! for their time instead of our heap.
//!
//! It is the specification of every call. A mistake, which is one changed line here or in the queue
//! inside, makes a mutant of it with the name of the mistake.

use std::time::Duration;

use seatrial_core::delaying_queue::{AddAfter, Delaying, Op, Ret};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::queue::{DRAINS, Drain, GETTERS, GetBatch, UPDATERS};
use seatrial_core::runtime::Instant;

use super::as_queue::moment;
use crate::queue;
use crate::queues::queue::{AT_ONCE, finished};
use crate::shared::Mistakes;
use crate::single_step::row::{in_a_row, up_to};

/// A queue, and the items whose time has not come.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    mistakes: Mistakes,
    /// The items that were added.
    pub(in crate::queues) queue: queue::Plain<u8>,
    /// Items and their times, in the order in which the times were given.
    pub(in crate::queues) later: Vec<(u8, Duration)>,
    /// The time that has passed.
    pub(in crate::queues) now: Duration,
    /// How often an item was given a delay.
    pub(in crate::queues) retries: u64,
}

impl Plain {
    /// Makes an empty, running queue that makes mistakes.
    pub(super) fn with(mistakes: Mistakes) -> Self {
        Self { mistakes, queue: queue::Plain::with(mistakes), ..Self::default() }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Lets time pass until a moment, if that lies in the future.
    pub(in crate::queues) fn advance_to(&mut self, moment: Duration) {
        self.now = self.now.max(moment);
        self.move_due();
    }

    /// Lets time pass.
    pub(in crate::queues) fn advance(&mut self, by: Duration) {
        self.advance_to(self.now.saturating_add(by));
    }

    fn is_due(&self, time: Duration) -> bool {
        let ticks = |at: Duration| at.as_nanos().div_ceil(10_000_000);
        let early = self.makes("ticks_of_ten") && ticks(time) <= ticks(self.now) + 1;
        time != Duration::MAX && (time <= self.now || early)
    }

    fn move_due(&mut self) {
        self.move_some(usize::MAX);
    }

    /// Adds the first due items, in the order of their times, at most this number
    /// (`workqueue:DQ-10`, `DQ-13`).
    fn move_some(&mut self, most: usize) {
        let later = std::mem::take(&mut self.later);
        let (mut due, rest): (Vec<_>, Vec<_>) = later.into_iter().partition(|it| self.is_due(it.1));
        self.later = rest;
        if !self.makes("order_of_calls") {
            due.sort_by_key(|(_, time)| *time); // for equal times the earlier call comes first
        }
        self.later.extend(due.split_off(most.min(due.len())));
        for (key, time) in due {
            if !self.makes("due_lost_while_processing") || !self.queue.is_in_processing(&key) {
                self.add(key);
            }
            if self.makes("due_is_not_removed") {
                self.later.push((key, time));
            }
        }
    }

    pub(in crate::queues) fn add(&mut self, key: u8) {
        if self.makes("add_cancels_delay") {
            self.later.retain(|(later, _)| *later != key);
        }
        self.queue.add(key);
    }

    /// Adds an item later, or now if there is no delay (`workqueue:DQ-3`, `DQ-9`). The delay counts
    /// from the call, which may have been made a little earlier (`workqueue:DQ-5`).
    pub(in crate::queues) fn add_after(&mut self, key: u8, called: Duration, delay: Duration) {
        if self.queue.shutting_down && !self.makes("delays_counted_after_shutdown") {
            return;
        }
        self.move_due();
        if delay.is_zero() {
            self.retries += u64::from(!self.makes("zero_delay_is_not_counted"));
            return self.add(key);
        }
        let changes = self.wait_until(key, called.saturating_add(delay));
        self.retries += u64::from(changes || !self.makes("retries_count_kept"));
        if changes && !self.makes("earlier_time_wakes_nobody") {
            self.queue.wakes.all(GETTERS);
        }
    }

    /// Gives an item a time, unless it has an earlier one (`workqueue:DQ-9`); tells whether that
    /// changes its time.
    fn wait_until(&mut self, key: u8, time: Duration) -> bool {
        let before = self.later.iter().position(|(waiting, _)| *waiting == key);
        match before.filter(|_| !self.makes("one_entry_per_call")) {
            Some(_) if self.makes("first_delay_counts") => return false,
            Some(at) if self.makes("last_delay_counts") => drop(self.later.remove(at)),
            Some(at) if self.later[at].1 <= time => return false,
            Some(at) => drop(self.later.remove(at)),
            None => {}
        }
        self.later.push((key, time));
        true
    }

    /// Returns the earliest time at which an item is added.
    pub(in crate::queues) fn earliest(&self) -> Option<Duration> {
        let times = self.later.iter().map(|(_, time)| *time);
        match () {
            () if self.makes("sleep_without_time") => None,
            () if self.makes("sleep_until_latest") => times.max(),
            () => times.min(),
        }
    }

    fn discard_later(&mut self) {
        for (key, _) in std::mem::take(&mut self.later) {
            if self.makes("flush_at_shutdown") {
                self.add(key);
            }
        }
    }

    /// Ends all waiting and refuses new items (`workqueue:DQ-19`).
    pub(in crate::queues) fn shut_down(&mut self) {
        self.discard_later();
        self.queue.shut_down();
    }

    fn get(&mut self) -> Step<Ret<u8>> {
        self.move_due();
        match self.queue.get() {
            None if !self.queue.shutting_down => {
                let until = self.earliest().map(|time| Instant::ZERO + time);
                Step::Wait { on: GETTERS, until }
            }
            taken => Step::Done(Ret::Get(taken)),
        }
    }

    fn get_batch(&mut self, batch: &GetBatch, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        if self.makes("batch_takes_early") {
            std::mem::take(&mut self.later).into_iter().for_each(|(key, _)| self.add(key));
        }
        match up_to::<Delaying<u8>, _, _>(self, batch, cx).map(Ret::GetBatch) {
            Step::Wait { on, .. } if self.makes("batch_sleeps_without_time") => {
                Step::Wait { on, until: None }
            }
            step => step,
        }
    }

    fn drain(&mut self, drain: &mut Drain, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        if drain.began.is_none() {
            self.move_due_unless("drain_forgets_due");
            if self.makes("drain_waits_for_delayed") && !self.later.is_empty() {
                return Step::Wait { on: DRAINS, until: None };
            }
            if self.makes("drain_begins_late") && self.later.len() > AT_ONCE {
                self.later.drain(..AT_ONCE);
                let _ends_later = self.queue.drain(&mut drain.clone(), cx);
                return Step::again(UPDATERS);
            }
            self.discard_later();
        }
        self.queue.drain(drain, cx).map(Ret::Drain)
    }

    fn move_due_unless(&mut self, mistake: &str) {
        if !self.makes(mistake) {
            self.move_due();
        }
    }

    fn act(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        Step::Done(match op {
            Op::Add(add) => {
                self.move_due_unless("add_forgets_due");
                if let Some(key) = add.key.take() {
                    self.add(key);
                }
                Ret::Add(())
            }
            Op::AddAfter(AddAfter { key, called, delay, .. }) => {
                if let Some(key) = key {
                    self.add_after(*key, called.map_or(self.now, moment), *delay);
                }
                Ret::AddAfter(())
            }
            Op::Get(_) => return self.get(),
            Op::Done(done) => {
                self.move_due_unless("done_forgets_due");
                Ret::Done(finished(self.queue.done(done.0)))
            }
            Op::DoneKey(done) => {
                self.move_due();
                Ret::DoneKey(finished(self.queue.done_key(&done.key)))
            }
            Op::AddAll(all) => Ret::AddAll(in_a_row::<Delaying<u8>, _>(self, all, cx)),
            Op::GetBatch(batch) => return self.get_batch(batch, cx),
            Op::DoneAll(all) => Ret::DoneAll(in_a_row::<Delaying<u8>, _>(self, all, cx)),
            Op::ShutDown(_)
                if self.queue.shutting_down && self.makes("second_shutdown_is_nothing") =>
            {
                Ret::ShutDown(())
            }
            Op::ShutDown(_) => {
                if !self.makes("shutdown_forgets_due") {
                    let part = self.makes("shutdown_adds_a_part");
                    self.move_some(if part { AT_ONCE } else { usize::MAX });
                }
                self.shut_down();
                Ret::ShutDown(())
            }
            Op::Drain(drain) => return self.drain(&mut drain.inner, cx),
            Op::Len(_) => {
                self.move_due_unless("len_forgets_due");
                let more = if self.makes("len_counts_delayed") { self.later.len() } else { 0 };
                Ret::Len(self.queue.waiting.len() + more)
            }
            Op::Refresh(_) if !self.queue.shutting_down => {
                return Step::Wait { on: UPDATERS, until: None }; // it has no figures to report
            }
            Op::Refresh(_) => Ret::Refresh(()),
            Op::ShuttingDown(_) => Ret::ShuttingDown(self.queue.shutting_down),
            Op::Retries(_) => Ret::Retries(self.retries),
        })
    }
}

impl Machine for Plain {
    type Op = Op<u8>;
    type Ret = Ret<u8>;

    fn step(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        self.now = moment(cx.now());
        let step = self.act(op, cx);
        cx.wakes = cx.wakes.and(std::mem::take(&mut self.queue.wakes));
        step
    }
}
