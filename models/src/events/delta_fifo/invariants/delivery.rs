//! How entries are handed out, and what readers see.

use seatrial_core::delta_fifo::{Op, Processed, Ret};

use super::ledger::{after_every_call, at_every_call};
use super::{Checked, DeltaFifo, DeltaLedger, Invariant};
use crate::delta_fifo::History;
use crate::delta_fifo::tried::State;

pub(super) fn all() -> Vec<Invariant<DeltaFifo>> {
    vec![
        Invariant::always(
            "one_at_a_time",
            "while an entry is processed the lock is held: no other thread pops or writes",
            &["cache:QU-12", "cache:INV-12", "cache:DF-29"],
            one_at_a_time,
        ),
        Invariant::always(
            "order_of_arrival",
            "entries are handed out in the order of their first changes; a later change moves no \
             entry",
            &["cache:DF-26", "cache:DF-27", "cache:INV-7", "cache:QU-11"],
            order_of_arrival,
        ),
        Invariant::always(
            "transformed_once",
            "the consumer sees every object transformed exactly once",
            &["cache:DF-22", "cache:DF-23", "cache:INV-26"],
            transformed_once,
        ),
        Invariant::always(
            "handed_out_whole_and_once",
            "an entry is handed out with all its changes, and leaves the queue unless it is asked \
             back",
            &["cache:DF-24", "cache:DF-25", "cache:QU-8", "cache:QU-9"],
            handed_out_whole_and_once,
        ),
        Invariant::always(
            "close_discards_nothing",
            "pop reports the end only when the queue is closed and empty",
            &["cache:QU-2", "cache:QU-3"],
            close_discards_nothing,
        ),
        Invariant::always(
            "reads_agree",
            "get, list, len and is_closed say what is so",
            &["cache:DF-28", "cache:QU-1"],
            reads_agree,
        ),
    ]
}

pub(super) fn agrees() -> Invariant<DeltaFifo> {
    Invariant::always(
        "agrees_with_the_sequential_object",
        "every call has the same effect as if no calls overlapped",
        &["cache:DF-5", "cache:DF-8", "cache:DF-9", "cache:DF-12", "cache:DF-21", "cache:DF-24"],
        |history| after_every_call(history, same_as_the_sequential_object),
    )
}

fn one_at_a_time(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let other = before.in_process.iter().find(|(thread, _)| *thread != over.thread);
        match other {
            Some((_, popped)) if over.writes() || over.popped().is_some() => {
                Err(format!("object {} is being processed meanwhile", popped.key))
            }
            _ => Ok(()),
        }
    })
}

fn keys(state: &State) -> Vec<u8> {
    state.pending.iter().map(|(key, _)| *key).collect()
}

fn order_of_arrival(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let mut old = keys(&before.state);
        if let Some(popped) = over.popped() {
            let first = old.first().copied();
            if first.is_some_and(|first| first != popped.key) {
                return Err(format!(
                    "object {} is handed out before object {}, which was queued earlier",
                    popped.key, old[0]
                ));
            }
            old.retain(|key| *key != popped.key);
        }
        let new = keys(over.state);
        if new.starts_with(&old) { Ok(()) } else { Err(format!("{old:?} became {new:?}")) }
    })
}

fn handed_out_whole_and_once(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let (old, new) = (&before.state.pending, &over.state.pending);
        if let Some(popped) = over.popped() {
            let pending = before.state.deltas(popped.key);
            if *popped.deltas != *pending {
                let handed = &popped.deltas;
                return Err(format!("of the changes {pending:?} {handed:?} are handed out"));
            }
            if over.state.is_pending(popped.key) {
                return Err(format!("object {} is handed out and still queued", popped.key));
            }
            if popped.left + 1 != old.len() {
                return Err(format!(
                    "of {} entries {} are said to be left",
                    old.len(),
                    popped.left
                ));
            }
        }
        let forgets = matches!(over.op, Op::Processed(Processed { requeue: None }));
        if forgets && old != new {
            return Err(format!("when an entry was processed {old:?} became {new:?}"));
        }
        Ok(())
    })
}

fn close_discards_nothing(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        if !matches!(over.ret, Ret::Pop(None)) {
            return Ok(());
        }
        match before.state.pending.first() {
            Some((key, _)) => Err(format!("pop reports the end although object {key} is pending")),
            None if !before.closed => Err("pop reports the end of an open queue".to_owned()),
            None => Ok(()),
        }
    })
}

/// The transformer adds 100 to versions that are far smaller.
fn transformed_once(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let Some(popped) = over.popped().filter(|_| before.config.transform) else {
            return Ok(());
        };
        let objects = popped.deltas.iter().filter_map(|delta| delta.object());
        for (key, version) in objects {
            let times = version / 100;
            if times != 1 {
                return Err(format!("object {key} v{version} was transformed {times} times"));
            }
        }
        Ok(())
    })
}

fn reads_agree(history: &History) -> Checked {
    at_every_call(history, |before, over| {
        let state = &before.state;
        let right = match (over.op, over.ret) {
            (Op::Get(get), Ret::Get(deltas)) => {
                deltas.as_deref().unwrap_or_default() == state.deltas(*get.0.key())
            }
            (_, Ret::List(list)) => {
                let list: Vec<_> = list.iter().map(|(key, all)| (*key, all.to_vec())).collect();
                list == state.pending
            }
            (_, Ret::Len(len)) => *len == state.pending.len(),
            (_, Ret::IsClosed(says)) => *says == before.closed,
            _ => true,
        };
        if right { Ok(()) } else { Err(format!("{:?} is not what {state:?} says", over.ret)) }
    })
}

fn same_as_the_sequential_object(now: &DeltaLedger) -> Result<(), String> {
    let (right, pending) = (&now.spec.pending, &now.state.pending);
    if right == pending {
        return Ok(());
    }
    Err(format!("the queue holds {pending:?}, the sequential object {right:?}"))
}
