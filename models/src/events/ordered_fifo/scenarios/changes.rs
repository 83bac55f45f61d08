//! Changes, lists and resyncs of single objects, in plain mode.

use seatrial_core::delta_fifo::Delta;
use seatrial_core::ordered_fifo::{Event, Op};
use seatrial_core::runtime::Runtime;

use super::{Config, OrderedLedger, Stage, lists, some};
use crate::events::fixtures::Object;
use crate::ordered_fifo::{History, OrderedFifo};
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<OrderedFifo>>> {
    vec![
        Box::new(AddThenDelete),
        Box::new(ListWithoutTheQueued),
        Box::new(ListBehindDeletion),
        Box::new(DeletedAndListed),
        Box::new(ListAfterUpdate),
        Box::new(ResyncRacesUpdate),
        Box::new(TransformedChanges),
    ]
}

/// Tells whether a change that meets a condition is queued.
fn is_queued(before: &OrderedLedger, wanted: impl Fn(&Delta<u8, Object>) -> bool) -> bool {
    before.state.events.iter().filter_map(Event::delta).any(wanted)
}

/// An object comes and goes while the consumer works (`cache:SC-5`, `cache:SC-10`).
struct AddThenDelete;

impl Scenario<OrderedFifo> for AddThenDelete {
    const NAME: &'static str = "add_then_delete";
    const SAYS: &'static str = "an object is added, updated and deleted while a consumer pops";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::plain(world, []);
        let consumer = stage.consumer("consumer");
        stage.add((1, 1));
        stage.update((1, 2));
        stage.delete((1, 3));
        stage.end([consumer]);
    }

    /// All three are queued.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| over.taken().is_some() && before.state.events.len() == 3)
    }
}

/// A list lacks an object whose addition is queued (`cache:SC-7`, `cache:TR-8`).
struct ListWithoutTheQueued;

impl Scenario<OrderedFifo> for ListWithoutTheQueued {
    const NAME: &'static str = "list_without_the_queued";
    const SAYS: &'static str =
        "a list lacks a queued object and a known object, and has a third one";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::plain(world, [(2, 1)]);
        let consumer = stage.consumer("consumer");
        stage.add((1, 1));
        stage.list(&[(3, 1)]);
        stage.end([consumer]);
    }

    /// The addition is queued when the list comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            lists(over.op) && is_queued(before, |change| matches!(change, Delta::Added((1, _))))
        })
    }
}

/// A list comes behind a deletion (`cache:TR-16`).
struct ListBehindDeletion;

impl Scenario<OrderedFifo> for ListBehindDeletion {
    const NAME: &'static str = "list_behind_deletion";
    const SAYS: &'static str = "a list lacks an object whose deletion is queued or already applied";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::plain(world, [(1, 1)]);
        let consumer = stage.consumer("consumer");
        stage.delete((1, 2));
        stage.list(&[]);
        stage.end([consumer]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, over| lists(over.op) && is_queued(before, Delta::is_deleted))
    }
}

/// An object is deleted, and the next list has it again (`cache:SC-8`, `cache:TR-16`).
struct DeletedAndListed;

impl Scenario<OrderedFifo> for DeletedAndListed {
    const NAME: &'static str = "deleted_and_listed";
    const SAYS: &'static str = "an object is added and deleted, and a list has its successor";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::plain(world, []);
        let consumer = stage.consumer("consumer");
        stage.add((1, 1));
        stage.delete((1, 2));
        stage.list(&[(1, 3)]);
        stage.end([consumer]);
    }

    /// The addition and the deletion are queued when the list comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| lists(over.op) && before.state.events.len() == 2)
    }
}

/// A list lacks an object whose queued change is newer than its known state.
struct ListAfterUpdate;

impl Scenario<OrderedFifo> for ListAfterUpdate {
    const NAME: &'static str = "list_after_update";
    const SAYS: &'static str = "an object is updated, and two lists lack it";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::plain(world, [(1, 1)]);
        let consumer = stage.consumer("consumer");
        stage.update((1, 2));
        stage.list(&[]);
        stage.list(&[(2, 1)]);
        stage.end([consumer]);
    }

    /// The update is queued when the first list comes, and so is the tombstone when the second
    /// comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| lists(over.op) && before.state.events.len() == 1)
            && some(history, |before, over| lists(over.op) && before.state.events.len() == 2)
    }
}

/// A resync comes while an update is queued (`cache:SC-6`, `cache:TR-11`).
struct ResyncRacesUpdate;

impl Scenario<OrderedFifo> for ResyncRacesUpdate {
    const NAME: &'static str = "resync_races_update";
    const SAYS: &'static str = "a resync shows two objects while one of them is updated";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::plain(world, [(1, 1), (2, 1)]);
        let resync = stage.on("resync", Stage::resync);
        let consumer = stage.consumer("consumer");
        stage.update((2, 2)); // the one that a resync shows last
        stage.end([resync, consumer]);
    }

    /// The update is queued when the resync comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            matches!(over.op, Op::Resync(_)) && before.state.events.len() == 1
        })
    }
}

/// Objects are transformed on the way in.
struct TransformedChanges;

impl Scenario<OrderedFifo> for TransformedChanges {
    const NAME: &'static str = "transformed_changes";
    const SAYS: &'static str = "objects are transformed on the way in, and one object is refused";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        let stage = Stage::new(world, Config::plain(super::Store::default()).transformed());
        let consumer = stage.consumer("consumer");
        stage.add((1, 1));
        assert!(stage.queue.update((1, 13)).is_err(), "version 13 is refused");
        stage.list(&[(1, 2)]);
        stage.end([consumer]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |_, over| {
            over.taken()
                .is_some_and(|taken| taken.events.iter().any(|event| event.delta().is_some()))
        })
    }
}
