//! The versions of the events of an informer.

use crate::events::{Delta, Event};
use crate::store::Described;

/// Returns the newest version of the events, among those that are numbers.
pub(super) fn newest<O: Described>(events: &[Event<String, O>]) -> Option<u64> {
    events.iter().filter_map(|event| of_event(event)?.parse().ok()).max()
}

/// Returns the version of a list among events.
pub(super) fn of_list<O>(events: &[Event<String, O>]) -> Option<u64> {
    events.iter().find_map(|event| match event {
        Event::ReplacedAll(list) => list.resource_version.parse().ok(),
        _ => None,
    })
}

fn of_event<O: Described>(event: &Event<String, O>) -> Option<&str> {
    let object = match event {
        Event::ReplacedAll(list) => return Some(&list.resource_version),
        Event::Bookmark(bookmark) => return Some(&bookmark.resource_version),
        Event::SyncAll => return None,
        Event::Delta(Delta::Deleted(last)) => last.object()?,
        // A resync shows stored objects, and a single object of a list may be older than the list.
        Event::Delta(Delta::Sync(_) | Delta::Replaced(_)) => return None,
        Event::Delta(Delta::Added(object) | Delta::Updated(object)) => object,
    };
    Some(object.metadata()?.resource_version)
}
