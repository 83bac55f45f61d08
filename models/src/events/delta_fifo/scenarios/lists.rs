//! Lists and resyncs against changes.

use seatrial_core::delta_fifo::{Delta, Op};
use seatrial_core::runtime::Runtime;

use super::{Stage, some, store};
use crate::delta_fifo::tried::{Config, Over};
use crate::delta_fifo::{DeltaFifo, History};
use crate::engine::Engine;
use crate::events::fixtures::Bed;
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<DeltaFifo>>> {
    vec![
        Box::new(AddThenEmptyList),
        Box::new(DeletedThenListed),
        Box::new(DeletedThenSynced),
        Box::new(ListRacesChanges),
        Box::new(TwoListsMissAnObject),
        Box::new(TwoConsumersOneList),
        Box::new(ResyncRacesUpdate),
        Box::new(ResyncOfAnIdleStore),
        Box::new(RefusedList),
        Box::new(EverybodyAtOnce),
    ]
}

fn resyncs(over: &Over<'_>) -> bool {
    matches!(over.op, Op::Resync(_))
}

/// The next list lacks an object that was added (`cache:SC-7`).
struct AddThenEmptyList;

impl Scenario<DeltaFifo> for AddThenEmptyList {
    const NAME: &'static str = "add_then_empty_list";
    const SAYS: &'static str =
        "an object is added and the next list lacks it, while a consumer pops";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, []);
        let consumer = stage.consumer("consumer");
        stage.add((1, 1));
        stage.list(&[]);
        stage.end([consumer]);
    }

    /// The list finds the addition pending, and the store does not have it.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| over.listed().is_some() && before.state.is_pending(1))
    }
}

/// The next list has an object that was deleted (`cache:SC-8`, `cache:TR-9`).
struct DeletedThenListed;

impl Scenario<DeltaFifo> for DeletedThenListed {
    const NAME: &'static str = "deleted_then_listed";
    const SAYS: &'static str =
        "an object is deleted and is in the next list again, while a consumer pops";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(1, 1)]);
        let consumer = stage.consumer("consumer");
        stage.delete((1, 2));
        stage.list(&[(1, 3)]);
        stage.end([consumer]);
    }

    /// Deletion and list are handed out together.
    fn reaches(history: &History) -> bool {
        some(history, |_, over| over.popped().is_some_and(|popped| popped.deltas.len() == 2))
    }
}

/// As [`DeletedThenListed`], but lists are not told apart from resyncs (`cache:DF-33`).
struct DeletedThenSynced;

impl Scenario<DeltaFifo> for DeletedThenSynced {
    const NAME: &'static str = "deleted_then_synced";
    const SAYS: &'static str =
        "the same as deleted_then_listed, in a queue where a list shows its objects as sync";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let known = Some(store([(1, 1)]));
        let stage = Stage::new(world, Config { known, ..Config::default() });
        let consumer = stage.consumer("consumer");
        stage.delete((1, 2));
        stage.list(&[(1, 3)]);
        stage.end([consumer]);
    }

    fn reaches(history: &History) -> bool {
        <DeletedThenListed as Scenario<DeltaFifo>>::reaches(history)
    }
}

/// A list comes between the changes of two objects.
struct ListRacesChanges;

impl Scenario<DeltaFifo> for ListRacesChanges {
    const NAME: &'static str = "list_races_changes";
    const SAYS: &'static str =
        "a list arrives while one object is updated and another one is added";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(1, 1), (3, 1)]);
        let writer = stage.on("writer", |stage| {
            stage.update((3, 2));
            stage.add((2, 1));
        });
        let consumer = stage.consumer("consumer");
        stage.list(&[(1, 2)]);
        stage.end([writer, consumer]);
    }

    /// The list deletes an object that was updated and is known in an older state.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let updated = matches!(before.state.deltas(3), [Delta::Updated(_)]);
            over.listed().is_some() && updated && before.state.known.contains_key(&3)
        })
    }
}

/// Two lists in a row miss an object that is only pending (`cache:TR-13`).
struct TwoListsMissAnObject;

impl Scenario<DeltaFifo> for TwoListsMissAnObject {
    const NAME: &'static str = "two_lists_miss_an_object";
    const SAYS: &'static str =
        "two lists lack an object that is added meanwhile, while a consumer pops";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, []);
        let writer = stage.on("writer", |stage| stage.add((1, 1)));
        let consumer = stage.consumer("consumer");
        stage.list(&[]);
        stage.list(&[]);
        stage.end([writer, consumer]);
    }

    /// A list finds the tombstone of the list before.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let deltas = before.state.deltas(1);
            over.listed().is_some() && deltas.last().is_some_and(Delta::is_deleted)
        })
    }
}

/// Two consumers wait for the objects of one list.
struct TwoConsumersOneList;

impl Scenario<DeltaFifo> for TwoConsumersOneList {
    const NAME: &'static str = "two_consumers_one_list";
    const SAYS: &'static str =
        "two consumers wait, and a list of two objects arrives, one for each consumer";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, [(3, 1)]).two_consumers_one_list(&[(1, 1)]);
    }

    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let both = before.asleep.count(Bed::Pop) == 2;
            over.listed().is_some() && both
        })
    }
}

/// A resync meets an update (`cache:SC-6`).
struct ResyncRacesUpdate;

impl Scenario<DeltaFifo> for ResyncRacesUpdate {
    const NAME: &'static str = "resync_races_update";
    const SAYS: &'static str = "a resync runs while an object is updated and a consumer pops";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(1, 1), (2, 1)]);
        let resyncer = stage.on("resyncer", |stage| stage.queue.resync());
        let consumer = stage.consumer("consumer");
        stage.update((1, 2));
        stage.end([resyncer, consumer]);
    }

    /// The resync finds the update pending.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| resyncs(over) && before.state.is_pending(1))
    }
}

/// A resync before anything else: it shows the known objects and is no write (`cache:QU-14`).
struct ResyncOfAnIdleStore;

impl Scenario<DeltaFifo> for ResyncOfAnIdleStore {
    const NAME: &'static str = "resync_of_an_idle_store";
    const SAYS: &'static str = "a resync before the first list wakes a waiting consumer";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(1, 1)]);
        let popper = stage.popper("popper");
        let observer = stage.observer(1);
        stage.queue.resync();
        stage.end([popper, observer]);
    }

    /// The popper sleeps when the resync comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| resyncs(over) && before.asleep.count(Bed::Pop) > 0)
    }
}

/// A list ends at an object without a key, and is tried again (`cache:DF-20`).
struct RefusedList;

impl Scenario<DeltaFifo> for RefusedList {
    const NAME: &'static str = "refused_list";
    const SAYS: &'static str = "a list with a refused object arrives, then a list without one";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(2, 1)]);
        let observer = stage.observer(2);
        let consumer = stage.consumer("consumer");
        stage.list_in_vain(&[(1, 1)]);
        stage.list(&[(1, 2)]);
        stage.end([observer, consumer]);
    }

    /// A caller asks whether the first list is processed when a part of it is.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let part = before.handed.contains_key(&1) && !before.spec.populated;
            matches!(over.op, Op::HasSynced(_)) && part
        })
    }
}

/// Two writers, a lister and a consumer.
struct EverybodyAtOnce;

impl Scenario<DeltaFifo> for EverybodyAtOnce {
    const NAME: &'static str = "everybody_at_once";
    const SAYS: &'static str =
        "changes, two lists and a resync arrive at once while a consumer pops";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        let stage = Stage::informer(world, [(1, 1), (3, 1)]);
        let changes = stage.on("changes", |stage| {
            stage.delete((1, 2));
            stage.add((1, 3));
            stage.update((2, 2));
        });
        let lists = stage.on("lists", |stage| {
            stage.list(&[(1, 4), (2, 1)]);
            stage.queue.resync();
            stage.list(&[(2, 3), (3, 2)]);
        });
        let consumer = stage.consumer("consumer");
        let _synced = stage.queue.has_synced();
        let _pending = stage.queue.list();
        stage.end([changes, lists, consumer]);
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        let many =
            "more than 200,000 traces: loom explores it within its bound, samplers sample it";
        (engine == Engine::Trace).then_some(many)
    }

    /// The second list meets changes that the consumer has not reached.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            let second = over.listed().is_some_and(|listed| listed.contains_key(&3));
            second && before.state.is_pending(1) && before.state.is_pending(2)
        })
    }
}
