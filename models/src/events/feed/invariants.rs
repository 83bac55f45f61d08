//! The promises of a subscription, as checks of a history.

use seatrial_core::informer::feed::{Op, Ret};

use super::Feed;
use super::book::{Book, changes};
use crate::trial::Invariant;

pub(super) fn all() -> Vec<Invariant<Feed>> {
    vec![
        at_every_return(
            "told_in_order",
            "a reader gets every change once, in the order in which the changes were pushed",
            &["cache:PL-6", "cache:PL-10", "cache:PL-11", "cache:SI-33", "cache:SI-5"],
            told_in_order,
        ),
        at_every_return(
            "lagging_is_said",
            "a reader that falls behind its limit gets that error and nothing else; within the \
             limit it loses nothing, and the first list does not count",
            &["cache:PL-12"],
            lagging_is_said,
        ),
        at_every_return(
            "an_end_is_said",
            "after the end a reader gets no change, and gets the reason of the end",
            &["cache:PL-13", "cache:INV-15", "cache:SI-37"],
            an_end_is_said,
        ),
        at_every_return(
            "what_is_not_told_comes_back",
            "changes that no reader will get are handed back in order to the caller that pushed \
             them or ended the feed",
            &["cache:PL-13"],
            what_is_not_told_comes_back,
        ),
        at_every_return(
            "synced_not_early",
            "a reader has synced once the first list is complete and all of it was processed, and \
             stays synced",
            &[
                "cache:INV-16",
                "cache:PL-20",
                "cache:SY-1",
                "cache:SY-3",
                "cache:SY-4",
                "cache:PL-19",
            ],
            synced_not_early,
        ),
        Invariant::when_quiet(
            "synced_not_stuck",
            "no caller waits for a reader that has synced or never will",
            &["cache:PL-23", "cache:SY-5", "cache:WS-3", "cache:SY-6", "cache:WS-4"],
            synced_not_stuck,
        ),
        Invariant::when_quiet(
            "readers_wake",
            "no reader sleeps while a change waits, or after the end",
            &["cache:PL-9", "cache:PL-14"],
            readers_wake,
        ),
    ]
}

/// Judges an answer, with the state before it.
type Check = fn(&Book, &Op<u8>, &Ret<u8>) -> Result<(), String>;

/// States a promise about every answer.
#[track_caller]
fn at_every_return(
    name: &'static str,
    says: &'static str,
    rules: &'static [&'static str],
    check: Check,
) -> Invariant<Feed> {
    Invariant::at_every_event(name, says, rules, move |book, event| match event.returned() {
        Some((op, ret)) => check(book, op, ret),
        None => Ok(()),
    })
}

fn told_in_order(book: &Book, _: &Op<u8>, ret: &Ret<u8>) -> Result<(), String> {
    let Ret::Next(Ok(told)) = ret else { return Ok(()) };
    let next = book.waiting.front();
    if next == Some(&(told.change, told.initial)) {
        return Ok(());
    }
    Err(format!("it is told {told:?}, and {next:?} is next"))
}

fn lagging_is_said(book: &Book, op: &Op<u8>, ret: &Ret<u8>) -> Result<(), String> {
    use seatrial_core::informer::FeedError::Lagged;
    match (op, ret) {
        (Op::Next(_), Ret::Next(Err(Lagged))) if book.over != Some(Lagged) => {
            Err("it is said to lag, and does not".to_owned())
        }
        (Op::Next(_), Ret::Next(told)) if book.over == Some(Lagged) && *told != Err(Lagged) => {
            Err(format!("it lags, and is told {told:?}"))
        }
        (Op::Push(push), Ret::Push(lost)) if book.over.is_none() => {
            match (book.lags(&changes(&push.0)), lost.is_empty()) {
                (true, true) => Err("more wait than may".to_owned()),
                (false, false) => Err(format!("{} changes are lost within the limit", lost.len())),
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn an_end_is_said(book: &Book, _: &Op<u8>, ret: &Ret<u8>) -> Result<(), String> {
    use seatrial_core::informer::FeedError::Stopped;
    match (book.over, ret) {
        (Some(Stopped), Ret::Next(told)) if *told != Err(Stopped) => {
            Err(format!("it has ended, and is told {told:?}"))
        }
        (None, Ret::Next(Err(why))) => Err(format!("it has not ended, and is told {why:?}")),
        _ => Ok(()),
    }
}

fn what_is_not_told_comes_back(book: &Book, op: &Op<u8>, ret: &Ret<u8>) -> Result<(), String> {
    let (wanted, lost) = match (op, ret) {
        (Op::End(_), Ret::End(lost)) => (Vec::from(book.waiting.clone()), lost),
        (Op::Push(push), Ret::Push(lost)) => {
            let pushed = changes(&push.0);
            let is_lost = book.over.is_some() || book.lags(&pushed);
            let all = book.waiting.iter().copied().chain(pushed);
            (if is_lost { all.collect() } else { Vec::new() }, lost)
        }
        _ => return Ok(()),
    };
    if wanted == changes(lost) {
        return Ok(());
    }
    Err(format!("{lost:?} comes back, not {wanted:?}"))
}

fn synced_not_early(book: &Book, _: &Op<u8>, ret: &Ret<u8>) -> Result<(), String> {
    match ret {
        Ret::HasSynced(true) | Ret::WaitForSync(true) if !book.has_synced => {
            Err(format!("{} of the first list were not looked at", book.unfinished))
        }
        Ret::HasSynced(false) if book.has_synced => Err("it has synced, and is denied".to_owned()),
        Ret::WaitForSync(false) if book.has_synced || book.over.is_none() => {
            Err("it is given up, and has not ended".to_owned())
        }
        _ => Ok(()),
    }
}

fn synced_not_stuck(book: &Book) -> Result<(), String> {
    let waits = book.asleep.values().any(|wants_change| !wants_change);
    if waits && (book.has_synced || book.over.is_some()) {
        return Err("somebody waits for what has come to pass".to_owned());
    }
    Ok(())
}

fn readers_wake(book: &Book) -> Result<(), String> {
    let waits = book.asleep.values().any(|wants_change| *wants_change);
    if waits && (!book.waiting.is_empty() || book.over.is_some()) {
        let waiting = book.waiting.len();
        return Err(format!("a reader sleeps: {waiting} changes wait, over: {:?}", book.over));
    }
    Ok(())
}
