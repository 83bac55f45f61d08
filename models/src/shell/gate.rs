//! The smallest rules that wait, wake and panic.

use seatrial_core::machine::{Channel, Cx, Operation, Step};

/// A count of items, and whether the gate is shut.
#[derive(Debug, Default)]
pub(super) struct Gate {
    items: u32,
    /// How many items were put in, and how many of them were taken.
    put: u32,
    taken: u32,
    is_shut: bool,
}

/// The channel on which takers sleep.
pub(super) const TAKERS: Channel = 0;
/// The channel on which callers sleep that hand an item over.
pub(super) const GIVERS: Channel = 1;

/// Puts items in.
#[derive(Clone, Debug)]
pub(super) struct Put {
    pub(super) count: u32,
    /// Whether it panics after all is done, as the drop of a key may.
    pub(super) panics: bool,
}

/// Takes an item, and waits for one; false once the gate is shut and empty.
#[derive(Clone, Debug)]
pub(super) struct Take {
    /// Whether it panics if there is an item, before it takes it, as a comparison of keys may.
    pub(super) panics: bool,
}

/// Puts an item in, and waits until this item and all items before it have been taken: a step that
/// wakes a sleeper and waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Hand {
    /// The number of items put in so far, including this one; `None` before its first step.
    pub(super) number: Option<u32>,
}

/// Takes an item if there is one, and keeps the lock until it is decided about.
#[derive(Clone, Debug)]
pub(super) struct TakeHeld;

/// Decides about an item that was taken.
#[derive(Clone, Debug)]
pub(super) struct Decide {
    /// Whether it goes back.
    pub(super) back: bool,
    /// Whether it panics before anything is decided, as a comparison of keys may.
    pub(super) panics: bool,
}

/// Shuts the gate: no call waits any more.
#[derive(Clone, Debug)]
pub(super) struct Shut;

seatrial_core::operations! {
    [] Gate: Op, Ret {
        Put(Put) -> (),
        Take(Take) -> bool,
        TakeHeld(TakeHeld) -> bool,
        Decide(Decide) -> (),
        Hand(Hand) -> (),
        Shut(Shut) -> (),
    }
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

impl Operation<Gate> for TakeHeld {
    fn step(&mut self, gate: &mut Gate, _: &mut Cx<'_>) -> Step<bool> {
        if gate.items == 0 {
            return Step::Done(false);
        }
        gate.items -= 1;
        Step::Held(true)
    }
}

impl Operation<Gate> for Decide {
    fn step(&mut self, gate: &mut Gate, cx: &mut Cx<'_>) -> Step<()> {
        assert!(!self.panics, "foreign code breaks");
        if self.back {
            gate.items += 1;
            cx.wakes.one(TAKERS);
        }
        Step::Done(())
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
