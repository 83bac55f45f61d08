//! The delaying queue and its callers, as states. The clock jumps when no caller can move, or at
//! any time.

pub(crate) mod tests;

use std::time::Duration;

use seatrial_core::delaying_queue::{AddAfter, Delaying, Op, Ret, ShutDown};
use seatrial_core::machine::{Step, Wakes};
use seatrial_core::queue::{Add, Done, Get, Token};

use super::DelayingQueue;
use crate::engine::state::{
    Bytes, Explored, Jumps, Moment, Place, Programs, Rules as May, WakeUps, Wrong,
};
use crate::queue::states::{processed_twice, view_contents};
use crate::single_step::hash;
use crate::trial::{Component, Simulation, States};

type Rules = Delaying<u8>;

/// One instruction of a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    /// Adds an item.
    Add(u8),
    /// Adds an item after this many milliseconds.
    After(u8, u64),
    /// Gets and ends this many deliveries, or fewer if no more come.
    Work(u8),
    /// Shuts down.
    ShutDown,
}

/// The position of a caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Caller {
    at: Place,
    /// Its delivery that has not ended.
    holds: Option<(Token, u8)>,
    /// Deliveries that it has ended in the call under way.
    ended: u8,
}

/// Callers at one queue.
#[derive(Clone, Debug)]
pub(super) struct AtDelayingQueue {
    programs: Programs<Call>,
    /// Whether the clock stands still while a caller can move, so that no item may come late.
    exact: bool,
    edit: fn(&mut Wakes),
    reaches: fn(&Rules) -> bool,
}

impl AtDelayingQueue {
    fn new(programs: &[&[Call]], exact: bool, reaches: fn(&Rules) -> bool) -> Self {
        Self { programs: Programs::new(programs), exact, edit: |_| {}, reaches }
    }
}

/// Lists the models.
pub(super) fn all() -> Vec<Box<dyn Simulation<DelayingQueue>>> {
    const JUDGES: &[&str] = &["never_concurrent", "nothing_late"];
    const STANDS: May =
        May { symmetric: true, jumps: Jumps::AtStandstill, wake_ups: WakeUps::Any, spurious: 0 };
    let models = [
        States {
            name: "states_of_times",
            says: "two producers add items with early and late times for two workers",
            judges: JUDGES,
            subject: || AtDelayingQueue::new(EARLIER, true, |queue| queue.delayed() == 2),
            rules: STANDS,
        },
        States {
            name: "states_of_times_at_any_time",
            says: "the same, and a time may also come while callers can still move",
            judges: &["never_concurrent"],
            subject: || AtDelayingQueue::new(EARLIER, false, |queue| queue.delayed() == 2),
            rules: May { jumps: Jumps::AtAnyTime, ..STANDS },
        },
        States {
            name: "states_of_a_shutdown_before_the_time",
            says: "the queue is shut down while items wait for their time, beside two workers",
            judges: &["never_concurrent"],
            subject: || {
                let adds: &[Call] = &[Call::After(0, 1), Call::Add(0), Call::After(1, 2)];
                let works: &[Call] = &[Call::Work(9)];
                let stops: &[Call] = &[Call::ShutDown];
                AtDelayingQueue::new(&[adds, works, works, stops], false, |queue| {
                    queue.queue().is_shutting_down() && queue.queue().in_flight() > 0
                })
            },
            rules: May { jumps: Jumps::AtAnyTime, ..STANDS },
        },
    ];
    models.into_iter().map(|model| Box::new(model) as Box<dyn Simulation<DelayingQueue>>).collect()
}

const EARLIER: &[&[Call]] = &[
    &[Call::After(0, 5), Call::After(1, 2)],
    &[Call::Add(2), Call::After(0, 3)],
    &[Call::Work(2)],
    &[Call::Work(1)],
];

impl Explored for AtDelayingQueue {
    type Machine = Rules;
    type Caller = Caller;

    fn machine(&self) -> Rules {
        Rules::default()
    }

    fn callers(&self) -> Vec<Caller> {
        let start = |at| Caller { at, holds: None, ended: 0 };
        self.programs.places().into_iter().map(start).collect()
    }

    fn next(&self, caller: &Caller) -> Option<Op<u8>> {
        Some(match self.programs.call(caller.at)? {
            Call::Add(key) => Op::Add(Add { key: Some(key), hash: hash(&key) }),
            Call::After(key, millis) => Op::AddAfter(AddAfter {
                key: Some(key),
                hash: hash(&key),
                delay: Duration::from_millis(millis),
                called: None,
            }),
            Call::Work(_) => match caller.holds {
                Some((token, _)) => Op::Done(Done(token)),
                None => Op::Get(Get),
            },
            Call::ShutDown => Op::ShutDown(ShutDown::new()),
        })
    }

    fn returned(&self, caller: &mut Caller, ret: Ret<u8>) {
        let goes_on = match (self.programs.call(caller.at), ret) {
            (_, Ret::Get(Some(delivery))) => {
                caller.holds = Some(delivery);
                true
            }
            (Some(Call::Work(wanted)), Ret::Done(_)) => {
                caller.holds = None;
                caller.ended += 1;
                caller.ended < wanted
            }
            _ => false,
        };
        if !goes_on {
            caller.ended = 0;
            caller.at.advance();
        }
    }

    fn view(&self, machine: &Rules, into: &mut Bytes) {
        view_contents(machine.queue(), into);
        into.list(machine.later().into_iter(), |into, (key, time)| {
            into.number(*key);
            into.number(time.as_nanos());
        });
    }

    fn view_caller(&self, machine: &Rules, caller: &Caller, _: Option<&Op<u8>>, into: &mut Bytes) {
        self.programs.view(caller.at, into);
        into.number(caller.ended);
        into.maybe(caller.holds.map(|(token, key)| {
            u64::from(key) << 1 | u64::from(machine.queue().is_in_processing(token))
        }));
    }

    fn wrong<'a>(
        &self,
        at: Moment<'_, Rules>,
        callers: impl Iterator<Item = &'a Caller> + Clone,
    ) -> Option<Wrong> {
        let held = callers.filter_map(|caller| caller.holds.map(|(_, key)| key));
        let missed = || {
            let (key, time) = at.machine.later().first().map(|(key, time)| (**key, *time))?;
            let slept = self.exact && time < at.now;
            let text = format!("the time of item {key} has passed while everybody slept");
            slept.then(|| Wrong::new("nothing_late", text))
        };
        processed_twice(held).or_else(missed)
    }

    fn reaches<'a>(&self, machine: &Rules, _: impl Iterator<Item = &'a Caller> + Clone) -> bool {
        (self.reaches)(machine)
    }

    fn describe(&self, op: &Op<u8>, outcome: &Step<Ret<u8>>) -> String {
        DelayingQueue::describe(op, outcome)
    }

    fn edit(&self, wakes: &mut Wakes) {
        (self.edit)(wakes);
    }
}
