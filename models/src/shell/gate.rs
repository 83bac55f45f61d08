//! Rules that are as small as can be and wait, wake and panic.

use seatrial_core::machine::{Channel, Cx, Operation, Step};

/// Items without a name, until it is shut.
#[derive(Debug, Default)]
pub(super) struct Gate {
    items: u32,
    /// How many were put in, and how many of them were taken.
    put: u32,
    taken: u32,
    is_shut: bool,
}

/// Where takers sleep.
pub(super) const TAKERS: Channel = 0;
/// Where those sleep who hand an item over.
pub(super) const GIVERS: Channel = 1;

/// Puts items in.
#[derive(Clone, Debug)]
pub(super) struct Put {
    pub(super) count: u32,
    /// Panics when all is done, as a key does that is dropped.
    pub(super) panics: bool,
}

/// Takes an item, waiting for one; false once it is shut and there is none.
#[derive(Clone, Debug)]
pub(super) struct Take {
    /// Panics beside an item, before it takes that, as a key does that is compared.
    pub(super) panics: bool,
}

/// Puts an item in and waits until as many were taken as are in before it, and itself: a step that
/// wakes somebody and waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Hand {
    /// How many there were with it; `None` before its first step.
    pub(super) number: Option<u32>,
}

/// Lets nobody wait any more.
#[derive(Clone, Debug)]
pub(super) struct Shut;

seatrial_core::operations! {
    [] Gate: Op, Ret { Put(Put) -> (), Take(Take) -> bool, Hand(Hand) -> (), Shut(Shut) -> () }
}

impl Operation<Gate> for Put {
    fn step(&mut self, gate: &mut Gate, cx: &mut Cx<'_>) -> Step<()> {
        gate.items += self.count;
        gate.put += self.count;
        (0..self.count).for_each(|_| cx.wakes.one(TAKERS));
        assert!(!self.panics, "foreign code breaks");
        Step::Done(())
    }
}

impl Operation<Gate> for Take {
    fn step(&mut self, gate: &mut Gate, cx: &mut Cx<'_>) -> Step<bool> {
        if gate.items > 0 {
            assert!(!self.panics, "foreign code breaks");
            gate.items -= 1;
            gate.taken += 1;
            cx.wakes.all(GIVERS);
            return Step::Done(true);
        }
        if gate.is_shut { Step::Done(false) } else { Step::Wait { on: TAKERS, until: None } }
    }
}

impl Operation<Gate> for Hand {
    fn step(&mut self, gate: &mut Gate, cx: &mut Cx<'_>) -> Step<()> {
        let number = *self.number.get_or_insert_with(|| {
            gate.items += 1;
            gate.put += 1;
            cx.wakes.one(TAKERS);
            gate.put
        });
        if gate.taken >= number || gate.is_shut {
            return Step::Done(());
        }
        Step::Wait { on: GIVERS, until: None }
    }
}

impl Operation<Gate> for Shut {
    fn step(&mut self, gate: &mut Gate, cx: &mut Cx<'_>) -> Step<()> {
        gate.is_shut = true;
        cx.wakes.all(TAKERS);
        cx.wakes.all(GIVERS);
        Step::Done(())
    }
}
