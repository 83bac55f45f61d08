//! The elector in a simulated cluster: the schedules that break the reference's rules, and random
//! weather.

mod campaign;
mod directed;
mod judged;
mod picture;
mod returns;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use seatrial_core::elector::{Config, ConfigError, Election, Timing};
use seatrial_core::machine::Boxed;
use seatrial_core::runtime::System;

use super::Elector;
use super::part::{self, SetUp};
use crate::cluster::boundary::{Region, picture as draw};
use crate::cluster::invariants::{Terms, invariant};
use crate::cluster::{Make, Plan as Weather, Run};
use crate::engine::{End, Exploration, Route, panic_text, quietly, told_in_full};
use crate::report::Picture;
use crate::trial::{
    Component, Finding, Line, MachineOf, NEVER_PANICS, Replayed, Simulation, Trial, Violated,
    Violation, transcript,
};
use judged::Judged;

/// Lists every simulation.
pub(super) fn all() -> Vec<Box<dyn Simulation<Elector>>> {
    let mut all: Vec<Box<dyn Simulation<Elector>>> = Vec::new();
    all.extend(directed::all().iter().map(|one| Box::new(one) as Box<dyn Simulation<Elector>>));
    all.extend(campaign::ALL.iter().map(|one| Box::new(one) as Box<dyn Simulation<Elector>>));
    all.push(Box::new(returns::Returns));
    all
}

/// Returns the weather of a campaign.
pub(super) fn weather(name: &str) -> Weather {
    let named = campaign::ALL.iter().find(|one| one.name() == name);
    named.expect("there is such a campaign").plan()
}

/// Draws the safe region of the usual set-up in both profiles.
pub(super) fn boundaries() -> Vec<Picture> {
    [false, true].map(boundary).into()
}

fn boundary(strict: bool) -> Picture {
    let region = Region { timing: Timing::seconds(15, 10, 2), strict, seed: 1 };
    let profile = if strict { "strict" } else { "classic" };
    Picture {
        component: Elector::NAME.to_owned(),
        title: format!(
            "How much drift and latency an election survives in the {profile} profile: green is \
             safe by the formula, circles are where a search found two leaders"
        ),
        svg: draw(&region.survey()),
    }
}

/// Makes an elector of a part, in a place that records nothing.
fn seat(make: fn() -> MachineOf<Elector>, config: Config) -> Result<Boxed<Election>, ConfigError> {
    part::seat(Boxed(make()), SetUp { config, number: 0 }, &System::new())
}

/// The outcome of one run.
enum Simulated {
    /// It came to its end.
    Ran(Box<Run>),
    /// Its set-up was refused.
    Refused(ConfigError),
    /// An elector broke down.
    Broke(String),
}

/// Simulates, unless the set-up is refused; `run` is given a function that makes an elector.
fn simulate(
    make: fn() -> MachineOf<Elector>,
    config: &Config,
    run: impl FnOnce(Make) -> Run,
) -> Simulated {
    if let Err(error) = seat(make, config.clone().identity("a".into())) {
        return Simulated::Refused(error);
    }
    let seats: Make =
        Arc::new(move |config| seat(make, config).expect("the same set-up was accepted before"));
    match quietly(|| catch_unwind(AssertUnwindSafe(|| run(seats)))) {
        Ok(run) => Simulated::Ran(Box::new(run)),
        Err(panic) => Simulated::Broke(panic_text(&*panic)),
    }
}

/// All findings so far, run by run.
struct Trying<'a> {
    judged: &'a [Judged],
    findings: Vec<Finding>,
    together: BTreeSet<Violated>,
    exploration: Exploration,
    reached: bool,
    began: Instant,
}

impl<'a> Trying<'a> {
    fn new(judged: &'a [Judged]) -> Self {
        Self {
            judged,
            findings: Vec::new(),
            together: BTreeSet::new(),
            exploration: Exploration::default(),
            reached: false,
            began: Instant::now(),
        }
    }

    /// Judges the promises that no earlier run has broken.
    fn judge(&mut self, simulated: &Simulated, terms: &Terms, route: &str) {
        self.exploration.executions += 1;
        let (lines, end) = told(simulated);
        if let Simulated::Ran(run) = simulated {
            self.exploration.steps += run.steps;
        }
        self.reached |= judged::reaches(simulated);
        let violations = violations(self.judged, simulated, terms, &lines);
        if !violations.is_empty() {
            self.together.insert(violations.iter().map(|(name, _)| *name).collect());
        }
        for (invariant, violation) in violations {
            if self.findings.iter().all(|finding| finding.invariant != invariant) {
                self.findings.push(Finding {
                    invariant,
                    violation,
                    execution: self.exploration.executions,
                    preemptions: None,
                    proved_minimum: None,
                    route: Some(Route::Run(route.into())),
                    lines: lines.clone(),
                    end: end.clone(),
                    compared: None,
                });
            }
        }
    }

    fn trial(self) -> Trial {
        let Self { findings, together, exploration, reached, began, .. } = self;
        Trial { together, ..Trial::new(exploration, findings, reached, began.elapsed()) }
    }
}

/// Describes a run in lines.
fn told(simulated: &Simulated) -> (Vec<Line>, End) {
    match simulated {
        Simulated::Ran(run) => (picture::lines(run), End::Finished),
        Simulated::Refused(_) => (Vec::new(), End::Finished),
        Simulated::Broke(text) => (Vec::new(), End::Panicked(text.clone())),
    }
}

/// Returns the promises that a run violates.
fn violations(
    judged: &[Judged],
    simulated: &Simulated,
    terms: &Terms,
    lines: &[Line],
) -> Vec<(&'static str, Violation)> {
    if let Simulated::Broke(text) = simulated {
        return vec![(NEVER_PANICS, Violation::overall(told_in_full(text)))];
    }
    let broken = judged.iter().filter_map(|judged| {
        let breach = judged.check(simulated, terms).err()?;
        let at = lines.iter().position(|line| line.at_nanos >= breach.at);
        Some((judged.info.name, Violation { at, because: breach.because }))
    });
    broken.collect()
}

/// Shows one run again.
fn shown(judged: &[Judged], simulated: &Simulated, terms: &Terms, route: &str) -> Replayed {
    let mut trying = Trying::new(judged);
    trying.judge(simulated, terms, route);
    let (lines, end) = told(simulated);
    let at = trying.findings.first().and_then(|finding| finding.violation.at);
    let picture = match simulated {
        Simulated::Ran(run) => {
            let around = at.and_then(|at| lines.get(at)).map(|line| line.at_nanos);
            Some(picture::timeline(run, &lines, around, terms))
        }
        _ => None,
    };
    let transcript = transcript(&lines, &end);
    Replayed { findings: trying.findings, transcript, lines, picture }
}

/// Draws a run around the first moment at which two processes act as leader.
pub(crate) fn timeline_of(run: &Run, terms: &Terms) -> String {
    let both = invariant("one_actor").and_then(|one| one.check(run, terms).err());
    let lines = picture::lines(run);
    let at = both.and_then(|breach| lines.iter().find(|line| line.at_nanos >= breach.at));
    picture::timeline(run, &lines, at.map(|line| line.at_nanos), terms)
}
