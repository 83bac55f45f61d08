//! Small concurrent programs on the store, each named by the case that it must reach.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::store::expiring::Op;
use seatrial_core::store::{ExpiringStore as Shell, Intake, KeyHasher, LastState};

use super::invariants::{CALLS, Called};
use super::{Event, ExpiringStore, TIME_TO_LIVE};
use crate::engine::AnyRuntime;
use crate::events::fixtures::{Object, key_of};
use crate::queues::fixtures::{caller, sleep};
use crate::stores::fixtures::Followed;
use crate::trial::{Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<ExpiringStore>> {
    vec![
        expired_beside_add(false),
        at_the_very_age(),
        refreshed(),
        list_beside_readers(),
        deleted_beside_readers(),
    ]
}

type Led = Followed<ExpiringStore>;
type Tried = Arc<Stage>;

/// The store under trial. Each call is noted before it is made: all steps of the store up to the
/// next note then count as parts of that call.
struct Stage {
    world: World<ExpiringStore>,
    store: Shell<u8, Object, AnyRuntime>,
    /// Whether a read removes in a second step, as in a shell with a mistake.
    split: bool,
}

impl Stage {
    fn says(&self, call: Called) -> &Shell<u8, Object, AnyRuntime> {
        self.world.note(CALLS, call as u64);
        &self.store
    }

    fn add(&self, object: Object) {
        self.says(Called::Put).add(object).expect("the object has a key");
    }

    fn delete(&self, object: Object) {
        self.says(Called::Delete).delete(object).expect("the object has a key");
    }

    fn replace(&self, objects: Vec<Object>) {
        self.says(Called::Replace).replace(objects).expect("every object has a key");
    }

    fn get(&self, key: u8) {
        let found = self.says(Called::Get).get(&key);
        if found.is_none() && self.split {
            let last = LastState::unknown(key, None);
            self.store.delete_last_state(&last).expect("a tombstone has a key");
        }
    }

    fn list(&self) {
        let _all = self.says(Called::List).list();
    }

    fn list_keys(&self) {
        let _keys = self.says(Called::ListKeys).list_keys();
    }
}

const A_LITTLE: Duration = Duration::from_nanos(1);
const HALF: Duration = Duration::from_millis(10);

fn store(world: &World<ExpiringStore>) -> Tried {
    around(world, false)
}

fn around(world: &World<ExpiringStore>, split: bool) -> Tried {
    let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
    let store = Shell::with_host(world.runtime(), intake, world.machine());
    Arc::new(Stage { world: world.clone(), store, split })
}

/// Reads everything in every way.
fn look(store: &Tried) {
    store.list_keys();
    store.get(1);
    store.list_keys();
    store.list();
    store.list_keys();
}

fn steps(event: &Event, call: impl Fn(&Op<u8, Object>) -> bool) -> bool {
    matches!(&event.what, What::Step { op, .. } if call(op))
}

/// Tells whether there is an object that has expired at the time of an event.
fn has_expired(before: &Led, event: &Event) -> bool {
    before.plain.keys().iter().any(|key| before.plain.alive(*key, event.at).is_none())
}

/// An object has expired, and its successor comes while a caller reads (`cache:SC-16`).
/// With `split` the store reads and removes in two steps.
pub(super) fn expired_beside_add(split: bool) -> Scenario<ExpiringStore> {
    Scenario::new(
        "expired_beside_add",
        "a reader looks at an expired object while its successor is written",
        move |world| {
            let store = around(world, split);
            store.add((1, 1));
            sleep(world, TIME_TO_LIVE + A_LITTLE);
            let reader = caller(world, "reader", &store, |store| {
                store.get(1);
            });
            let lister = caller(world, "lister", &store, |store| store.list());
            store.add((1, 2));
            world.join(reader);
            world.join(lister);
            look(&store);
        },
        // The expired object is read before its successor comes.
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Get(_))) && has_expired(before, event)
            })
        },
    )
}

/// An object is at exactly its maximum age, and then older.
fn at_the_very_age() -> Scenario<ExpiringStore> {
    Scenario::new(
        "at_the_very_age",
        "objects are read when their age equals the time to live, and a little later",
        |world| {
            let store = store(world);
            store.add((1, 1));
            store.add((2, 1));
            let watched = world.clone();
            let reader = caller(world, "reader", &store, move |store| {
                sleep(&watched, TIME_TO_LIVE);
                store.list();
                store.get(1);
            });
            world.join(reader);
            sleep(world, A_LITTLE);
            look(&store);
        },
        |history| {
            let reads = |op: &Op<_, _>| matches!(op, Op::Get(_));
            Led::some(history, |before, event| steps(event, reads) && !has_expired(before, event))
                && Led::some(history, |before, event| {
                    steps(event, reads) && has_expired(before, event)
                })
        },
    )
}

/// An update restarts the time of an object; reading does not (`cache:EX-1`).
fn refreshed() -> Scenario<ExpiringStore> {
    Scenario::new(
        "refreshed",
        "at half the time to live, one object is updated and another is read; later one expires",
        |world| {
            let store = store(world);
            store.add((1, 1));
            store.add((2, 1));
            sleep(world, HALF);
            let reader = caller(world, "reader", &store, |store| {
                store.get(2);
            });
            store.add((1, 2));
            world.join(reader);
            sleep(world, HALF + A_LITTLE);
            store.get(2);
            look(&store);
        },
        // One object is alive and the other is not.
        |history| {
            Led::some(history, |before, event| {
                let alive = |key| before.plain.alive(key, event.at).is_some();
                steps(event, |op| matches!(op, Op::Get(_))) && alive(1) && !alive(2)
            })
        },
    )
}

/// A list replaces the content while a caller reads.
fn list_beside_readers() -> Scenario<ExpiringStore> {
    Scenario::new(
        "list_beside_readers",
        "a list arrives at half the time to live while a caller reads, and is read when it is old",
        |world| {
            let store = store(world);
            store.add((1, 1));
            store.add((3, 1));
            sleep(world, HALF);
            let reader = caller(world, "reader", &store, |store| store.list());
            store.replace(vec![(1, 2), (2, 1), (2, 2)]);
            world.join(reader);
            sleep(world, HALF + A_LITTLE);
            look(&store);
        },
        // A listed object is alive after the earlier object would have expired.
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::List(_))) && before.plain.keys() == [1, 2]
            })
        },
    )
}

/// An object is deleted while other callers look for it.
fn deleted_beside_readers() -> Scenario<ExpiringStore> {
    Scenario::new(
        "deleted_beside_readers",
        "an object is deleted while one caller reads it and another updates it",
        |world| {
            let store = store(world);
            store.add((1, 1));
            let reader = caller(world, "reader", &store, |store| {
                store.get(1);
            });
            let writer = caller(world, "writer", &store, |store| store.add((1, 2)));
            store.delete((1, 3));
            world.join(reader);
            world.join(writer);
            look(&store);
        },
        // The deletion comes last.
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::List(_))) && before.plain.items.is_empty()
            })
        },
    )
}
