//! The rules of the priority queue, one behaviour a test.

mod batch;
mod calls;
mod delays;
mod ends;
mod many;
mod meter;
mod order;

use super::*;
use crate::machine::Cx;
use crate::machine::single_step::Stepped;
use crate::queue::Finished;
use crate::runtime::millis::{at, ms};
use crate::slab::Slot;

type Machine<L = Exponential<u8>> = Stepped<Prioritized<u8, L, Journal>>;

/// Records its reports.
#[derive(Clone, Default)]
struct Journal(Vec<String>);

impl Observer for Journal {
    fn ready(&mut self, entry: Slot, priority: i32, _: Option<Instant>, _: &mut Cx<'_>) {
        self.0.push(format!("{} ready {priority}", entry.0));
    }
    fn rose(&mut self, entry: Slot, priority: i32, _: &mut Cx<'_>) {
        self.0.push(format!("{} rose {priority}", entry.0));
    }
    fn handed_out(&mut self, entry: Slot, _: &mut Cx<'_>) {
        self.0.push(format!("{} out", entry.0));
    }
    fn done(&mut self, entry: Slot, _: &mut Cx<'_>) {
        self.0.push(format!("{} done", entry.0));
    }
    fn retried(&mut self, _: &mut Cx<'_>) {
        self.0.push("retried".to_owned());
    }
}

fn machine() -> Machine {
    Stepped::new(Prioritized::new(Exponential::new(ms(10), ms(1000)), Journal::default()))
}

fn priority(priority: i32) -> AddOptions {
    AddOptions { priority, ..AddOptions::default() }
}

fn after(priority: i32, delay: u64) -> AddOptions {
    AddOptions { after: Some(ms(delay)), ..self::priority(priority) }
}

fn failed(priority: i32) -> AddOptions {
    AddOptions { rate_limited: true, ..self::priority(priority) }
}

impl<L: Limiter<u8>> Machine<L> {
    fn add(&mut self, key: u8, options: AddOptions) {
        self.call(Add { key: Some(key), hash: key.into(), options, called: None });
    }

    fn add_all(&mut self, keys: &[u8], options: AddOptions) {
        let items = keys.iter().map(|key| (Some(*key), u64::from(*key))).collect();
        self.call(AddBatch { items, options, called: None });
    }

    fn get(&mut self) -> (Token, u8, i32) {
        self.call(Get).expect("an item, not shutdown")
    }

    fn done(&mut self, token: Token) {
        assert!(matches!(self.call(Done(token)), Finished::Ended(_)));
    }

    fn len(&mut self) -> usize {
        self.call(Len)
    }

    fn failures(&mut self, key: u8) -> u32 {
        self.call(NumRequeues { key, hash: key.into() })
    }

    /// Takes and ends everything that can be handed out: items and priorities.
    fn drain(&mut self) -> Vec<(u8, i32)> {
        (0..self.len())
            .map(|_| {
                let (token, key, priority) = self.get();
                self.done(token);
                (key, priority)
            })
            .collect()
    }

    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.machine.observer.0)
    }
}
