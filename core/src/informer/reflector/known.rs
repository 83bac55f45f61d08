//! Replaces objects that come again unchanged by the copies in the store.
//!
//! Without this, a list that is read again would be in memory twice, old and new, until it replaces
//! the stored objects. With it, only one page is in memory twice.

use std::mem::replace;
use std::sync::Arc;

use crate::informer::list_watch::{Event, Page};
use crate::runtime::Runtime;
use crate::store::{Described, Handle, IndexedStore};

/// Replaces an object by the consumer's copy, if both are the same version.
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

/// Tells whether two objects are the same version of one object; false if they have no version.
fn is_same<O: Described>(one: &O, other: &O) -> bool {
    one.metadata().zip(other.metadata()).is_some_and(|(one, other)| {
        one.uid == other.uid
            && one.resource_version == other.resource_version
            && !one.resource_version.is_empty()
    })
}

/// Replaces the objects of a page.
pub(super) fn page<O>(known: &Known<O>, mut page: Page<O>) -> Page<O> {
    page.items.iter_mut().for_each(|object| known(object));
    page
}

/// Replaces the object of an event if the store may have it already.
pub(super) fn event<O>(known: &Known<O>, event: &mut Event<O>) {
    if let Event::Added(object) | Event::Modified(object) = event {
        known(object);
    }
}
