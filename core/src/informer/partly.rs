//! Batches that the store refuses in part: the rest is stored, and the refused objects are
//! recorded.

use std::sync::Arc;

use crate::events::{Delta, Event, Snapshot};
use crate::runtime::Runtime;
use crate::store::indexed::{IndexedStore, TransactionError};
use crate::store::{Described, Handle, LastState};

use super::apply::{ApplyError, apply_batch};
use super::change::Change;

/// Keys and versions; zero for a version that is not a number.
type States = Vec<(String, u64)>;

/// How often a list is sifted: an index that is added meanwhile may refuse more of it.
const TRIES: usize = 3;

/// As [`apply_batch`]. If the store refuses a list, the objects that it accepts are still stored.
/// For the others the previously stored state stays, so that they are not told as gone.
pub(super) fn apply_what_can_be<O: Handle + Described, R: Runtime>(
    events: &[Event<String, O>],
    initial: bool,
    store: &IndexedStore<String, O, R>,
    tell: &mut dyn FnMut(Change<String, O>),
) -> Result<(), ApplyError> {
    let mut result = apply_batch(events, initial, store, tell);
    let [Event::ReplacedAll(list)] = events else { return result };
    for _ in 0..TRIES {
        if result.is_ok() {
            return result;
        }
        let (sifted, refused) = sift(list, store);
        result = apply_batch(&[Event::ReplacedAll(Arc::new(sifted))], initial, store, tell);
        if result.is_ok() {
            return Err(ApplyError::Batch(refused));
        }
    }
    result
}

/// Replaces the objects of a list that the store would refuse by their stored states, if any.
fn sift<O: Handle + Described, R: Runtime>(
    list: &Snapshot<O>,
    store: &IndexedStore<String, O, R>,
) -> (Snapshot<O>, TransactionError) {
    let (mut objects, mut successful, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for (number, object) in list.objects.iter().enumerate() {
        match store.accepts(object) {
            Ok(()) => {
                successful.push(number);
                objects.push(object.clone());
            }
            Err(error) => {
                errors.push(error);
                objects.extend(store.get_stored(object).ok().flatten());
            }
        }
    }
    let resource_version = list.resource_version.clone();
    let total = list.objects.len();
    (Snapshot { resource_version, objects }, TransactionError { successful, total, errors })
}

/// Splits a batch into the stored and the refused states.
pub(super) fn parted<O: Described>(
    events: &[Event<String, O>],
    error: Option<&ApplyError>,
) -> (States, States) {
    let all = match events {
        [Event::ReplacedAll(list)] => list.objects.iter().map(state).collect(),
        events => events.iter().map(of_event).collect::<Vec<_>>(),
    };
    let is_stored = |number: usize| match error {
        None => true,
        Some(ApplyError::Store(_)) => false,
        Some(ApplyError::Batch(error)) => error.successful.binary_search(&number).is_ok(),
    };
    let (mut stored, mut refused) = (Vec::new(), Vec::new());
    for (number, state) in all.into_iter().enumerate() {
        let part = if is_stored(number) { &mut stored } else { &mut refused };
        part.extend(state);
    }
    (stored, refused)
}

fn of_event<O: Described>(event: &Event<String, O>) -> Option<(String, u64)> {
    match event.delta()? {
        Delta::Deleted(LastState::Tombstone(gone)) => Some((gone.key.clone(), 0)),
        Delta::Deleted(LastState::Final(object))
        | Delta::Added(object)
        | Delta::Updated(object)
        | Delta::Replaced(object)
        | Delta::Sync(object) => state(object),
    }
}

/// An object without metadata has no key that a reader could ask for.
fn state<O: Described>(object: &O) -> Option<(String, u64)> {
    let version = object.metadata()?.resource_version.parse().unwrap_or_default();
    Some((object.key().ok()?, version))
}
