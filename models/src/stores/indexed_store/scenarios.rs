//! Small concurrent programs on the store, each named by the case that it must reach.

use super::book::{Answer, Call};
use super::op::Labelled;
use super::sequential::REFUSED;
use super::stage::Stage;
use super::{History, IndexedStore};
use crate::stores::fixtures::ended;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<IndexedStore>> {
    vec![
        value_added_beside_readers(),
        moved_beside_readers(),
        moved_from_many_beside_reader(),
        deleted_beside_readers(),
        index_added_beside_writer(),
        index_added_beside_list(),
        list_beside_transaction(),
        list_beside_readers(),
        version_beside_writer(),
        refused_beside_readers(),
        snapshot_beside_writer(),
    ]
}

fn object(key: u8, version: u8, bits: u8) -> Labelled {
    Labelled { key, version, bits }
}

fn put(key: u8, version: u8, bits: u8) -> Call {
    Call::Put(object(key, version, bits))
}

/// Tells whether a call and its answer meet a condition while another call of some kind runs.
fn answered_during(
    history: &History,
    wanted: impl Fn(&Call, &Answer) -> bool,
    other: impl Fn(&Call) -> bool,
) -> bool {
    let ended = ended(history);
    ended.iter().filter(|it| wanted(&it.call, &it.answer)).any(|it| {
        ended.iter().any(|during| other(&during.call) && during.from < it.to && it.from < during.to)
    })
}

/// A reader looks for a value that an object loses, and for one that it gets (`cache:SC-14`).
fn value_added_beside_readers() -> Scenario<IndexedStore> {
    Scenario::new(
        "value_added_beside_readers",
        "an object gets a second value and loses the first, while a reader looks for both",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::AddIndex, put(1, 1, 0b01)]);
            let reader = stage.on("reader", [Call::ByIndex(0), Call::ByIndex(1)]);
            let writer = stage.on("writer", [put(1, 2, 0b11), put(1, 3, 0b10)]);
            stage.end([reader, writer]);
        },
        // The reader finds the object by both values.
        |history| {
            let found = |bit| {
                let found = |call: &Call, answer: &Answer| {
                    *call == Call::ByIndex(bit) && *answer != Answer::Objects(vec![])
                };
                answered_during(history, found, |other| matches!(other, Call::Put(_)))
            };
            found(0) && found(1)
        },
    )
}

/// An object moves from one value to another.
fn moved_beside_readers() -> Scenario<IndexedStore> {
    Scenario::new(
        "moved_beside_readers",
        "an object moves between two values while a caller reads the values, and another the keys",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::AddIndex, put(1, 1, 0b01)]);
            let reader = stage.on("reader", [Call::Values, Call::Values]);
            let keys = stage.on("keys", [Call::Keys(1)]);
            stage.call([put(1, 2, 0b10)]);
            stage.end([reader, keys]);
        },
        // A reader reads the values while the object moves.
        |history| {
            let reads = |call: &Call, _: &Answer| *call == Call::Values;
            answered_during(history, reads, |other| matches!(other, Call::Put(_)))
        },
    )
}

/// One of many objects under a value moves; there are enough to be read without the lock
/// (`cache:IX-20`).
fn moved_from_many_beside_reader() -> Scenario<IndexedStore> {
    Scenario::new(
        "moved_from_many_beside_reader",
        "one of seventy objects under a value moves to another value while a reader looks",
        |world| {
            let stage = Stage::new(world);
            let many = (1..=70).map(|key| object(key, 1, 0b01)).collect();
            stage.call([Call::AddIndex, Call::Replace(many)]);
            let reader = stage.on("reader", [Call::ByIndex(0)]);
            stage.call([put(70, 2, 0b10)]);
            stage.end([reader]);
        },
        // The reader finds all of them while one moves.
        |history| {
            let all = |_: &Call, answer: &Answer| match answer {
                Answer::Objects(found) => found.len() == 70,
                _ => false,
            };
            answered_during(history, all, |other| matches!(other, Call::Put(_)))
        },
    )
}

/// An object is deleted.
fn deleted_beside_readers() -> Scenario<IndexedStore> {
    Scenario::new(
        "deleted_beside_readers",
        "two objects are deleted while a reader looks for them",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::AddIndex, put(1, 1, 0b01), put(2, 2, 0b01), put(1, 1, 0b11)]);
            let reader = stage.on("reader", [Call::ByIndex(0), Call::Get(1)]);
            stage.call([Call::Delete(1), Call::Delete(2)]);
            stage.end([reader]);
        },
        // One object is found, and not the other.
        |history| {
            let one = |call: &Call, answer: &Answer| match (call, answer) {
                (Call::ByIndex(0), Answer::Objects(found)) => found.len() == 1,
                _ => false,
            };
            ended(history).iter().any(|ended| one(&ended.call, &ended.answer))
        },
    )
}

/// An index is added to a store in use (`cache:SC-14`, `cache:IX-14`).
fn index_added_beside_writer() -> Scenario<IndexedStore> {
    Scenario::new(
        "index_added_beside_writer",
        "an index is added while one caller writes and another reads through the index",
        |world| {
            let stage = Stage::new(world);
            stage.call([put(1, 1, 0b01)]);
            let reader = stage.on("reader", [Call::ByIndex(0)]);
            let writer = stage.on("writer", [put(2, 2, 0b01)]);
            stage.call([Call::AddIndex, Call::AddIndex]);
            stage.end([reader, writer]);
        },
        // A reader finds one object through the index while the other is being written.
        |history| {
            let found = |call: &Call, answer: &Answer| match (call, answer) {
                (Call::ByIndex(0), Answer::Objects(found)) => found.len() == 1,
                _ => false,
            };
            answered_during(history, found, |other| *other == put(2, 2, 0b01))
        },
    )
}

/// An index is added while a list comes (`cache:IX-14`, `cache:IX-16`).
fn index_added_beside_list() -> Scenario<IndexedStore> {
    Scenario::new(
        "index_added_beside_list",
        "an index is added while a list is stored, and is still there afterwards",
        |world| {
            let stage = Stage::new(world);
            stage.call([put(1, 1, 0b01)]);
            let lister = stage.on("lister", [Call::Replace(vec![object(2, 2, 0b11)])]);
            stage.call([Call::AddIndex]);
            stage.end([lister]);
        },
        // The index is added while the list is being stored.
        |history| {
            let added =
                |call: &Call, answer: &Answer| *call == Call::AddIndex && *answer == Answer::Done;
            answered_during(history, added, |other| matches!(other, Call::Replace(_)))
        },
    )
}

/// A list, a transaction and a reader (`cache:SC-15`).
fn list_beside_transaction() -> Scenario<IndexedStore> {
    Scenario::new(
        "list_beside_transaction",
        "a list and a transaction are stored while a caller reads all objects",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::AddIndex, put(1, 1, 0b01)]);
            let transaction = vec![
                (false, object(2, 2, 0b01)),
                (true, object(1, 1, 0)),
                (false, object(3, 3, 0b10)),
            ];
            let writer = stage.on("writer", [Call::Transact(transaction)]);
            let reader = stage.on("reader", [Call::List]);
            stage.call([Call::Replace(vec![
                object(1, 2, 0b11),
                object(4, 1, 0),
                object(4, 3, 0b01),
            ])]);
            stage.end([writer, reader]);
        },
        // The reader sees the result of the transaction before the list is stored.
        |history| {
            let found = |call: &Call, answer: &Answer| match (call, answer) {
                (Call::List, Answer::Objects(found)) => found.first().is_some_and(|it| it.key == 2),
                _ => false,
            };
            answered_during(history, found, |other| matches!(other, Call::Replace(_)))
        },
    )
}

/// A list and its version become the content in one step (`cache:ST-7`, `cache:ST-12`).
fn list_beside_readers() -> Scenario<IndexedStore> {
    Scenario::new(
        "list_beside_readers",
        "a list is stored while a caller reads the version and the objects",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::AddIndex, put(1, 1, 0b01)]);
            let reader = stage.on("reader", [Call::Version, Call::List]);
            stage.call([Call::Replace(vec![object(2, 2, 0b11)])]);
            stage.end([reader]);
        },
        // The reader sees the new version while the list comes.
        |history| {
            let new = |_: &Call, answer: &Answer| *answer == Answer::Version("8".to_owned());
            answered_during(history, new, |other| matches!(other, Call::Replace(_)))
        },
    )
}

/// An object and its version are stored in one step (`cache:ST-12`).
fn version_beside_writer() -> Scenario<IndexedStore> {
    Scenario::new(
        "version_beside_writer",
        "an object is written while a caller reads it and then the version",
        |world| {
            let stage = Stage::new(world);
            stage.call([put(1, 1, 0b01)]);
            let reader = stage.on("reader", [Call::Get(1), Call::Version]);
            stage.call([put(1, 2, 0b01)]);
            stage.end([reader]);
        },
        // The reader sees the new object while it is written.
        |history| {
            let new = |call: &Call, answer: &Answer| {
                *call == Call::Get(1) && *answer == Answer::Objects(vec![object(1, 2, 0b01)])
            };
            answered_during(history, new, |other| *other == put(1, 2, 0b01))
        },
    )
}

/// An index function refuses objects (`cache:IX-8`).
fn refused_beside_readers() -> Scenario<IndexedStore> {
    Scenario::new(
        "refused_beside_readers",
        "an object and a list are refused while one caller reads and another one writes",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::AddIndex, put(1, 1, 0b01)]);
            let reader = stage.on("reader", [Call::Get(1), Call::List]);
            let writer = stage.on("writer", [put(1, 2, 0b10)]);
            let list = vec![object(2, 2, 0b01), object(3, REFUSED, 0b01)];
            stage.call([put(1, REFUSED, 0b10), Call::Replace(list)]);
            stage.end([reader, writer]);
        },
        |history| {
            let refused = |_: &Call, answer: &Answer| *answer == Answer::Refused;
            answered_during(history, refused, |other| *other == Call::List)
        },
    )
}

/// A snapshot does not change while it is alive.
fn snapshot_beside_writer() -> Scenario<IndexedStore> {
    Scenario::new(
        "snapshot_beside_writer",
        "a caller holds a snapshot across a write while another caller reads",
        |world| {
            let stage = Stage::new(world);
            stage.call([put(1, 1, 0b01), put(2, 2, 0b01)]);
            let reader = stage.on("reader", [Call::List, Call::Get(1)]);
            stage.call([Call::SnapshotAcross(object(1, 3, 0b10))]);
            stage.end([reader]);
        },
        // The other caller sees the written object while the snapshot is alive.
        |history| {
            let new =
                |_: &Call, answer: &Answer| *answer == Answer::Objects(vec![object(1, 3, 0b10)]);
            answered_during(history, new, |other| matches!(other, Call::SnapshotAcross(_)))
        },
    )
}
