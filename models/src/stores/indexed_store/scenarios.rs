//! Small concurrent programs on the store, each named by the case that it must reach.

use seatrial_core::runtime::Runtime;

use super::book::{Answer, Call};
use super::op::Labelled;
use super::sequential::REFUSED;
use super::stage::Stage;
use super::{History, IndexedStore};
use crate::stores::fixtures::ended;
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<IndexedStore>>> {
    vec![
        Box::new(ValueAddedBesideReaders),
        Box::new(MovedBesideReaders),
        Box::new(MovedFromManyBesideReader),
        Box::new(DeletedBesideReaders),
        Box::new(IndexAddedBesideWriter),
        Box::new(IndexAddedBesideList),
        Box::new(ListBesideTransaction),
        Box::new(ListBesideReaders),
        Box::new(VersionBesideWriter),
        Box::new(RefusedBesideReaders),
        Box::new(SnapshotBesideWriter),
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
struct ValueAddedBesideReaders;

impl Scenario<IndexedStore> for ValueAddedBesideReaders {
    const NAME: &'static str = "value_added_beside_readers";
    const SAYS: &'static str =
        "an object gets a second value and loses the first, while a reader looks for both";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        stage.call([Call::AddIndex, put(1, 1, 0b01)]);
        let reader = stage.on("reader", [Call::ByIndex(0), Call::ByIndex(1)]);
        let writer = stage.on("writer", [put(1, 2, 0b11), put(1, 3, 0b10)]);
        stage.end([reader, writer]);
    }

    /// The reader finds the object by both values.
    fn reaches(history: &History) -> bool {
        let found = |bit| {
            let found = |call: &Call, answer: &Answer| {
                *call == Call::ByIndex(bit) && *answer != Answer::Objects(vec![])
            };
            answered_during(history, found, |other| matches!(other, Call::Put(_)))
        };
        found(0) && found(1)
    }
}

/// An object moves from one value to another.
struct MovedBesideReaders;

impl Scenario<IndexedStore> for MovedBesideReaders {
    const NAME: &'static str = "moved_beside_readers";
    const SAYS: &'static str =
        "an object moves between two values while a caller reads the values, and another the keys";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        stage.call([Call::AddIndex, put(1, 1, 0b01)]);
        let reader = stage.on("reader", [Call::Values, Call::Values]);
        let keys = stage.on("keys", [Call::Keys(1)]);
        stage.call([put(1, 2, 0b10)]);
        stage.end([reader, keys]);
    }

    /// A reader reads the values while the object moves.
    fn reaches(history: &History) -> bool {
        let reads = |call: &Call, _: &Answer| *call == Call::Values;
        answered_during(history, reads, |other| matches!(other, Call::Put(_)))
    }
}

/// One of many objects under a value moves; there are enough to be read without the lock
/// (`cache:IX-20`).
struct MovedFromManyBesideReader;

impl Scenario<IndexedStore> for MovedFromManyBesideReader {
    const NAME: &'static str = "moved_from_many_beside_reader";
    const SAYS: &'static str =
        "one of seventy objects under a value moves to another value while a reader looks";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        let many = (1..=70).map(|key| object(key, 1, 0b01)).collect();
        stage.call([Call::AddIndex, Call::Replace(many)]);
        let reader = stage.on("reader", [Call::ByIndex(0)]);
        stage.call([put(70, 2, 0b10)]);
        stage.end([reader]);
    }

    /// The reader finds all of them while one moves.
    fn reaches(history: &History) -> bool {
        let all = |_: &Call, answer: &Answer| match answer {
            Answer::Objects(found) => found.len() == 70,
            _ => false,
        };
        answered_during(history, all, |other| matches!(other, Call::Put(_)))
    }
}

/// An object is deleted.
struct DeletedBesideReaders;

impl Scenario<IndexedStore> for DeletedBesideReaders {
    const NAME: &'static str = "deleted_beside_readers";
    const SAYS: &'static str = "two objects are deleted while a reader looks for them";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        stage.call([Call::AddIndex, put(1, 1, 0b01), put(2, 2, 0b01), put(1, 1, 0b11)]);
        let reader = stage.on("reader", [Call::ByIndex(0), Call::Get(1)]);
        stage.call([Call::Delete(1), Call::Delete(2)]);
        stage.end([reader]);
    }

    /// One object is found, and not the other.
    fn reaches(history: &History) -> bool {
        let one = |call: &Call, answer: &Answer| match (call, answer) {
            (Call::ByIndex(0), Answer::Objects(found)) => found.len() == 1,
            _ => false,
        };
        ended(history).iter().any(|ended| one(&ended.call, &ended.answer))
    }
}

/// An index is added to a store in use (`cache:SC-14`, `cache:IX-14`).
struct IndexAddedBesideWriter;

impl Scenario<IndexedStore> for IndexAddedBesideWriter {
    const NAME: &'static str = "index_added_beside_writer";
    const SAYS: &'static str =
        "an index is added while one caller writes and another reads through the index";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        stage.call([put(1, 1, 0b01)]);
        let reader = stage.on("reader", [Call::ByIndex(0)]);
        let writer = stage.on("writer", [put(2, 2, 0b01)]);
        stage.call([Call::AddIndex, Call::AddIndex]);
        stage.end([reader, writer]);
    }

    /// A reader finds one object through the index while the other is being written.
    fn reaches(history: &History) -> bool {
        let found = |call: &Call, answer: &Answer| match (call, answer) {
            (Call::ByIndex(0), Answer::Objects(found)) => found.len() == 1,
            _ => false,
        };
        answered_during(history, found, |other| *other == put(2, 2, 0b01))
    }
}

/// An index is added while a list comes (`cache:IX-14`, `cache:IX-16`).
struct IndexAddedBesideList;

impl Scenario<IndexedStore> for IndexAddedBesideList {
    const NAME: &'static str = "index_added_beside_list";
    const SAYS: &'static str =
        "an index is added while a list is stored, and is still there afterwards";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        stage.call([put(1, 1, 0b01)]);
        let lister = stage.on("lister", [Call::Replace(vec![object(2, 2, 0b11)])]);
        stage.call([Call::AddIndex]);
        stage.end([lister]);
    }

    /// The index is added while the list is being stored.
    fn reaches(history: &History) -> bool {
        let added =
            |call: &Call, answer: &Answer| *call == Call::AddIndex && *answer == Answer::Done;
        answered_during(history, added, |other| matches!(other, Call::Replace(_)))
    }
}

/// A list, a transaction and a reader (`cache:SC-15`).
struct ListBesideTransaction;

impl Scenario<IndexedStore> for ListBesideTransaction {
    const NAME: &'static str = "list_beside_transaction";
    const SAYS: &'static str =
        "a list and a transaction are stored while a caller reads all objects";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        stage.call([Call::AddIndex, put(1, 1, 0b01)]);
        let transaction =
            vec![(false, object(2, 2, 0b01)), (true, object(1, 1, 0)), (false, object(3, 3, 0b10))];
        let writer = stage.on("writer", [Call::Transact(transaction)]);
        let reader = stage.on("reader", [Call::List]);
        stage.call([Call::Replace(vec![object(1, 2, 0b11), object(4, 1, 0), object(4, 3, 0b01)])]);
        stage.end([writer, reader]);
    }

    /// The reader sees the result of the transaction before the list is stored.
    fn reaches(history: &History) -> bool {
        let found = |call: &Call, answer: &Answer| match (call, answer) {
            (Call::List, Answer::Objects(found)) => found.first().is_some_and(|it| it.key == 2),
            _ => false,
        };
        answered_during(history, found, |other| matches!(other, Call::Replace(_)))
    }
}

/// A list and its version become the content in one step (`cache:ST-7`, `cache:ST-12`).
struct ListBesideReaders;

impl Scenario<IndexedStore> for ListBesideReaders {
    const NAME: &'static str = "list_beside_readers";
    const SAYS: &'static str = "a list is stored while a caller reads the version and the objects";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        stage.call([Call::AddIndex, put(1, 1, 0b01)]);
        let reader = stage.on("reader", [Call::Version, Call::List]);
        stage.call([Call::Replace(vec![object(2, 2, 0b11)])]);
        stage.end([reader]);
    }

    /// The reader sees the new version while the list comes.
    fn reaches(history: &History) -> bool {
        let new = |_: &Call, answer: &Answer| *answer == Answer::Version("8".to_owned());
        answered_during(history, new, |other| matches!(other, Call::Replace(_)))
    }
}

/// An object and its version are stored in one step (`cache:ST-12`).
struct VersionBesideWriter;

impl Scenario<IndexedStore> for VersionBesideWriter {
    const NAME: &'static str = "version_beside_writer";
    const SAYS: &'static str = "an object is written while a caller reads it and then the version";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        stage.call([put(1, 1, 0b01)]);
        let reader = stage.on("reader", [Call::Get(1), Call::Version]);
        stage.call([put(1, 2, 0b01)]);
        stage.end([reader]);
    }

    /// The reader sees the new object while it is written.
    fn reaches(history: &History) -> bool {
        let new = |call: &Call, answer: &Answer| {
            *call == Call::Get(1) && *answer == Answer::Objects(vec![object(1, 2, 0b01)])
        };
        answered_during(history, new, |other| *other == put(1, 2, 0b01))
    }
}

/// An index function refuses objects (`cache:IX-8`).
struct RefusedBesideReaders;

impl Scenario<IndexedStore> for RefusedBesideReaders {
    const NAME: &'static str = "refused_beside_readers";
    const SAYS: &'static str =
        "an object and a list are refused while one caller reads and another one writes";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        stage.call([Call::AddIndex, put(1, 1, 0b01)]);
        let reader = stage.on("reader", [Call::Get(1), Call::List]);
        let writer = stage.on("writer", [put(1, 2, 0b10)]);
        let list = vec![object(2, 2, 0b01), object(3, REFUSED, 0b01)];
        stage.call([put(1, REFUSED, 0b10), Call::Replace(list)]);
        stage.end([reader, writer]);
    }

    fn reaches(history: &History) -> bool {
        let refused = |_: &Call, answer: &Answer| *answer == Answer::Refused;
        answered_during(history, refused, |other| *other == Call::List)
    }
}

/// A snapshot does not change while it is alive.
struct SnapshotBesideWriter;

impl Scenario<IndexedStore> for SnapshotBesideWriter {
    const NAME: &'static str = "snapshot_beside_writer";
    const SAYS: &'static str =
        "a caller holds a snapshot across a write while another caller reads";

    fn run<R: Runtime>(&self, world: &World<R, IndexedStore>) {
        let mut stage = Stage::new(world);
        stage.call([put(1, 1, 0b01), put(2, 2, 0b01)]);
        let reader = stage.on("reader", [Call::List, Call::Get(1)]);
        stage.call([Call::SnapshotAcross(object(1, 3, 0b10))]);
        stage.end([reader]);
    }

    /// The other caller sees the written object while the snapshot is alive.
    fn reaches(history: &History) -> bool {
        let new = |_: &Call, answer: &Answer| *answer == Answer::Objects(vec![object(1, 3, 0b10)]);
        answered_during(history, new, |other| matches!(other, Call::SnapshotAcross(_)))
    }
}
