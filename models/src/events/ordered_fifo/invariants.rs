//! The promises of the queue of events, as checks of a history.

use seatrial_core::ordered_fifo::{Event, Op};

use super::plain::spec::key_of_change;
use super::queue::{apply, taken};
use super::{Happened, Led, OrderedFifo, Over};
use crate::events::fixtures::Kind;
use crate::events::fixtures::promises::{self, agrees, at_every_call};
use crate::trial::Invariant;

/// The most specific promises come first: an execution is blamed on the first promise that it
/// breaks.
pub(super) fn all() -> Vec<Invariant<OrderedFifo>> {
    let mut all = of_lists();
    all.extend(of_delivery());
    all.extend(of_the_first_list());
    all.extend(promises::of_all());
    all.push(Invariant::after_every_event(
        "nothing_is_lost",
        "at every unlock, the events that the consumer got and those that wait add up to what the \
         writers saw",
        &["cache:INV-3", "cache:INV-4", "cache:RF-5", "cache:RF-7", "cache:QU-4"],
        |after: &Led, _| nothing_is_lost(after),
    ));
    all.push(agrees(RULES));
    all
}

/// What only the comparison with the plain queue checks.
const RULES: &[&str] = &[
    "cache:RF-5",
    "cache:RF-7",
    "cache:RF-8",
    "cache:RF-12",
    "cache:RF-13",
    "cache:RF-14",
    "cache:RF-18",
    "cache:RF-19",
    "cache:RF-21",
    "cache:RF-22",
    "cache:RF-31",
    "cache:QU-1",
    "cache:QU-20",
    "cache:QU-21",
    "cache:INV-21",
];

fn of_lists() -> Vec<Invariant<OrderedFifo>> {
    vec![
        at_every_call(
            "resync_never_goes_back",
            "a resync shows no object with a queued change, because the change is newer",
            &["cache:RF-12", "cache:INV-5"],
            resync_never_goes_back,
        ),
        at_every_call(
            "a_list_is_one_step",
            "in atomic mode a list is one event with all its objects, and there is no other \
                 event for a list",
            &["cache:RF-3", "cache:RF-10", "cache:INV-28"],
            a_list_is_one_step,
        ),
    ]
}

fn of_delivery() -> Vec<Invariant<OrderedFifo>> {
    vec![
        at_every_call(
            "one_at_a_time",
            "while events are processed no other consumer takes any, and no thread writes if \
                 the lock is held",
            &["cache:QU-12", "cache:QU-13", "cache:RF-32", "cache:INV-12"],
            promises::one_at_a_time,
        ),
        at_every_call(
            "order_of_arrival",
            "events are handed out in the order of arrival, unchanged, and once each",
            &["cache:RF-1", "cache:RF-5", "cache:RF-15", "cache:INV-7", "cache:QU-8"],
            order_of_arrival,
        ),
        at_every_call(
            "transformed_once",
            "the consumer sees every object transformed exactly once",
            &["cache:RF-5", "cache:RF-10", "cache:INV-26"],
            transformed_once,
        ),
    ]
}

fn of_the_first_list() -> Vec<Invariant<OrderedFifo>> {
    vec![
        Invariant::along(
            "never_synced_early",
            "the first list is processed only when all its events are processed",
            &["cache:QU-14", "cache:QU-18", "cache:RF-11", "cache:RF-16", "cache:RF-17"],
            promises::never_synced_early::<OrderedFifo>,
        ),
        at_every_call(
            "synced_once_processed",
            "the first list is processed as soon as its last event is processed",
            &[
                "cache:QU-15",
                "cache:QU-17",
                "cache:QU-19",
                "cache:RF-6",
                "cache:INV-9",
                "cache:RF-23",
            ],
            promises::synced_once_processed,
        ),
    ]
}

/// Returns the events that a call appended.
fn appended<'a>(before: &Led, over: &Over<'a>) -> &'a [Happened] {
    over.state.waiting.get(before.state.waiting.len()..).unwrap_or_default()
}

fn resync_never_goes_back(before: &Led, over: &Over<'_>) -> Result<(), String> {
    let key = |event: &Happened| event.delta().and_then(key_of_change);
    let queued = |wanted: &u8| before.state.waiting.iter().any(|event| key(event) == Some(*wanted));
    let shown = appended(before, over).iter().filter(|_| over.is(Kind::Resync));
    match shown.filter_map(key).find(queued) {
        Some(key) => Err(format!("object {key} is shown behind a change that is newer")),
        None => Ok(()),
    }
}

fn a_list_is_one_step(before: &Led, over: &Over<'_>) -> Result<(), String> {
    let Op::ReplaceAll(list) = over.op else { return Ok(()) };
    let shown = appended(before, over);
    if shown == [Event::ReplacedAll(list.0.clone())] {
        return Ok(());
    }
    Err(format!("the list {:?} is shown as {shown:?}", list.0.objects))
}

fn order_of_arrival(before: &Led, over: &Over<'_>) -> Result<(), String> {
    let (old, new, taken) = (&before.state.waiting, &over.state.waiting, taken(over));
    if !old.starts_with(taken) {
        return Err(format!("of {old:?} the first are not {taken:?}"));
    }
    let rest = &old[taken.len()..];
    if new.starts_with(rest) { Ok(()) } else { Err(format!("{rest:?} became {new:?}")) }
}

/// The transformer adds 100 to versions that are far smaller.
fn transformed_once(before: &Led, over: &Over<'_>) -> Result<(), String> {
    let mut seen = std::collections::BTreeMap::new();
    if before.config.transform {
        taken(over).iter().for_each(|event| apply(&mut seen, event));
    }
    match seen.values().find(|(_, version)| version / 100 != 1) {
        Some((key, version)) => {
            Err(format!("object {key} v{version} was transformed {} times", version / 100))
        }
        None => Ok(()),
    }
}

/// What the consumer will have once everything is applied: first the events that it was handed, then
/// those that wait.
fn nothing_is_lost(now: &Led) -> Result<(), String> {
    let mut outcome = now.view.handed.clone();
    now.state.waiting.iter().for_each(|event| apply(&mut outcome, event));
    if outcome == now.view.seen {
        return Ok(());
    }
    let saw = &now.view.seen;
    Err(format!("the consumer will have {outcome:?} where the writers saw {saw:?}"))
}
