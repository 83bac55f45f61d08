//! The promises of the delaying queue, as checks of a history.

use std::collections::BTreeMap;

use seatrial_core::delaying_queue::AddAfter;
use seatrial_core::machine::Step;
use seatrial_core::queue::Add;

use super::as_queue::{apply, due, judged, moment};
use super::{Call, DelayingQueue, Event, History, Plain, Ret};
use crate::queues::queue::AT_ONCE;
use crate::trial::{Invariant, Ledger, Told, Violation, What};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<DelayingQueue>> {
    let mut all = vec![
        Invariant::at_every_event(
            "never_early",
            "an item that waits for its time is not handed out before that time",
            &["workqueue:DQ-8", "workqueue:DQ-14", "workqueue:INV-13"],
            never_early,
        ),
        Invariant::always(
            "nothing_late",
            "no consumer sleeps through the time of an item",
            &["workqueue:DQ-9", "workqueue:DQ-15", "workqueue:INV-14", "workqueue:LIV-7"],
            nothing_late,
        ),
        Invariant::always(
            "steps_are_bounded",
            "one step adds at most a fixed number of due items",
            &["workqueue:DQ-16"],
            steps_are_bounded,
        ),
        Invariant::always(
            "retries_count_calls",
            "every call with a delay is counted and reported, until shutdown begins",
            &["workqueue:DQ-3", "workqueue:DQ-4"],
            retries_count_calls,
        ),
    ];
    all.extend(inside());
    all.extend(figures_inside());
    all
}

/// The promises of the queue inside, which are judged here, too.
fn inside() -> Vec<Invariant<DelayingQueue>> {
    vec![
        Invariant::always(
            "nothing_lost",
            "no consumer sleeps or leaves while an item waits that was added or became due",
            &["workqueue:DQ-2", "workqueue:DQ-10", "workqueue:DQ-11"],
            |history| judged(history, "nothing_lost"),
        ),
        Invariant::always(
            "stingy",
            "an item waits only for its earliest time, and is handed out once for it",
            &["workqueue:DQ-10", "workqueue:INV-12"],
            |history| judged(history, "stingy"),
        ),
        Invariant::always(
            "fair",
            "items are handed out in the order in which they were added or became due",
            &["workqueue:DQ-13"],
            |history| judged(history, "fair"),
        ),
        Invariant::always(
            "len_counts_waiting",
            "len is the number of items that could be handed out now",
            &["workqueue:DQ-12"],
            |history| judged(history, "len_counts_waiting"),
        ),
        Invariant::always(
            "never_concurrent",
            "an item that becomes due while it is processed waits until it is done",
            &["workqueue:DQ-12", "workqueue:DQ-24"],
            |history| judged(history, "never_concurrent"),
        ),
        Invariant::always(
            "dirty_is_requeued",
            "an item that becomes due while it is processed is delivered once more",
            &["workqueue:DQ-10", "workqueue:DQ-12"],
            |history| judged(history, "dirty_is_requeued"),
        ),
    ]
}

/// Those of its figures and its shutdown.
fn figures_inside() -> Vec<Invariant<DelayingQueue>> {
    vec![
        Invariant::always(
            "depth_is_told",
            "the reported depth is always right, also for due items that no consumer has looked at",
            &["workqueue:MX-8", "workqueue:DQ-10"],
            |history| judged(history, "depth_is_told"),
        ),
        Invariant::always(
            "latency_is_told",
            "the reported latency counts from the moment at which an item became due",
            &["workqueue:MX-6", "workqueue:DQ-10"],
            |history| judged(history, "latency_is_told"),
        ),
        Invariant::always(
            "work_is_told",
            "the reported work time runs from hand-out to done, and is unfinished work until then",
            &["workqueue:MX-7"],
            |history| judged(history, "work_is_told"),
        ),
        Invariant::always(
            "shutdown_is_final",
            "an item that is not due when shutdown begins, or is added later, is never handed out",
            &["workqueue:DQ-3", "workqueue:DQ-19", "workqueue:DQ-23"],
            |history| judged(history, "shutdown_is_final"),
        ),
        Invariant::always(
            "drain_waits",
            "a drain returns only after its condition was met or shut_down was called",
            &["workqueue:DQ-21"],
            |history| judged(history, "drain_waits"),
        ),
        Invariant::eventually(
            "no_lost_wakeup",
            "no consumer sleeps for ever while an item could be handed out",
            &["workqueue:DQ-2", "workqueue:LIV-7"],
            |history| judged(history, "no_lost_wakeup"),
        ),
        Invariant::eventually(
            "shutdown_wakes_consumers",
            "no consumer sleeps for ever after shutdown began, whatever time it waited for",
            &["workqueue:DQ-20", "workqueue:LIV-8"],
            |history| judged(history, "shutdown_wakes_consumers"),
        ),
        Invariant::eventually(
            "drains_return",
            "no drain sleeps for ever once nothing is in flight: delayed items do not count",
            &["workqueue:DQ-19", "workqueue:DQ-21", "workqueue:INV-15"],
            |history| judged(history, "drains_return"),
        ),
        Invariant::eventually(
            "shutdown_releases_drains",
            "shut_down releases every drain that began before it, whatever was called before",
            &["workqueue:DQ-20", "workqueue:DQ-22"],
            |history| judged(history, "shutdown_releases_drains"),
        ),
    ]
}

/// The state before an event.
#[derive(Default)]
pub(crate) struct Known {
    /// The sequential object, for the times only.
    pub(super) times: Plain,
    /// How often an item was added, or its time came.
    causes: BTreeMap<u8, u32>,
    gets: BTreeMap<u8, u32>,
    /// Threads asleep in `get`.
    pub(super) getters: Vec<u8>,
    /// How many items were handed out one by one, and not ended so.
    pub(super) in_processing: usize,
}

impl Known {
    fn cause(&mut self, key: u8) {
        *self.causes.entry(key).or_default() += 1;
    }

    /// Counts the items that become due up to an event. This happens only after the event was
    /// checked: until then, invariants ask for themselves which items become due with it.
    fn note_due(&mut self, event: &Event) {
        for (key, _) in due(&self.times, event.at) {
            self.cause(key);
        }
    }
}

impl Ledger<DelayingQueue> for Known {
    fn apply(&mut self, event: &Event) {
        self.note_due(event);
        apply(&mut self.times, event);
        if let What::Step { .. } | What::Cancel { .. } = event.what {
            self.getters.retain(|thread| *thread != event.thread);
        }
        let What::Step { op, outcome, .. } = &event.what else { return };
        match (op, outcome) {
            (Call::Get(_) | Call::GetBatch(_), Step::Wait { .. }) => {
                self.getters.push(event.thread);
            }
            (_, Step::Done(ret)) if taken(ret).next().is_some() => {
                taken(ret).for_each(|key| *self.gets.entry(key).or_default() += 1);
                self.in_processing += usize::from(matches!(ret, Ret::Get(_)));
            }
            (Call::Done(_), _) => self.in_processing = self.in_processing.saturating_sub(1),
            (Call::Add(Add { key: Some(key), .. }), _) => self.cause(*key),
            (Call::AddAll(all), _) => {
                all.0.iter().filter_map(|add| add.key).for_each(|key| self.cause(key));
            }
            (Call::AddAfter(AddAfter { key: Some(key), delay, .. }), _) if delay.is_zero() => {
                self.cause(*key);
            }
            _ => {}
        }
    }
}

/// Returns the items that a call handed out, one or several.
fn taken(ret: &Ret<u8>) -> impl Iterator<Item = u8> {
    let (one, several): (Option<_>, &[_]) = match ret {
        Ret::Get(taken) => (taken.as_ref(), &[]),
        Ret::GetBatch(taken) => (None, taken),
        _ => (None, &[]),
    };
    one.into_iter().chain(several).map(|(_, key)| *key)
}

fn never_early(before: &Known, event: &Event) -> Result<(), String> {
    let Some((_, ret)) = event.returned() else { return Ok(()) };
    for key in taken(ret) {
        let causes = before.causes.get(&key).copied().unwrap_or_default();
        let gets = before.gets.get(&key).copied().unwrap_or_default();
        let waits = before.times.later.iter().find(|(later, _)| *later == key);
        match waits.filter(|_| gets >= causes) {
            Some((_, time)) if *time > moment(event.at) => {
                let at = moment(event.at);
                return Err(format!("item {key} is handed out at {at:?}, its time is {time:?}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Judges only histories of virtual time; only those have a quiet moment. In virtual time, time
/// passes only when every thread is blocked, so a caller that is still asleep after a due time
/// missed its wake-up.
fn nothing_late(history: &History) -> Checked {
    if !history.events.iter().any(|event| matches!(event.what, What::Quiet)) {
        return Ok(());
    }
    Known::at_every_event(history, |before, event| {
        let passed = before.times.earliest().filter(|t| *t < moment(event.at));
        match (passed, before.getters.first()) {
            (Some(time), Some(_)) => {
                Err(format!("a consumer sleeps through {time:?}, the time of an item"))
            }
            _ => Ok(()),
        }
    })
}

fn steps_are_bounded(history: &History) -> Checked {
    for (number, event) in history.events.iter().enumerate() {
        let most = match &event.what {
            // One more due item for each call, and the items that the calls themselves add.
            What::Step { op: Call::AddAll(all), .. } => AT_ONCE + 2 * all.0.len(),
            What::Step { op: Call::DoneAll(all), .. } => AT_ONCE + all.0.len(),
            What::Step { op: Call::GetBatch(batch), .. } => AT_ONCE + batch.most.get(),
            _ => AT_ONCE + 1,
        };
        let added = event.told.iter().flatten().filter(|told| **told == Told::Added).count();
        if added > most {
            return Err(Violation::at(number, format!("one step adds {added} items")));
        }
    }
    Ok(())
}

fn retries_count_calls(history: &History) -> Checked {
    let (mut known, mut told) = (Known::default(), 0);
    for (number, event) in history.events.iter().enumerate() {
        known.take_in(event);
        let Some(figures) = &event.told else { continue };
        told += figures.iter().filter(|figure| **figure == Told::Retried).count() as u64;
        if told != known.times.retries {
            let because = format!("{told} retries are told of {}", known.times.retries);
            return Err(Violation::at(number, because));
        }
    }
    Known::at_every_event(history, |before, event| match event.returned() {
        Some((_, Ret::Retries(says))) if *says != before.times.retries => {
            Err(format!("retries says {says}, and {} calls gave a delay", before.times.retries))
        }
        _ => Ok(()),
    })
}
