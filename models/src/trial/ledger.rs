//! Following a history event by event, with a book of what is known.

use super::component::{Component, EventOf, HistoryOf};
use super::history::What;
use super::invariant::Violation;
use crate::engine::End;

/// What is known before an event, by having followed all that came before it.
pub(crate) trait Ledger<C: Component>: Default {
    /// Takes in an event.
    fn apply(&mut self, event: &EventOf<C>);

    /// Checks every event against what is known before it.
    fn at_every_event(
        history: &HistoryOf<C>,
        check: impl Fn(&Self, &EventOf<C>) -> Result<(), String>,
    ) -> Result<(), Violation> {
        let mut ledger = Self::default();
        for (number, event) in history.events.iter().enumerate() {
            check(&ledger, event).map_err(|because| Violation::at(number, because))?;
            ledger.apply(event);
        }
        Ok(())
    }

    /// Checks what is known after every event.
    fn after_every_event(
        history: &HistoryOf<C>,
        check: impl Fn(&Self) -> Result<(), String>,
    ) -> Result<(), Violation> {
        let mut ledger = Self::default();
        for (number, event) in history.events.iter().enumerate() {
            ledger.apply(event);
            check(&ledger).map_err(|because| Violation::at(number, because))?;
        }
        Ok(())
    }

    /// Checks every moment at which nobody can move: recorded ones, and a deadlock at the end.
    fn when_quiet(
        history: &HistoryOf<C>,
        check: impl Fn(&Self) -> Result<(), String>,
    ) -> Result<(), Violation> {
        let mut ledger = Self::default();
        for (number, event) in history.events.iter().enumerate() {
            if matches!(event.what, What::Quiet) {
                check(&ledger).map_err(|because| Violation::at(number, because))?;
            }
            ledger.apply(event);
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
