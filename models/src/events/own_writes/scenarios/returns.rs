//! Lists that take the store back, and deletions.

use seatrial_core::informer::fresh::{self, Prepare};
use seatrial_core::runtime::Instant;

use super::super::OwnWrites;
use super::super::book::Book;
use super::super::shelf::{Note, Op, Thing, Wish};
use super::super::stage::{Stage, gone, list, put};
use super::{ANEW, DELETED, MANY, WRITTEN, one, own, some, soon};
use crate::trial::{Ledger as _, Scenario, What, has_many_traces};

pub(super) fn all() -> Vec<Scenario<OwnWrites>> {
    vec![
        goes_back(),
        seen_and_gone_back(),
        deleted_and_made_anew(),
        deletion_is_in_a_list(),
        deletion_is_undone(),
        older_list_is_on_its_way(),
    ]
}

fn goes_back() -> Scenario<OwnWrites> {
    Scenario::new(
        "goes_back",
        "a list goes back to an older version while a client reads",
        |world| {
            let stage = Stage::new(world, MANY, WRITTEN);
            stage.tell(put("a", "1", 2));
            let client = stage.spawn("client", |client| client.read(one(2), Instant::NEVER));
            stage.tell(list(1, &[Thing::object("a", "1", 1)]));
            stage.tell(put("a", "1", 2));
            stage.end([client]);
        },
        |history| {
            some(history, |book, call, _| {
                matches!(call, fresh::Op::Prepare(Prepare(Some(_))))
                    && !book.asks.is_empty()
                    && book.asleep.is_empty()
            })
        },
    )
}

fn seen_and_gone_back() -> Scenario<OwnWrites> {
    Scenario::new(
        "seen_and_gone_back",
        "a client drops the notes of its visible writes while a list takes the store back",
        |world| {
            let stage = Stage::new(world, 1, WRITTEN);
            stage.tell(put("a", "1", 2));
            let client = stage.spawn("client", |client| {
                client.wrote(&Thing::object("a", "1", 2));
                client.read(Wish::AllWritten, Instant::NEVER);
            });
            stage.tell(list(1, &[Thing::object("a", "1", 1)]));
            stage.tell(put("a", "1", 2));
            stage.end([client]);
        },
        |history| {
            some(history, |book, call, _| {
                matches!(call, fresh::Op::Prepare(Prepare(Some(_))))
                    && book.has_written()
                    && book.asks.is_empty()
            })
        },
    )
}

fn deleted_and_made_anew() -> Scenario<OwnWrites> {
    Scenario::new(
        "deleted_and_made_anew",
        "a client deletes an object, and another object with the same name is created",
        |world| {
            let stage = Stage::new(world, MANY, ANEW);
            stage.tell(put("a", "1", 1));
            let client = stage.deleter("client", own());
            stage.tell(gone("a", "1", 2));
            stage.tell(put("a", "2", 3));
            stage.end([client]);
        },
        |history| {
            some(history, |book, call, waits| {
                matches!(call, fresh::Op::Turn(_)) && waits && book.version < 3
            })
        },
    )
}

fn deletion_is_in_a_list() -> Scenario<OwnWrites> {
    Scenario::new(
        "deletion_is_in_a_list",
        "a client deletes an object, and the store learns of the deletion only from a list",
        |world| {
            let stage = Stage::new(world, MANY, DELETED);
            stage.tell(put("a", "1", 1));
            let client = stage.deleter("client", Wish::AllWritten);
            stage.tell(list(2, &[]));
            stage.end([client]);
        },
        |history| {
            some(history, |book, call, _| {
                matches!(call, fresh::Op::Prepare(Prepare(Some(_)))) && book.asleep.len() == 1
            })
        },
    )
}

fn deletion_is_undone() -> Scenario<OwnWrites> {
    let says = "a client reads while a deletion and then an older list are stored, and reads again after both";
    Scenario::<OwnWrites>::new(
        "deletion_is_undone",
        says,
        |world| {
            let stage = Stage::new(world, MANY, DELETED);
            stage.tell(put("a", "1", 1));
            stage.deleted(&Thing::object("a", "1", 1));
            let told = stage.spawn("told", |told| {
                told.tell(gone("a", "1", 2));
                told.tell(list(1, &[Thing::object("a", "1", 1)]));
            });
            stage.read(own(), soon(&stage));
            world.join(told);
            stage.read(own(), soon(&stage));
        },
        |history| {
            Book::some(history, |book, event| match event.what {
                What::Step { op: Op::Note(Note::Told(_, Ok(_))), .. } => book.version < book.stored,
                _ => false,
            })
        },
    )
    .not_on(has_many_traces)
}

fn older_list_is_on_its_way() -> Scenario<OwnWrites> {
    Scenario::new(
        "older_list_is_on_its_way",
        "a client reads after a deletion, while an older list and then the deletion again are stored",
        |world| {
            let stage = Stage::new(world, MANY, DELETED);
            stage.tell(put("a", "1", 1));
            stage.deleted(&Thing::object("a", "1", 1));
            stage.tell(gone("a", "1", 2));
            let told = stage.spawn("told", |told| {
                told.tell(list(1, &[Thing::object("a", "1", 1)]));
                told.tell(gone("a", "1", 2));
            });
            stage.read(own(), soon(&stage));
            world.join(told);
            stage.read(own(), soon(&stage));
        },
        |history| {
            some(history, |book, call, _| {
                matches!(call, fresh::Op::AtLeast(_)) && book.version < book.stored
            })
        },
    )
}
