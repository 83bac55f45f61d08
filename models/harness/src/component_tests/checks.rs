//! The checks that the generated tests run.

use crate::catalogue::Catalogue;
use crate::engine::{Engine, Kind};
use crate::random::random_bytes;
use crate::report::{Colour, NOT_HELD, Summary, rows_text};
use crate::runner::{Request, Silent, run};
use crate::trial::{Budget, Component, subject};

/// Enough to reach every case, and to find every mutant, of a small scenario.
fn budget() -> Budget {
    Budget { schedules: 300, thread_runs: 3, ..Budget::smoke() }
}

/// Runs the scenarios, one after the other.
///
/// # Panics
/// If one does not come out as expected, or there is none.
pub fn all_scenarios_come_out_as_expected<C: Component>(engine: Engine) {
    let scenarios = C::scenarios();
    assert!(!scenarios.is_empty(), "{} has no scenario", C::NAME);
    for scenario in scenarios {
        comes_out_as_expected::<C>(engine, scenario.name());
    }
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

/// Replays what is recorded of the component.
///
/// # Panics
/// If one does not.
pub fn replays_every_trace<C: Component>() {
    for conformance in C::conformance() {
        let name = conformance.traces_of;
        let text = conformance.recorded().expect("its traces are carried");
        let outcome = conformance.replay_lines(text.lines());
        assert_eq!(outcome.failures, [], "{name}");
        assert!(outcome.traces > 0, "{name}");
        assert_eq!(outcome.replayed, outcome.traces, "{name}");
        assert_eq!(outcome.faithful.unwrap_or(outcome.traces), outcome.traces, "{name}");
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

/// Feeds the component's property.
///
/// # Panics
/// If the component has no property, or it fails.
pub fn random_bytes_find_nothing<C: Component>() {
    let check = C::fuzz().expect("the page says that there is a property");
    for seed in 0..500 {
        check(&random_bytes(seed, 200));
    }
}

/// Compares what the page says the component has with the component.
///
/// # Panics
/// If they differ.
pub fn nothing_goes_untested<C: Component>(others: &[&str]) {
    let simulates = C::simulations().iter().any(|it| it.kind() == Kind::Simulation);
    let wanted = [
        ("mutants", !C::mutants().is_empty() && !simulates),
        ("simulated_mutants", !C::mutants().is_empty() && simulates),
        ("conformance", !C::conformance().is_empty()),
        ("fuzz", C::fuzz().is_some()),
    ];
    for (what, has) in wanted {
        assert_eq!(others.contains(&what), has, "{}: {what}", C::NAME);
    }
}
