//! Changes that a consumer puts back.

use super::{Stage, informer, pending, scenario};
use crate::delta_fifo::DeltaFifo;
use crate::events::fixtures::{Bed, Kind};
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<DeltaFifo>> {
    vec![
        scenario(
            "put_back_late",
            "a consumer puts changes back late, when newer changes may be pending",
            informer,
            |stage| {
                stage.list_in_vain(&[(1, 1)]);
                let observer = stage.observer(2);
                let consumer = stage.on("consumer", |stage| {
                    put_back(stage);
                    while stage.pop().is_ok() {}
                });
                stage.update((1, 2));
                stage.end([observer, consumer]);
            },
            // There are newer ones, which win (`cache:QU-10`, `QU-11`).
            |before, over| over.is(Kind::PutBack) && !pending(before, 1).is_empty(),
        ),
        scenario(
            "put_back_for_another",
            "a consumer puts changes back late and leaves, and a waiting consumer gets them",
            informer,
            |stage| {
                let other = stage.popper("other");
                let leaving = stage.on("leaving", put_back);
                stage.delete_unseen(1, None); // an unknown object: ignored
                stage.add((1, 1));
                stage.end([leaving, other]);
            },
            // The other consumer sleeps when the changes come back.
            |before, over| over.is(Kind::PutBack) && before.asleep.count(Bed::Pop) > 0,
        ),
    ]
}

/// Pops changes, and puts them back late.
fn put_back(stage: &Stage) {
    let Ok((popped, ())) = stage.queue.pop(|_| ()) else { return };
    stage.queue.add_if_absent(popped.deltas).expect("there are changes");
}
