//! Callers that go round: for ever, or until another one is let run.

use seatrial_core::machine::{Cx, Operation, Step};

use super::*;
use crate::canary::Canary;
use crate::engine::state::{Bytes, Jumps, Moment};
use crate::trial::{Budget, StopAt};

/// A flag that callers look at again and again.
#[derive(Clone, Debug, Default)]
struct Flag {
    raised: bool,
    looked_at: bool,
    /// How it goes wrong when it is looked at, if it does.
    wrong: Option<Way>,
}

/// The ways to go wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    Asserts,
    Panics,
    Drops,
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the drop breaks");
    }
}

#[derive(Clone, Debug)]
struct Look;

#[derive(Clone, Debug)]
struct Raise;

seatrial_core::operations! {
    [] Flag: Op, Ret {
        Look(Look) -> bool,
        Raise(Raise) -> (),
    } valid = Flag::check
}

impl Flag {
    fn check(&self) {
        let wrong = self.looked_at && self.wrong == Some(Way::Asserts);
        assert!(!wrong, "the flag is wrong");
    }
}

impl Operation<Flag> for Look {
    fn step(&mut self, flag: &mut Flag, _: &mut Cx<'_>) -> Step<bool> {
        flag.looked_at = true;
        match flag.wrong {
            Some(Way::Panics) => panic!("the step breaks"),
            Some(Way::Drops) => drop(Bomb),
            Some(Way::Asserts) | None => {}
        }
        Step::Done(flag.raised)
    }
}

impl Operation<Flag> for Raise {
    fn step(&mut self, flag: &mut Flag, _: &mut Cx<'_>) -> Step<()> {
        flag.raised = true;
        Step::Done(())
    }
}

/// Callers, each of which looks until the flag is raised (`true`), or raises it (`false`).
#[derive(Clone, Debug)]
struct AtFlag {
    callers: &'static [bool],
    goes_wrong: Option<Way>,
}

impl Explored for AtFlag {
    type Machine = Flag;
    /// Whether it looks at the flag, and whether it has ended.
    type Caller = (bool, bool);

    fn machine(&self) -> Flag {
        Flag { wrong: self.goes_wrong, ..Flag::default() }
    }

    fn callers(&self) -> Vec<(bool, bool)> {
        self.callers.iter().map(|looks| (*looks, false)).collect()
    }

    fn next(&self, &(looks, done): &(bool, bool)) -> Option<Op> {
        (!done).then_some(if looks { Op::Look(Look) } else { Op::Raise(Raise) })
    }

    fn returned(&self, caller: &mut (bool, bool), ret: Ret) {
        caller.1 = !matches!(ret, Ret::Look(false));
    }

    fn view(&self, flag: &Flag, into: &mut Bytes) {
        into.number(flag.raised);
    }

    fn view_caller(&self, _: &Flag, caller: &(bool, bool), _: Option<&Op>, into: &mut Bytes) {
        into.number(caller.0);
        into.number(caller.1);
    }

    fn wrong<'a>(
        &self,
        _: Moment<'_, Flag>,
        _: impl Iterator<Item = &'a (bool, bool)> + Clone,
    ) -> Option<Wrong> {
        None
    }

    fn reaches<'a>(&self, _: &Flag, _: impl Iterator<Item = &'a (bool, bool)> + Clone) -> bool {
        true
    }

    fn describe(&self, op: &Op, outcome: &Step<Ret>) -> String {
        format!("{op:?} -> {outcome:?}")
    }
}

fn states(subject: fn() -> AtFlag, symmetric: bool) -> States<AtFlag> {
    let rules = Rules { symmetric, jumps: Jumps::AtStandstill, ..Rules::default() };
    States { name: "flags", says: "callers look at a flag", judges: &[], subject, rules }
}

fn plan() -> Plan {
    Plan {
        engine: crate::engine::Engine::State,
        budget: Budget::smoke(),
        seed: 0,
        stop_at: StopAt::End,
        minimise: false,
        time: None,
    }
}

/// Returns what a search finds, and sees that the way to it leads there again.
fn found(model: &States<AtFlag>) -> Vec<&'static str> {
    let trial = Simulation::<Canary>::run(model, Canary::machine, &plan());
    assert!(trial.exploration.exhausted);
    let replayed = |finding: &Finding| {
        let route = finding.route.as_ref().expect("a way").to_string();
        let again = Simulation::<Canary>::replay(model, Canary::machine, &route).expect("it leads");
        again.findings.iter().map(|finding| finding.invariant).collect::<Vec<_>>()
    };
    for finding in &trial.findings {
        assert_eq!(replayed(finding), [finding.invariant], "{:?}", finding.lines);
    }
    trial.findings.iter().map(|finding| finding.invariant).collect()
}

#[test]
fn callers_who_look_for_ever_do_not_end() {
    for symmetric in [false, true] {
        let alone = states(|| AtFlag { callers: &[true], goes_wrong: None }, symmetric);
        assert_eq!(found(&alone), [TERMINATES]);
        let two = states(|| AtFlag { callers: &[true, true], goes_wrong: None }, symmetric);
        assert_eq!(found(&two), [TERMINATES]);
    }
}

#[test]
fn the_thread_that_raises_the_flag_runs_sooner_or_later() {
    for symmetric in [false, true] {
        let fair = states(|| AtFlag { callers: &[true, true, false], goes_wrong: None }, symmetric);
        assert_eq!(found(&fair), [""; 0], "going round without the third is not fair");
    }
}

#[test]
fn a_machine_that_breaks_is_noticed_and_the_reason_is_told() {
    let wrong = |subject| states(subject, false);
    let ways = [
        (
            wrong(|| AtFlag { callers: &[true, false], goes_wrong: Some(Way::Asserts) }),
            "the flag is wrong",
        ),
        (
            wrong(|| AtFlag { callers: &[true, false], goes_wrong: Some(Way::Panics) }),
            "the step breaks",
        ),
        (
            wrong(|| AtFlag { callers: &[true, false], goes_wrong: Some(Way::Drops) }),
            "the drop breaks",
        ),
    ];
    for (model, said) in ways {
        let trial = Simulation::<Canary>::run(&model, Canary::machine, &plan());
        let found = trial.findings.iter().find(|finding| finding.invariant == NEVER_PANICS);
        let because = &found.expect("it panics").violation.because;
        assert!(because.starts_with("panicked at ") && because.ends_with(said), "{because}");
        assert!(because.contains("tests.rs:"), "{because}");
    }
}
