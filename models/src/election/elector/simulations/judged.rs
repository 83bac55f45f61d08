//! The promises that are judged in a simulation, and the expected verdicts.

use seatrial_core::elector::ConfigError;

use super::Simulated;
use crate::cluster::invariants::{Breach, INVARIANTS, Invariant, Terms, invariant};
use crate::cluster::schedules::{Outcome, leads_at};
use crate::cluster::{What, longest_overlap};
use crate::trial::{Expect, InvariantInfo};

/// One promise, for one simulation.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) info: InvariantInfo,
    promise: Promise,
}

#[derive(Clone, Copy, Debug)]
enum Promise {
    /// A promise that every cluster is held to.
    Kept(&'static Invariant),
    /// Two leaders overlap for at most this long.
    Overlaps { at_most: u64 },
    /// A node leads within that span of time.
    Leads { node: u8, from: u64, to: u64 },
    /// The set-up is refused.
    Refused(ConfigError),
}

/// The promise that no elector can break: the simulated cluster carries out one order after
/// another, whatever an elector orders. The tests of clusters judge it.
const OF_THE_CLUSTER: &str = "one_call_at_a_time";

/// Lists the promises that an elector may break.
fn promises() -> impl Iterator<Item = &'static Invariant> {
    INVARIANTS.iter().filter(|invariant| invariant.name != OF_THE_CLUSTER)
}

fn holds(invariant: &'static Invariant) -> Judged {
    let Invariant { name, says, rules, .. } = *invariant;
    let info = InvariantInfo { name, says, rules, expect: Expect::Holds, stated: None };
    Judged { info, promise: Promise::Kept(invariant) }
}

/// Returns the promise of that name.
pub(super) fn named(name: &str) -> Judged {
    holds(invariant(name).expect("the cluster has this promise"))
}

/// As [`named`], expected to break.
pub(super) fn breaks(name: &str) -> Judged {
    let mut judged = named(name);
    judged.info.expect = Expect::Violated;
    judged
}

/// Lists the promises of a profile; `safety` as in
/// [`breaches`](crate::cluster::invariants::breaches).
pub(super) fn promised(strict: bool, safety: bool) -> Vec<Judged> {
    let promised = |invariant: &&Invariant| invariant.promised.holds(strict, safety);
    promises().filter(promised).map(holds).collect()
}

/// Lists the promises without safety. It also expects that the main promise breaks; otherwise the
/// weather would show nothing.
pub(super) fn unsafe_weather(strict: bool) -> Vec<Judged> {
    let mut judged = promised(strict, false);
    judged.push(breaks("one_leader"));
    judged
}

/// Lists the promises that an outcome stands for. If the strict rules bring about a leader in
/// time, the classic rules do not.
pub(super) fn of_outcome(outcome: Outcome, of_strict: Outcome, strict: bool) -> Vec<Judged> {
    match (outcome, of_strict) {
        (Outcome::Breaks(names), _) => names.iter().map(|name| breaks(name)).collect(),
        (Outcome::Holds, _) => promises().map(holds).collect(),
        (Outcome::FencedOverlap { at_most }, _) => {
            let fenced = invariant("fenced_effects_never_interleave").expect("it is listed");
            let info = InvariantInfo {
                name: "overlap_is_short",
                says: "two leaders overlap no longer than the rules say",
                rules: &[
                    "election:CX-4",
                    "election:CX-5",
                    "election:CX-6",
                    "election:SF-14",
                    "election:SF-4",
                ],
                expect: Expect::Holds,
                stated: None,
            };
            let short = Judged { info, promise: Promise::Overlaps { at_most } };
            vec![breaks("one_leader"), holds(fenced), short]
        }
        (Outcome::Leads { .. }, Outcome::Leads { node, from, to }) => {
            let info = InvariantInfo {
                name: "successor_leads_in_time",
                says: "another elector leads as soon as the rules say",
                rules: &[
                    "election:LV-1",
                    "election:LE-33",
                    "election:CX-10",
                    "election:CX-12",
                    "election:LV-4",
                    "election:INV-26",
                ],
                expect: if strict { Expect::Holds } else { Expect::Violated },
                stated: None,
            };
            vec![Judged { info, promise: Promise::Leads { node, from, to } }]
        }
        (Outcome::Leads { .. }, _) => Vec::new(),
        (Outcome::Refused(error), _) => {
            let info = InvariantInfo {
                name: "unsafe_set_ups_are_refused",
                says: "a set-up that is not safe is refused",
                rules: &["election:LE-4", "election:CX-7"],
                expect: Expect::Holds,
                stated: None,
            };
            vec![Judged { info, promise: Promise::Refused(error) }]
        }
    }
}

impl Judged {
    /// Checks a run, or the reason why there was none.
    pub(super) fn check(&self, simulated: &Simulated, terms: &Terms) -> Result<(), Breach> {
        let breach =
            |at: u64, because: String| Err(Breach { invariant: self.info.name, at, because });
        let run = match (simulated, self.promise) {
            (Simulated::Ran(run), _) => run,
            (Simulated::Refused(error), Promise::Refused(expected)) if *error == expected => {
                return Ok(());
            }
            (Simulated::Refused(error), _) => return breach(0, format!("refused: {error}")),
            (Simulated::Broke(_), _) => return Ok(()), // another promise covers that
        };
        match self.promise {
            Promise::Kept(invariant) => invariant.check(run, terms),
            Promise::Refused(_) => breach(0, "the set-up is accepted".to_owned()),
            Promise::Overlaps { at_most } => {
                let overlap = longest_overlap(&run.belief_windows());
                if overlap <= at_most {
                    return Ok(());
                }
                breach(0, format!("two leaders for {:.3} s", overlap as f64 / 1e9))
            }
            Promise::Leads { node, from, to } => match leads_at(run, node) {
                at if at == run.end => breach(at, "it never leads".to_owned()),
                at if (from..=to).contains(&at) => Ok(()),
                at => breach(at, format!("it leads at {:.3} s", at as f64 / 1e9)),
            },
        }
    }
}

/// Tells whether a run reached its aim: an elector led, or the set-up was refused.
pub(super) fn reaches(simulated: &Simulated) -> bool {
    match simulated {
        Simulated::Ran(run) => {
            run.happenings.iter().any(|happening| matches!(happening.what, What::Leads { .. }))
        }
        Simulated::Refused(_) => true,
        Simulated::Broke(_) => false,
    }
}
