//! The changes that handlers are told, whenever the handlers are added.

use super::*;
use crate::informer::book::Told;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Informer>> {
    vec![
        follows_changes(),
        comes_late(),
        first_list_is_seen(),
        empty_list(),
        first_by_a_stream(),
        refused_among_others(),
        refused_in_a_list(),
        refused_in_a_later_list(),
    ]
}

fn follows_changes() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "follows_changes",
        "objects are stored, changed and deleted while a handler is called",
        |world| {
            let stage = Stage::new(world, objects(1));
            let handler = stage.add(0, Care::default());
            let run = stage.start();
            stage.source.put(1);
            stage.source.put(0);
            stage.source.delete(0);
            world.quiesce();
            stage.stop(run);
            drop(handler);
        },
        |history| {
            some(history, |_, entry| matches!(entry, Entry::Calls { told: Told::Deleted, .. }))
        },
    )
    .not_on(has_many_traces)
}

fn comes_late() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "comes_late",
        "a handler is added while a change is stored and delivered",
        |world| {
            let stage = Stage::new(world, objects(1));
            let early = stage.add(0, Care::default()).expect("it has not stopped");
            let run = stage.start();
            stage.await_sync(0, &early);
            let adds = stage.spawn("adds", |own| {
                let late = own.add(1, Care::default()).expect("it has not stopped");
                own.await_sync(1, &late);
            });
            stage.source.put(0);
            world.join(adds);
            world.quiesce();
            stage.stop(run);
        },
        |history| {
            some(history, |seen, entry| {
                let changed = seen.server.get(&0) == Some(&2);
                *entry == Entry::Added(1, true) && changed && seen.handlers[&0].calls == 1
            })
        },
    )
    .not_on(has_many_schedules)
}

fn first_list_is_seen() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "first_list_is_seen",
        "two callers wait until two handlers have seen the first list, and one handler is slow",
        |world| {
            let stage = Stage::new(world, objects(2));
            let slow = Care { takes: millis(20), ..Care::default() };
            let slow = stage.add(0, slow).expect("it has not stopped");
            let run = stage.start();
            let waits = stage.spawn("waits", move |own| own.await_sync(0, &slow));
            let other = stage.add(1, Care::default()).expect("it has not stopped");
            stage.await_sync(1, &other);
            world.quiesce();
            stage.stop(run);
            world.join(waits);
        },
        |history| during_a_call(history, 0, |entry| matches!(entry, Entry::Synced(1, true))),
    )
    .not_on(has_many_schedules)
}

/// A caller waits until a handler has seen the first list.
fn first_list_is_awaited(stage: &Stage) {
    let handler = stage.add(0, Care::default()).expect("it has not stopped");
    let run = stage.start();
    let waits = stage.spawn("waits", move |own| own.await_sync(0, &handler));
    stage.world.quiesce();
    stage.stop(run);
    stage.world.join(waits);
}

fn empty_list() -> Scenario<Informer> {
    Scenario::new(
        "empty_list",
        "the server has no objects, and a caller waits until a handler has synced",
        |world| first_list_is_awaited(&Stage::new(world, objects(0))),
        |history| some(history, |_, entry| *entry == Entry::Synced(0, true)),
    )
}

fn first_by_a_stream() -> Scenario<Informer> {
    Scenario::new(
        "first_by_a_stream",
        "the first objects arrive by a stream and change meanwhile",
        |world| {
            let mut setting = objects(1);
            setting.manners.streams = true;
            let stage = Stage::new(world, setting);
            let handler = stage.add(0, Care::default());
            let run = stage.start();
            stage.source.put(0);
            world.quiesce();
            stage.stop(run);
            drop(handler);
        },
        |history| some(history, |_, entry| matches!(entry, Entry::Calls { key: 0, .. })),
    )
}

/// An index function refuses this version of an object.
fn refusing(objects: u16, version: u64) -> Setting {
    Setting { index_refuses: Some(version), ..self::objects(objects) }
}

/// Counts how often the index function refused.
fn refusals(history: &History) -> usize {
    let entries = history.events.iter().filter_map(entry);
    entries.filter(|it| matches!(it, Entry::IndexRefuses(..))).count()
}

fn refused_among_others() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "refused_among_others",
        "an index function refuses one of two changes that are stored together",
        |world| {
            let stage = Stage::new(world, refusing(1, 2));
            let handler = stage.add(0, Care::default());
            let run = stage.start();
            stage.source.put(1);
            stage.source.put(2);
            world.quiesce();
            stage.stop(run);
            drop(handler);
        },
        // Once with the others, and once more alone.
        |history| refusals(history) > 1,
    )
    .not_on(has_many_traces)
}

fn refused_in_a_list() -> Scenario<Informer> {
    Scenario::new(
        "refused_in_a_list",
        "an index function refuses one of two objects of the first list",
        |world| first_list_is_awaited(&Stage::new(world, refusing(2, 1))),
        |history| refusals(history) > 0,
    )
}

fn refused_in_a_later_list() -> Scenario<Informer> {
    Scenario::new(
        "refused_in_a_later_list",
        "an index function refuses the new state of a known object, which comes in a second list",
        |world| {
            let stage = Stage::new(world, refusing(2, 3));
            let handler = stage.add(0, Care::default()).expect("it has not stopped");
            let run = stage.start();
            stage.await_sync(0, &handler);
            stage.source.put_behind_the_streams(1);
            world.quiesce();
            stage.stop(run);
        },
        |history| {
            some(history, |seen, entry| {
                let is_known =
                    seen.handlers.get(&0).is_some_and(|of| of.objects.get(&1) == Some(&2));
                is_known && matches!(entry, Entry::IndexRefuses(1, 3))
            })
        },
    )
}
