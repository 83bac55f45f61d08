//! The queue and its callers as states, for the search that needs no threads.

#[cfg(test)]
mod tests;

use seatrial_core::machine::{Machine, Wakes};
use seatrial_core::queue::{
    Add, Contents, Done, Drain, DrainUntil, Get, Op, Queue as Rules, Ret, ShutDown, Token,
};

use crate::by_hand::hash;
use crate::engine::state::World;

/// One instruction of a caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Call {
    /// Adds an item.
    Add(u8),
    /// Takes an item; the next instruction is left out if there are no more.
    Get,
    /// Ends the last delivery.
    Done,
    /// Gets and ends deliveries until there are no more.
    Work,
    /// Shuts down.
    ShutDown,
    /// Waits until nothing is in processing, or until all work is done.
    Drain {
        /// All work is done.
        strict: bool,
    },
}

/// Where a caller stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    /// What it still has to do, the next call last.
    left: Vec<Call>,
    /// Its delivery that has not ended.
    holds: Option<(Token, u8)>,
    /// The items it was given: what it has seen of the others.
    pub seen: Vec<u8>,
}

/// Callers at one queue.
#[derive(Clone, Debug)]
pub struct Programs {
    /// What each caller does.
    pub programs: Vec<Vec<Call>>,
    /// Whether what a caller has seen tells states apart.
    pub remembers: bool,
    /// Changes whom a step wakes.
    pub edit: fn(&mut Wakes),
}

impl Programs {
    /// Makes programs at the queue that ships.
    #[must_use]
    pub fn new(programs: &[&[Call]]) -> Self {
        let programs = programs.iter().map(|program| program.to_vec()).collect();
        Self { programs, remembers: false, edit: |_| {} }
    }
}

/// A caller as it is compared: what is left to do, the item in its hands and whether it holds it
/// still, what it has seen, and of a drain whether a shutdown has released it.
type View = (Vec<Call>, Option<(u8, bool)>, Vec<u8>, Option<bool>);

impl World for Programs {
    type Machine = Rules<u8>;
    type Caller = Caller;
    type View = Contents<u8>;
    type CallerView = View;

    fn machine(&self) -> Rules<u8> {
        Rules::default()
    }

    fn callers(&self) -> Vec<Caller> {
        let start = |program: &Vec<Call>| Caller {
            left: program.iter().rev().copied().collect(),
            holds: None,
            seen: Vec::new(),
        };
        self.programs.iter().map(start).collect()
    }

    fn next(&self, caller: &Caller) -> Option<Op<u8>> {
        let done = || caller.holds.map(|(token, _)| Op::Done(Done(token)));
        match caller.left.last()? {
            Call::Add(key) => Some(Op::Add(Add { key: Some(*key), hash: hash(key) })),
            Call::Get => Some(Op::Get(Get)),
            Call::Done => done(),
            Call::Work => Some(done().unwrap_or(Op::Get(Get))),
            Call::ShutDown => Some(Op::ShutDown(ShutDown)),
            Call::Drain { strict } => {
                let until =
                    if *strict { DrainUntil::AllWorkDone } else { DrainUntil::NothingInFlight };
                Some(Op::Drain(Drain { until, began: None }))
            }
        }
    }

    fn returned(&self, caller: &mut Caller, ret: Ret<u8>) {
        let call = caller.left.last().copied();
        match ret {
            Ret::Get(Some((token, key))) => {
                caller.holds = Some((token, key));
                caller.seen.push(key);
            }
            Ret::Get(None) if call == Some(Call::Get) => {
                caller.left.pop(); // and the next instruction with it
            }
            Ret::Done(_) => caller.holds = None,
            _ => {}
        }
        let goes_on = call == Some(Call::Work) && !matches!(ret, Ret::Get(None));
        if !goes_on {
            caller.left.pop();
        }
    }

    fn view(&self, machine: &Rules<u8>) -> Contents<u8> {
        let mut contents = machine.contents();
        contents.processing.sort_unstable(); // slots are nobody's business
        contents
    }

    fn view_caller(&self, machine: &Rules<u8>, caller: &Caller, call: Option<&Op<u8>>) -> View {
        let holds = caller.holds.map(|(token, key)| (key, machine.is_in_processing(token)));
        let seen = if self.remembers { caller.seen.clone() } else { Vec::new() };
        let released = match call {
            Some(Op::Drain(Drain { began: Some(began), .. })) => {
                Some(*began != machine.shutdowns())
            }
            _ => None,
        };
        (caller.left.clone(), holds, seen, released)
    }

    fn wrong<'a>(
        &self,
        machine: &Rules<u8>,
        callers: impl Iterator<Item = &'a Caller> + Clone,
    ) -> Option<String> {
        machine.assert_valid();
        let held = |caller: &Caller| caller.holds.map(|(_, key)| key);
        for (at, caller) in callers.clone().enumerate() {
            let key = held(caller);
            if key.is_some() && callers.clone().skip(at + 1).any(|other| held(other) == key) {
                return Some("an item is processed by two callers".to_owned());
            }
        }
        None
    }

    fn wrong_at_end(&self, machine: &Rules<u8>) -> Option<String> {
        let lost = !machine.is_empty() || machine.in_flight() > 0;
        lost.then(|| "an item was lost".to_owned())
    }

    fn edit(&self, wakes: &mut Wakes) {
        (self.edit)(wakes);
    }
}
