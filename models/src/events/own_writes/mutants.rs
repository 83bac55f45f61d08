//! The bugs: one changed rule or one changed wake each.

use std::time::Duration;

use seatrial_core::informer::fresh::{self, AtLeast, NEWS, Prepare, SYNC, View, WaitForSync};
use seatrial_core::machine::{Cx, Machine, Passed, Step};
use seatrial_core::ordered_fifo::Event;
use seatrial_core::runtime::Instant;

use super::OwnWrites;
use super::shelf::{Op, Ret, Shelf};
use crate::trial::{Edit, Edited, MachineOf, Mutant, at_most, keep_at_most, mutants};

/// The pause between two looks of a caller that polls.
const PAUSE: Duration = Duration::from_millis(100);

type Bend = fn(&mut Bent, &mut Op, &mut Cx<'_>) -> Step<Ret>;

/// The machine that ships, with some of its steps replaced.
struct Bent {
    shelf: Shelf,
    step: Bend,
    /// A flag for the step.
    marked: bool,
    /// How often a list had gone back, at the last look for notes to forget.
    returns: Option<u64>,
    /// Whether the shell passes on wake-ups that no call took.
    passes: bool,
}

impl Bent {
    fn ships(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        self.shelf.step(op, cx)
    }
}

impl Machine for Bent {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        (self.step)(self, op, cx)
    }

    fn cancel(&mut self, op: &mut Op, cx: &mut Cx<'_>) {
        self.shelf.cancel(op, cx);
    }

    fn passes_on(&mut self, _: Passed) -> bool {
        self.passes
    }
}

fn bent(step: Bend) -> MachineOf<OwnWrites> {
    Box::new(Bent { shelf: Shelf::default(), step, marked: false, returns: None, passes: true })
}

/// The machine under a shell that does not pass on the wake-up of a call that is given up.
fn forgetful(step: Bend) -> MachineOf<OwnWrites> {
    Box::new(Bent { shelf: Shelf::default(), step, marked: false, returns: None, passes: false })
}

/// The machine that ships, its wakes edited after each step.
fn edited(edit: Edit<Shelf>) -> MachineOf<OwnWrites> {
    Box::new(Edited { machine: Shelf::default(), edit })
}

pub(super) fn all() -> Vec<Mutant<OwnWrites>> {
    [of_waking(), of_versions(), of_marked(), of_deletions(), of_time(), of_ends()].concat()
}

/// Tells whether a mutant differs only in whom it wakes.
pub(super) fn is_of_waking(mutant: &Mutant<OwnWrites>) -> bool {
    of_waking().iter().any(|other| other.name == mutant.name)
}

fn of_waking() -> Vec<Mutant<OwnWrites>> {
    let mut all = mutants! { edited:
        Seeded "news_wake_nobody" from "own: the wake-up for a new version is left out":
            (at_most!(0, NEWS, Op::Fresh(fresh::Op::Advance(_)))) breaks ["who_waits_is_told"];
        Seeded "news_wake_one" from "own: one reader is woken where all must wake":
            (at_most!(1, NEWS, Op::Fresh(fresh::Op::Advance(_)))) breaks ["who_waits_is_told"];
        Seeded "an_end_wakes_no_reader" from "own: the end wakes no reader":
            (at_most!(0, NEWS, Op::Fresh(fresh::Op::Over(_)))) breaks ["who_waits_is_told"];
        Seeded "an_end_wakes_one_reader" from "own: one reader is woken where all must wake":
            (at_most!(1, NEWS, Op::Fresh(fresh::Op::Over(_)))) breaks ["who_waits_is_told"];
        Seeded "the_first_list_wakes_nobody" from "cache:SY-5":
            (at_most!(0, SYNC, Op::Fresh(fresh::Op::Synced(_)))) breaks ["synced_not_stuck"];
        Seeded "the_first_list_wakes_one" from "own: one waiter is woken where all must wake":
            (at_most!(1, SYNC, Op::Fresh(fresh::Op::Synced(_)))) breaks ["synced_not_stuck"];
        Seeded "an_end_wakes_no_one_who_waits_for_sync"
            from "own: the end wakes no caller that waits for the first list":
            (at_most!(0, SYNC, Op::Fresh(fresh::Op::Over(_)))) breaks ["synced_not_stuck"];
    };
    all.extend(mutants! { bent:
        Seeded "a_list_wakes_nobody" from "own: waiting readers are forgotten at a relist":
            (|bent, op, cx| {
                let step = bent.ships(op, cx);
                match op {
                    Op::Fresh(fresh::Op::Prepare(it)) if it.0.is_some() => bent.marked = true,
                    Op::Fresh(fresh::Op::Advance(_)) if std::mem::take(&mut bent.marked) => {
                        keep_at_most(&mut cx.wakes, NEWS, 0);
                    }
                    _ => {}
                }
                step
            }) breaks ["who_waits_is_told"];
    });
    all.extend(mutants! { forgetful:
        Seeded "who_gives_up_takes_the_wake_along"
            from "own: one reader is woken, and only a reader that is done passes the wake-up on":
            (|bent, op, cx| {
                let step = bent.ships(op, cx);
                match (op, &step) {
                    (Op::Fresh(fresh::Op::Advance(_)), _) => keep_at_most(&mut cx.wakes, NEWS, 1),
                    (Op::Fresh(fresh::Op::AtLeast(_) | fresh::Op::Turn(_)), Step::Done(_)) => {
                        cx.wakes.one(NEWS);
                    }
                    _ => {}
                }
                step
            }) breaks ["who_waits_is_told"];
    });
    all
}

fn of_versions() -> Vec<Mutant<OwnWrites>> {
    mutants! { bent:
        Seeded "answers_before_the_version_is_seen" from "own: the version is off by one":
            (|bent, op, cx| {
                let Op::Fresh(fresh::Op::AtLeast(call)) = &mut *op else { return bent.ships(op, cx) };
                let version = call.version.saturating_sub(1);
                let early = AtLeast { version, ..call.clone() };
                bent.ships(&mut Op::Fresh(fresh::Op::AtLeast(early)), cx)
            }) breaks ["reads_are_new_enough"];
        Seeded "a_bookmark_is_no_news" from "own: only versions of objects count":
            (|bent, op, cx| match op {
                Op::Apply(Event::Bookmark(_)) => Step::Done(Ret::Applied(None)),
                op => bent.ships(op, cx),
            }) breaks ["who_waits_is_told"];
        Seeded "what_is_refused_counts_as_seen"
            from "own: the version is compared, and the refusal is not looked at":
            (|bent, op, cx| match op {
                Op::Fresh(fresh::Op::Refuse(_)) => Step::Done(Ret::Fresh(fresh::Ret::Refuse(()))),
                op => bent.ships(op, cx),
            }) breaks ["reads_are_new_enough"];
        Seeded "a_newer_state_does_not_mend_it" from "own: a refusal is never forgotten":
            (|bent, op, cx| match op {
                Op::Fresh(fresh::Op::Stored(_)) => Step::Done(Ret::Fresh(fresh::Ret::Stored(()))),
                op => bent.ships(op, cx),
            }) breaks ["who_waits_is_told"];
        Seeded "any_state_mends_it"
            from "own: any stored state lifts a refusal, because keys are not compared":
            (|bent, op, cx| {
                if let Op::Fresh(fresh::Op::Stored(stored)) = op {
                    *stored = fresh::Stored::List(u64::MAX);
                }
                bent.ships(op, cx)
            }) breaks ["reads_are_new_enough"];
    }
}

fn of_marked() -> Vec<Mutant<OwnWrites>> {
    mutants! { bent:
        Seeded "a_list_that_goes_back_is_no_news" from "own: versions are taken to grow only":
            (|bent, op, cx| match op {
                Op::Fresh(fresh::Op::Prepare(_)) => {
                    bent.ships(&mut Op::Fresh(fresh::Op::Prepare(Prepare(None))), cx)
                }
                op => bent.ships(op, cx),
            }) breaks ["reads_are_new_enough"];
        Seeded "who_reads_does_not_look_back"
            from "own: the store goes back between the check of the version and the read":
            (|bent, op, cx| looking(bent.ships(op, cx), |view| view.rollbacks = 0))
            breaks ["reads_are_new_enough"];
        Seeded "notes_are_forgotten_although_a_list_goes_back"
            from "own: the store goes back between the check of the version and the forgetting of \
                  notes":
            (|bent, op, cx| match bent.ships(op, cx) {
                Step::Done(Ret::Fresh(fresh::Ret::AtLeast(Ok(view)))) if looks_for_notes(op) => {
                    bent.returns = Some(view.rollbacks);
                    Step::Done(Ret::Fresh(fresh::Ret::AtLeast(Ok(view))))
                }
                Step::Done(Ret::Fresh(fresh::Ret::Look(mut view))) => {
                    view.rollbacks = bent.returns.take().unwrap_or(view.rollbacks);
                    Step::Done(Ret::Fresh(fresh::Ret::Look(view)))
                }
                step => step,
            }) breaks ["reads_are_new_enough"];
    }
}

/// Edits the view that a call gets of the store's version.
fn looking(step: Step<Ret>, edit: impl FnOnce(&mut View)) -> Step<Ret> {
    match step {
        Step::Done(Ret::Fresh(fresh::Ret::Look(mut view))) => {
            edit(&mut view);
            Step::Done(Ret::Fresh(fresh::Ret::Look(view)))
        }
        Step::Done(Ret::Fresh(fresh::Ret::AtLeast(Ok(mut view)))) => {
            edit(&mut view);
            Step::Done(Ret::Fresh(fresh::Ret::AtLeast(Ok(view))))
        }
        step => step,
    }
}

/// Tells whether a call looks for notes to forget: only such a call does not wait.
fn looks_for_notes(op: &Op) -> bool {
    matches!(op, Op::Fresh(fresh::Op::AtLeast(AtLeast { until, .. })) if *until == Instant::ZERO)
}

fn of_deletions() -> Vec<Mutant<OwnWrites>> {
    mutants! { bent:
        Seeded "deletions_are_by_name"
            from "own: names are compared and not uids, and another object has the name by now":
            (|bent, op, cx| match op {
                Op::Has(key, _) => Step::Done(Ret::Has(bent.shelf.objects.contains_key(key))),
                op => bent.ships(op, cx),
            }) breaks ["who_waits_is_told"];
        Seeded "a_deletion_is_not_waited_for"
            from "own: a deletion counts as visible once the object's last version is":
            (|bent, op, cx| match op {
                Op::Has(..) => Step::Done(Ret::Has(false)),
                op => bent.ships(op, cx),
            }) breaks ["deleted_is_gone"];
        Seeded "a_deletion_is_forgotten_before_its_version_is_told"
            from "own: the store has the deletion before its version says so":
            (|bent, op, cx| looking(bent.ships(op, cx), |view| view.is_applying = false))
            breaks ["deleted_is_gone"];
        Seeded "a_deletion_is_forgotten_before_an_older_list_is_stored"
            from "own: an older list is announced before the store has it":
            (|bent, op, cx| {
                match op {
                    Op::Fresh(fresh::Op::Prepare(it)) => bent.marked = it.0.is_some(),
                    Op::Fresh(fresh::Op::Advance(_)) => bent.marked = false,
                    _ => {}
                }
                let step = bent.ships(op, cx);
                looking(step, |view| view.is_applying &= !bent.marked)
            }) breaks ["deleted_is_gone"];
        Seeded "who_reads_beside_an_older_list_looks_back_too_early"
            from "own: an older list is stored after it is announced":
            (|bent, op, cx| looking(bent.ships(op, cx), |it| it.rollbacks = it.rollbacks.div_ceil(2)))
            breaks ["deleted_is_gone"];
        Seeded "who_reads_beside_an_older_list_looks_once"
            from "own: the store goes back between the check and the read":
            (|bent, op, cx| match op {
                Op::Has(..) if std::mem::take(&mut bent.marked) => Step::Done(Ret::Has(false)),
                op => {
                    bent.marked = matches!(op, Op::One(_) | Op::All);
                    bent.ships(op, cx)
                }
            }) breaks ["deleted_is_gone"];
        Seeded "who_waits_for_a_deletion_misses_the_next_news"
            from "own: the counter of changes is read after the check, and a change between the \
                  two is missed":
            (|bent, op, cx| match bent.ships(op, cx) {
                Step::Done(Ret::Fresh(fresh::Ret::Look(mut view))) => {
                    view.epoch += 1;
                    Step::Done(Ret::Fresh(fresh::Ret::Look(view)))
                }
                step => step,
            }) breaks ["who_waits_is_told"];
    }
}

fn of_time() -> Vec<Mutant<OwnWrites>> {
    mutants! { bent:
        Seeded "time_is_ignored" from "own: the time limit of a sleep is ignored":
            (|bent, op, cx| match bent.ships(op, cx) {
                Step::Wait { on, .. } => Step::Wait { on, until: None },
                step => step,
            }) breaks ["nobody_outwaits_its_time"];
        Seeded "nobody_has_time" from "own: a call that would have to wait fails at once":
            (|bent, op, cx| {
                if let Op::Fresh(fresh::Op::AtLeast(AtLeast { until, .. })) = op {
                    *until = Instant::ZERO;
                }
                bent.ships(op, cx)
            }) breaks ["errors_are_true"];
        Seeded "what_comes_too_late_is_not_looked_at"
            from "own: the time limit is checked before the store":
            (|bent, op, cx| match op {
                Op::Fresh(fresh::Op::AtLeast(AtLeast { version, until, .. }))
                    if cx.now() >= *until =>
                {
                    let error = fresh::NotVisibleError::Behind { wanted: *version, seen: 0 };
                    Step::Done(Ret::Fresh(fresh::Ret::AtLeast(Err(error))))
                }
                op => bent.ships(op, cx),
            }) breaks ["errors_are_true"];
        Seeded "who_waits_a_while_is_told_yes" from "cache:WS-3":
            (|bent, op, cx| match bent.ships(op, cx) {
                Step::Done(Ret::Fresh(fresh::Ret::WaitForSync(_))) => {
                    Step::Done(Ret::Fresh(fresh::Ret::WaitForSync(true)))
                }
                step => step,
            }) breaks ["synced_not_early"];
        Seeded "looks_after_a_pause" from "museum A76":
            (|bent, op, cx| match bent.ships(op, cx) {
                Step::Done(Ret::Fresh(fresh::Ret::WaitForSync(true)))
                    if !std::mem::replace(&mut bent.marked, true) =>
                {
                    Step::Wait { on: SYNC, until: Some(cx.now() + PAUSE) }
                }
                step => step,
            }) breaks ["nobody_sleeps_for_what_is_there"];
        Seeded "nobody_waits_for_sync" from "cache:WS-3":
            (|bent, op, cx| {
                if let Op::Fresh(fresh::Op::WaitForSync(WaitForSync { until })) = op {
                    *until = Instant::ZERO;
                }
                bent.ships(op, cx)
            }) breaks ["synced_not_early"];
    }
}

fn of_ends() -> Vec<Mutant<OwnWrites>> {
    mutants! { bent:
        Seeded "readers_wait_behind_the_end" from "own: the end does not stop a waiting read":
            (|bent, op, cx| match bent.ships(op, cx) {
                Step::Done(Ret::Fresh(
                    fresh::Ret::AtLeast(Err(fresh::NotVisibleError::Stopped))
                    | fresh::Ret::Turn(Err(fresh::NotVisibleError::Stopped)),
                )) => Step::Wait { on: NEWS, until: None },
                step => step,
            }) breaks ["who_waits_is_told"];
        Seeded "nothing_is_read_behind_the_end" from "own: the end is checked before the store":
            (|bent, op, cx| match op {
                Op::Fresh(fresh::Op::Over(_)) => {
                    bent.marked = true;
                    bent.ships(op, cx)
                }
                Op::Fresh(fresh::Op::AtLeast(_)) if bent.marked => {
                    let stopped = Err(fresh::NotVisibleError::Stopped);
                    Step::Done(Ret::Fresh(fresh::Ret::AtLeast(stopped)))
                }
                op => bent.ships(op, cx),
            }) breaks ["errors_are_true"];
        Seeded "waits_for_sync_behind_the_end"
            from "own: the end does not stop a wait for the first list":
            (|bent, op, cx| match bent.ships(op, cx) {
                Step::Done(Ret::Fresh(fresh::Ret::WaitForSync(false)))
                    if matches!(op, Op::Fresh(fresh::Op::WaitForSync(WaitForSync { until }))
                        if *until == Instant::NEVER) =>
                {
                    Step::Wait { on: SYNC, until: None }
                }
                step => step,
            }) breaks ["synced_not_stuck"];
    }
}
