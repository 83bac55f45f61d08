//! The ordered FIFO's page.

mod conformance;
mod invariants;
mod ledger;
mod mutants;
mod op;
mod reference;
mod scenarios;
mod spec;
pub(crate) mod tests;
mod tried;

use std::sync::Arc;

use seatrial_core::delta_fifo::Verb;
use seatrial_core::machine::Step;
use seatrial_core::ordered_fifo::{self as core, Event as Happening, Op as Queued, Options, Ret};
use seatrial_core::store::{IndexedStore, Intake};

use crate::conformance::Conformance;
use crate::events::fixtures::{
    NAMES, TAKEN_BACK, check_many, itself, named, named_change, named_last,
};
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};
use tried::Happened;

pub use op::{Machine, MachineOp, MachineRet, Op, Setup, check, check_on, decode};
pub use reference::{EventList, Mistake, REFERENCE};
pub use spec::Spec;
pub use tried::{Call, Config, Reply, State, Tried};

/// The ordered FIFO, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct OrderedFifo;

type Event = EventOf<OrderedFifo>;
type History = HistoryOf<OrderedFifo>;

impl Component for OrderedFifo {
    type Machine = Tried;

    const NAME: &'static str = "ordered_fifo";
    const SAYS: &'static str = "the queue of events in their order of arrival";

    fn machine() -> MachineOf<Self> {
        Tried::by(|config| Box::new(tried::ships(config)))
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
            ("tombstones_come_first", NAMES),
            ("deletions_are_not_repeated", NAMES),
            ("tombstones_carry_the_newest_state", NAMES),
            ("resync_never_goes_back", NAMES),
            ("resync_shows_the_idle", NAMES),
            ("a_list_is_one_step", NAMES),
            ("bookmarks_where_asked", NAMES),
            ("batches_are_of_changes", NAMES),
            ("batches_are_of_different_objects", NAMES),
            ("batches_end_with_the_first_list", NAMES),
            ("batches_have_a_limit", NAMES),
            ("nothing_is_lost", NAMES),
            (
                "transformed_once",
                "an object that is transformed on its way out differs from the one that came in, \
                 so `order_of_arrival` breaks as well; this invariant names the transformer",
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
            Call::Make(config) => match &config.known {
                Some(store) => {
                    format!(
                        "makes a plain queue; the store has {}",
                        named(store.objects().values())
                    )
                }
                None => "makes an atomic queue".to_owned(),
            },
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
            check_many(bytes, |system| {
                let known = Arc::new(IndexedStore::new(system, itself));
                core::OrderedFifo::with_options(
                    system,
                    Intake::new(system, itself),
                    Options::plain(known),
                )
            });
        })
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        if mutants::is_of_the_lock(mutant) {
            return None;
        }
        let make = mutant.make;
        Some(Box::new(move |bytes| {
            let (setup, ops) = decode(bytes);
            check_on(setup, &ops, |machine| tried::alone(make(), setup, machine.known().cloned()));
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
            format!("list {}", named(list.objects.iter().map(|keyed| &keyed.object)))
        }
        (Queued::ReplaceAll(list), _) => format!("list {}", named(&list.0.objects)),
        (Queued::Resync(_), _) => "resync".to_owned(),
        (Queued::Mark(mark), _) => format!("bookmark {}", mark.0.resource_version),
        (Queued::Pop(_), Some(Ret::Pop(Some(popped)))) => {
            format!("pop -> {}", events(std::slice::from_ref(&popped.event), popped.initial))
        }
        (Queued::PopBatch(_), Some(Ret::PopBatch(Some(batch)))) => {
            format!("pop -> {}", events(&batch.events, batch.initial))
        }
        (Queued::Pop(_) | Queued::PopBatch(_), Some(_)) => "pop -> closed".to_owned(),
        (Queued::Pop(_) | Queued::PopBatch(_), None) => "pop sleeps".to_owned(),
        (Queued::Processed(_), _) => "processed".to_owned(),
        (Queued::Close(_), _) => "close".to_owned(),
        (Queued::HasSynced(_), Some(Ret::HasSynced(says))) => format!("has synced -> {says}"),
        (Queued::WaitForSync(_), Some(Ret::WaitForSync(says))) => {
            format!("wait for sync -> {says}")
        }
        (Queued::WaitForSync(_), None) => "wait for sync sleeps".to_owned(),
        (op, ret) => format!("{op:?} -> {ret:?}"),
    }
}

fn events(events: &[Happened], initial: bool) -> String {
    let event = |event: &Happened| match event {
        Happening::Delta(change) => named_change(change),
        Happening::ReplacedAll(list) => format!("the list {}", named(&list.objects)),
        Happening::SyncAll => "resync".to_owned(),
        Happening::Bookmark(mark) => format!("bookmark {}", mark.resource_version),
    };
    let all: Vec<_> = events.iter().map(event).collect();
    format!("{}{}", all.join(", "), if initial { ", initial" } else { "" })
}
