//! Reads that wait until the store is new enough. Only the informer that ships has them.

use std::sync::Arc;

use seatrial_core::informer::{Change, Informer as Ships, ObjectChange, Subscription};
use seatrial_core::runtime::{Instant, Runtime};
use seatrial_core::store::Metadata;

use super::*;
use crate::engine::AnyRuntime;
use crate::informer::source::Object;
use crate::informer::tried::Tried;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Informer>> {
    vec![reads_wait(), writes_are_awaited(), subscribed()]
}

/// Runs an informer while a caller reads, with a bound on its patience, and `meanwhile` happens.
fn read_beside(
    stage: &Stage,
    reads: impl FnOnce(&Stage, &Ships<Object, AnyRuntime>, Instant) + Send + 'static,
    meanwhile: impl FnOnce(),
) {
    let run = stage.start();
    let reads = stage.spawn("reads", |own| {
        if let Tried::Ships(informer) = &*Arc::clone(&own.tried) {
            reads(&own, informer, own.now() + millis(1_000));
        }
    });
    meanwhile();
    stage.world.join(reads);
    stage.stop(run);
}

fn reads_wait() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "reads_wait",
        "a caller reads all objects at a version that comes meanwhile, then one at a later version",
        |world| {
            let stage = Stage::new(world, objects(1));
            let reads = |_: &Stage, informer: &Ships<Object, AnyRuntime>, until| {
                let list = informer.list_at_least("2", until).expect("the version comes");
                assert!(list.objects().all(|it| it.version >= 2), "{list:?}");
                let one = informer.get_at_least("0", "3", until).expect("the version comes");
                assert_eq!(one.map(|it| it.version), Some(3));
            };
            read_beside(&stage, reads, || (0..2).for_each(|_| stage.source.put(0)));
        },
        |history| {
            some(history, |seen, entry| {
                matches!(entry, Entry::Stops) && seen.server.get(&0) == Some(&3)
            })
        },
    )
    .not_on(has_many_traces)
}

/// Changes the object, and notes the change as one's own.
fn writes(own: &Stage, informer: &Ships<Object, AnyRuntime>, version: &str) {
    own.source.put(0);
    let written = Metadata { namespace: "", name: "0", uid: "", resource_version: version };
    informer.wrote(written).expect("it is a number");
}

fn writes_are_awaited() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "writes_are_awaited",
        "a caller writes and reads the object, then writes again and reads all objects",
        |world| {
            let stage = Stage::new(world, objects(1));
            let reads = |own: &Stage, informer: &Ships<Object, AnyRuntime>, until| {
                writes(own, informer, "2");
                let one = informer.get_written("0", until).expect("the write comes");
                assert_eq!(one.map(|it| it.version), Some(2));
                writes(own, informer, "3");
                let list = informer.list_written(until).expect("the write comes");
                assert!(list.objects().all(|it| it.version == 3), "{list:?}");
            };
            read_beside(&stage, reads, || ());
        },
        |history| {
            some(history, |seen, entry| {
                matches!(entry, Entry::Stops) && seen.server.get(&0) == Some(&3)
            })
        },
    )
    .not_on(has_many_traces)
}

/// Reads a subscription until its informer stops. It asks for the next change when it has handled
/// the one before.
async fn follow(mut changes: Subscription<ObjectChange<Object>, AnyRuntime>) -> u32 {
    let mut read = 0;
    while changes.next_async().await.is_ok() {
        read += 1;
    }
    read
}

fn subscribed() -> Scenario<Informer> {
    Scenario::<Informer>::new(
        "subscribed",
        "a thread and a task read the changes of two objects, one of which comes later",
        |world| {
            let stage = Stage::new(world, objects(1));
            let Tried::Ships(informer) = &*stage.tried else { return };
            let reads = Arc::clone(informer);
            let [mut first, second] = [(); 2].map(|()| informer.subscribe());
            let progress = [first.progress(), second.progress()];
            let runtime = world.runtime().clone();
            let task = world.spawn("task", move || runtime.block_on(follow(second)));
            let thread = world.spawn("thread", move || {
                let mut read = 0;
                while let Ok(change) = first.next() {
                    // What a reader was told is visible: it need not wait.
                    let Change::Added { object, .. } = &change else {
                        panic!("{change:?} is not new")
                    };
                    let (key, version) = (object.key.to_string(), object.version.to_string());
                    let seen = reads.get_at_least(&key, &version, Instant::ZERO);
                    assert!(seen.is_ok(), "{change:?}: {seen:?}");
                    read += 1;
                }
                read
            });
            let run = stage.start();
            stage.sleep(millis(100));
            assert!(progress.iter().all(|it| it.has_synced()), "both have handled the first list");
            stage.source.put(1);
            stage.sleep(millis(100));
            stage.stop(run);
            assert_eq!((world.join(task), world.join(thread)), (2, 2), "changes that were read");
        },
        |history| history.finished(),
    )
    .not_on(has_many_traces)
}
