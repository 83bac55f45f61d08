//! Slow handlers, panics, pauses and resyncs.

use super::*;
use crate::informer::book::Complaint;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Informer>> {
    vec![
        slow_beside_fast(),
        handler_panics(),
        stopped_in_a_pause(),
        server_is_busy(),
        stream_is_refused(),
        resyncs(),
        resyncs_for_one(),
        many_wait(),
    ]
}

fn slow_beside_fast() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "slow_beside_fast",
        "one handler takes long for each call, and another one does not",
        |world| {
            let stage = Stage::new(world, objects(1));
            let slow = Care { takes: millis(10_000), ..Care::default() };
            let handlers = [stage.add(0, slow), stage.add(1, Care::default())];
            let run = stage.start();
            stage.sleep(millis(100));
            stage.source.put(0);
            stage.sleep(millis(100));
            stage.source.put(1);
            world.quiesce();
            stage.stop(run);
            drop(handlers);
        },
        |history| {
            let fast = |entry: &Entry| matches!(entry, Entry::Calls { number: 1, key: 1, .. });
            during_a_call(history, 0, fast)
        },
    )
    .not_on(has_many_schedules)
    .not_on(sleeps)
}

/// Refuses all engines but those that try only some of the schedules.
fn is_large(engine: Engine) -> Option<&'static str> {
    let large = "it has a thousand objects, too many to search all schedules";
    (!matches!(engine, Engine::Sample | Engine::Threads)).then_some(large)
}

fn many_wait() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "many_wait",
        "a handler takes long for its first call while a thousand changes wait, and is removed",
        |world| {
            let stage = Stage::new(world, objects(1_030));
            let slow = Care { takes: millis(150), ..Care::default() };
            let slow = stage.add(0, slow).expect("it has not stopped");
            let run = stage.start();
            stage.sleep(millis(225));
            stage.remove(0, &slow, true);
            stage.stop(run);
        },
        |history| some(history, |_, entry| matches!(entry, Entry::Reported(0, Complaint::Slow))),
    )
    .not_on(is_large)
}

fn handler_panics() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "handler_panics",
        "a handler panics at an object of the first list, and still gets the later calls",
        |world| {
            let stage = Stage::new(world, objects(2));
            let care = Care { panics_at: Some(1), ..Care::default() };
            let panics = stage.add(0, care).expect("it has not stopped");
            let run = stage.start();
            let waits = stage.spawn("waits", move |own| own.await_sync(0, &panics));
            stage.source.put(1);
            world.quiesce();
            stage.stop(run);
            world.join(waits);
        },
        |history| {
            some(history, |seen, entry| {
                let told = matches!(entry, Entry::Calls { number: 0, .. });
                told && seen.handlers[&0].panics == 1
            })
        },
    )
    .not_on(has_many_traces)
    .not_on(sleeps)
}

fn stopped_in_a_pause() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "stopped_in_a_pause",
        "an informer is stopped during the pause after a handler's panic",
        |world| {
            let stage = Stage::new(world, objects(1));
            let care = Care { panics_at: Some(1), ..Care::default() };
            let handler = stage.add(0, care);
            let run = stage.start();
            stage.sleep(millis(100));
            stage.stop(run);
            drop(handler);
        },
        |history| {
            some(history, |seen, entry| *entry == Entry::Stops && seen.handlers[&0].panics == 1)
        },
    )
    .not_on(sleeps)
}

fn server_is_busy() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "server_is_busy",
        "a server refuses lists, and the informer is stopped during a pause",
        |world| {
            let mut setting = objects(1);
            setting.manners.refuses = 4;
            let stage = Stage::new(world, setting);
            let run = stage.start();
            stage.sleep(millis(10_000));
            stage.stop(run);
        },
        |history| some(history, |seen, entry| *entry == Entry::Stops && seen.failures >= 2),
    )
    .not_on(sleeps)
}

fn stream_is_refused() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "stream_is_refused",
        "a server refuses a stream with all objects, and the informer is stopped during the pause",
        |world| {
            let mut setting = objects(1);
            (setting.manners.refuses, setting.manners.streams) = (4, true);
            let stage = Stage::new(world, setting);
            let run = stage.start();
            stage.sleep(millis(100));
            stage.stop(run);
        },
        |history| some(history, |seen, entry| *entry == Entry::Stops && seen.failures >= 1),
    )
    .not_on(sleeps)
}

fn resyncs() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "resyncs",
        "two handlers get unchanged objects again, each with its own period",
        |world| {
            let stage = Stage::new(world, Setting { resync: millis(30_000), ..objects(1) });
            let wants = |millis| Care { wants: Some(super::millis(millis)), ..Care::default() };
            let handlers = [stage.add(0, wants(2_000)), stage.add(1, wants(5_000))];
            let run = stage.start();
            stage.sleep(millis(13_500));
            stage.stop(run);
            drop(handlers);
        },
        |history| {
            some(history, |seen, entry| *entry == Entry::Stops && seen.handlers[&1].shown.is_some())
        },
    )
    .not_on(has_many_schedules)
    .not_on(sleeps)
}

fn resyncs_for_one() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "resyncs_for_one",
        "one of two handlers gets unchanged objects again",
        |world| {
            let stage = Stage::new(world, Setting { resync: millis(30_000), ..objects(1) });
            let care = Care { wants: Some(millis(2_000)), ..Care::default() };
            let handlers = [stage.add(0, care), stage.add(1, Care::default())];
            let run = stage.start();
            stage.sleep(millis(4_500));
            stage.stop(run);
            drop(handlers);
        },
        |history| {
            some(history, |seen, entry| *entry == Entry::Stops && seen.handlers[&0].shown.is_some())
        },
    )
    .not_on(has_many_schedules)
    .not_on(sleeps)
}
