//! How events change the store, and the changes that result (`cache` section 15).

use std::fmt;
use std::sync::Arc;

use crate::events::{Delta, Event, Snapshot};
use crate::runtime::Runtime;
use crate::store::indexed::{IndexedStore, StoreError, Transaction, TransactionError};
use crate::store::{Handle, Key, LastState};

use super::change::Change;

/// Why an event did not change the store, or only in part. Changes that were told before the error
/// are valid (`cache:CT-8`, `CT-13`).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ApplyError {
    /// An object was not stored, nor anything after it.
    Store(StoreError),
    /// Objects of a batch were not stored; the others were.
    Batch(TransactionError),
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => fmt::Display::fmt(error, f),
            Self::Batch(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl std::error::Error for ApplyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store(error) => error.source(),
            Self::Batch(error) => error.source(),
        }
    }
}

impl From<StoreError> for ApplyError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Changes a store by one event, then tells the change, so the store is never behind the changes
/// that are told (`cache:CT-6` to `CT-12`). The content of the store, not the event, decides
/// whether an object is new or changed.
///
/// # Errors
/// The store refused an object.
pub fn apply<K: Key, O: Handle, R: Runtime>(
    event: &Event<K, O>,
    initial: bool,
    store: &IndexedStore<K, O, R>,
    tell: &mut dyn FnMut(Change<K, O>),
) -> Result<(), ApplyError> {
    match event {
        Event::Delta(Delta::Deleted(last)) => {
            store.delete_last_state(last)?;
            tell(Change::Deleted(last.clone()));
        }
        Event::Delta(
            Delta::Added(object)
            | Delta::Updated(object)
            | Delta::Replaced(object)
            | Delta::Sync(object),
        ) => {
            let old = store.get_stored(object).ok().flatten();
            store.add(object.clone())?;
            tell(change(old, object.clone(), initial));
        }
        Event::ReplacedAll(list) => replace(list, initial, store, tell)?,
        Event::SyncAll => {
            for object in store.list().objects() {
                tell(Change::Updated { old: object.clone(), new: object.clone() });
            }
        }
        Event::Bookmark(bookmark) => store.bookmark(&bookmark.resource_version),
    }
    Ok(())
}

fn change<K, O>(old: Option<O>, new: O, initial: bool) -> Change<K, O> {
    match old {
        Some(old) => Change::Updated { old, new },
        None => Change::Added { object: new, initial },
    }
}

/// Replaces the content of the store by a whole list, in one step; then tells the differences,
/// deletions first (`cache:CT-9`, `CT-10`).
fn replace<K: Key, O: Handle, R: Runtime>(
    list: &Arc<Snapshot<O>>,
    initial: bool,
    store: &IndexedStore<K, O, R>,
    tell: &mut dyn FnMut(Change<K, O>),
) -> Result<(), ApplyError> {
    let replaced = store.replace_and_compare(list.objects.clone(), &list.resource_version)?;
    for (key, object) in replaced.gone {
        tell(Change::Deleted(LastState::unknown(key, Some(object))));
    }
    for (object, old) in list.objects.iter().zip(replaced.before) {
        tell(change(old, object.clone(), initial));
    }
    Ok(())
}

/// As [`apply`], for changes of different objects, which become one change of the store
/// (`cache:CT-13`). Entries that the store refuses are not told.
///
/// # Errors
/// The store refused objects.
pub fn apply_batch<K: Key, O: Handle, R: Runtime>(
    events: &[Event<K, O>],
    initial: bool,
    store: &IndexedStore<K, O, R>,
    tell: &mut dyn FnMut(Change<K, O>),
) -> Result<(), ApplyError> {
    if let [event] = events {
        return apply(event, initial, store, tell);
    }
    let mut changes = Vec::with_capacity(events.len());
    let mut entries = Vec::with_capacity(events.len());
    for delta in events.iter().filter_map(Event::delta) {
        match delta {
            Delta::Deleted(last) => {
                entries.push(Transaction::Delete(last.clone()));
                changes.push(Change::Deleted(last.clone()));
            }
            Delta::Added(object)
            | Delta::Updated(object)
            | Delta::Replaced(object)
            | Delta::Sync(object) => {
                let old = store.get_stored(object).ok().flatten();
                entries.push(Transaction::Update(object.clone()));
                changes.push(change(old, object.clone(), initial));
            }
        }
    }
    match store.transaction(entries) {
        Ok(()) => {
            changes.into_iter().for_each(tell);
            Ok(())
        }
        // An index function refused one of them, so the store refused all. Apply them one by one.
        Err(error) if error.successful.is_empty() => one_by_one(events, initial, store, tell),
        Err(error) => {
            let mut stored = error.successful.iter().copied().peekable();
            for (number, change) in changes.into_iter().enumerate() {
                if stored.next_if_eq(&number).is_some() {
                    tell(change);
                }
            }
            Err(ApplyError::Batch(error))
        }
    }
}

/// Applies events one by one, after the store refused some of them.
fn one_by_one<K: Key, O: Handle, R: Runtime>(
    events: &[Event<K, O>],
    initial: bool,
    store: &IndexedStore<K, O, R>,
    tell: &mut dyn FnMut(Change<K, O>),
) -> Result<(), ApplyError> {
    let (total, mut successful, mut errors) = (events.len(), Vec::new(), Vec::new());
    for (number, event) in events.iter().enumerate() {
        match apply(event, initial, store, tell) {
            Ok(()) => successful.push(number),
            Err(ApplyError::Store(error)) => errors.push(error),
            Err(other) => return Err(other),
        }
    }
    Err(ApplyError::Batch(TransactionError { successful, total, errors }))
}
