//! What the checks of all parts on the wire share: a sequential object gives the right results.

use std::fmt::Debug;

use seatrial_core::machine::{Cx, Machine};

use crate::shared::at_once;
use crate::single_step::doubt::notices;
use crate::single_step::{HandClock, each_call};
use crate::trial::{Component, EventOf, Invariant, Ledger, Mutant, OpOf, Property, RetOf};

/// Makes a call of a machine without a runtime.
fn called<M: Machine<Op: Clone> + ?Sized>(machine: &mut M, call: &M::Op) -> M::Ret {
    at_once(machine.step(&mut call.clone(), &mut Cx::new(&HandClock::default())))
}

/// Makes calls of the part that ships and of its sequential object.
///
/// # Panics
/// If a result is wrong.
pub fn check<C, S>(calls: &[OpOf<C>])
where
    C: Component<Machine: Machine<Ret: PartialEq>>,
    S: Machine<Op = OpOf<C>, Ret = RetOf<C>> + Default,
{
    agree(calls, C::machine(), S::default());
}

fn agree<S: Machine<Op: Clone + Debug, Ret: PartialEq + Debug>>(
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

/// The sequential object before a call; and after it, with the right result.
struct Come<S: Machine> {
    before: S,
    after: Option<(S, S::Ret)>,
}

impl<S: Machine + Default> Default for Come<S> {
    fn default() -> Self {
        Self { before: S::default(), after: None }
    }
}

impl<C, S> Ledger<C> for Come<S>
where
    C: Component,
    S: Machine<Op = OpOf<C>, Ret = RetOf<C>> + Clone + Default,
{
    fn reach(&mut self, event: &EventOf<C>) {
        if let (None, Some((call, _))) = (&self.after, event.returned()) {
            let mut after = self.before.clone();
            let right = called(&mut after, call);
            self.after = Some((after, right));
        }
    }

    fn apply(&mut self, _: &EventOf<C>) {
        if let Some((after, _)) = self.after.take() {
            self.before = after;
        }
    }
}

/// States a promise about every call: the sequential object before it, the call, its result, and the
/// right result.
#[track_caller]
pub(super) fn at_every_call<C, S>(
    name: &'static str,
    says: &'static str,
    rules: &'static [&'static str],
    check: fn(&S, &OpOf<C>, &RetOf<C>, &RetOf<C>) -> bool,
) -> Invariant<C>
where
    C: Component,
    S: Machine<Op = OpOf<C>, Ret = RetOf<C>> + Clone + Default + 'static,
{
    Invariant::at_every_event(name, says, rules, move |come: &Come<S>, event| {
        match (event.returned(), &come.after) {
            (Some((call, said)), Some((_, right))) if !check(&come.before, call, said, right) => {
                Err(format!("{call:?}: it says {said:?}, and {right:?} is right"))
            }
            _ => Ok(()),
        }
    })
}

/// Checks that generated calls notice every mutant.
pub(super) fn every_mistake_is_noticed<C: Component>() {
    for mutant in C::mutants() {
        let property = C::fuzz_mutant(&mutant).expect("every mutant has one");
        assert!(notices(property), "{}", mutant.name);
    }
}
