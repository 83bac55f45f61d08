//! The keyed heap's page.
//!
//! `cargo seatrial list heap` prints what is checked, and the mutants that break it.

mod conformance;
mod invariants;
mod mutants;
mod op;
mod plain;
mod scenarios;

use seatrial_core::machine::{Boxed, Step};
use seatrial_core::store::heap::{self, Op as Call, Ret};

use crate::conformance::Conformance;
use crate::events::fixtures::{Object, named};
use crate::single_step::{AtOnce, Behind};
use crate::stores::fixtures::Plain;
use crate::trial::{
    Component, EventOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};

pub use op::{Machine, Op, check, check_on, decode};
pub use plain::PlainHeap;

/// The keyed heap, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Heap;

type Event = EventOf<Heap>;

impl Component for Heap {
    type Machine = Machine;

    const NAME: &'static str = "heap";
    const SAYS: &'static str = "the queue of objects by rank";

    fn machine() -> MachineOf<Self> {
        Box::new(op::machine())
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match outcome {
            Step::Done(ret) | Step::Held(ret) => describe(op, ret),
            Step::Wait { .. } => "pop sleeps".to_owned(),
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        let may_wait = |op: &Call<u8, Object>| matches!(op, Call::Pop(_));
        let tried = move |_| Boxed::<Machine>(Box::new(AtOnce::but(may_wait, Behind(make()))));
        Some(Box::new(move |bytes| check_on(&decode(bytes), tried)))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}

impl Plain for Heap {
    type Plain = PlainHeap;

    fn plain() -> PlainHeap {
        PlainHeap::default()
    }

    fn settle(ret: &mut Ret<u8, Object>) {
        if let Ret::List(list) = ret {
            list.sort_unstable();
        }
    }
}

/// Describes a call.
fn describe(op: &heap::Op<u8, Object>, ret: &Ret<u8, Object>) -> String {
    match (op, ret) {
        (Call::Put(put), _) => format!("add {}", named(&put.object)),
        (Call::AddIfAbsent(add), _) => format!("add {} if absent", named(&add.object)),
        (Call::BulkAdd(bulk), _) => {
            format!("add {}", named(bulk.objects.iter().map(|keyed| &keyed.object)))
        }
        (Call::Delete(delete), Ret::Delete(told)) => {
            let told = told.as_ref().map(|(_, object)| object);
            format!("delete {} -> {}", delete.0.key(), named(told))
        }
        (Call::Pop(_), Ret::Pop(Some((_, object)))) => format!("pop -> {}", named([object])),
        (Call::Pop(_), _) => "pop -> closed".to_owned(),
        (Call::Close(_), _) => "close".to_owned(),
        (Call::Get(get), Ret::Get(object)) => format!("get {} -> {}", get.0.key(), named(object)),
        (op, ret) => format!("{op:?} -> {ret:?}"),
    }
}
