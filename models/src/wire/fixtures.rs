//! What the checks of all parts on the wire share: a sequential object gives the right results.

use std::fmt::Debug;

use seatrial_core::machine::{Cx, Machine};

use crate::shared::at_once;
use crate::single_step::doubt::notices;
use crate::single_step::{HandClock, each_call};
use crate::trial::{
    Component, EventOf, HistoryOf, Ledger, Mutant, MutantKind, OpOf, Property, RetOf, Violation,
};

/// Makes a call of a machine without a runtime.
fn called<M: Machine<Op: Clone> + ?Sized>(machine: &mut M, call: &M::Op) -> M::Ret {
    at_once(machine.step(&mut call.clone(), &mut Cx::new(&HandClock::default())))
}

/// Makes calls of a part and of its sequential object.
///
/// # Panics
/// If a result is wrong.
pub(super) fn agree<S: Machine<Op: Clone + Debug, Ret: PartialEq + Debug>>(
    calls: &[S::Op],
    mut part: Box<dyn Machine<Op = S::Op, Ret = S::Ret>>,
    mut object: S,
) {
    for call in each_call(calls) {
        assert_eq!(called(&mut *part, call), called(&mut object, call), "after {call:?}");
    }
}

/// The property that a mutant and the sequential object agree on the calls of a fuzzer.
pub(super) fn tries<C, S>(mutant: &Mutant<C>, decode: fn(&[u8]) -> Vec<OpOf<C>>) -> Option<Property>
where
    C: Component<Machine: Machine<Ret: PartialEq>>,
    S: Machine<Op = OpOf<C>, Ret = RetOf<C>> + Default,
{
    let make = mutant.make;
    Some(Box::new(move |bytes| agree(&decode(bytes), make(), S::default())))
}

/// The sequential object after all calls up to now.
#[derive(Default)]
struct Come<S>(S);

impl<C, S> Ledger<C> for Come<S>
where
    C: Component,
    S: Machine<Op = OpOf<C>, Ret = RetOf<C>> + Default,
{
    fn apply(&mut self, event: &EventOf<C>) {
        if let Some((call, _)) = event.returned() {
            called(&mut self.0, call);
        }
    }
}

/// Checks every call and its result, knowing the sequential object before it.
pub(super) fn at_every_call<C, S>(
    history: &HistoryOf<C>,
    check: impl Fn(&S, &OpOf<C>, &RetOf<C>) -> Result<(), String>,
) -> Result<(), Violation>
where
    C: Component,
    S: Machine<Op = OpOf<C>, Ret = RetOf<C>> + Default,
{
    <Come<S> as Ledger<C>>::at_every_event(history, |before, event| match event.returned() {
        Some((call, said)) => check(&before.0, call, said),
        None => Ok(()),
    })
}

/// As [`at_every_call`], with the right result in the last place.
pub(super) fn each<C, S>(
    history: &HistoryOf<C>,
    check: impl Fn(&S, &OpOf<C>, &RetOf<C>, &RetOf<C>) -> bool,
) -> Result<(), Violation>
where
    C: Component,
    S: Machine<Op = OpOf<C>, Ret = RetOf<C>> + Clone + Default,
{
    at_every_call::<C, S>(history, |before, call, said| {
        let right = called(&mut before.clone(), call);
        if check(before, call, said, &right) {
            return Ok(());
        }
        Err(format!("{call:?}: it says {said:?}, and {right:?} is right"))
    })
}

/// Checks that generated calls notice every mutant that is not equivalent, and no other.
pub(super) fn every_mistake_is_noticed<C: Component>() {
    for mutant in C::mutants() {
        let property = C::fuzz_mutant(&mutant).expect("every mutant has one");
        let is_wrong = mutant.kind == MutantKind::Seeded;
        assert_eq!(notices(property), is_wrong, "{}", mutant.name);
    }
}
