//! The FIFO's page.

mod conformance;
mod invariants;
mod ledger;
mod mutants;
mod op;
mod reference;
mod scenarios;
mod spec;
pub(crate) mod tests;

use seatrial_core::fifo::{self as core, FifoQueue, Op as Queued, Ret};
use seatrial_core::machine::{Boxed, Step};
use seatrial_core::store::KeyHasher;

use crate::conformance::Conformance;
use crate::events::fixtures::{NAMES, Object, TAKEN_BACK, check_many, itself, named};
use crate::single_step::{AtOnce, Behind};
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};

pub use op::{Machine, MachineOp, MachineRet, Op, check, check_on, decode};
pub use reference::{MapAndList, Mistake, REFERENCE};
pub use spec::{Spec, Taken};

/// The FIFO, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

type Event = EventOf<Fifo>;
type History = HistoryOf<Fifo>;

impl Component for Fifo {
    type Machine = Machine;

    const NAME: &'static str = "fifo";
    const SAYS: &'static str = "the queue of newest objects";

    fn machine() -> MachineOf<Self> {
        Box::new(FifoQueue::<u8, Object>::new(KeyHasher::fixed(7)))
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

    fn never_alone() -> &'static [(&'static str, &'static str)] {
        &[
            ("only_what_waits", NAMES),
            ("newest_state", NAMES),
            ("order_of_places", NAMES),
            ("synced_for_good", TAKEN_BACK),
        ]
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match outcome {
            Step::Done(ret) | Step::Held(ret) => describe(op, Some(ret)),
            Step::Wait { .. } => describe(op, None),
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| {
            check(&decode(bytes));
            check_many(bytes, |system| core::Fifo::new(system, itself));
        })
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        let may_wait =
            |op: &Queued<u8, Object>| matches!(op, Queued::Pop(_) | Queued::WaitForSync(_));
        let tried = move |_| Boxed::<Machine>(Box::new(AtOnce::but(may_wait, Behind(make()))));
        Some(Box::new(move |bytes| check_on(&decode(bytes), tried)))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}

/// Describes a call; `None` stands for a call that goes to sleep.
fn describe(op: &MachineOp, ret: Option<&MachineRet>) -> String {
    match (op, ret) {
        (Queued::Put(put), _) => format!("put {}", named(&put.object)),
        (Queued::Delete(delete), _) => format!("delete {:?}", delete.0),
        (Queued::Replace(list), _) => {
            format!("list {}", named(list.0.iter().map(|keyed| &keyed.object)))
        }
        (Queued::Resync(_), _) => "resync".to_owned(),
        (Queued::Pop(_), Some(Ret::Pop(Some(popped)))) => {
            let initial = if popped.initial { ", initial" } else { "" };
            format!("pop -> {}{initial}", named([&popped.object]))
        }
        (Queued::Pop(_), Some(_)) => "pop -> closed".to_owned(),
        (Queued::Pop(_), None) => "pop sleeps".to_owned(),
        (Queued::Processed(processed), _) => {
            let back = if processed.requeue.is_some() { ", asked back" } else { "" };
            format!("processed{back}")
        }
        (Queued::AddIfAbsent(add), _) => format!("put back {}", named(&add.object)),
        (Queued::Close(_), _) => "close".to_owned(),
        (Queued::HasSynced(_), Some(Ret::HasSynced(says))) => format!("has synced -> {says}"),
        (Queued::WaitForSync(_), Some(Ret::WaitForSync(says))) => {
            format!("wait for sync -> {says}")
        }
        (Queued::WaitForSync(_), None) => "wait for sync sleeps".to_owned(),
        (op, ret) => format!("{op:?} -> {ret:?}"),
    }
}
