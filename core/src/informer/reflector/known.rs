//! Objects that came once more, unchanged: the ones that are stored stand in for them.
//!
//! Without this a list that is read again is in memory twice, old and new, until it replaces what
//! is stored. So only a page of it is.

use std::mem::replace;
use std::sync::Arc;

use crate::informer::list_watch::{Event, Page};
use crate::runtime::Runtime;
use crate::store::{Described, Handle, IndexedStore};

/// Exchanges an object for the one that its consumer has, if both are the same version.
pub(in crate::informer) type Known<O> = Arc<dyn Fn(&mut O) + Send + Sync>;

/// Looks objects up in the store that the reflector fills.
pub(in crate::informer) fn stored<O: Handle + Described, R: Runtime>(
    store: &Arc<IndexedStore<String, O, R>>,
) -> Known<O> {
    let store = Arc::clone(store);
    Arc::new(move |object| {
        let stored = object.key().ok().and_then(|key| store.get(&key));
        if let Some(stored) = stored.filter(|stored| is_same(object, stored)) {
            drop(replace(object, stored));
        }
    })
}

/// Tells whether two objects are the same version of the same thing. Without a version nobody knows.
fn is_same<O: Described>(one: &O, other: &O) -> bool {
    one.metadata().zip(other.metadata()).is_some_and(|(one, other)| {
        one.uid == other.uid
            && one.resource_version == other.resource_version
            && !one.resource_version.is_empty()
    })
}

/// Exchanges what a page holds.
pub(super) fn page<O>(known: &Known<O>, mut page: Page<O>) -> Page<O> {
    page.items.iter_mut().for_each(|object| known(object));
    page
}

/// Exchanges what an event tells of an object that may be there already.
pub(super) fn event<O>(known: &Known<O>, event: &mut Event<O>) {
    if let Event::Added(object) | Event::Modified(object) = event {
        known(object);
    }
}
