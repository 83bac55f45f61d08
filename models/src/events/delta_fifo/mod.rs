//! The DeltaFIFO's page.

mod conformance;
mod invariants;
mod ledger;
mod mutants;
mod op;
mod reference;
mod scenarios;
mod spec;
pub(crate) mod states;
pub(crate) mod tests;
mod tried;

use seatrial_core::delta_fifo::{self as core, Op as Queued, Ret, Verb};
use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::events::fixtures::{
    NAMES, TAKEN_BACK, check_many, itself, named, named_change, named_last,
};
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
    Simulation,
};
use tried::Change;

pub use op::{Machine, MachineOp, MachineRet, Op, Setup, check, check_on, decode};
pub use reference::{MapAndKeys, Mistake, REFERENCE};
pub use spec::{Spec, Taken};
pub use tried::{Call, Config, Reply, State, Tried};

/// The DeltaFIFO, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct DeltaFifo;

type Event = EventOf<DeltaFifo>;
type History = HistoryOf<DeltaFifo>;

impl Component for DeltaFifo {
    type Machine = Tried;

    const NAME: &'static str = "delta_fifo";
    const SAYS: &'static str = "the queue of changes, one entry per object";

    fn machine() -> MachineOf<Self> {
        Tried::by(|config| Box::new(tried::ships(config)))
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        states::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    fn never_alone() -> &'static [(&'static str, &'static str)] {
        &[
            ("one_entry_per_object", NAMES),
            ("deletions_are_deduplicated", NAMES),
            ("the_better_deletion_survives", NAMES),
            ("changes_stay_until_popped", NAMES),
            ("needless_deletions_are_ignored", NAMES),
            ("lists_are_told_from_resyncs", NAMES),
            ("every_listed_object_is_shown", NAMES),
            ("only_the_unlisted_are_deleted", NAMES),
            ("tombstones_carry_the_newest_state", NAMES),
            ("resync_never_goes_back", NAMES),
            ("resync_shows_the_idle", NAMES),
            ("nothing_is_lost", NAMES),
            (
                "transformed_once",
                "an object that is transformed on its way out differs from the one that waited, so \
                 `handed_out_whole_and_once` breaks as well; this invariant names the transformer",
            ),
            ("synced_for_good", TAKEN_BACK),
        ]
    }

    fn describe(call: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        let reply = match outcome {
            Step::Done(reply) | Step::Held(reply) => Some(reply),
            Step::Wait { .. } => None,
        };
        match call {
            Call::Make(_) => {
                let known = reply.map(|reply| named(reply.state.known.values()));
                format!("makes a queue; the store has {}", known.unwrap_or_default())
            }
            Call::Queue(op) => describe(op, reply.and_then(|reply| reply.ret.as_ref())),
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| {
            let (setup, ops) = decode(bytes);
            check(setup, &ops);
            check_many(bytes, |system| core::DeltaFifo::new(system, itself));
        })
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| {
            let (setup, ops) = decode(bytes);
            check_on(setup, &ops, |known| tried::alone(make(), setup, known));
        }))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}

/// Describes a call; `None` stands for a call that goes to sleep.
fn describe(op: &MachineOp, ret: Option<&MachineRet>) -> String {
    match (op, ret) {
        (Queued::Put(put), _) => {
            let verb = if put.verb == Verb::Add { "add" } else { "update" };
            match &put.object {
                Some(Ok(object)) => format!("{verb} {}", named([object])),
                _ => format!("{verb}: refused"),
            }
        }
        (Queued::Delete(delete), _) => match &delete.last {
            Some(Ok(last)) => format!("delete {}", named_last(last)),
            _ => "delete: refused".to_owned(),
        },
        (Queued::Replace(list), _) => {
            let refused = if list.refused.is_some() { ", refused" } else { "" };
            format!("list {}{refused}", named(list.objects.iter().map(|keyed| &keyed.object)))
        }
        (Queued::Resync(_), _) => "resync".to_owned(),
        (Queued::Pop(_), Some(Ret::Pop(Some(popped)))) => {
            let initial = if popped.initial { ", initial" } else { "" };
            format!("pop -> {}: {}{initial}", popped.key, changes(&popped.deltas))
        }
        (Queued::Pop(_), Some(_)) => "pop -> closed".to_owned(),
        (Queued::Pop(_), None) => "pop sleeps".to_owned(),
        (Queued::Processed(processed), _) => {
            let back = if processed.requeue.is_some() { ", asked back" } else { "" };
            format!("processed{back}")
        }
        (Queued::AddIfAbsent(add), _) => format!("put back {}", changes(&add.deltas)),
        (Queued::Close(_), _) => "close".to_owned(),
        (Queued::HasSynced(_), Some(Ret::HasSynced(says))) => format!("has synced -> {says}"),
        (Queued::WaitForSync(_), Some(Ret::WaitForSync(says))) => {
            format!("wait for sync -> {says}")
        }
        (Queued::WaitForSync(_), None) => "wait for sync sleeps".to_owned(),
        (op, ret) => format!("{op:?} -> {ret:?}"),
    }
}

fn changes<'a>(deltas: impl IntoIterator<Item = &'a Change>) -> String {
    deltas.into_iter().map(named_change).collect::<Vec<_>>().join(", ")
}
