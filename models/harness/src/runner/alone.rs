//! The use of each invariant. It should see something that no other invariant of its component
//! sees: a mutant of its own, or at least an execution in which nothing else is broken. An
//! invariant that sees neither repeats another one in other words, and must say why it is stated.
//! An invariant that sees nothing at all is blind.

use std::collections::{BTreeMap, BTreeSet};

use super::{Progress, Stop, Worked, counts, in_parallel};
use crate::catalogue::Catalogue;
use crate::engine::{Engine, Kind};
use crate::trial::{
    Budget, Expect, MutantKind, NEVER_PANICS, Plan, StopAt, Subject, TERMINATES, Violated,
};

/// The findings of one invariant, compared with those of the others of its component.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alone {
    /// The component.
    pub component: &'static str,
    /// The invariant.
    pub invariant: &'static str,
    /// The first mutant that it convicts and no other does.
    pub mutant: Option<&'static str>,
    /// The first execution that it convicts and no other does.
    pub execution: Option<Apart>,
    /// Whether a mutant says that it breaks it.
    pub claimed: bool,
    /// Every mutant that it convicts, with what else each of them breaks.
    pub convicts: Vec<Shared>,
    /// The invariants that convict exactly the same mutants, unless one of them is its own.
    pub twins: Vec<&'static str>,
    /// Why it has no mutant of its own, if a reason is given.
    pub because: Option<&'static str>,
}

/// An execution that breaks one invariant and nothing else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Apart {
    /// The mutant that was run.
    pub mutant: &'static str,
    /// The scenario that it ran in.
    pub scenario: &'static str,
}

/// A mutant that an invariant convicts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shared {
    /// The mutant.
    pub mutant: &'static str,
    /// The other invariants that it breaks.
    pub with: Vec<&'static str>,
}

/// A judgement on an invariant, from the best to the worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Worth {
    /// It convicts a mutant that no other does.
    OwnMutant,
    /// It convicts an execution that no other does: the others do not imply it.
    OwnExecution,
    /// It sees nothing that no other sees, and a reason is given.
    Explained,
    /// A reason is given although none is needed: it convicts a mutant that no other does.
    ExplainedAway,
    /// It sees nothing that no other sees, and no reason is given.
    Unexplained,
    /// It convicts no mutant, although one should break it, or no reason is given why none can.
    Blind,
}

impl Worth {
    /// Tells whether that is enough.
    pub fn is_enough(self) -> bool {
        self <= Self::Explained
    }
}

impl Alone {
    /// Returns the judgement on the invariant.
    pub fn worth(&self) -> Worth {
        match (self.mutant, &self.execution, self.because) {
            // If no mutant can break it, a reason may excuse that. A mutant that should break it
            // must be convicted.
            (_, _, because) if self.convicts.is_empty() && (self.claimed || because.is_none()) => {
                Worth::Blind
            }
            (Some(_), _, None) => Worth::OwnMutant,
            (Some(_), _, Some(_)) => Worth::ExplainedAway,
            (None, _, Some(_)) => Worth::Explained,
            (None, Some(_), None) => Worth::OwnExecution,
            (None, None, None) => Worth::Unexplained,
        }
    }
}

/// Finds out the use of the invariants of the matching components, `jobs` mutants at a time. A
/// pattern is the name of a component, or else a part of it. If the process is asked to stop,
/// the result is empty, because an unfinished search can miss uses.
pub fn alone(
    catalogue: &Catalogue,
    patterns: &[String],
    jobs: usize,
    progress: &dyn Progress,
) -> Vec<Alone> {
    let wanted = |subject: &&dyn Subject| {
        let is_a_name = |pattern: &str| catalogue.subjects.iter().any(|one| one.name() == pattern);
        let named = |pattern: &String| {
            subject.name() == *pattern || !is_a_name(pattern) && subject.name().contains(pattern)
        };
        patterns.is_empty() || patterns.iter().any(named)
    };
    let subjects: Vec<_> = catalogue.subjects.iter().copied().filter(wanted).collect();
    let trials: Vec<_> = subjects.iter().flat_map(|subject| trials(*subject)).collect();
    progress.begin(&counts(trials.iter().map(|trial| trial.subject.name())));
    let looks = in_parallel(
        jobs,
        &trials,
        &Stop::new(false),
        |_| false,
        |trial| {
            progress.start(trial.subject.name(), trial.mutant);
            let look = trial.look();
            progress.end(trial.subject.name(), trial.shows(&look));
            look
        },
    );
    let mut seen: BTreeMap<&str, Vec<Look>> = BTreeMap::new();
    for (trial, look) in trials.iter().zip(looks) {
        let Worked::Whole(look) = look else { return Vec::new() };
        seen.entry(trial.subject.name()).or_default().push(look);
    }
    let looks = |subject: &dyn Subject| seen.get(subject.name()).map_or(&[][..], Vec::as_slice);
    let with_mutants = subjects.iter().filter(|subject| !looks(**subject).is_empty());
    with_mutants.flat_map(|subject| accounts(*subject, looks(*subject))).collect()
}

/// Executions of a scenario: enough to see most of what a mutant breaks,
const FEW: u64 = 20;
/// to believe that it breaks nothing else,
const MORE: u64 = 100;
/// and to see what shows seldom.
const MANY: u64 = 1_000;

/// One mutant, in all scenarios.
struct Accused {
    subject: &'static dyn Subject,
    mutant: &'static str,
    breaks: &'static [&'static str],
}

/// Returns the mutants of a component that break anything.
fn trials(subject: &'static dyn Subject) -> Vec<Accused> {
    let mutants = subject.mutants().into_iter();
    let broken = mutants.filter(|mutant| !matches!(mutant.kind, MutantKind::Equivalent(_)));
    broken.map(|mutant| Accused { subject, mutant: mutant.name, breaks: mutant.breaks }).collect()
}

/// The invariants that a mutant was seen to break.
struct Look {
    mutant: &'static str,
    /// All of it.
    broken: Violated,
    /// The invariants broken alone in some execution, each with the first such scenario.
    apart: BTreeMap<&'static str, &'static str>,
}

impl Accused {
    /// Looks at a mutant in every scenario: at a few executions first; at more, while it seems to
    /// break one invariant alone; and at many, while it has not broken what it says it breaks.
    fn look(&self) -> Look {
        let mut look =
            Look { mutant: self.mutant, broken: Violated::new(), apart: BTreeMap::new() };
        for executions in [FEW, MORE, MANY] {
            for scenario in self.subject.scenarios() {
                let shown = self.shows(&look);
                if shown && (executions == MANY || executions == MORE && look.broken.len() > 1) {
                    return look;
                }
                for engine in [Engine::Trace, Engine::Sample, Engine::Cluster] {
                    let holds = self.subject.cannot_run(scenario.name, engine).is_none();
                    if engine.missing().is_none() && holds && scenario.kind != Kind::States {
                        self.look_at(scenario.name, engine, executions, &mut look);
                    }
                }
            }
        }
        look
    }

    /// Tells whether a look has shown all that the mutant says it breaks.
    fn shows(&self, look: &Look) -> bool {
        let own = |name: &&&str| ![NEVER_PANICS, TERMINATES].contains(*name);
        self.breaks.iter().filter(own).all(|name| look.broken.contains(name))
    }

    fn look_at(&self, scenario: &'static str, engine: Engine, executions: u64, look: &mut Look) {
        let budget = Budget {
            trace_executions: executions,
            schedules: executions / 2,
            simulated_runs: executions / 5,
            ..Budget::smoke()
        };
        let (stop_at, minimise) = (StopAt::End, false);
        let plan = Plan { engine, budget, seed: 0, stop_at, minimise, time: None };
        let trial = self.subject.run(scenario, Some(self.mutant), &plan);
        let judged = self.subject.judged_in(scenario);
        // A mutant is not convicted by an invariant that the shipped rules break there, too.
        let counts = |name: &&&str| {
            judged.iter().any(|info| info.name == **name && info.expect == Expect::Holds)
        };
        for together in &trial.expect("the catalogue named it").together {
            let broken: Violated = together.iter().filter(counts).copied().collect();
            if let (Some(&name), 1) = (broken.first(), broken.len()) {
                let _first = look.apart.entry(name).or_insert(scenario);
            }
            look.broken.extend(broken);
        }
    }
}

/// Says of each invariant of a component what it sees.
fn accounts(subject: &dyn Subject, looks: &[Look]) -> Vec<Alone> {
    let invariants = subject.invariants();
    let held = invariants.iter().filter(|info| info.expect == Expect::Holds);
    let names: Vec<_> = held.map(|info| info.name).collect();
    names
        .iter()
        .map(|name| {
            let mut reasons = subject.never_alone().iter();
            let because = reasons.find(|(of, _)| of == name).map(|(_, because)| *because);
            let mut account = account(subject.name(), name, &names, because, looks);
            account.claimed = subject.mutants().iter().any(|mutant| mutant.breaks.contains(name));
            account
        })
        .collect()
}

fn account(
    component: &'static str,
    invariant: &'static str,
    all: &[&'static str],
    because: Option<&'static str>,
    looks: &[Look],
) -> Alone {
    let convicted_by = |name: &str| -> BTreeSet<&str> {
        looks.iter().filter(|look| look.broken.contains(name)).map(|look| look.mutant).collect()
    };
    let breaking = looks.iter().filter(|look| look.broken.contains(invariant));
    let others = |look: &Look| {
        look.broken.iter().filter(|other| **other != invariant).copied().collect::<Vec<_>>()
    };
    let convicts: Vec<_> =
        breaking.map(|look| Shared { mutant: look.mutant, with: others(look) }).collect();
    let own = convicts.iter().find(|shared| shared.with.is_empty()).map(|shared| shared.mutant);
    let convicted = convicted_by(invariant);
    let is_twin = |other: &&&str| {
        **other != invariant && !convicted.is_empty() && convicted_by(other) == convicted
    };
    Alone {
        component,
        invariant,
        mutant: own,
        execution: looks.iter().find_map(|look| {
            let scenario = look.apart.get(invariant)?;
            Some(Apart { mutant: look.mutant, scenario })
        }),
        twins: all.iter().filter(is_twin).copied().collect(),
        claimed: !convicts.is_empty(),
        convicts,
        because,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::trial::{
        Component, Invariant, MachineOf, Mutant, NoMachine, Scenario, mutants, subject,
    };

    /// A component of which a mutant breaks less than it says.
    struct Harmless;

    impl Component for Harmless {
        type Machine = NoMachine;
        const NAME: &'static str = "harmless";
        const SAYS: &'static str = "nothing breaks it";

        fn machine() -> MachineOf<Self> {
            Box::new(NoMachine)
        }
        fn scenarios() -> Vec<Scenario<Self>> {
            Vec::new()
        }
        fn invariants() -> Vec<Invariant<Self>> {
            vec![Invariant::always("always", "holds always", &[], |_| Ok(()))]
        }
        fn mutants() -> Vec<Mutant<Self>> {
            fn same((): ()) -> MachineOf<Harmless> {
                Harmless::machine()
            }
            mutants! { same:
                Seeded "says_too_much" from "own: made up": (()) breaks ["always"];
                Seeded "says_nothing_of_it" from "own: made up": (()) breaks ["never_panics"];
            }
        }
    }

    /// Whether each case ended as expected.
    #[derive(Default)]
    struct Ends(Mutex<Vec<bool>>);

    impl Progress for Ends {
        fn begin(&self, _: &[(&str, usize)]) {}
        fn start(&self, _: &str, _: &str) {}
        fn end(&self, _: &str, as_expected: bool) {
            self.0.lock().expect("nobody panics").push(as_expected);
        }
    }

    #[test]
    fn a_mutant_that_breaks_less_than_it_says_is_not_as_expected() {
        const CATALOGUE: Catalogue = Catalogue::new("test", &[subject::<Harmless>()]);
        let ends = Ends::default();
        let all = alone(&CATALOGUE, &[], 1, &ends);
        assert_eq!(ends.0.into_inner().expect("nobody panics"), [false, true]);
        assert_eq!((all.len(), all[0].claimed, all[0].worth()), (1, true, Worth::Blind));
    }

    fn look(mutant: &'static str, broken: &[&'static str], apart: &[&'static str]) -> Look {
        let broken = broken.iter().copied().collect();
        Look { mutant, broken, apart: apart.iter().map(|name| (*name, "somewhere")).collect() }
    }

    /// A component that was never written, of which this was seen.
    fn seen(invariant: &'static str, because: Option<&'static str>) -> Alone {
        const ALL: &[&str] = &["own", "apart", "twin", "other_twin", "blind"];
        let looks = [
            look("of_one", &["own"], &["own"]),
            look("of_two", &["own", "apart"], &["apart"]),
            look("of_both", &["own", "twin", "other_twin"], &[]),
        ];
        account("made_up", invariant, ALL, because, &looks)
    }

    #[test]
    fn an_invariant_that_does_not_convict_whom_it_should_is_blind_whatever_is_said_for_it() {
        for because in [None, Some("it is worth having")] {
            let blind = Alone { claimed: true, ..seen("blind", because) };
            assert_eq!(blind.worth(), Worth::Blind);
            assert!(!blind.worth().is_enough() && blind.twins.is_empty());
        }
    }

    #[test]
    fn an_invariant_that_no_mutant_should_break_needs_a_reason() {
        assert_eq!(seen("blind", None).worth(), Worth::Blind);
        assert_eq!(seen("blind", Some("no rule breaks it")).worth(), Worth::Explained);
    }

    #[test]
    fn a_mutant_of_its_own_is_enough_and_a_reason_beside_it_is_too_much() {
        let own = seen("own", None);
        assert_eq!((own.mutant, own.worth()), (Some("of_one"), Worth::OwnMutant));
        assert_eq!(own.convicts.len(), 3);
        assert!(own.worth().is_enough());
        assert!(!seen("own", Some("a reason")).worth().is_enough());
    }

    #[test]
    fn an_execution_of_its_own_is_enough() {
        let apart = seen("apart", None);
        assert_eq!((apart.mutant, apart.worth()), (None, Worth::OwnExecution));
        assert_eq!(apart.execution, Some(Apart { mutant: "of_two", scenario: "somewhere" }));
        assert_eq!(apart.convicts, [Shared { mutant: "of_two", with: vec!["own"] }]);
        assert!(apart.worth().is_enough());
    }

    #[test]
    fn twins_are_listed_and_need_a_reason() {
        let twin = seen("twin", None);
        assert_eq!(
            (twin.twins.as_slice(), twin.worth()),
            (&["other_twin"][..], Worth::Unexplained)
        );
        assert!(!twin.worth().is_enough());
        let explained = seen("twin", Some("it names the mistake better"));
        assert!(explained.worth().is_enough() && !explained.twins.is_empty());
        assert!(seen("own", None).twins.is_empty());
    }
}
