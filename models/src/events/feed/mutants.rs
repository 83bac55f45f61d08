//! The bugs: one changed rule or one changed wake each.

use std::collections::VecDeque;

use seatrial_core::informer::FeedError;
use seatrial_core::informer::feed::{
    Complete, End, Feed as Rules, Next, Op, Push, READERS, Ret, SYNC, Told,
};
use seatrial_core::machine::{Cx, Machine, Step};

use super::{Feed, LIMIT, rules};
use crate::trial::{Edit, Edited, MachineOf, Mutant, at_most, mutants};

type Bend = fn(&mut Bent, &mut Op<u8>, &mut Cx<'_>) -> Step<Ret<u8>>;

/// The machine that ships, with some of its steps replaced.
struct Bent {
    rules: Rules<u8>,
    step: Bend,
    /// Changes of the first list that were told.
    first: usize,
    ended: bool,
    lagged: bool,
    /// How many changes wait,
    waiting: usize,
    /// and how many of them came after the first list.
    later: usize,
    kept: Option<Told<u8>>,
}

impl Bent {
    fn new(step: Bend) -> Self {
        let (rules, kept) = (rules(), None);
        let (ended, lagged) = (false, false);
        Self { rules, step, first: 0, ended, lagged, waiting: 0, later: 0, kept }
    }

    /// Whether the reader lags under a limit that the first list raises by its length, read or not.
    fn lags_late(&self, push: &Push<u8>) -> bool {
        let first = push.0.iter().filter(|told| told.initial).count();
        let over = self.ended || self.lagged;
        !over && self.waiting + push.0.len() > LIMIT + self.first + first
    }

    fn end(&mut self, cx: &mut Cx<'_>) -> VecDeque<Told<u8>> {
        match self.rules.step(&mut Op::End(End), cx) {
            Step::Done(Ret::End(lost)) => lost,
            _ => VecDeque::new(),
        }
    }

    fn taken(&mut self, told: &Told<u8>) {
        self.waiting = self.waiting.saturating_sub(1);
        self.later = self.later.saturating_sub(usize::from(!told.initial));
    }

    fn is_complete(&mut self, cx: &mut Cx<'_>) {
        drop(self.rules.step(&mut Op::Complete(Complete), cx));
    }
}

impl Machine for Bent {
    type Op = Op<u8>;
    type Ret = Ret<u8>;

    fn step(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        let pushed = if let Op::Push(push) = op { push.0.clone() } else { VecDeque::new() };
        let step = (self.step)(self, op, cx);
        match &step {
            Step::Done(Ret::Push(lost)) if lost.is_empty() => {
                let first = pushed.iter().filter(|told| told.initial).count();
                self.first += first;
                self.waiting += pushed.len();
                self.later += pushed.len() - first;
            }
            Step::Done(Ret::Next(Ok(told))) => self.taken(told),
            Step::Done(Ret::End(_)) => (self.ended, self.waiting, self.later) = (true, 0, 0),
            _ => {}
        }
        step
    }
}

fn bent(step: Bend) -> MachineOf<Feed> {
    Box::new(Bent::new(step))
}

fn without_limit(step: Bend) -> MachineOf<Feed> {
    let mut bent = Bent::new(step);
    bent.rules = Rules::new(Vec::new(), false, usize::MAX);
    Box::new(bent)
}

/// The machine that ships, its wakes edited after each step.
fn edited(edit: Edit<Rules<u8>>) -> MachineOf<Feed> {
    Box::new(Edited { machine: rules(), edit })
}

fn limited(limit: usize) -> MachineOf<Feed> {
    Box::new(Rules::new(Vec::new(), false, limit))
}

pub(super) fn all() -> Vec<Mutant<Feed>> {
    [of_waking(), of_order(), of_limits(), of_ends(), of_what_comes_back(), of_sync()].concat()
}

/// Tells whether a mutant differs only in whom it wakes.
pub(super) fn is_of_waking(mutant: &Mutant<Feed>) -> bool {
    of_waking().iter().any(|other| other.name == mutant.name)
}

fn of_waking() -> Vec<Mutant<Feed>> {
    mutants! { edited:
        Seeded "push_wakes_nobody" from "own: the wake-up of a push is left out":
            (at_most!(0, READERS, Op::Push(_))) breaks ["readers_wake"];
        Seeded "end_wakes_no_reader" from "museum B10":
            (at_most!(0, READERS, Op::End(_))) breaks ["readers_wake"];
        Seeded "end_wakes_no_one_who_waits_for_sync" from "museum A74":
            (at_most!(0, SYNC, Op::End(_))) breaks ["synced_not_stuck"];
        Seeded "end_wakes_one_who_waits_for_sync"
            from "own: one waiter is woken where all must wake":
            (at_most!(1, SYNC, Op::End(_))) breaks ["synced_not_stuck"];
        Seeded "lag_wakes_no_one_who_waits_for_sync"
            from "own: a reader that falls behind, which is rare, wakes no waiter":
            (at_most!(0, SYNC, Op::Push(_))) breaks ["synced_not_stuck"];
        Seeded "complete_wakes_nobody" from "cache:SY-5":
            (at_most!(0, SYNC, Op::Complete(_))) breaks ["synced_not_stuck"];
        Seeded "finish_wakes_nobody" from "cache:SY-5":
            (at_most!(0, SYNC, Op::Finish(_))) breaks ["synced_not_stuck"];
        Seeded "finish_wakes_one" from "own: one waiter is woken where all must wake":
            (at_most!(1, SYNC, Op::Finish(_))) breaks ["synced_not_stuck"];
    }
}

fn of_order() -> Vec<Mutant<Feed>> {
    mutants! { bent:
        Seeded "told_backwards" from "cache:PL-10":
            (|bent, op, cx| {
                if let Op::Push(push) = op {
                    push.0.make_contiguous().reverse();
                }
                bent.rules.step(op, cx)
            }) breaks ["told_in_order"];
        Seeded "one_of_two_is_lost" from "cache:PL-11":
            (|bent, op, cx| {
                if let Op::Push(push) = op {
                    push.0.truncate(1);
                }
                bent.rules.step(op, cx)
            }) breaks ["told_in_order"];
        Seeded "told_twice" from "cache:PL-10":
            (|bent, op, cx| {
                if matches!(op, Op::Next(_))
                    && let Some(told) = bent.kept.take()
                {
                    return Step::Done(Ret::Next(Ok(told)));
                }
                let step = bent.rules.step(op, cx);
                if let Step::Done(Ret::Next(Ok(told))) = &step {
                    // The repeat does not count for the first list: the original did already.
                    bent.kept = Some(Told { initial: false, ..told.clone() });
                }
                step
            }) breaks ["told_in_order"];
    }
}

fn of_limits() -> Vec<Mutant<Feed>> {
    let mut all = mutants! { bent:
        Seeded "newest_takes_the_place_of_the_oldest"
            from "own: a slow reader loses changes without an error":
            (|bent, op, cx| {
                let Op::Push(push) = &*op else { return bent.rules.step(op, cx) };
                let later = push.0.iter().filter(|told| !told.initial).count();
                while bent.later > 0 && bent.later + later > LIMIT {
                    let oldest = bent.rules.step(&mut Op::Next(Next), cx);
                    let Step::Done(Ret::Next(Ok(told))) = oldest else { break };
                    bent.taken(&told);
                }
                bent.rules.step(op, cx)
            }) breaks ["lagging_is_said"];
        Seeded "what_is_too_much_is_dropped"
            from "own: a slow reader loses changes without an error":
            (|bent, op, cx| {
                let Op::Push(push) = &mut *op else { return bent.rules.step(op, cx) };
                let room = LIMIT.saturating_sub(bent.later);
                if !push.0.iter().any(|told| told.initial) {
                    push.0.truncate(room);
                }
                bent.rules.step(op, cx)
            }) breaks ["lagging_is_said"];
        Seeded "the_first_list_counts"
            from "own: a reader that subscribes late exceeds its limit at once":
            (|bent, op, cx| {
                let Op::Push(push) = &*op else { return bent.rules.step(op, cx) };
                if bent.waiting + push.0.len() > LIMIT {
                    drop(bent.rules.step(&mut Op::End(End), cx));
                }
                bent.rules.step(op, cx)
            }) breaks ["lagging_is_said", "an_end_is_said"];
    };
    all.extend(mutants! { without_limit:
        Seeded "the_first_list_makes_room"
            from "own: a limit that grows for the first list never shrinks again":
            (|bent, op, cx| match op {
                Op::Push(push) if bent.lags_late(push) => {
                    bent.lagged = true;
                    let mut lost = bent.end(cx);
                    lost.append(&mut push.0);
                    Step::Done(Ret::Push(lost))
                }
                op => match bent.rules.step(op, cx) {
                    Step::Done(Ret::Next(Err(_))) if bent.lagged => {
                        Step::Done(Ret::Next(Err(FeedError::Lagged)))
                    }
                    step => step,
                },
            }) breaks ["lagging_is_said", "what_is_not_told_comes_back"];
    });
    all.extend(mutants! { limited:
        Seeded "limit_is_one_less" from "own: the limit is off by one":
            (LIMIT - 1) breaks ["lagging_is_said"];
        Seeded "limit_is_one_more" from "own: the limit is off by one":
            (LIMIT + 1) breaks ["lagging_is_said"];
        Seeded "no_limit" from "cache:KD-18":
            (usize::MAX) breaks ["lagging_is_said"];
    });
    all
}

fn of_ends() -> Vec<Mutant<Feed>> {
    mutants! { bent:
        Seeded "told_behind_the_end" from "cache:INV-15":
            (|bent, op, cx| match op {
                Op::End(_) if bent.waiting > 0 => {
                    if let Step::Done(Ret::Next(Ok(told))) =
                        bent.rules.step(&mut Op::Next(Next), cx)
                    {
                        bent.kept = Some(told);
                    }
                    bent.rules.step(op, cx)
                }
                Op::Next(_) if bent.kept.is_some() => {
                    Step::Done(Ret::Next(Ok(bent.kept.take().expect("it was looked at"))))
                }
                op => bent.rules.step(op, cx),
            }) breaks ["an_end_is_said", "what_is_not_told_comes_back"];
        Seeded "lag_is_an_end" from "own: a reader that lost changes gets no hint of it":
            (|bent, op, cx| match bent.rules.step(op, cx) {
                Step::Done(Ret::Next(Err(_))) => Step::Done(Ret::Next(Err(FeedError::Stopped))),
                step => step,
            }) breaks ["lagging_is_said"];
        Seeded "an_end_is_a_lag"
            from "own: a reader whose feed has ended subscribes again for ever":
            (|bent, op, cx| match bent.rules.step(op, cx) {
                Step::Done(Ret::Next(Err(_))) => Step::Done(Ret::Next(Err(FeedError::Lagged))),
                step => step,
            }) breaks ["lagging_is_said"];
        Seeded "who_lags_is_told_the_rest"
            from "own: a reader gets a change behind a gap and does not notice the gap":
            (|bent, op, cx| {
                let kept = if let Op::Push(push) = &*op { push.0.back().cloned() } else { None };
                match bent.rules.step(op, cx) {
                    Step::Done(Ret::Push(lost)) if !lost.is_empty() && !bent.ended => {
                        bent.kept = kept;
                        Step::Done(Ret::Push(lost))
                    }
                    Step::Done(Ret::Next(Err(why))) => match bent.kept.take() {
                        Some(told) => Step::Done(Ret::Next(Ok(told))),
                        None => Step::Done(Ret::Next(Err(why))),
                    },
                    step => step,
                }
            }) breaks ["lagging_is_said", "told_in_order"];
        Seeded "readers_sleep_behind_the_end" from "cache:QU-2":
            (|bent, op, cx| match bent.rules.step(op, cx) {
                Step::Done(Ret::Next(Err(_))) => Step::Wait { on: READERS, until: None },
                step => step,
            }) breaks ["readers_wake"];
    }
}

fn of_what_comes_back() -> Vec<Mutant<Feed>> {
    mutants! { bent:
        Seeded "push_behind_the_end_is_kept"
            from "own: a change that is pushed after the end is never freed":
            (|bent, op, cx| match op {
                Op::Push(_) if bent.ended => Step::Done(Ret::Push(VecDeque::new())),
                op => bent.rules.step(op, cx),
            }) breaks ["what_is_not_told_comes_back"];
        Seeded "end_drops_under_the_lock" from "own: destructors of objects run under the lock":
            (|bent, op, cx| match bent.rules.step(op, cx) {
                Step::Done(Ret::End(_)) => Step::Done(Ret::End(VecDeque::new())),
                step => step,
            }) breaks ["what_is_not_told_comes_back"];
        Seeded "what_comes_back_is_mixed_up"
            from "own: the source delivers the returned changes again in another order":
            (|bent, op, cx| match bent.rules.step(op, cx) {
                Step::Done(Ret::End(mut lost)) => {
                    lost.make_contiguous().reverse();
                    Step::Done(Ret::End(lost))
                }
                step => step,
            }) breaks ["what_is_not_told_comes_back"];
        Seeded "what_comes_back_counts_for_the_first_list"
            from "own: the flag of the first list is not copied":
            (|bent, op, cx| match bent.rules.step(op, cx) {
                Step::Done(Ret::Push(mut lost)) => {
                    lost.iter_mut().for_each(|told| told.initial = true);
                    Step::Done(Ret::Push(lost))
                }
                step => step,
            }) breaks ["what_is_not_told_comes_back"];
    }
}

fn of_sync() -> Vec<Mutant<Feed>> {
    mutants! { bent:
        Seeded "synced_when_taken" from "cache:PL-20":
            (|bent, op, cx| match op {
                Op::Finish(_) => Step::Done(Ret::Finish(())),
                op => {
                    let step = bent.rules.step(op, cx);
                    if matches!(&step, Step::Done(Ret::Next(Ok(told))) if told.initial) {
                        let finish = seatrial_core::informer::feed::Finish;
                        drop(bent.rules.step(&mut Op::Finish(finish), cx));
                    }
                    step
                }
            }) breaks ["synced_not_early"];
        Seeded "synced_when_the_list_is_complete" from "cache:SI-15":
            (|bent, op, cx| {
                if let Op::Push(push) = op {
                    push.0.iter_mut().for_each(|told| told.initial = false);
                }
                if matches!(op, Op::Finish(_)) {
                    return Step::Done(Ret::Finish(()));
                }
                bent.rules.step(op, cx)
            }) breaks ["synced_not_early"];
        Seeded "synced_before_the_list_is_complete" from "cache:PL-21":
            (|bent, op, cx| {
                let step = bent.rules.step(op, cx);
                if matches!(op, Op::Push(_)) {
                    bent.is_complete(cx);
                }
                step
            }) breaks ["synced_not_early"];
        Seeded "sync_is_forgotten" from "cache:SY-3":
            (|bent, op, cx| match bent.rules.step(op, cx) {
                Step::Done(Ret::HasSynced(true)) if bent.waiting > 0 => {
                    Step::Done(Ret::HasSynced(false))
                }
                step => step,
            }) breaks ["synced_not_early"];
        Seeded "an_end_is_a_sync" from "cache:SI-40":
            (|bent, op, cx| match bent.rules.step(op, cx) {
                Step::Done(Ret::WaitForSync(false)) => Step::Done(Ret::WaitForSync(true)),
                step => step,
            }) breaks ["synced_not_early"];
        Seeded "waits_for_sync_behind_the_end" from "museum A74":
            (|bent, op, cx| match bent.rules.step(op, cx) {
                Step::Done(Ret::WaitForSync(false)) => Step::Wait { on: SYNC, until: None },
                step => step,
            }) breaks ["synced_not_stuck"];
        Seeded "later_changes_count" from "own: a busy server keeps the reader from ever syncing":
            (|bent, op, cx| {
                if let Op::Push(Push(told)) = op {
                    told.iter_mut().for_each(|told| told.initial = true);
                }
                bent.rules.step(op, cx)
            }) breaks ["told_in_order"];
        Seeded "an_empty_list_is_never_seen" from "cache:PL-23":
            (|bent, op, cx| match op {
                Op::Complete(_) if bent.first == 0 => Step::Done(Ret::Complete(())),
                op => bent.rules.step(op, cx),
            }) breaks ["synced_not_early", "synced_not_stuck"];
    }
}
