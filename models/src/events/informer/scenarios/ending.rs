//! Handlers are removed, and the informer is stopped, at any point of their work.

use std::sync::Arc;

use super::*;
use crate::engine::Engine;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Informer>> {
    vec![
        stopped_anywhere(),
        removed_while_events_flow(),
        removal_is_awaited(),
        handlers_act(),
        acts_during_removal(),
        never_ran(),
        runs_twice(),
        index_panics(),
        much_is_queued(),
        list_takes_time(),
    ]
}

fn stopped_anywhere() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "stopped_anywhere",
        "an informer is stopped at any point of its work, and a handler is added too late",
        |world| {
            let stage = Stage::new(world, objects(1));
            let handler = stage.add(0, Care::default());
            let run = stage.start();
            stage.source.put(0);
            stage.stop(run);
            assert!(stage.add(1, Care::default()).is_none(), "it has stopped");
            drop(handler);
        },
        |history| {
            some(history, |seen, entry| *entry == Entry::Stopped && seen.handlers[&0].calls == 1)
        },
    )
    .not_on(has_many_traces)
}

fn removed_while_events_flow() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "removed_while_events_flow",
        "the first of two handlers is removed twice while changes are delivered",
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
        |history| {
            some(history, |seen, entry| {
                *entry == Entry::Removed(0, false) && seen.handlers[&0].calls == 1
            })
        },
    )
    .not_on(has_many_traces)
}

fn removal_is_awaited() -> Scenario<Informer> {
    Scenario::new(
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
        |history| during_a_call(history, 0, |entry| *entry == Entry::Removes(0)),
    )
}

/// A handler that adds another one in its calls.
fn adding(stage: &Stage) -> Care {
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

fn handlers_act() -> Scenario<Informer> {
    Scenario::new(
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
        |history| some(history, |seen, entry| matches!(entry, Entry::Adds(1, _)) && seen.stopped),
    )
}

fn acts_during_removal() -> Scenario<Informer> {
    Scenario::new(
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
        |history| {
            some(history, |seen, entry| {
                matches!(entry, Entry::Adds(1, _)) && seen.handlers[&0].leaves
            })
        },
    )
}

fn never_ran() -> Scenario<Informer> {
    Scenario::new(
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
        |history| some(history, |_, entry| *entry == Entry::Gone(1, true)),
    )
}

fn runs_twice() -> Scenario<Informer> {
    Scenario::new(
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
        |history| some(history, |_, entry| *entry == Entry::Ran(false)),
    )
}

fn index_panics() -> Scenario<Informer> {
    Scenario::new(
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
        |history| some(history, |_, entry| *entry == Entry::RunPanicked),
    )
}

fn much_is_queued() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "much_is_queued",
        "an informer is stopped while changes of one object wait to be stored",
        |world| {
            let stage = Stage::new(world, Setting { watches_store: true, ..objects(1) });
            let run = stage.start();
            for _ in 0..4 {
                stage.source.put(0);
            }
            stage.stop(run);
        },
        |history| some(history, |seen, entry| matches!(entry, Entry::Stored(..)) && seen.stopped),
    )
    .not_on(|engine| {
        let why =
            "its few preemptions do not lead between the last look at the token and the store";
        has_many_traces(engine).or((engine == Engine::Loom).then_some(why))
    })
}

fn list_takes_time() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "list_takes_time",
        "an informer is stopped while the server makes a list",
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
        |history| {
            some(history, |seen, entry| *entry == Entry::Stopped && seen.handlers[&0].calls == 0)
        },
    )
    .not_on(sleeps)
}
