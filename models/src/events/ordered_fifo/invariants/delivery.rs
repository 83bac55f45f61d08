//! How events are handed out, and what readers see.

use seatrial_core::ordered_fifo::{Op, Ret};

use super::{Checked, Invariant, OrderedFifo, at_every_call};
use crate::ordered_fifo::History;
use crate::ordered_fifo::ledger::OrderedLedger;

pub(super) fn all() -> Vec<Invariant<OrderedFifo>> {
    vec![
        Invariant::always(
            "one_at_a_time",
            "while events are processed no other consumer takes any, and no thread writes if the \
             lock is held",
            &["cache:QU-12", "cache:QU-13", "cache:RF-32", "cache:INV-12"],
            one_at_a_time,
        ),
        Invariant::always(
            "long_queues_keep_the_lock",
            "the lock is released only where the mode allows it and the queue is short, and always \
             there",
            &["cache:RF-31"],
            long_queues_keep_the_lock,
        ),
        Invariant::always(
            "order_of_arrival",
            "events are handed out in the order of arrival, unchanged, and once each",
            &["cache:RF-1", "cache:RF-5", "cache:RF-15", "cache:INV-7", "cache:QU-8"],
            order_of_arrival,
        ),
        Invariant::always(
            "what_is_left_is_told",
            "a caller that takes events gets the number of events that are left",
            &["cache:QU-21"],
            what_is_left_is_told,
        ),
        Invariant::always(
            "transformed_once",
            "the consumer sees every object transformed exactly once",
            &["cache:RF-5", "cache:RF-10", "cache:INV-26"],
            transformed_once,
        ),
        Invariant::always(
            "close_discards_nothing",
            "pop reports the end only when the queue is closed and empty",
            &["cache:QU-2", "cache:QU-3"],
            close_discards_nothing,
        ),
        Invariant::always(
            "reads_agree",
            "list, len and is_closed return the present state",
            &["cache:QU-1"],
            reads_agree,
        ),
    ]
}

pub(super) fn nothing_is_lost() -> Invariant<OrderedFifo> {
    Invariant::after_every_event(
        "nothing_is_lost",
        "at every unlock, the events that the consumer got and those that wait add up to what the \
         writers saw",
        &["cache:INV-3", "cache:INV-4", "cache:RF-5", "cache:RF-7", "cache:QU-4"],
        |after, _| the_outcome_is_the_view(after),
    )
}

pub(super) fn agrees() -> Invariant<OrderedFifo> {
    Invariant::always(
        "agrees_with_the_sequential_object",
        "every call leaves the same state as if no calls overlapped",
        &["cache:RF-5", "cache:RF-7", "cache:RF-12", "cache:RF-19", "cache:INV-21"],
        same_as_the_sequential_object,
    )
}

fn one_at_a_time(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        for other in before.in_process.iter().filter(|it| it.thread != over.thread) {
            if over.taken().is_some() {
                return Err(format!("thread {} is processing meanwhile", other.thread));
            }
            if over.writes() && other.locked {
                return Err(format!("thread {} should hold the lock", other.thread));
            }
        }
        Ok(())
    })
}

fn long_queues_keep_the_lock(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let left = over.state.events.len();
        let should_hold = !before.config.unlocks(left);
        if over.taken().is_some() && over.held != should_hold {
            let held = if over.held { "held" } else { "released" };
            return Err(format!("the lock is {held} with {left} events in the queue"));
        }
        Ok(())
    })
}

fn order_of_arrival(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let (old, new) = (&before.state.events, &over.state.events);
        let taken = over.taken().map_or(&[][..], |taken| taken.events);
        if !old.starts_with(taken) {
            return Err(format!("of {old:?} the first are not {taken:?}"));
        }
        let rest = &old[taken.len()..];
        if new.starts_with(rest) { Ok(()) } else { Err(format!("{rest:?} became {new:?}")) }
    })
}

fn what_is_left_is_told(history: &History) -> Checked {
    at_every_call(history, |_, over| match over.taken() {
        Some(taken) if taken.left != over.state.events.len() => {
            let right = over.state.events.len();
            Err(format!("{} events are said to be left of {right}", taken.left))
        }
        _ => Ok(()),
    })
}

/// The transformer adds 100 to versions that are far smaller.
fn transformed_once(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let Some(taken) = over.taken().filter(|_| before.config.setup.transform) else {
            return Ok(());
        };
        let mut seen = std::collections::BTreeMap::new();
        for event in taken.events {
            crate::ordered_fifo::ledger::apply(&mut seen, event);
        }
        match seen.values().find(|(_, version)| version / 100 != 1) {
            Some((key, version)) => {
                Err(format!("object {key} v{version} was transformed {} times", version / 100))
            }
            None => Ok(()),
        }
    })
}

fn close_discards_nothing(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        if !over.says_the_end() {
            return Ok(());
        }
        match before.state.events.first() {
            Some(event) => Err(format!("pop reports the end although {event:?} waits")),
            None if !before.closed => Err("pop reports the end of an open queue".to_owned()),
            None => Ok(()),
        }
    })
}

fn reads_agree(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let events = &before.state.events;
        let right = match (over.op, over.ret) {
            (Op::List(_), Ret::List(list)) => list == events,
            (Op::Len(_), Ret::Len(len)) => *len == events.len(),
            (Op::IsClosed(_), Ret::IsClosed(says)) => *says == before.closed,
            _ => true,
        };
        if right { Ok(()) } else { Err(format!("{:?} is not what {events:?} says", over.ret)) }
    })
}

fn the_outcome_is_the_view(now: &OrderedLedger) -> Result<(), String> {
    let (outcome, view) = (now.outcome(), &now.view);
    if outcome == *view {
        return Ok(());
    }
    Err(format!("the consumer will have {outcome:?} where the writers saw {view:?}"))
}

fn same_as_the_sequential_object(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let right = before.led_by(over).events;
        if right.iter().eq(&over.state.events) {
            return Ok(());
        }
        Err(format!("the queue holds {:?}, the sequential object {right:?}", over.state.events))
    })
}
