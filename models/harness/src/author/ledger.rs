//! Following a history event by event, with a book of what is known.

use std::borrow::Cow;
use std::slice;

use super::component::{Component, EventOf, HistoryOf};
use super::history::What;
use crate::engine::End;
use crate::outcome::Violation;

/// A check of one event against the ledger of all events before it.
type Check<'a, C, L> = &'a dyn Fn(&L, &EventOf<C>) -> Result<(), String>;

/// Follows a history and checks every event. It is compiled once for each ledger type (there are
/// few) and not once for each check (there are hundreds).
fn walk<C: Component, L: Ledger<C>>(
    history: &HistoryOf<C>,
    check: Check<'_, C, L>,
) -> Result<(), Violation> {
    let mut ledger = L::default();
    for (number, event) in history.events.iter().enumerate() {
        ledger.reach(event);
        for part in L::parts(event).iter() {
            check(&ledger, part).map_err(|because| Violation::at(number, because))?;
            ledger.apply(part);
        }
    }
    Ok(())
}

/// A summary of all events before the present one.
pub trait Ledger<C: Component>: Default {
    /// Takes in an event.
    fn apply(&mut self, event: &EventOf<C>);

    /// Moves time to that of an event, which is looked at next. A second call for the same event
    /// changes nothing.
    fn reach(&mut self, _: &EventOf<C>) {}

    /// Reads an event as the single events that it contains, as a batch contains single calls.
    fn parts(event: &EventOf<C>) -> Cow<'_, [EventOf<C>]> {
        Cow::Borrowed(slice::from_ref(event))
    }

    /// Lets time come as far as an event, and takes it in with all its parts.
    fn take_in(&mut self, event: &EventOf<C>) {
        self.reach(event);
        Self::parts(event).iter().for_each(|part| self.apply(part));
    }

    /// Checks every event against what is known before it.
    fn at_every_event(
        history: &HistoryOf<C>,
        check: impl Fn(&Self, &EventOf<C>) -> Result<(), String>,
    ) -> Result<(), Violation> {
        walk(history, &check)
    }

    /// Checks every moment at which no thread can move: recorded ones, and a deadlock at the end.
    fn when_quiet(
        history: &HistoryOf<C>,
        check: impl Fn(&Self) -> Result<(), String>,
    ) -> Result<(), Violation> {
        let mut ledger = Self::default();
        for (number, event) in history.events.iter().enumerate() {
            if matches!(event.what, What::Quiet) {
                ledger.reach(event);
                check(&ledger).map_err(|because| Violation::at(number, because))?;
            }
            ledger.take_in(event);
        }
        if matches!(history.end, End::Deadlock(_)) {
            check(&ledger).map_err(Violation::overall)?;
        }
        Ok(())
    }

    /// Tells whether some event meets a condition that knows what happened before it.
    fn some(history: &HistoryOf<C>, wanted: impl Fn(&Self, &EventOf<C>) -> bool) -> bool {
        let found = |before: &Self, event: &EventOf<C>| {
            if wanted(before, event) { Err(String::new()) } else { Ok(()) }
        };
        Self::at_every_event(history, found).is_err()
    }
}
