//! Reads that wait until the store is new enough.

use seatrial_core::store::Described as _;

use super::*;
use crate::informer::tried::Tried;

pub(super) fn all() -> Vec<Box<dyn DynScenario<Informer>>> {
    vec![Box::new(ReadsWait)]
}

scenario!(
    ReadsWait,
    "reads_wait",
    "a caller reads one object, then all, at a version that comes meanwhile, and its own write",
    has_many_traces,
    |world| {
        let stage = Stage::new(world, objects(1));
        let handler = stage.add(0, Care::default());
        let run = stage.start();
        let reads = stage.spawn("reads", |own| {
            let Tried::Ships(informer) = &*own.tried else { return };
            let until = own.now() + millis(1_000);
            let one = informer.get_at_least("0", "2", until).expect("the version comes");
            let one = one.expect("the object is not deleted");
            let all = informer.list_at_least("2", until).expect("the version comes");
            informer.wrote(one.metadata().expect("it has some")).expect("a number");
            let written = informer.get_written("0", until).expect("it is in the store");
            let list = informer.list_written(until).expect("it is in the store");
            assert_eq!((one.version, written.map(|it| it.version)), (2, Some(2)));
            for list in [all, list] {
                assert!(list.objects().map(|it| it.version).eq([2]), "{list:?}");
            }
        });
        stage.source.put(0);
        world.join(reads);
        stage.stop(run);
        drop(handler);
    },
    |history| some(history, |seen, entry| {
        matches!(entry, Entry::Stops) && seen.server.get(&0) == Some(&2)
    })
);
