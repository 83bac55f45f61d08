//! The priority queue.

use seatrial_core::priority_queue::{AddOptions, PriorityQueue};
use seatrial_core::queue::Token;
use seatrial_core::runtime::System;

use crate::Measure;
use crate::measure::{Key, bytes_per_item, keys, per_item, prepared_duel};
use crate::plain::priority::Plain;
use crate::plain::{Hashing, Same, SipHash};
use crate::queue::{Contestant, Onward, QUEUED, backlogs, four_by_four, longest_in_and_out};
use crate::queue::{one_by_one, one_then_next};
use crate::row::Row;

pub(crate) const ROWS: &[Measure] = &[
    Measure::new("priority", "add+get+done, one by one", singly::<Same>).siphash(singly::<SipHash>),
    Measure::new("priority", "add, done+get in one, one by one", onward::<Same>)
        .siphash(onward::<SipHash>),
    Measure::new("priority", "64k queued, eight priorities", backlog::<Same>)
        .siphash(backlog::<SipHash>),
    Measure::new("priority", "4 producers, 4 consumers", many_threads::<Same>)
        .siphash(many_threads::<SipHash>),
];

/// Returns one of eight priorities, depending on a byte of the name.
fn priority(key: &Key) -> i32 {
    i32::from(key.as_bytes()[17] % 8)
}

impl Contestant for PriorityQueue<Key> {
    #[inline(always)]
    fn add(&self, key: Key) {
        let options = AddOptions { priority: priority(&key), ..AddOptions::default() };
        self.add_with(key, options);
    }

    #[inline(always)]
    fn take_and_end(&self) -> bool {
        let Some((token, _key, _)) = self.take_with_priority() else { return false };
        self.done(token)
    }

    /// Shutdown would drop waiting items, so it comes when there are none.
    fn shut_down(&self) {
        while !self.is_empty() {
            std::thread::yield_now();
        }
        Self::shut_down(self);
    }
}

impl Onward for PriorityQueue<Key> {
    type Held = Token;

    #[inline(always)]
    fn first(&self) -> Option<Token> {
        let (token, _key, _) = self.take_with_priority()?;
        Some(token)
    }

    #[inline(always)]
    fn next(&self, token: Token) -> Option<Token> {
        let (token, _key, _) = self.done_then_take(token)?;
        Some(token)
    }

    fn end(&self, token: Token) {
        self.done(token);
    }
}

/// Two calls, because there is no single one.
impl<S: Hashing> Onward for Plain<S> {
    type Held = Key;

    #[inline(always)]
    fn first(&self) -> Option<Key> {
        self.get().map(|(key, _)| key)
    }

    #[inline(always)]
    fn next(&self, key: Key) -> Option<Key> {
        self.done(&key);
        self.first()
    }

    fn end(&self, key: Key) {
        self.done(&key);
    }
}

impl<S: Hashing> Contestant for Plain<S> {
    #[inline(always)]
    fn add(&self, key: Key) {
        let priority = priority(&key);
        Self::add(self, key, priority);
    }

    #[inline(always)]
    fn take_and_end(&self) -> bool {
        let Some((key, _)) = self.get() else { return false };
        self.done(&key);
        true
    }

    fn shut_down(&self) {
        while !self.is_empty() {
            std::thread::yield_now();
        }
        Self::shut_down(self);
    }
}

fn queue() -> PriorityQueue<Key> {
    PriorityQueue::new(&System::new())
}

fn singly<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let times = one_by_one((&queue(), &Plain::<S>::default()));
    Row::new(part, row, times).goal(400.0).gate(2.0)
}

fn onward<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    Row::new(part, row, one_then_next((&queue(), &Plain::<S>::default())))
}

fn backlog<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let times = backlogs((&queue(), &Plain::<S>::default()));
    let filled = bytes_per_item(|keys| {
        let queue = queue();
        keys.into_iter().for_each(|key| Contestant::add(&queue, key));
        queue
    });
    Row::new(part, row, times)
        .gate(2.0)
        .bytes(filled - size_of::<Key>() as f64)
        .most_bytes(54.0)
        .pause(longest_in_and_out(5, &keys(QUEUED), queue))
}

fn many_threads<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let keys = keys(300_000);
    let ours = || four_by_four(&keys, &queue());
    let plain = || four_by_four(&keys, &Plain::<S>::default());
    let times = prepared_duel(keys.len(), ours, plain);
    Row::new(part, row, times).goal(per_item(1.1)).gate(2.0)
}
