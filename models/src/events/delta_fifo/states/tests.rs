//! The models detect a forgotten wake.

use seatrial_core::delta_fifo::{POPPERS, SYNC};

use super::*;
use crate::engine::state::{Callers, Limits, search};
use crate::trial::TERMINATES;

/// Returns the invariants that a subject breaks.
fn broken(subject: AtDeltaFifo) -> Vec<&'static str> {
    let model = Callers { subject, rules: May::default() };
    let space = search(&model, Limits { go_on: true, ..Limits::default() });
    assert!(space.exhausted);
    space.wrong.iter().map(|found| found.wrong.invariant).collect()
}

fn subject() -> AtDeltaFifo {
    use Call::{Close, Consume, List, Put, WaitForSync};
    let lists: &[Call] = &[List(&[(0, 1)]), Put((1, 1)), Close];
    AtDeltaFifo::new(&[lists, &[Consume], &[Consume], &[WaitForSync], &[WaitForSync]], |_| true)
}

fn wake_ups_that_are_forgotten_leave_somebody_asleep() {
    assert_eq!(broken(subject()), [""; 0]);
    let edits: [fn(&mut Wakes); 3] = [
        |wakes| wakes.set(POPPERS, 0),
        |wakes| wakes.set(SYNC, 0),
        |wakes| wakes.set(POPPERS, wakes.get(POPPERS).min(1)),
    ];
    for edit in edits {
        assert_eq!(broken(AtDeltaFifo { edit, ..subject() }), [TERMINATES]);
    }
}

fn versions_out_of_order_are_noticed() {
    use Call::{Close, Consume, Put};
    let skips: &[Call] = &[Put((0, 1)), Put((0, 3)), Close];
    assert_eq!(broken(AtDeltaFifo::new(&[skips, &[Consume]], |_| true)), ["nothing_is_lost"]);
    let nobody_takes: &[Call] = &[Put((0, 1)), Close];
    assert_eq!(broken(AtDeltaFifo::new(&[nobody_takes], |_| true)), ["nothing_is_lost"]);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    wake_ups_that_are_forgotten_leave_somebody_asleep,
    versions_out_of_order_are_noticed
];
