//! A store that goes back at every step of an election, to an earlier state or to nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::elector::{Config, Election};
use seatrial_core::machine::Boxed;

use super::invariants::{Terms, invariant};
use super::plan::SECOND;
use super::{
    Action, After, Answer, Attempted, Fate, Faults, Make, NodeSetup, Random, Run, Setup, Simulated,
    What,
};

/// Messages take so long that electors write at the same time. An elector whose run is over runs
/// again after `away`.
struct Slow {
    random: Random,
    away: u64,
}

impl Faults for Slow {
    fn fate(&mut self, _: &Attempted<'_>) -> Fate {
        let mut takes = || Some(self.random.up_to(SECOND / 3));
        Fate { request: takes(), reply: takes(), lag: 0, refused: false }
    }

    fn entropy(&mut self, _: u8, _: u64) -> u64 {
        self.random.bits()
    }

    fn after(&mut self, _: u8) -> After {
        After::RunsAgain(self.away)
    }
}

/// How a leader of three electors ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct End {
    pub(crate) seed: u64,
    /// It frees its lease, and runs again soon. Otherwise it is back when another leads.
    pub(crate) frees: bool,
}

impl End {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..SEEDS).flat_map(|seed| [false, true].map(|frees| Self { seed, frees }))
    }

    pub(crate) fn terms(self) -> Terms {
        Terms { config: config(self.frees), drift_ppm: 0 }
    }

    /// The leader is cancelled; at a given time the store goes back by a number of writes.
    pub(crate) fn run(self, back: Option<(u64, u64)>, make: Make) -> Run {
        let node = |starts_at| NodeSetup { starts_at, ..NodeSetup::default() };
        let mut actions = vec![(20 * SECOND, Action::Cancel { node: 0 })];
        actions.extend(back.map(|(at, writes)| (at, Action::GoBack { writes })));
        let setup = Setup {
            config: config(self.frees),
            nodes: vec![node(0), node(2 * SECOND), node(2 * SECOND)],
            client_timeout: Some(Duration::from_secs(5)),
            actions,
            horizon: 70 * SECOND,
            probe: false,
        };
        let away = if self.frees { SECOND } else { 17 * SECOND };
        Simulated::new(setup, Slow { random: Random::new(self.seed), away }, make).finish()
    }
}

fn config(frees: bool) -> Config {
    Config::new("").release_on_cancel(frees)
}

/// Returns the times just after each step by which every elector that runs has learned, by an answer,
/// that the lease has its newest holder or that its own write was too late. Before that, no elector
/// could tell the state after the return from the state that it saw before.
pub(crate) fn steps(run: &Run, frees: bool) -> BTreeSet<u64> {
    let holder = |version: u64| {
        let entry = run.versions.get((version as usize).wrapping_sub(1));
        entry.and_then(|entry| entry.record.as_ref()).map(|record| &record.holder)
    };
    let (mut taken, mut steps) = (0, BTreeSet::new());
    let mut knows = BTreeMap::new(); // of each process that runs
    for happening in &run.happenings {
        match happening.what {
            What::Begins => drop(knows.insert(happening.process, false)),
            // A lease that an elector has freed it takes at once.
            What::Ended { .. } if frees => drop(knows.insert(happening.process, false)),
            What::Ended { .. } => drop(knows.remove(&happening.process)),
            What::Applied { version, .. } if holder(version) != holder(taken) => {
                taken = version;
                knows.values_mut().for_each(|it| *it = false);
            }
            What::Learns { answer, .. } => {
                let is_news = match answer {
                    Answer::Version(version) => version >= taken,
                    answer => answer == Answer::Conflict,
                };
                knows.entry(happening.process).and_modify(|it| *it |= is_news);
            }
            _ => {}
        }
        if happening.at > 19 * SECOND && happening.at < 50 * SECOND && !knows.values().any(|it| !it)
        {
            steps.insert(happening.at + 1);
        }
    }
    steps
}

/// Returns what was tried with two leaders, and how many runs there were.
pub(crate) fn two_leaders(make: &Make) -> (Vec<String>, usize) {
    let (mut broken, mut runs) = (Vec::new(), 0);
    for end in End::all() {
        let (calm, terms) = (end.run(None, Arc::clone(make)), end.terms());
        for at in steps(&calm, end.frees) {
            for writes in BY {
                let run = end.run(Some((at, writes)), Arc::clone(make));
                runs += 1;
                for name in BROKEN {
                    let found = invariant(name).expect("it exists").check(&run, &terms);
                    broken.extend(found.err().map(|_| format!("{name} {end:?} {at} {writes}")));
                }
            }
        }
    }
    (broken, runs)
}

const SEEDS: u64 = 8;

/// By how many writes the store goes back.
pub(crate) const BY: [u64; 4] = [1, 2, 3, u64::MAX];

/// What two leaders break.
pub(crate) const BROKEN: [&str; 2] = ["one_leader", "one_actor"];

fn a_store_that_goes_back_at_any_step_leaves_one_leader() {
    let make: Make = Arc::new(|config| Boxed(Box::new(Election::unchecked(config))));
    let (broken, runs) = two_leaders(&make);
    assert_eq!(broken, [""; 0]);
    assert!(runs > 1_000, "{runs} runs");
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![a_store_that_goes_back_at_any_step_leaves_one_leader];
