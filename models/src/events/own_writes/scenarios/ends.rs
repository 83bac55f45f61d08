//! Ends: the time is over, the informer ends, or the wait for the first list does.

use seatrial_core::informer::fresh::{self, NotVisibleError};
use seatrial_core::runtime::Instant;

use super::super::shelf::{Note, Op, Thing, Wish};
use super::super::stage::{Stage, bookmark, put};
use super::super::{Event, History, OwnWrites};
use super::{DELETED, MANY, WRITTEN, one, own, some, soon, wakes_tasks_by_the_clock};
use crate::trial::{Scenario, What};

pub(super) fn all() -> Vec<Scenario<OwnWrites>> {
    vec![
        time_is_over(),
        never_comes(),
        deletion_takes_too_long(),
        stops_for_waiters(),
        first_list_comes(),
        first_list_never_comes(),
    ]
}

/// Tells whether some client gets an error that meets a condition.
fn told_in_error(history: &History, wanted: impl Fn(&NotVisibleError) -> bool) -> bool {
    history.events.iter().any(|event: &Event| match &event.what {
        What::Step { op: Op::Note(Note::Told(_, Err(error))), .. } => wanted(error),
        _ => false,
    })
}

fn time_is_over() -> Scenario<OwnWrites> {
    Scenario::<OwnWrites>::new(
        "time_is_over",
        "a client waits for a limited time for a state that may arrive too late",
        |world| {
            let stage = Stage::new(world, MANY, WRITTEN);
            let client = stage.spawn("client", |client| client.read(one(1), soon(&client)));
            stage.tell(put("a", "1", 1));
            stage.end([client]);
        },
        |history| {
            told_in_error(history, |error| *error == NotVisibleError::Behind { wanted: 1, seen: 0 })
        },
    )
    .free_deadlines(1)
    .not_on(wakes_tasks_by_the_clock)
}

fn never_comes() -> Scenario<OwnWrites> {
    Scenario::new(
        "never_comes",
        "a client waits for a limited time for a state that never arrives",
        |world| {
            let stage = Stage::new(world, MANY, WRITTEN);
            let read = |client: Stage| client.read(Wish::AllAtLeast(9), soon(&client));
            let client = stage.spawn("client", read);
            stage.tell(put("a", "1", 1));
            stage.end([client]);
        },
        |history| {
            told_in_error(history, |error| *error == NotVisibleError::Behind { wanted: 9, seen: 1 })
        },
    )
}

fn deletion_takes_too_long() -> Scenario<OwnWrites> {
    Scenario::new(
        "deletion_takes_too_long",
        "a client waits for a limited time for a deletion that never arrives",
        |world| {
            let stage = Stage::new(world, MANY, DELETED);
            stage.tell(put("a", "1", 1));
            let client = stage.spawn("client", |client| {
                client.deleted(&Thing::object("a", "1", 1));
                client.read(own(), soon(&client));
            });
            stage.tell(bookmark(1));
            stage.end([client]);
        },
        |history| {
            told_in_error(history, |error| matches!(error, NotVisibleError::StillThere { .. }))
        },
    )
}

fn stops_for_waiters() -> Scenario<OwnWrites> {
    Scenario::new(
        "stops_for_waiters",
        "the informer stops while one client waits for a version and another for a deletion; a third \
     reads later",
        |world| {
            let stage = Stage::new(world, MANY, DELETED);
            stage.tell(put("a", "1", 1));
            let version = stage.spawn("version", |client| client.read(one(2), Instant::NEVER));
            let deletion = stage.deleter("deletion", own());
            stage.over();
            stage.end([version, deletion]);
            stage.read(one(1), Instant::NEVER);
        },
        |history| {
            some(history, |book, call, _| {
                matches!(call, fresh::Op::Over(_)) && book.asleep.len() == 2
            })
        },
    )
}

fn first_list_comes() -> Scenario<OwnWrites> {
    Scenario::new(
        "first_list_comes",
        "two clients wait for the first list without a limit, and a third for a limited time",
        |world| {
            let stage = Stage::new(world, MANY, WRITTEN);
            let forever = ["one", "two"]
                .map(|name| stage.spawn(name, |client| client.wait_for_sync(Instant::NEVER)));
            let while_ = stage.spawn("three", |client| client.wait_for_sync(soon(&client)));
            stage.synced();
            stage.end(forever);
            world.join(while_);
            stage.wait_for_sync(Instant::NEVER);
        },
        |history| {
            some(history, |book, call, _| {
                matches!(call, fresh::Op::Synced(_)) && book.asleep.len() == 3
            })
        },
    )
}

fn first_list_never_comes() -> Scenario<OwnWrites> {
    Scenario::new(
        "first_list_never_comes",
        "two clients wait without a limit for a first list that never arrives, and a third for a \
     limited time",
        |world| {
            let stage = Stage::new(world, MANY, WRITTEN);
            let while_ = stage.spawn("three", |client| client.wait_for_sync(soon(&client)));
            world.join(while_);
            let forever = ["one", "two"]
                .map(|name| stage.spawn(name, |client| client.wait_for_sync(Instant::NEVER)));
            stage.over();
            stage.end(forever);
        },
        |history| {
            some(history, |book, call, _| {
                matches!(call, fresh::Op::Over(_)) && book.asleep.len() == 2
            })
        },
    )
}
