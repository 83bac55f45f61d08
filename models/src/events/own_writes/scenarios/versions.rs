//! Events that bring a version to waiting clients.

use seatrial_core::informer::fresh;
use seatrial_core::runtime::Instant;

use super::super::OwnWrites;
use super::super::book::Book;
use super::super::shelf::{Thing, Wish};
use super::super::stage::{Stage, bookmark, list, put};
use super::{MANY, REFUSED, WRITTEN, advances_for, one, own, some};
use crate::trial::{Ledger as _, Scenario, What};

pub(super) fn all() -> Vec<Scenario<OwnWrites>> {
    vec![
        own_write_is_read(),
        written_during_a_read(),
        two_wait(),
        one_gives_up(),
        bookmark_brings_it(),
        list_brings_it(),
        state_is_refused(),
    ]
}

fn own_write_is_read() -> Scenario<OwnWrites> {
    Scenario::new(
        "own_write_is_read",
        "a client reads an object that it wrote, while the store catches up with the write",
        |world| {
            let stage = Stage::new(world, MANY, WRITTEN);
            let client = stage.spawn("client", |client| {
                client.wrote(&Thing::object("a", "1", 2));
                client.read(own(), Instant::NEVER);
            });
            stage.tell(put("a", "1", 1));
            stage.tell(put("a", "1", 2));
            stage.end([client]);
        },
        |history| {
            some(history, |book, call, waits| {
                matches!(call, fresh::Op::AtLeast(_)) && waits && book.version == 1
            })
        },
    )
}

fn written_during_a_read() -> Scenario<OwnWrites> {
    Scenario::new(
        "written_during_a_read",
        "an object is written and read, and meanwhile written again by another client, who reads it too",
        |world| {
            let stage = Stage::new(world, MANY, WRITTEN);
            stage.tell(put("a", "1", 1));
            let clients = [1, 2].map(|version| {
                stage.spawn("client", move |client| {
                    client.wrote(&Thing::object("a", "1", version));
                    client.read(own(), Instant::NEVER);
                })
            });
            stage.tell(put("a", "1", 2));
            stage.end(clients);
        },
        |history| {
            some(history, |book, call, waits| {
                matches!(call, fresh::Op::AtLeast(_)) && waits && book.version == 1
            })
        },
    )
}

fn two_wait() -> Scenario<OwnWrites> {
    Scenario::new(
        "two_wait",
        "two clients wait for the same version, one to read one object, the other to read all",
        |world| {
            let stage = Stage::new(world, MANY, WRITTEN);
            let clients = [one(1), Wish::AllAtLeast(1)]
                .map(|wish| stage.spawn("client", |client| client.read(wish, Instant::NEVER)));
            stage.tell(put("a", "1", 1));
            stage.end(clients);
        },
        |history| advances_for(history, 2),
    )
}

fn one_gives_up() -> Scenario<OwnWrites> {
    Scenario::new(
        "one_gives_up",
        "a task waits and gives up, perhaps after its wake-up; a client waits for the same version",
        |world| {
            let stage = Stage::new(world, MANY, WRITTEN);
            let task = stage.spawn("task", |task| task.read_at_once(one(1)));
            let client = stage.spawn("client", |client| client.read(one(1), Instant::NEVER));
            stage.tell(put("a", "1", 1));
            stage.end([task, client]);
        },
        |history| {
            Book::some(history, |book, event| {
                matches!(event.what, What::Cancel { .. }) && book.version == 1
            })
        },
    )
}

fn bookmark_brings_it() -> Scenario<OwnWrites> {
    Scenario::new(
        "bookmark_brings_it",
        "a client waits for a version, and a bookmark brings it",
        |world| {
            let stage = Stage::new(world, MANY, &WRITTEN[..2]);
            let read = |client: Stage| client.read(Wish::AllAtLeast(3), Instant::NEVER);
            let client = stage.spawn("client", read);
            stage.tell(put("a", "1", 1));
            stage.tell(bookmark(3));
            stage.end([client]);
        },
        |history| {
            some(history, |book, call, _| {
                matches!(call, fresh::Op::Advance(_)) && book.asleep.len() == 1 && book.version == 1
            })
        },
    )
}

fn list_brings_it() -> Scenario<OwnWrites> {
    Scenario::new(
        "list_brings_it",
        "two clients wait for a version, and a list brings it",
        |world| {
            let stage = Stage::new(world, MANY, WRITTEN);
            let clients = [one(2), Wish::AllAtLeast(2)]
                .map(|wish| stage.spawn("client", |client| client.read(wish, Instant::NEVER)));
            stage.tell(list(2, &[Thing::object("a", "1", 2)]));
            stage.end(clients);
        },
        |history| advances_for(history, 2),
    )
}

fn state_is_refused() -> Scenario<OwnWrites> {
    Scenario::new(
        "state_is_refused",
        "a client waits for a state of an object that the store refuses, and a newer state arrives",
        |world| {
            let stage = Stage::new(world, MANY, REFUSED);
            stage.tell(put("a", "1", 1));
            let client = stage.spawn("client", |client| client.read(one(2), Instant::NEVER));
            stage.refuse("a", 2);
            stage.tell(put("b", "2", 3));
            stage.tell(put("a", "1", 4));
            stage.end([client]);
        },
        |history| {
            some(history, |book, call, waits| {
                matches!(call, fresh::Op::AtLeast(_)) && waits && book.version == 3
            })
        },
    )
}
