//! Handlers are removed, and the informer is stopped, at any point of their work.

use std::sync::Arc;

use super::*;

pub(super) fn all() -> Vec<Box<dyn DynScenario<Informer>>> {
    vec![
        Box::new(StoppedAnywhere),
        Box::new(RemovedWhileEventsFlow),
        Box::new(RemovalIsAwaited),
        Box::new(HandlersAct),
        Box::new(ActsDuringRemoval),
        Box::new(NeverRan),
        Box::new(RunsTwice),
        Box::new(IndexPanics),
        Box::new(MuchIsQueued),
        Box::new(ListTakesTime),
    ]
}

scenario!(
    StoppedAnywhere,
    "stopped_anywhere",
    "an informer is stopped at any point of its work, and a handler is added too late",
    has_many_traces,
    |world| {
        let stage = Stage::new(world, objects(1));
        let handler = stage.add(0, Care::default());
        let run = stage.start();
        stage.source.put(0);
        stage.stop(run);
        assert!(stage.add(1, Care::default()).is_none(), "it has stopped");
        drop(handler);
    },
    |history| some(history, |seen, entry| {
        *entry == Entry::Stopped && seen.handlers[&0].calls == 1
    })
);

scenario!(
    RemovedWhileEventsFlow,
    "removed_while_events_flow",
    "the first of two handlers is removed twice while changes are delivered",
    has_many_traces,
    |world| {
        let stage = Stage::new(world, objects(1));
        let first = stage.add(0, Care::default()).expect("it has not stopped");
        let second = stage.add(1, Care::default());
        let run = stage.start();
        stage.source.put(0);
        stage.remove(0, &first, false);
        stage.remove(0, &first, false);
        stage.source.put(0);
        world.quiesce();
        stage.stop(run);
        drop(second);
    },
    |history| some(history, |seen, entry| {
        *entry == Entry::Removed(0, false) && seen.handlers[&0].calls == 1
    })
);

scenario!(
    RemovalIsAwaited,
    "removal_is_awaited",
    "a handler is removed in the middle of a call while more calls wait, and the removal waits for \
     it",
    |world| {
        let stage = Stage::new(world, objects(2));
        let care = Care { takes: millis(20), ..Care::default() };
        let handler = stage.add(0, care).expect("it has not stopped");
        let run = stage.start();
        stage.sleep(millis(10));
        stage.remove(0, &handler, true);
        stage.source.put(0);
        world.quiesce();
        stage.stop(run);
    },
    |history| during_a_call(history, 0, |entry| *entry == Entry::Removes(0))
);

/// A handler that adds another one in its calls.
fn adding<R: seatrial_core::runtime::Runtime>(stage: &Stage<R>) -> Care {
    let (own, tried) = (stage.pen.again(), Arc::downgrade(&stage.tried));
    let mut added = false;
    let acts = move |_| {
        // A copy of the stage would keep the informer alive from inside.
        if let Some(tried) = tried.upgrade().filter(|_| !std::mem::replace(&mut added, true)) {
            own.write(Entry::Adds(1, None));
            let handling = seatrial_core::informer::Handling::default();
            tried.add(handling, None, |_| ());
            // It is recorded as refused, because its calls are not recorded.
            own.write(Entry::Added(1, false));
        }
    };
    Care { takes: millis(20), acts: Some(Box::new(acts)), ..Care::default() }
}

scenario!(
    HandlersAct,
    "handlers_act",
    "a handler adds another one while the informer stops",
    |world| {
        let stage = Stage::new(world, objects(1));
        let handler = stage.add(0, adding(&stage));
        let run = stage.start();
        stage.sleep(millis(10));
        stage.stop(run);
        drop(handler);
    },
    |history| some(history, |seen, entry| matches!(entry, Entry::Adds(1, _)) && seen.stopped)
);

scenario!(
    ActsDuringRemoval,
    "acts_during_removal",
    "a handler adds another one while its own removal waits for it",
    |world| {
        let stage = Stage::new(world, objects(1));
        let handler = stage.add(0, adding(&stage)).expect("it has not stopped");
        let run = stage.start();
        stage.sleep(millis(10));
        stage.remove(0, &handler, true);
        stage.stop(run);
    },
    |history| some(history, |seen, entry| {
        matches!(entry, Entry::Adds(1, _)) && seen.handlers[&0].leaves
    })
);

scenario!(
    NeverRan,
    "never_ran",
    "an informer never runs; one of its handlers is removed, and the other ends with the informer",
    |world| {
        let stage = Stage::new(world, objects(1));
        let removed = stage.add(0, Care::default()).expect("it has not stopped");
        let stays = stage.add(1, Care::default()).expect("it has not stopped");
        let waits = stage.spawn("waits", move |own| {
            let Stage { pen, tried, .. } = own;
            drop(tried);
            pen.write(Entry::AwaitsSync(1));
            pen.write(Entry::Synced(1, stays.wait_for_sync()));
        });
        stage.remove(0, &removed, true);
        drop(stage);
        world.join(waits);
    },
    |history| some(history, |_, entry| *entry == Entry::Gone(1, true))
);

scenario!(
    RunsTwice,
    "runs_twice",
    "two threads run the same informer at the same time",
    |world| {
        let stage = Stage::new(world, objects(1));
        let handler = stage.add(0, Care::default());
        let runs = [stage.start(), stage.start()];
        world.quiesce();
        stage.cancel();
        for run in runs {
            world.join(run);
        }
        drop(handler);
    },
    |history| some(history, |_, entry| *entry == Entry::Ran(false))
);

scenario!(
    IndexPanics,
    "index_panics",
    "an index function panics, and so does the run",
    |world| {
        let setting = Setting { index_panics_at: Some(2), ..objects(1) };
        let stage = Stage::new(world, setting);
        let handler = stage.add(0, Care::default());
        let run = stage.start();
        stage.source.put(0);
        world.quiesce();
        stage.stop(run);
        drop(handler);
    },
    |history| some(history, |_, entry| *entry == Entry::RunPanicked)
);

scenario!(
    MuchIsQueued,
    "much_is_queued",
    "an informer is stopped while changes of one object wait to be stored",
    has_many_traces,
    |world| {
        let stage = Stage::new(world, Setting { watches_store: true, ..objects(1) });
        let run = stage.start();
        for _ in 0..4 {
            stage.source.put(0);
        }
        stage.stop(run);
    },
    |history| some(history, |seen, entry| matches!(entry, Entry::Stored(..)) && seen.stopped)
);

scenario!(
    ListTakesTime,
    "list_takes_time",
    "an informer is stopped while the server makes a list",
    sleeps,
    |world| {
        let mut setting = objects(1);
        setting.manners.slow = millis(2_000);
        let stage = Stage::new(world, setting);
        let handler = stage.add(0, Care::default());
        let run = stage.start();
        stage.sleep(millis(1_000));
        stage.stop(run);
        drop(handler);
    },
    |history| some(history, |seen, entry| *entry == Entry::Stopped && seen.handlers[&0].calls == 0)
);
