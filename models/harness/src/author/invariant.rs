//! Invariants: conditions on histories.

use std::panic::Location;

use super::along::{Along, Moment, When};
use super::component::{Component, EventOf, HistoryOf};
use super::history::What;
use super::ledger::Ledger;
use crate::engine::End;
use crate::outcome::{Expect, InvariantInfo, Violation};

/// The executions that an invariant judges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Every execution, also one that was cut short. Only an event that has happened can break it.
    Always,
    /// Executions that ended by themselves, deadlocks included. An event that has not happened can
    /// break it.
    Eventually,
}

/// A promise as a check of one history.
pub struct Invariant<C: Component> {
    /// Its name in reports: a promise in snake case.
    pub name: &'static str,
    /// The promise in words.
    pub says: &'static str,
    /// The rules that it states.
    pub rules: &'static [&'static str],
    /// The executions that it judges.
    pub kind: Kind,
    /// The expected verdict.
    pub expect: Expect,
    /// The place in the source where it is stated.
    pub stated: &'static Location<'static>,
    check: Check<C>,
}

/// How an invariant looks at a history.
enum Check<C: Component> {
    /// By itself.
    Alone(fn(&HistoryOf<C>) -> Result<(), Violation>),
    /// Together with all invariants of the same ledger, which follows the history once for them.
    Along(Along<C>),
}

impl<C: Component> Invariant<C> {
    /// States what no execution may ever do.
    #[track_caller]
    pub const fn always(
        name: &'static str,
        says: &'static str,
        rules: &'static [&'static str],
        check: fn(&HistoryOf<C>) -> Result<(), Violation>,
    ) -> Self {
        Self::stated((name, says, rules), Kind::Always, Check::Alone(check))
    }

    /// States a condition that every execution must fulfil by its end.
    #[track_caller]
    pub const fn eventually(
        name: &'static str,
        says: &'static str,
        rules: &'static [&'static str],
        check: fn(&HistoryOf<C>) -> Result<(), Violation>,
    ) -> Self {
        Self::stated((name, says, rules), Kind::Eventually, Check::Alone(check))
    }

    #[track_caller]
    fn beside<L: Ledger<C> + 'static, E: Into<Violation>>(
        (name, says, rules): (&'static str, &'static str, &'static [&'static str]),
        kind: Kind,
        when: When,
        check: impl Fn(&L, Moment<'_, C>) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        Self::stated((name, says, rules), kind, Check::Along(Along::new(when, check)))
    }

    #[track_caller]
    const fn stated(
        (name, says, rules): (&'static str, &'static str, &'static [&'static str]),
        kind: Kind,
        check: Check<C>,
    ) -> Self {
        let (expect, stated) = (Expect::Holds, Location::caller());
        Self { name, says, rules, kind, expect, stated, check }
    }

    /// As [`always`](Self::always), for a check of every moment of a history, which a ledger follows.
    /// All invariants of one ledger share it.
    #[track_caller]
    pub fn along<L: Ledger<C> + 'static, E: Into<Violation>>(
        name: &'static str,
        says: &'static str,
        rules: &'static [&'static str],
        check: impl Fn(&L, Moment<'_, C>) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        Self::beside((name, says, rules), Kind::Always, When::Always, check)
    }

    /// As [`along`](Self::along), for a check of every event against what is known before it.
    #[track_caller]
    pub fn at_every_event<L: Ledger<C> + 'static, E: Into<Violation>>(
        name: &'static str,
        says: &'static str,
        rules: &'static [&'static str],
        check: impl Fn(&L, &EventOf<C>) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        let before = move |before: &L, moment: Moment<'_, C>| match moment {
            Moment::Before(event) => check(before, event),
            _ => Ok(()),
        };
        Self::beside((name, says, rules), Kind::Always, When::Before, before)
    }

    /// As [`along`](Self::along), for a check of every event against what is known after it.
    #[track_caller]
    pub fn after_every_event<L: Ledger<C> + 'static, E: Into<Violation>>(
        name: &'static str,
        says: &'static str,
        rules: &'static [&'static str],
        check: impl Fn(&L, &EventOf<C>) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        let after = move |after: &L, moment: Moment<'_, C>| match moment {
            Moment::After(event) => check(after, event),
            _ => Ok(()),
        };
        Self::beside((name, says, rules), Kind::Always, When::After, after)
    }

    /// As [`along`](Self::along), for a check of what is known at the end.
    #[track_caller]
    pub fn at_the_end<L: Ledger<C> + 'static, E: Into<Violation>>(
        name: &'static str,
        says: &'static str,
        rules: &'static [&'static str],
        check: impl Fn(&L, &HistoryOf<C>) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        let end = move |known: &L, moment: Moment<'_, C>| match moment {
            Moment::End(history) => check(known, history),
            _ => Ok(()),
        };
        Self::beside((name, says, rules), Kind::Always, When::End, end)
    }

    /// As [`eventually`](Self::eventually), for a check of every moment at which no thread can move:
    /// recorded ones, and a deadlock at the end.
    #[track_caller]
    pub fn when_quiet<L: Ledger<C> + 'static>(
        name: &'static str,
        says: &'static str,
        rules: &'static [&'static str],
        check: fn(&L) -> Result<(), String>,
    ) -> Self {
        let quiet = move |now: &L, moment: Moment<'_, C>| match moment {
            Moment::Before(event) if matches!(event.what, What::Quiet) => check(now),
            Moment::End(history) if matches!(history.end, End::Deadlock(_)) => check(now),
            _ => Ok(()),
        };
        Self::beside((name, says, rules), Kind::Eventually, When::Always, quiet)
    }

    /// Checks one history.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self, history: &HistoryOf<C>) -> Result<(), Violation> {
        judge([self].into_iter(), history).pop().map_or(Ok(()), |(_, violation)| Err(violation))
    }

    /// Turns the invariant into one that a canary must break.
    #[must_use]
    pub const fn expected_to_break(mut self) -> Self {
        self.expect = Expect::Violated;
        self
    }
}

/// Holds a history against invariants, and returns the first violation of each. Every ledger follows
/// the history once, whatever number of invariants ask it.
pub(crate) fn judge<'a, C: Component>(
    invariants: impl Iterator<Item = &'a Invariant<C>>,
    history: &HistoryOf<C>,
) -> Vec<(&'static str, Violation)> {
    let invariants: Vec<_> = invariants.collect();
    let mut found: Vec<Option<Violation>> = Vec::new();
    found.resize_with(invariants.len(), || None);
    let mut walked = Vec::new();
    for (index, invariant) in invariants.iter().enumerate() {
        match &invariant.check {
            Check::Alone(check) => found[index] = check(history).err(),
            Check::Along(along) if !walked.contains(&along.ledger) => {
                walked.push(along.ledger);
                let beside = invariants[index..].iter().zip(&mut found[index..]);
                let checks = beside.filter_map(|(other, found)| match &other.check {
                    Check::Along(other) if other.ledger == along.ledger => Some((other, found)),
                    _ => None,
                });
                (along.walk)(history, checks.collect());
            }
            Check::Along(_) => {}
        }
    }
    let named = invariants.iter().zip(found);
    named.filter_map(|(invariant, found)| Some((invariant.name, found?))).collect()
}

impl<C: Component> std::fmt::Debug for Invariant<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invariant").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Calls return the same as the sequential object. Made-up calls are checked against this invariant
/// alone.
pub const AGREES: &str = "agrees_with_the_sequential_object";
/// Some execution reaches the case that the scenario is named for. Judged for every component.
pub const REACHES_ITS_CASE: &str = "reaches_its_case";

impl InvariantInfo {
    pub(crate) fn of<C: Component>(invariant: &Invariant<C>) -> Self {
        let Invariant { name, says, rules, expect, stated, .. } = *invariant;
        Self { name, says, rules, expect, stated: Some(stated) }
    }
}
