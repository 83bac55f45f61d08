//! What is told of a case that breaks down as a whole, and of one that fails on real threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::{Case, Request, Worked, rows};
use crate::engine::{panic_text, quietly, told_in_full};
use crate::interrupt;
use crate::report::{Row, Verdict};
use crate::trial::{Again, Budget, Plan, StopAt, Subject};

/// Runs a scenario on the machine that ships.
pub(super) fn shipped(subject: &dyn Subject, scenario: &str, plan: &Plan) -> Vec<Row> {
    match whole(|| subject.run(scenario, None, plan).expect("the catalogue named it")) {
        Ok(trial) => rows::rows(subject, scenario, plan, &trial),
        Err(because) => vec![rows::broken(subject, scenario, plan, because)],
    }
}

/// Does all of something; if it panics, says so in full.
fn whole<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let ended = quietly(|| catch_unwind(AssertUnwindSafe(work)));
    ended.map_err(|panic| told_in_full(&panic_text(&*panic)))
}

/// The rows of a case, and how long it took.
type Ran = Worked<(Vec<Row>, Duration)>;

/// Runs again what failed on real threads: one case after the other, and nothing beside them.
pub(super) fn run_again(cases: &[Case], results: &mut [(usize, Ran)], request: &Request) {
    for (at, result) in results {
        let Case::Shipped { subject, scenario, engine } = cases[*at] else { continue };
        let Worked::Whole((rows, _)) = result else { continue };
        let failed = |row: &Row| row.verdict == Verdict::Violated && !row.as_expected();
        if !engine.depends_on_the_machine() || !rows.iter().any(failed) || interrupt::asked() {
            continue;
        }
        let thread_runs = request.budget.thread_runs.min(Budget::ci().thread_runs);
        let budget = Budget { thread_runs, time: None, ..request.budget.clone() };
        let plan = Request { budget, ..request.clone() }.plan(engine, StopAt::End, 1);
        let run = || subject.run(scenario, None, &plan).expect("the catalogue named it");
        if let Ok(again) = whole(|| Again::run(run)) {
            rows::repeated(rows, subject, &again);
        }
    }
}
