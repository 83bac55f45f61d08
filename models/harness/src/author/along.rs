//! Checks of the moments of a history. Those of one ledger share it: it follows the history once.

use std::any::{Any, TypeId};
use std::fmt;

use super::component::{Component, EventOf, HistoryOf};
use super::ledger::Ledger;
use crate::outcome::Violation;

/// A moment of a history, at which a ledger knows all that has happened.
pub enum Moment<'a, C: Component> {
    /// An event comes next, or a part of one.
    Before(&'a EventOf<C>),
    /// An event was taken in, with all its parts.
    After(&'a EventOf<C>),
    /// The execution is over.
    End(&'a HistoryOf<C>),
}

impl<C: Component> Clone for Moment<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Component> Copy for Moment<'_, C> {}

impl<C: Component> fmt::Debug for Moment<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(event) => f.debug_tuple("Before").field(event).finish(),
            Self::After(event) => f.debug_tuple("After").field(event).finish(),
            Self::End(history) => f.debug_tuple("End").field(&history.end).finish(),
        }
    }
}

/// The moments at which a check is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum When {
    Before,
    After,
    End,
    Always,
}

/// A check of the moments of a history, beside a ledger.
type Check<C, L> = Box<dyn Fn(&L, Moment<'_, C>) -> Result<(), Violation> + Send + Sync>;

/// Checks of one ledger, each with the place for its first violation.
pub(super) type Group<'a, C> = Vec<(&'a Along<C>, &'a mut Option<Violation>)>;

/// A check of the moments of a history, with the type of its ledger hidden.
pub(super) struct Along<C: Component> {
    /// Which ledger it looks at.
    pub(super) ledger: TypeId,
    when: When,
    /// A `Check` of that ledger.
    check: Box<dyn Any + Send + Sync>,
    /// Follows a history once for a whole group.
    pub(super) walk: fn(&HistoryOf<C>, Group<'_, C>),
}

impl<C: Component> Along<C> {
    pub(super) fn new<L: Ledger<C> + 'static, E: Into<Violation>>(
        when: When,
        check: impl Fn(&L, Moment<'_, C>) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        let check: Check<C, L> =
            Box::new(move |ledger, moment| check(ledger, moment).map_err(Into::into));
        Self { ledger: TypeId::of::<L>(), when, check: Box::new(check), walk: walk::<C, L> }
    }
}

/// It is compiled once for each ledger type (there are few) and not once for each check.
fn walk<C: Component, L: Ledger<C> + 'static>(history: &HistoryOf<C>, group: Group<'_, C>) {
    let asked = |(along, found)| {
        let Along { when, check, .. }: &Along<C> = along;
        let check = check.downcast_ref().expect("a check of this ledger");
        Asked { when: *when, check, found }
    };
    let mut group: Vec<Asked<'_, C, L>> = group.into_iter().map(asked).collect();
    let mut ledger = L::default();
    for (number, event) in history.events.iter().enumerate() {
        ledger.reach(event);
        for part in L::parts(event).iter() {
            ask(&mut group, &ledger, Some(number), Moment::Before(part));
            ledger.apply(part);
        }
        ask(&mut group, &ledger, Some(number), Moment::After(event));
    }
    ask(&mut group, &ledger, None, Moment::End(history));
}

/// A check that is asked on a walk.
struct Asked<'a, C: Component, L> {
    when: When,
    check: &'a Check<C, L>,
    found: &'a mut Option<Violation>,
}

/// Asks the checks of a moment that have found nothing yet.
fn ask<C: Component, L>(
    group: &mut [Asked<'_, C, L>],
    ledger: &L,
    number: Option<usize>,
    moment: Moment<'_, C>,
) {
    let now = match moment {
        Moment::Before(_) => When::Before,
        Moment::After(_) => When::After,
        Moment::End(_) => When::End,
    };
    for Asked { when, check, found } in group {
        if *when != now && *when != When::Always || found.is_some() {
            continue;
        }
        if let Err(Violation { at, because }) = check(ledger, moment) {
            **found = Some(Violation { at: at.or(number), because });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use seatrial_core::runtime::Instant;

    use super::*;
    use crate::author::{Event, History, Invariant, What, judge};
    use crate::canary::Canary;
    use crate::engine::End;

    static MADE: AtomicUsize = AtomicUsize::new(0);

    /// Counts the events, and how often it was made itself.
    struct Counts(usize);

    impl Default for Counts {
        fn default() -> Self {
            MADE.fetch_add(1, Ordering::Relaxed);
            Self(0)
        }
    }

    impl Ledger<Canary> for Counts {
        fn apply(&mut self, _: &EventOf<Canary>) {
            self.0 += 1;
        }
    }

    fn is_not(count: usize, known: &Counts) -> Result<(), String> {
        if known.0 == count { Err(format!("{count} events")) } else { Ok(()) }
    }

    #[test]
    fn one_ledger_follows_a_history_for_all_its_invariants() {
        let all = [
            Invariant::at_every_event("before", "", &[], |known: &Counts, _| is_not(1, known)),
            Invariant::always("alone", "", &[], |_| Err(Violation::overall("always"))),
            Invariant::after_every_event("after", "", &[], |known: &Counts, _| is_not(1, known)),
            Invariant::at_the_end("end", "", &[], |known: &Counts, _| is_not(3, known)),
            Invariant::at_the_end("holds", "", &[], |known: &Counts, _| is_not(2, known)),
            Invariant::when_quiet("quiet", "", &[], |known: &Counts| is_not(2, known)),
        ];
        let noted = What::Note { label: "", value: 0 };
        let events = [noted.clone(), noted, What::Quiet].map(|what| Event {
            thread: 0,
            at: Instant::ZERO,
            object: 0,
            what,
            told: None,
        });
        let history = History { events: events.into(), end: End::Finished };
        let found = judge(all.iter(), &history).into_iter();
        let found: Vec<_> = found.map(|(name, violation)| (name, violation.at)).collect();
        let each = [("before", Some(1)), ("alone", None), ("after", Some(0)), ("end", None)];
        assert_eq!(found[..4], each);
        assert_eq!(found[4..], [("quiet", Some(2))]);
        assert_eq!(MADE.load(Ordering::Relaxed), 1);
    }
}
