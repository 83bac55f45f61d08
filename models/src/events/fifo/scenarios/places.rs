//! Objects and their places.

use seatrial_core::fifo::Op;
use seatrial_core::runtime::Runtime;

use super::{Stage, head_is_stale, some, steps};
use crate::engine::Engine;
use crate::events::fixtures::Bed;
use crate::fifo::ledger::{popped, writes};
use crate::fifo::{Fifo, History};
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Fifo>>> {
    vec![
        Box::new(UpdatesCollapse),
        Box::new(DeletedWhileWaiting),
        Box::new(DeletedAndBack),
        Box::new(BackAtAnOldPlace),
        Box::new(TwoConsumers),
        Box::new(TwoConsumersOneList),
        Box::new(ListRacesChanges),
        Box::new(ResyncQueuesNothing),
        Box::new(ReadersBetween),
        Box::new(EverybodyAtOnce),
    ]
}

/// A waiting object changes (`cache:FF-2`, `cache:TR-1`).
struct UpdatesCollapse;

impl Scenario<Fifo> for UpdatesCollapse {
    const NAME: &'static str = "updates_collapse";
    const SAYS: &'static str =
        "an object is updated while it and another object wait for a consumer";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        stage.add((2, 1));
        let consumer = stage.consumer("consumer");
        let writer = stage.on("writer", |stage| stage.add((1, 1)));
        stage.update((2, 2));
        stage.update((1, 2));
        stage.end([writer, consumer]);
    }

    /// An object is popped in its third state while the other one waits.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let newest = popped(event).is_some_and(|popped| popped.object == (2, 2));
            newest && before.spec.items.len() == 2
        })
    }
}

/// An object is deleted before its place is reached (`cache:FF-4`).
struct DeletedWhileWaiting;

impl Scenario<Fifo> for DeletedWhileWaiting {
    const NAME: &'static str = "deleted_while_waiting";
    const SAYS: &'static str = "an object is deleted while it waits and a consumer pops";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        let observer = stage.observer(1);
        let consumer = stage.consumer("consumer");
        stage.delete_unseen(3, None);
        stage.add((1, 1));
        stage.delete((1, 2));
        stage.add((2, 1));
        stage.end([observer, consumer]);
    }

    /// The consumer skips the place of the deleted object.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| popped(event).is_some() && head_is_stale(before))
    }
}

/// An object is deleted and added again (`cache:SC-4`, `cache:TR-2`).
struct DeletedAndBack;

impl Scenario<Fifo> for DeletedAndBack {
    const NAME: &'static str = "deleted_and_back";
    const SAYS: &'static str =
        "a deleted object is added again behind another object, and two consumers pop";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        let consumers = [stage.consumer("first"), stage.consumer("second")];
        stage.add((2, 1));
        stage.add((1, 1));
        stage.delete((2, 2));
        stage.add((2, 3));
        stage.update((2, 4));
        stage.end(consumers);
    }

    /// The object is handed out at its old place, before the object that came in the meantime.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let back = popped(event).is_some_and(|popped| popped.object.1 > 2);
            back && before.spec.items.contains_key(&1)
        })
    }
}

/// A stale place serves an object that comes much later (`cache:FF-7`).
struct BackAtAnOldPlace;

impl Scenario<Fifo> for BackAtAnOldPlace {
    const NAME: &'static str = "back_at_an_old_place";
    const SAYS: &'static str =
        "an object that was deleted, added again and popped is added once more";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        stage.add((1, 1));
        let writer = stage.on("writer", |stage| {
            stage.delete((1, 2));
            stage.add((1, 3));
        });
        let popper = stage.popper("popper");
        stage.join([writer, popper]);
        stage.add((2, 1));
        stage.add((1, 4));
        let consumer = stage.consumer("consumer");
        stage.end([consumer]);
    }

    /// The object's second place is still there, before the place of another object.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let adds = steps(event, |op| matches!(op, Op::Put(_)));
            adds && before.spec.queue.iter().eq(&[1, 2]) && head_is_stale(before)
        })
    }
}

/// Two consumers wait for one object each.
struct TwoConsumers;

impl Scenario<Fifo> for TwoConsumers {
    const NAME: &'static str = "two_consumers";
    const SAYS: &'static str =
        "two consumers wait, and two objects are added, one for each consumer";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        let poppers = [stage.popper("first"), stage.popper("second")];
        stage.add((2, 1));
        stage.add((1, 1));
        stage.end(poppers);
    }

    /// Both sleep when the first object comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| writes(event) && before.asleep.count(Bed::Pop) == 2)
    }
}

/// Two consumers wait for the objects of one list.
struct TwoConsumersOneList;

impl Scenario<Fifo> for TwoConsumersOneList {
    const NAME: &'static str = "two_consumers_one_list";
    const SAYS: &'static str =
        "two consumers wait, and a list of two objects arrives, one for each consumer";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        Stage::new(world).two_consumers_one_list(&[(2, 1), (1, 1)]);
    }

    fn reaches(history: &History) -> bool {
        <TwoConsumers as Scenario<Fifo>>::reaches(history)
    }
}

/// A list comes between changes: objects that it lacks are gone (`cache:FF-9`).
struct ListRacesChanges;

impl Scenario<Fifo> for ListRacesChanges {
    const NAME: &'static str = "list_races_changes";
    const SAYS: &'static str =
        "a list arrives while one object is updated and another one is added";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        let writer = stage.on("writer", |stage| {
            stage.update((1, 1));
            stage.add((3, 1));
        });
        let consumer = stage.consumer("consumer");
        stage.list(&[(2, 1), (1, 2)]);
        stage.end([writer, consumer]);
    }

    /// The list lacks an object that waits.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let lists = steps(event, |op| matches!(op, Op::Replace(_)));
            lists && before.spec.items.contains_key(&3)
        })
    }
}

/// A resync has nothing to queue (`cache:FF-11`).
struct ResyncQueuesNothing;

impl Scenario<Fifo> for ResyncQueuesNothing {
    const NAME: &'static str = "resync_queues_nothing";
    const SAYS: &'static str = "a resync runs while an object waits; later two objects wait";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        stage.add((1, 1));
        let resyncer = stage.on("resyncer", |stage| stage.queue.resync());
        let popper = stage.popper("popper");
        stage.join([resyncer, popper]);
        stage.add((2, 1));
        stage.add((1, 2));
        let consumer = stage.consumer("consumer");
        stage.end([consumer]);
    }

    /// The resync finds the object waiting.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let resyncs = steps(event, |op| matches!(op, Op::Resync(_)));
            resyncs && before.spec.items.contains_key(&1)
        })
    }
}

/// Readers look while writers write (`cache:FF-14`).
struct ReadersBetween;

impl Scenario<Fifo> for ReadersBetween {
    const NAME: &'static str = "readers_between";
    const SAYS: &'static str = "a reader looks at the queue while other threads write and pop";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        let reader = stage.on("reader", |stage| {
            let _listed = stage.queue.list();
            let _waiting = stage.queue.get(&2);
            let _many = stage.queue.len();
        });
        let consumer = stage.consumer("consumer");
        stage.add((2, 1));
        stage.add((1, 1));
        stage.delete((2, 2));
        stage.end([reader, consumer]);
    }

    /// A reader counts while a place is stale.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            steps(event, |op| matches!(op, Op::Len(_))) && head_is_stale(before)
        })
    }
}

/// Two writers, a lister and a consumer.
struct EverybodyAtOnce;

impl Scenario<Fifo> for EverybodyAtOnce {
    const NAME: &'static str = "everybody_at_once";
    const SAYS: &'static str =
        "changes and two lists arrive at once while a consumer pops and a caller asks";

    fn run<R: Runtime>(&self, world: &World<R, Fifo>) {
        let stage = Stage::new(world);
        let changes = stage.on("changes", |stage| {
            stage.add((1, 1));
            stage.delete((2, 2));
            stage.add((2, 3));
        });
        let lists = stage.on("lists", |stage| {
            stage.list(&[(2, 1), (3, 1)]);
            stage.list(&[(3, 2), (1, 2)]);
        });
        let consumer = stage.consumer("consumer");
        let _synced = stage.queue.has_synced();
        let _waiting = stage.queue.list();
        stage.end([changes, lists, consumer]);
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        let many =
            "more than 200,000 traces: loom explores it within its bound, samplers sample it";
        (engine == Engine::Trace).then_some(many)
    }

    /// The second list meets a stale place of the first.
    fn reaches(history: &History) -> bool {
        some(history, |before, event| {
            let lists = steps(event, |op| matches!(op, Op::Replace(_)));
            lists && head_is_stale(before)
        })
    }
}
