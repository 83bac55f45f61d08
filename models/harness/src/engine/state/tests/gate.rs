//! Deadlines, wake-ups and a lock that is kept: a gate as the smallest machine that has them all.

use std::collections::BTreeSet;

use seatrial_core::machine::{Cx, Operation, Step};
use seatrial_core::runtime::Instant;

use super::super::{
    Bytes, Callers, Explored, Jumps, Limits, Moment, Rules, WakeUps, Wrong,
    agrees_with_the_enumeration, search,
};

/// Lets through as many as were let in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate {
    let_in: u8,
    /// Whether a caller is between two operations.
    kept: bool,
}

/// Goes through, or gives up at a time.
#[derive(Clone, Debug)]
pub(crate) struct Pass(Option<Instant>);

/// Lets one in.
#[derive(Clone, Debug)]
pub(crate) struct LetIn;

/// Keeps the lock.
#[derive(Clone, Debug)]
pub(crate) struct Keep;

/// Gives the lock back.
#[derive(Clone, Debug)]
pub(crate) struct Give;

seatrial_core::operations! {
    [] Gate: Op, Ret {
        Pass(Pass) -> bool,
        LetIn(LetIn) -> (),
        Keep(Keep) -> (),
        Give(Give) -> (),
    }
}

impl Operation<Gate> for Pass {
    fn step(&mut self, gate: &mut Gate, cx: &mut Cx<'_>) -> Step<bool> {
        assert!(!gate.kept, "the lock is kept");
        if gate.let_in > 0 {
            gate.let_in -= 1;
            return Step::Done(true);
        }
        match self.0 {
            Some(until) if until <= cx.now() => Step::Done(false),
            until => Step::Wait { on: 0, until },
        }
    }
}

impl Operation<Gate> for LetIn {
    fn step(&mut self, gate: &mut Gate, cx: &mut Cx<'_>) -> Step<()> {
        assert!(!gate.kept, "the lock is kept");
        gate.let_in += 1;
        cx.wakes.one(0);
        Step::Done(())
    }
}

impl Operation<Gate> for Keep {
    fn step(&mut self, gate: &mut Gate, _: &mut Cx<'_>) -> Step<()> {
        gate.kept = true;
        Step::Held(())
    }
}

impl Operation<Gate> for Give {
    fn step(&mut self, gate: &mut Gate, _: &mut Cx<'_>) -> Step<()> {
        gate.kept = false;
        Step::Done(())
    }
}

/// Callers by what they do: `p` and `1` to `9` pass, the latter until then; `l` lets in, `k` keeps
/// and `g` gives.
#[derive(Clone, Debug)]
struct AtGate(&'static [&'static str]);

/// The remaining calls, and the results of the calls so far.
type Caller = (&'static str, Vec<bool>);

impl Explored for AtGate {
    type Machine = Gate;
    type Caller = Caller;

    fn machine(&self) -> Gate {
        Gate::default()
    }

    fn callers(&self) -> Vec<Caller> {
        self.0.iter().map(|program| (*program, Vec::new())).collect()
    }

    fn next(&self, caller: &Caller) -> Option<Op> {
        Some(match caller.0.chars().next()? {
            'p' => Op::Pass(Pass(None)),
            'l' => Op::LetIn(LetIn),
            'k' => Op::Keep(Keep),
            'g' => Op::Give(Give),
            digit => {
                let at = digit.to_digit(10).expect("a time");
                Op::Pass(Pass(Some(Instant::from_nanos(u64::from(at)))))
            }
        })
    }

    fn returned(&self, caller: &mut Caller, ret: Ret) {
        caller.0 = &caller.0[1..];
        if let Ret::Pass(passed) = ret {
            caller.1.push(passed);
        }
    }

    fn view(&self, machine: &Gate, into: &mut Bytes) {
        into.number(machine.let_in);
        into.number(machine.kept);
    }

    fn view_caller(&self, _: &Gate, caller: &Caller, _: Option<&Op>, into: &mut Bytes) {
        into.list(caller.0.bytes(), |into, letter| into.number(letter));
        into.list(caller.1.iter(), |into, passed| into.number(*passed));
    }

    fn wrong<'a>(
        &self,
        at: Moment<'_, Gate>,
        _: impl Iterator<Item = &'a Caller> + Clone,
    ) -> Option<Wrong> {
        (at.machine.let_in > 9).then(|| Wrong::new("few", "too many"))
    }

    fn reaches<'a>(&self, _: &Gate, _: impl Iterator<Item = &'a Caller> + Clone) -> bool {
        true
    }

    fn describe(&self, op: &Op, outcome: &Step<Ret>) -> String {
        format!("{op:?} -> {outcome:?}")
    }
}

/// Returns how the calls of all callers can go; `None` if some never return.
fn outcomes(programs: &'static [&'static str], jumps: Jumps) -> BTreeSet<Option<Vec<Vec<bool>>>> {
    outcomes_where(programs, Rules { symmetric: false, jumps, ..Rules::default() })
}

fn outcomes_where(
    programs: &'static [&'static str],
    rules: Rules,
) -> BTreeSet<Option<Vec<Vec<bool>>>> {
    let model = Callers { subject: AtGate(programs), rules };
    agrees_with_the_enumeration(&model);
    let space = search(&model, Limits { go_on: true, ..Limits::default() });
    let outcome = |end: &super::super::State<AtGate>| {
        let all_returned = end.callers().all(|caller| caller.0.is_empty());
        all_returned.then(|| end.callers().map(|caller| caller.1.clone()).collect())
    };
    space.ends.iter().map(outcome).collect()
}

fn all(each: &[&[&[bool]]]) -> BTreeSet<Option<Vec<Vec<bool>>>> {
    each.iter().map(|callers| Some(callers.iter().map(|calls| calls.to_vec()).collect())).collect()
}

const YES: &[bool] = &[true];
const NO: &[bool] = &[false];

#[test]
fn deadlines_pass_when_nobody_can_move_or_at_any_time() {
    let late = all(&[&[NO, &[]], &[YES, &[]]]);
    assert_eq!(outcomes(&["1", "l"], Jumps::AtStandstill), all(&[&[YES, &[]]]));
    assert_eq!(outcomes(&["1", "l"], Jumps::AtAnyTime), late);
    assert_eq!(outcomes(&["1"], Jumps::AtStandstill), all(&[&[NO]]));
    assert_eq!(outcomes(&["2", "1"], Jumps::AtStandstill), all(&[&[NO, NO]]));
}

#[test]
fn a_sleep_for_ever_is_an_end() {
    assert_eq!(outcomes(&["p"], Jumps::AtStandstill), BTreeSet::from([None]));
    let one_of_two = outcomes(&["p", "1", "l"], Jumps::AtStandstill);
    let second_gives_up = all(&[&[YES, NO, &[]]]);
    assert_eq!(one_of_two, &second_gives_up | &BTreeSet::from([None]));
}

#[test]
fn a_wake_up_can_be_spent_on_a_sleeper_whose_deadline_has_passed() {
    // The late caller takes the wake-up and passes. The other one stays asleep, although no caller
    // made a mistake.
    let met = outcomes(&["p", "1", "l"], Jumps::AtAnyTime);
    assert!(met.contains(&None), "{met:?}");
}

#[test]
fn nobody_comes_between_two_operations_under_one_lock() {
    assert_eq!(outcomes(&["kg", "l", "p"], Jumps::AtStandstill), all(&[&[&[], &[], YES]]));
}

#[test]
fn wakes_in_order_reach_who_has_slept_longest() {
    let in_order = Rules { symmetric: false, wake_ups: WakeUps::InOrder, ..Rules::default() };
    // The second goes to sleep for good at 1, behind the first; at 3 one of them is let in.
    let programs = &["9", "19", "3l"];
    let first_passes = all(&[&[YES, &[false, false], NO]]);
    let second_passes = all(&[&[NO, &[false, true], NO]]);
    assert_eq!(outcomes_where(programs, in_order), first_passes);
    assert_eq!(outcomes(programs, Jumps::AtStandstill), &first_passes | &second_passes);
}

#[test]
fn in_order_no_wake_up_is_spent_on_a_sleeper_whose_deadline_has_passed() {
    let jumps = Jumps::AtAnyTime;
    let rules = Rules { symmetric: false, jumps, wake_ups: WakeUps::InOrder, ..Rules::default() };
    // The other caller's deadline has passed, but it has not looked yet. It has left the line, so
    // the first caller is woken, unless the other one sees first that someone was let in. At last
    // all are late.
    let met = outcomes_where(&["9", "1", "l"], rules);
    assert_eq!(met, all(&[&[YES, NO, &[]], &[NO, YES, &[]], &[NO, NO, &[]]]));
}

#[test]
fn a_wake_for_no_reason_changes_nothing_for_who_looks_again() {
    let rules = Rules { symmetric: false, spurious: 2, ..Rules::default() };
    for programs in [&["p", "l"] as &[&str], &["p", "p", "l", "l"], &["1", "p", "l"]] {
        let programs: &'static [&'static str] = programs.to_vec().leak();
        let without = outcomes_where(programs, Rules { spurious: 0, ..rules });
        assert_eq!(outcomes_where(programs, rules), without, "{programs:?}");
    }
}
