//! The models of states detect mistakes.

use super::states::{EndToEnd, changes, failures};
use crate::engine::state::{Callers, Limits, search};
use crate::trial::TERMINATES;

/// Returns the first invariant that a subject breaks.
fn broken(subject: EndToEnd, mistake: &'static str) -> Option<&'static str> {
    let model = Callers { subject: subject.mistaken(mistake), rules: Default::default() };
    let space = search(&model, Limits::default());
    space.wrong.first().map(|found| found.wrong.invariant)
}

fn mistakes_leave_something_that_is_not_reconciled() {
    const RECONCILED: Option<&str> = Some("every_change_is_reconciled");
    for mistake in [
        "deletions_are_not_told",
        "changes_are_told_once",
        "busy_keys_are_not_told",
        "reads_what_was_told",
    ] {
        assert_eq!(broken(changes(), mistake), RECONCILED, "{mistake}");
    }
    assert_eq!(broken(failures(), "failures_are_forgotten"), RECONCILED);
    assert_eq!(broken(changes(), "new_work_wakes_nobody"), Some(TERMINATES));
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![mistakes_leave_something_that_is_not_reconciled];
