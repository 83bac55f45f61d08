//! Checks that tests of a component call.

use crate::catalogue::Catalogue;
use crate::engine::Engine;
use crate::report::{Colour, NOT_HELD, Summary, rows_text};
use crate::runner::{Request, Silent, run};
use crate::trial::{Budget, Component, subject};

/// Enough to reach every case, and to find every mutant, of a small scenario.
pub(super) fn budget() -> Budget {
    Budget { schedules: 300, thread_runs: 3, ..Budget::smoke() }
}

/// Runs one scenario as the command line does.
///
/// # Panics
/// If an invariant does not come out as expected, or nothing ran.
pub fn comes_out_as_expected<C: Component>(engine: Engine, scenario: &str) {
    let catalogue = Catalogue::new("cargo seatrial", const { &[subject::<C>()] });
    let request = Request {
        patterns: vec![format!("{}/{scenario}", C::NAME)],
        engines: vec![engine],
        by_name: true,
        budget: budget(),
        seed: 0,
        ..Request::default()
    };
    let mut report = run(&catalogue, &request, &Silent);
    report.rows.retain(|row| row.scenario == scenario);
    report.conclude();
    let text = rows_text(&report.rows, catalogue.program, Colour(false));
    let left_out = catalogue.subjects[0].cannot_run(scenario, engine).is_some();
    let expected = if left_out { Summary::Empty } else { Summary::Holds };
    assert_eq!(report.outcome, expected, "\n{text}");
    for row in &report.rows {
        assert_eq!(row.invariant == NOT_HELD, left_out, "{engine} left it out:\n{text}");
        let ran = row.executions.is_some_and(|count| count > 0);
        assert!(ran || engine.depends_on_the_machine() || left_out, "nothing ran:\n{text}");
    }
}

/// Checks that a property notices every mistake, except those that random calls of a single thread
/// cannot show.
///
/// # Panics
/// If one stays unnoticed.
pub fn every_mistake_is_noticed<M: Copy + PartialEq + std::fmt::Debug>(
    all: &'static [M],
    unseen: &[M],
    noticed: impl Fn(&'static [M]) -> bool,
) {
    for mistake in all.chunks(1).filter(|mistake| !unseen.contains(&mistake[0])) {
        assert!(noticed(mistake), "{mistake:?} stays unnoticed");
    }
}
