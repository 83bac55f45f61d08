//! A diagnosis of a controller: inputs that a plan does not fix, where two runs differ, and why.

use std::fmt;

use super::Simulation;
use super::compare::differs;
use super::plan::Plan;
use super::run::Setup;

/// The result of comparing two runs of a plan.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The plan of all runs.
    pub plan: Plan,
    /// The difference of two runs with every possible input under control. None: the plan is
    /// admissible.
    pub difference: Option<Difference>,
    /// With the feature `exact`: the results of runs without one of the remedies.
    pub without: Vec<Without>,
}

/// The difference of two runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The first event that differs, as in the one run and as in the other.
    pub first: [String; 2],
    /// The code that asks for something in one of the runs only, if it is known.
    pub asked: Option<String>,
}

impl Simulation {
    /// Runs a plan twice, the one of [`replay`](Self::replay) or the one without faults, and says where
    /// the runs differ, and what they depend on. `cargo seatrial doctor --controller TEST` asks for it
    /// in place of a [`check`](Self::check).
    ///
    /// # Panics
    ///
    /// The server refuses an object that is to be there before.
    pub fn diagnose(mut self) -> Diagnosis {
        self.prepare();
        let plan = self.wish.replay.take().unwrap_or_default();
        diagnose(&mut self.setup, &plan)
    }
}

/// Two runs without one of the remedies.
#[derive(Clone, Debug)]
pub struct Without {
    /// The input that was not under control.
    pub what: &'static str,
    /// The difference in that case. None: the controller does not depend on the input.
    pub difference: Option<Difference>,
    /// The code that asked for the input: the crate and the line, and how often.
    pub asked_by: Vec<(String, usize)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = &self.first;
        write!(f, "they differ, first in\n    {one}\n    {other}")?;
        match &self.asked {
            Some(asked) => write!(f, "\n  and before that: {asked}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan.to_string();
        let plan = if plan.is_empty() { "without faults" } else { &plan };
        write!(f, "two runs {plan}: ")?;
        match &self.difference {
            None => writeln!(f, "they are the same")?,
            Some(difference) => {
                writeln!(f, "{difference}")?;
                writeln!(
                    f,
                    "  What is left when nothing else shows: tokio::select! without biased,"
                )?;
                writeln!(
                    f,
                    "  a thread, spawn_blocking, a system call, or a static that a run leaves."
                )?;
            }
        }
        if cfg!(not(feature = "exact")) {
            writeln!(
                f,
                "  only their order was looked at: the feature `exact` shows who draws what"
            )?;
        }
        for without in &self.without {
            write!(f, "without control of {}: ", without.what)?;
            match &without.difference {
                None => writeln!(f, "they are the same")?,
                Some(difference) => writeln!(f, "{difference}")?,
            }
            for (who, times) in &without.asked_by {
                writeln!(f, "  asked for by {who} ({times})")?;
            }
        }
        Ok(())
    }
}

/// Runs the plan twice, and twice again without each remedy.
pub(crate) fn diagnose(setup: &mut Setup, plan: &Plan) -> Diagnosis {
    let difference = look(setup, plan);
    Diagnosis { plan: plan.clone(), difference, without: without(setup, plan) }
}

fn look(setup: &Setup, plan: &Plan) -> Option<Difference> {
    let first = differs(&setup.run(plan), &setup.run(plan))?;
    Some(Difference { first, asked: asked(setup, plan) })
}

/// Without the feature `exact` it is unknown which code asks.
#[cfg(not(feature = "exact"))]
fn asked(_: &Setup, _: &Plan) -> Option<String> {
    None
}

#[cfg(not(feature = "exact"))]
fn without(_: &mut Setup, _: &Plan) -> Vec<Without> {
    Vec::new()
}

/// The first request for chance or time that two runs do not share. Only an input that is not under
/// control can make them differ, but this request tells where they do.
#[cfg(feature = "exact")]
fn asked(setup: &Setup, plan: &Plan) -> Option<String> {
    let (one, other) = (setup.asks(plan), setup.asks(plan));
    let count = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    one.get(count).or_else(|| other.get(count)).map(ToString::to_string)
}

#[cfg(feature = "exact")]
fn without(setup: &mut Setup, plan: &Plan) -> Vec<Without> {
    use std::collections::BTreeMap;

    use seatrial_sim_libc::{Remedies, Source};

    let all = setup.wanted.remedies;
    let asks = setup.asks(plan);
    let by = |source| {
        let mut by: BTreeMap<&str, usize> = BTreeMap::new();
        for ask in asks.iter().filter(|it| Some(it.source) == source && !it.from.is_empty()) {
            *by.entry(&ask.from).or_default() += 1;
        }
        by.into_iter().map(|(who, times)| (who.to_owned(), times)).collect()
    };
    let remedies = [
        (
            "random numbers and the keys of hash maps",
            Some(Source::Random),
            Remedies { random: false, ..all },
        ),
        ("the clock", Some(Source::Clock), Remedies { clock: false, ..all }),
        ("the keys of ahash's maps", Some(Source::Ahash), Remedies { ahash: false, ..all }),
        ("fastrand", None, Remedies { fastrand: false, ..all }),
        (
            "the name of the machine, which is another elsewhere",
            Some(Source::Hostname),
            Remedies { hostname: false, ..all },
        ),
    ];
    let mut found = Vec::new();
    for (what, source, remedies) in remedies {
        setup.wanted.remedies = remedies;
        found.push(Without { what, difference: look(setup, plan), asked_by: by(source) });
    }
    setup.wanted.remedies = all;
    found
}
