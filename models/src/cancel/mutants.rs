//! The bugs: one changed rule or one changed wake each.

use std::time::Duration;

use seatrial_core::cancel::{Begin, ChildId, Look, Op, Reason, Ret, Tree, WAITERS};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Instant;

use super::Cancel;
use crate::trial::{MachineOf, Mutant, at_most, mutants};

type Bend = fn(&mut Bent, &mut Op, &mut Cx<'_>) -> Step<Ret>;

/// The machine that ships, with some of its steps replaced.
struct Bent {
    rules: Tree,
    step: Bend,
    /// A token that never ends; it answers in place of one that has ended.
    spare: Tree,
    /// The first child.
    first: Option<ChildId>,
    deadline: Instant,
    waits: u32,
}

impl Bent {
    fn ended(&mut self, cx: &mut Cx<'_>) -> Option<Reason> {
        match self.rules.step(&mut Op::Look(Look), cx) {
            Step::Done(Ret::Look(ended)) => ended,
            _ => None,
        }
    }
}

impl Machine for Bent {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        if let Op::Begin(Begin { deadline, .. }) = op {
            self.deadline = *deadline;
        }
        let step = (self.step)(self, op, cx);
        if let Step::Done(Ret::Adopt(Ok(child))) = step {
            self.first.get_or_insert(child);
        }
        step
    }

    fn cancel(&mut self, op: &mut Op, cx: &mut Cx<'_>) {
        self.rules.cancel(op, cx);
    }

    fn assert_valid(&self) {
        self.rules.assert_valid();
    }
}

fn bent(step: Bend) -> MachineOf<Cancel> {
    let [rules, spare] = [(); 2].map(|()| Tree::new());
    let (first, deadline, waits) = (None, Instant::NEVER, 0);
    Box::new(Bent { rules, step, spare, first, deadline, waits })
}

pub(super) fn all() -> Vec<Mutant<Cancel>> {
    [of_waking(), of_children(), of_hooks(), of_time()].concat()
}

/// Tells whether calls on one thread cannot show a mutant: it only wakes the wrong sleepers, needs
/// a second thread, or only keeps too much.
pub(super) fn is_of_waking(mutant: &Mutant<Cancel>) -> bool {
    let unseen = ["children_are_told_once", "leave_removes_nothing", "deadline_is_slept_through"];
    unseen.contains(&mutant.name) || of_waking().iter().any(|other| other.name == mutant.name)
}

fn of_waking() -> Vec<Mutant<Cancel>> {
    mutants! { Edited(Tree::new()):
        Seeded "end_wakes_one" from "own: a cancellation wakes one waiter instead of all":
            (at_most!(1, WAITERS, Op::Cancel(_))) breaks ["sleepers_wake"];
        Seeded "end_wakes_nobody" from "own: a cancellation wakes no waiter":
            (at_most!(0, WAITERS, Op::Cancel(_))) breaks ["sleepers_wake"];
        Seeded "children_wake" from "own: a new child wakes all waiters":
            (|op, wakes, _| if matches!(op, Op::Adopt(_)) { wakes.all(WAITERS) })
            breaks ["woken_by_the_end_alone"];
    }
}

fn of_children() -> Vec<Mutant<Cancel>> {
    mutants! { bent:
        Seeded "children_are_not_told" from "own: a cancellation does not reach the children":
            (|bent, op, cx| tells(bent.rules.step(op, cx), |_| 0))
            breaks ["cancel_reaches_below", "sleepers_wake"];
        Seeded "the_last_child_is_not_told"
            from "own: a cancellation does not reach the last child":
            (|bent, op, cx| tells(bent.rules.step(op, cx), |count| count.saturating_sub(1)))
            breaks ["cancel_reaches_below"];
        Seeded "children_are_told_once"
            from "own: a second cancellation returns before the first has reached all children":
            (|bent, op, cx| {
                let again = bent.ended(cx).is_some();
                tells(bent.rules.step(op, cx), |count| if again { 0 } else { count })
            }) breaks ["cancel_reaches_below"];
        Seeded "late_child_is_adopted"
            from "own: a token that has ended adopts a child as if it had not":
            (|bent, op, cx| match op {
                Op::Adopt(_) if bent.ended(cx).is_some() => bent.spare.step(op, cx),
                op => bent.rules.step(op, cx),
            }) breaks ["cancel_reaches_below"];
        Seeded "late_child_waits"
            from "own: a child of an ended token begins as if its parent had not ended":
            (|bent, op, cx| match op {
                Op::Begin(begin) => {
                    bent.rules.step(&mut Op::Begin(Begin { ended: None, ..begin.clone() }), cx)
                }
                op => bent.rules.step(op, cx),
            }) breaks ["sleepers_wake"];
        Seeded "leave_removes_nothing" from "own: a dropped child stays in the tree":
            (|bent, op, cx| match op {
                Op::Leave(_) => Step::Done(Ret::Leave(None)),
                op => bent.rules.step(op, cx),
            }) breaks ["the_dropped_leave"];
        Seeded "leave_removes_another" from "own: a dropped child removes another child":
            (|bent, op, cx| {
                if let (Op::Leave(leave), Some(first)) = (&mut *op, bent.first) {
                    leave.0 = first;
                }
                bent.rules.step(op, cx)
            }) breaks ["cancel_reaches_below"];
    }
}

/// Lets a cancellation reach fewer children than there are.
fn tells(step: Step<Ret>, count: impl FnOnce(usize) -> usize) -> Step<Ret> {
    step.map(|ret| match ret {
        Ret::Cancel(mut ended) => {
            ended.below.truncate(count(ended.below.len()));
            Ret::Cancel(ended)
        }
        ret => ret,
    })
}

fn of_hooks() -> Vec<Mutant<Cancel>> {
    mutants! { bent:
        Seeded "hooks_are_forgotten"
            from "own: a cancellation drops the hooks and does not run them":
            (|bent, op, cx| bent.rules.step(op, cx).map(|ret| match ret {
                Ret::Cancel(mut ended) => {
                    ended.hooks.clear();
                    Ret::Cancel(ended)
                }
                ret => ret,
            })) breaks ["hooks_run"];
        Seeded "late_hook_is_kept"
            from "own: a token that has ended keeps a new hook and does not run it":
            (|bent, op, cx| match op {
                Op::Hook(_) if bent.ended(cx).is_some() => bent.spare.step(op, cx),
                op => bent.rules.step(op, cx),
            }) breaks ["hooks_run"];
        Seeded "unhook_does_nothing" from "own: a hook that was taken back still runs":
            (|bent, op, cx| match op {
                Op::Unhook(_) => Step::Done(Ret::Unhook(None)),
                op => bent.rules.step(op, cx),
            }) breaks ["hooks_run"];
    }
}

fn of_time() -> Vec<Mutant<Cancel>> {
    mutants! { bent:
        Seeded "cancel_overrides" from "own: a cancellation after the deadline changes the reason":
            (|bent, op, cx| bent.rules.step(op, cx).map(|ret| match ret {
                Ret::Cancel(mut ended) => {
                    ended.reason = Some(Reason::Cancelled);
                    Ret::Cancel(ended)
                }
                ret => ret,
            })) breaks ["first_reason_stays"];
        Seeded "deadline_overrides"
            from "own: a deadline after the cancellation changes the reason":
            (|bent, op, cx| {
                let over = bent.deadline <= cx.now();
                bent.rules.step(op, cx).map(|ret| match ret {
                    Ret::Wait(Some(_)) if over => Ret::Wait(Some(Reason::DeadlineExceeded)),
                    ret => ret,
                })
            }) breaks ["first_reason_stays"];
        Seeded "deadline_is_slept_through" from "own: the wait has no deadline":
            (|bent, op, cx| match bent.rules.step(op, cx) {
                Step::Wait { on, .. } => Step::Wait { on, until: None },
                step => step,
            }) breaks ["sleepers_wake"];
        Seeded "ends_early" from "own: the deadline is rounded down":
            (|bent, op, cx| {
                if let Op::Begin(begin) = op && begin.deadline != Instant::NEVER {
                    let early = begin.deadline.since(Instant::ZERO + Duration::from_millis(1));
                    begin.deadline = Instant::ZERO + early;
                }
                bent.rules.step(op, cx)
            }) breaks ["nobody_else_ends", "loops_keep_time"];
        Seeded "naps_first" from "own: a waiter sleeps before it checks the token":
            (|bent, op, cx| match op {
                Op::Wait(_) if bent.waits == 0 => {
                    bent.waits += 1;
                    Step::Wait { on: WAITERS, until: None }
                }
                op => bent.rules.step(op, cx),
            }) breaks ["sleepers_wake"];
    }
}
