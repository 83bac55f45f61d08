//! Selecting the changes that are worth handling (controller-runtime `predicate`).

use std::fmt;
use std::sync::Arc;

use crate::store::{Described, LastState};

use super::change::{Change, ObjectChange};
use super::object::{Labels, Object};

type Compare<O> = Arc<dyn Fn(&O, &O) -> bool + Send + Sync>;

/// Selects the updates that are worth handling.
///
/// It judges only updates: additions and deletions always pass. So do updates that hide a deletion:
/// the object is [another one](Change::is_another) than before, or its deletion was just requested.
///
/// ```
/// # use seatrial_core::informer::{Object, Predicate};
/// fn worth_it<O: Object + 'static>() -> Predicate<O> {
///     Predicate::generation().or(Predicate::annotations())
/// }
/// ```
pub struct Predicate<O>(Compare<O>);

impl<O: Object + 'static> Predicate<O> {
    /// Updates that a function of the old and the new state accepts.
    pub fn new(wants: impl Fn(&O, &O) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(wants))
    }

    /// Updates of the specification, not of the status. If the server does not count generations,
    /// all updates.
    #[must_use]
    pub fn generation() -> Self {
        Self::new(|old, new| {
            let (old, new) = (old.generation(), new.generation());
            old != new || matches!(new, None | Some(0))
        })
    }

    /// Updates of the labels.
    #[must_use]
    pub fn labels() -> Self {
        Self::new(|old, new| filled(old.labels()) != filled(new.labels()))
    }

    /// Updates of the annotations.
    #[must_use]
    pub fn annotations() -> Self {
        Self::new(|old, new| filled(old.annotations()) != filled(new.annotations()))
    }

    /// Updates that change anything, not repeats of an unchanged object (`cache:PT-3`). Objects that
    /// carry no version may have changed each time.
    #[must_use]
    pub fn resource_version() -> Self {
        Self::new(|old, new| {
            let versions = old.metadata().zip(new.metadata());
            versions.is_none_or(|(old, new)| {
                new.resource_version.is_empty() || old.resource_version != new.resource_version
            })
        })
    }

    /// Updates that both accept.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::new(move |old, new| (self.0)(old, new) && (other.0)(old, new))
    }

    /// Updates that at least one of them accepts.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::new(move |old, new| (self.0)(old, new) || (other.0)(old, new))
    }

    /// Updates that it does not accept.
    #[must_use]
    pub fn negated(self) -> Self {
        Self::new(move |old, new| !(self.0)(old, new))
    }

    /// Tells whether a change is worth handling.
    pub fn wants(&self, change: &ObjectChange<O>) -> bool {
        let Change::Updated { old, new } = change else { return true };
        change.is_another() || (new.is_terminating() && !old.is_terminating()) || (self.0)(old, new)
    }
}

/// Treats an empty map as none.
fn filled(map: Option<&Labels>) -> Option<&Labels> {
    map.filter(|it| !it.is_empty())
}

impl<O> Clone for Predicate<O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<O> fmt::Debug for Predicate<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Predicate")
    }
}

/// Translates a change for a receiver that knows only the objects that a function selects
/// (client-go `FilteringResourceEventHandler`). An object that is selected now and was not before
/// is new; an object that is not selected any more is gone (`cache:HN-5`). `None` if there is
/// nothing to tell.
///
/// A missed deletion of an object with no known state is told, because it may have been selected.
pub fn selected<O: Described>(
    change: ObjectChange<O>,
    selects: impl Fn(&O) -> bool,
) -> Option<ObjectChange<O>> {
    match change {
        Change::Added { object, initial } => {
            selects(&object).then_some(Change::Added { object, initial })
        }
        Change::Updated { old, new } => match (selects(&old), selects(&new)) {
            (true, true) => Some(Change::Updated { old, new }),
            (false, true) => Some(Change::Added { object: new, initial: false }),
            (true, false) => Some(Change::Deleted(LastState::Final(old))),
            (false, false) => None,
        },
        Change::Deleted(last) => last.object().is_none_or(selects).then_some(Change::Deleted(last)),
    }
}
