//! The promises of the queue of changes, as checks of a history.

use seatrial_core::delta_fifo::{Popped, Ret};

use super::view::{deltas, nothing_is_lost};
use super::{Change, DeltaFifo, Led, Over};
use crate::events::fixtures::promises::{self, agrees, at_every_call};
use crate::events::fixtures::{Kind, Object, over};
use crate::trial::Invariant;

/// The most specific promises come first: an execution is blamed on the first promise that it
/// breaks.
pub(super) fn all() -> Vec<Invariant<DeltaFifo>> {
    let mut all = of_changes();
    all.extend(of_delivery());
    all.push(Invariant::after_every_event(
        "nothing_is_lost",
        "whenever the lock is free, the consumer's objects and the pending changes add up to what \
         the writers saw",
        &["cache:INV-3", "cache:INV-4", "cache:DF-12", "cache:DF-16", "cache:DF-29", "cache:QU-4"],
        |after: &Led, event| over::<DeltaFifo>(event).map_or(Ok(()), |_| nothing_is_lost(after)),
    ));
    all.extend(of_the_first_list());
    all.extend(promises::of_all());
    all.push(agrees(RULES));
    all
}

/// What only the comparison with the plain queue checks.
const RULES: &[&str] = &[
    "cache:DF-1",
    "cache:DF-5",
    "cache:DF-6",
    "cache:DF-7",
    "cache:DF-8",
    "cache:DF-9",
    "cache:DF-10",
    "cache:DF-11",
    "cache:DF-12",
    "cache:DF-13",
    "cache:DF-14",
    "cache:DF-15",
    "cache:DF-19",
    "cache:DF-20",
    "cache:DF-21",
    "cache:DF-24",
    "cache:DF-25",
    "cache:DF-28",
    "cache:DF-32",
    "cache:DF-33",
    "cache:QU-1",
    "cache:QU-8",
    "cache:QU-9",
    "cache:QU-10",
    "cache:QU-20",
];

fn of_changes() -> Vec<Invariant<DeltaFifo>> {
    vec![
        at_every_call(
            "deletions_are_deduplicated",
            "a pending deletion of an object never follows another deletion directly",
            &["cache:DF-2", "cache:DF-6", "cache:INV-6"],
            deletions_are_deduplicated,
        ),
        at_every_call(
            "resync_never_goes_back",
            "a resync queues nothing behind pending changes, which are newer",
            &["cache:DF-21", "cache:INV-5"],
            resync_never_goes_back,
        ),
    ]
}

fn of_delivery() -> Vec<Invariant<DeltaFifo>> {
    vec![
        at_every_call(
            "one_at_a_time",
            "while an entry is processed the lock is held: no other thread pops or writes",
            &["cache:QU-12", "cache:INV-12", "cache:DF-29"],
            promises::one_at_a_time,
        ),
        at_every_call(
            "order_of_arrival",
            "entries are handed out in the order of their first changes; a later change moves \
                 no entry",
            &["cache:DF-26", "cache:DF-27", "cache:INV-7", "cache:QU-11"],
            order_of_arrival,
        ),
        at_every_call(
            "transformed_once",
            "the consumer sees every object transformed exactly once",
            &["cache:DF-22", "cache:DF-23", "cache:INV-26"],
            transformed_once,
        ),
    ]
}

fn of_the_first_list() -> Vec<Invariant<DeltaFifo>> {
    vec![
        Invariant::along(
            "never_synced_early",
            "the first list is processed only when every object that it shows or deletes is \
             processed",
            &["cache:QU-14", "cache:QU-15", "cache:QU-18", "cache:DF-18", "cache:INV-8"],
            promises::never_synced_early::<DeltaFifo>,
        ),
        at_every_call(
            "synced_once_processed",
            "the first list is processed as soon as its last entry is processed",
            &["cache:QU-17", "cache:QU-19", "cache:DF-10", "cache:DF-19", "cache:INV-9"],
            promises::synced_once_processed,
        ),
    ]
}

fn deletions_are_deduplicated(_: &Led, over: &Over<'_>) -> Result<(), String> {
    let twice = |deltas: &[Change]| {
        deltas.windows(2).any(|pair| pair[0].is_deleted() && pair[1].is_deleted())
    };
    match over.state.waiting.iter().find(|(_, deltas)| twice(deltas)) {
        Some((key, deltas)) => Err(format!("two deletions of object {key} in {deltas:?}")),
        None => Ok(()),
    }
}

fn resync_never_goes_back(before: &Led, over: &Over<'_>) -> Result<(), String> {
    if !over.is(Kind::Resync) {
        return Ok(());
    }
    let more =
        |(key, old): &&(u8, Vec<Change>)| deltas(&over.state.waiting, *key).len() > old.len();
    match before.state.waiting.iter().find(more) {
        Some((key, _)) => {
            let shown = deltas(&over.state.waiting, *key);
            Err(format!("behind pending changes of object {key} a resync queues: {shown:?}"))
        }
        None => Ok(()),
    }
}

fn popped<'a>(over: &Over<'a>) -> Option<&'a Popped<u8, Object>> {
    match over.ret {
        Ret::Pop(popped) => popped.as_ref(),
        _ => None,
    }
}

fn order_of_arrival(before: &Led, over: &Over<'_>) -> Result<(), String> {
    let keys = |pending: &[(u8, Vec<Change>)]| -> Vec<u8> {
        pending.iter().map(|(key, _)| *key).collect()
    };
    let mut old = keys(&before.state.waiting);
    if let Some(popped) = popped(over) {
        if let Some(first) = old.first().filter(|first| **first != popped.key) {
            let key = popped.key;
            return Err(format!("object {key} is handed out before {first}, queued earlier"));
        }
        old.retain(|key| *key != popped.key);
    }
    let new = keys(&over.state.waiting);
    if new.starts_with(&old) { Ok(()) } else { Err(format!("{old:?} became {new:?}")) }
}

/// The transformer adds 100 to versions that are far smaller.
fn transformed_once(before: &Led, over: &Over<'_>) -> Result<(), String> {
    let popped = popped(over).filter(|_| before.config.transform);
    let mut objects =
        popped.iter().flat_map(|popped| popped.deltas.iter()).filter_map(Change::object);
    match objects.find(|(_, version)| version / 100 != 1) {
        Some((key, version)) => {
            Err(format!("object {key} v{version} was transformed {} times", version / 100))
        }
        None => Ok(()),
    }
}
