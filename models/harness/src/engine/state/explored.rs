//! One machine and the programs of its callers, as the author of a component writes them down.

use seatrial_core::machine::{Machine, Step, Wakes};
use seatrial_core::runtime::Instant;

use super::{Bytes, Wrong};

/// A machine at some moment.
#[derive(Debug)]
pub struct Moment<'a, M> {
    /// The machine.
    pub machine: &'a M,
    /// The time.
    pub now: Instant,
    /// Whether all calls have returned and no more will be made.
    pub is_end: bool,
}

/// A machine, the programs of its callers, and what must hold.
pub trait Explored: Clone {
    /// The machine.
    type Machine: Machine<Op: Clone> + Clone;
    /// The state of a caller: its remaining calls, and the tokens it holds.
    type Caller: Clone;

    /// Makes the machine.
    fn machine(&self) -> Self::Machine;

    /// Returns the callers at the beginning.
    fn callers(&self) -> Vec<Self::Caller>;

    /// Returns the next call, `None` if there is none.
    fn next(&self, caller: &Self::Caller) -> Option<<Self::Machine as Machine>::Op>;

    /// Tells a caller what its call returned.
    fn returned(&self, caller: &mut Self::Caller, ret: <Self::Machine as Machine>::Ret);

    /// Appends the machine in the form in which it is compared.
    fn view(&self, machine: &Self::Machine, into: &mut Bytes);

    /// Appends a caller, and its call if one is under way, in the form in which they are compared.
    fn view_caller(
        &self,
        machine: &Self::Machine,
        caller: &Self::Caller,
        under_way: Option<&<Self::Machine as Machine>::Op>,
        into: &mut Bytes,
    );

    /// Says what is wrong, if something is.
    fn wrong<'a>(
        &self,
        at: Moment<'_, Self::Machine>,
        callers: impl Iterator<Item = &'a Self::Caller> + Clone,
    ) -> Option<Wrong>
    where
        Self: 'a;

    /// Tells whether a state is one that the programs are meant to reach.
    fn reaches<'a>(
        &self,
        machine: &Self::Machine,
        callers: impl Iterator<Item = &'a Self::Caller> + Clone,
    ) -> bool
    where
        Self: 'a;

    /// Tells in a few words what a step did, for pictures and histories.
    fn describe(
        &self,
        op: &<Self::Machine as Machine>::Op,
        outcome: &Step<<Self::Machine as Machine>::Ret>,
    ) -> String;

    /// Reads a little of a machine, so that its memory is in the cache. The result means nothing.
    fn touch(&self, machine: &Self::Machine) -> usize {
        let _ = machine;
        0
    }

    /// Changes whom a step wakes: for mutants.
    fn edit(&self, wakes: &mut Wakes) {
        let _ = wakes;
    }
}
