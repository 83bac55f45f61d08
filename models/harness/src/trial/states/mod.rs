//! A model of states as a trial: one search of all its states, and a row for each invariant.
//!
//! Safety is judged in every state, and at the ends. Liveness means that no caller sleeps for ever
//! at an end, and no fair way goes on for ever. A graph without cycles has no such way. Only if the
//! graph folded by symmetry has cycles, the whole graph is searched for fair ones.

use std::time::Instant;

use crate::author::{Component, MachineOf, Simulation};
use crate::engine::state::{
    Act, Callers, Counterexample, Explored, Limits, Rules, Space, State, Told, Wrong, fair_cycle,
    search, view, wrong_in,
};
use crate::engine::{
    End, Exploration, Kind, NEVER_PANICS, Route, Schedule, TERMINATES, ThreadLetter, told_in_full,
};
use crate::outcome::{
    Finding, InvariantInfo, Line, Plan, Replayed, StopAt, Trial, Violation, transcript,
};

/// A model of a component's machine and its callers.
#[derive(Clone, Copy, Debug)]
pub struct States<W> {
    /// Its name.
    pub name: &'static str,
    /// A description of the scenario, in one sentence.
    pub says: &'static str,
    /// The invariants of the component that its states are judged by.
    pub judges: &'static [&'static str],
    /// Makes the subject.
    pub subject: fn() -> W,
    /// The events that may happen in it.
    pub rules: Rules,
}

/// The actors of a model that must be treated fairly: its callers, not the clock.
fn actors<W: Explored>(model: &Callers<W>) -> usize {
    model.subject.callers().len()
}

impl<W: Explored> States<W> {
    fn model(&self) -> Callers<W> {
        Callers { subject: (self.subject)(), rules: self.rules }
    }

    /// Searches as far as a plan says; returns the model that was searched at last.
    fn space(&self, plan: &Plan, began: Instant) -> (Callers<W>, Space<Callers<W>>) {
        let limits = Limits {
            states: usize::try_from(plan.budget.states).unwrap_or(usize::MAX),
            until: plan.time.map(|time| began + time),
            keep_graph: true,
            go_on: plan.stop_at == StopAt::End,
        };
        let model = self.model();
        let space = search(&model, limits);
        let goes_round = || fair_cycle(&space.graph, 0, &|_| false).is_some();
        if !(model.rules.symmetric && space.exhausted && goes_round()) {
            return (model, space);
        }
        // Fairness needs to tell callers apart.
        let rules = Rules { symmetric: false, ..model.rules };
        let whole = Callers { subject: model.subject, rules };
        let all = search(&whole, limits);
        (whole, all)
    }

    /// Returns a way on which callers go round for ever, if there is one.
    fn endless(model: &Callers<W>, space: &Space<Callers<W>>) -> Option<Counterexample<Act>> {
        let part = fair_cycle(&space.graph, actors(model), &|_| false)?;
        let first = *part.first()?;
        let mut path = space.path_to(first);
        for next in space.graph.round(&part, first) {
            path.push(model.step_to(&path, &space.path_to(next))?);
        }
        Some(Counterexample { wrong: goes_on(), path, states: space.states })
    }

    fn finding(&self, model: &Callers<W>, found: &Counterexample<Act>) -> Finding {
        let schedule = model.route(&found.path);
        let (told, states) = model.follow(&schedule).unwrap_or_default();
        // It happens once more, if it is a panic: others may have come since it was found.
        let again = states.last().and_then(|state| wrong_in(model, state));
        let lines = lines(model, &told);
        let at = lines.len().checked_sub(1);
        Finding {
            invariant: found.wrong.invariant,
            violation: Violation { at, because: because(again.as_ref().unwrap_or(&found.wrong)) },
            execution: found.states as u64,
            preemptions: None,
            proved_minimum: None,
            route: Some(Route::Schedule(schedule)),
            lines,
            end: end(&found.wrong),
            compared: None,
        }
    }
}

fn goes_on() -> Wrong {
    Wrong::new(TERMINATES, "callers go round for ever: they come back to a state that they were in")
}

/// Says what is wrong at the end of a way.
fn wrong_on<W: Explored>(model: &Callers<W>, states: &[State<W>]) -> Option<Wrong> {
    let (last, before) = states.split_last()?;
    let view = view(model, last);
    let comes_back = || before.iter().any(|state| self::view(model, state) == view);
    wrong_in(model, last).or_else(|| comes_back().then(goes_on))
}

/// Says why something is wrong; of a panic, also where it began.
fn because(wrong: &Wrong) -> String {
    match wrong.invariant {
        NEVER_PANICS => told_in_full(&wrong.because),
        _ => wrong.because.clone(),
    }
}

fn end(wrong: &Wrong) -> End {
    match wrong.invariant {
        NEVER_PANICS => End::Panicked(wrong.because.clone()),
        TERMINATES => End::Deadlock(wrong.because.clone()),
        _ => End::Finished,
    }
}

fn lines<W: Explored>(model: &Callers<W>, told: &[Told]) -> Vec<Line> {
    let clock = actors(model) as u8;
    let line = |told: &Told| {
        let (thread, name, text) = match told.act {
            Act::Jump => (clock, "clock".to_owned(), "a deadline passes".to_owned()),
            Act::Spurious { caller } => (caller, named(caller), told.text.clone()),
            Act::Step { caller, wakes } => {
                let woken: Vec<_> =
                    wakes.members().map(|at| ThreadLetter(at as u8).to_string()).collect();
                let wakes = if woken.is_empty() {
                    String::new()
                } else {
                    format!(", wakes {}", woken.join(" and "))
                };
                (caller, named(caller), format!("{}{wakes}", told.text))
            }
        };
        Line {
            thread,
            name,
            at_nanos: told.at.as_nanos(),
            text,
            sleeps: told.sleeps,
            object: matches!(told.act, Act::Step { .. }).then_some(0),
            keeps_lock: told.keeps_lock,
        }
    };
    told.iter().map(line).collect()
}

fn named(caller: u8) -> String {
    format!("caller {}", ThreadLetter(caller))
}

impl<C: Component, W: Explored + Send + Sync + 'static> Simulation<C> for States<W> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn says(&self) -> &'static str {
        self.says
    }

    fn kind(&self) -> Kind {
        Kind::States
    }

    fn invariants(&self) -> Vec<InvariantInfo> {
        let invariants = C::invariants();
        let judged = invariants.iter().filter(|own| self.judges.contains(&own.name));
        judged.map(InvariantInfo::of).collect()
    }

    fn run(&self, _: fn() -> MachineOf<C>, plan: &Plan) -> Trial {
        let began = Instant::now();
        let (model, space) = self.space(plan, began);
        let mut wrong = space.wrong.clone();
        if space.exhausted && wrong.iter().all(|found| found.wrong.invariant != TERMINATES) {
            wrong.extend(Self::endless(&model, &space));
        }
        let (executions, steps) = (space.states as u64, space.steps as u64);
        let exploration = Exploration { executions, steps, exhausted: space.exhausted };
        let findings = wrong.iter().map(|found| self.finding(&model, found)).collect();
        Trial::new(exploration, findings, space.reached, began.elapsed())
    }

    fn replay(&self, _: fn() -> MachineOf<C>, run: &str) -> Option<Replayed> {
        let schedule: Schedule = run.parse().ok()?;
        let rules = Rules { symmetric: false, ..self.rules };
        let model = Callers { rules, ..self.model() };
        let (told, states) = model.follow(&schedule)?;
        let wrong = wrong_on(&model, &states);
        let lines = lines(&model, &told);
        let end = wrong.as_ref().map_or(End::Finished, end);
        let finding = |wrong: Wrong| Finding {
            invariant: wrong.invariant,
            violation: Violation { at: lines.len().checked_sub(1), because: because(&wrong) },
            execution: 1,
            preemptions: None,
            proved_minimum: None,
            route: Some(Route::Schedule(schedule.clone())),
            lines: lines.clone(),
            end: end.clone(),
            compared: None,
        };
        let findings = wrong.map(finding).into_iter().collect();
        Some(Replayed { findings, transcript: transcript(&lines, &end), lines, picture: None })
    }
}

#[cfg(test)]
mod tests;
