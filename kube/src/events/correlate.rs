//! What becomes of an event: a new one, one more of the same, or none.

use std::collections::BTreeSet;
use std::time::Duration;

use seatrial_core::limiter::{Rate, TokenBucket};
use seatrial_core::runtime::Instant;

use super::recent::Recent;
use super::{Event, LONGEST, cut};

/// How many events an object has at once, and how often one more.
const BURST: (u64, Duration) = (25, Duration::from_secs(300));

/// From this number of different messages on, within this time, similar events become one.
const SIMILAR: (usize, Duration) = (10, Duration::from_secs(600));

/// An object: the parts of its reference that tell it from others.
type About = [Option<String>; 5];
/// Events about an object of one type and one reason.
type Kind = (About, bool, String);

/// The events that were written, as far as new ones are compared with them.
pub(super) struct Correlator {
    budgets: Recent<About, TokenBucket>,
    groups: Recent<Kind, Group>,
    known: Recent<Key, Known>,
}

/// Events of one kind, and the message; none if they are combined.
pub(super) type Key = (Kind, Option<String>);

/// The different messages of a kind of event.
struct Group {
    messages: BTreeSet<String>,
    last: Instant,
}

/// An event that was written.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The name; empty if it was never written.
    pub(super) name: String,
    pub(super) count: u64,
}

impl Correlator {
    pub(super) const fn new() -> Self {
        Self { budgets: Recent::new(), groups: Recent::new(), known: Recent::new() }
    }

    /// Returns the key and the message under which an event is counted; `None` drops it.
    pub(super) fn admit(&mut self, event: &Event, now: Instant) -> Option<(Key, String)> {
        let it = &event.about;
        let about = [&it.api_version, &it.kind, &it.namespace, &it.name, &it.uid].map(Clone::clone);
        let full = || TokenBucket::new(Rate::every(BURST.1), BURST.0);
        if !self.budgets.use_or(&about, full).allow(now, 1) {
            return None;
        }
        let kind = (about, event.is_warning, event.reason.clone());
        let none = || Group { messages: BTreeSet::new(), last: now };
        let group = self.groups.use_or(&kind, none);
        if now.since(group.last) > SIMILAR.1 {
            group.messages.clear();
        }
        group.last = now;
        group.messages.insert(event.message.clone());
        if group.messages.len() < SIMILAR.0 {
            return Some(((kind, Some(event.message.clone())), event.message.clone()));
        }
        group.messages.pop_first(); // so that the set does not grow
        let message = format!("(combined from similar events): {}", event.message);
        Some(((kind, None), cut(&message, LONGEST.0)))
    }

    /// Returns what is known of the event with that key.
    pub(super) fn known(&mut self, key: &Key) -> &mut Known {
        self.known.use_or(key, Known::default)
    }

    /// Forgets an event that the server does not have.
    pub(super) fn forget(&mut self, key: &Key) {
        self.known.forget(key);
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ObjectReference;

    use super::*;

    fn event(name: &str, message: &str) -> Event {
        let about = ObjectReference { name: Some(name.to_owned()), ..ObjectReference::default() };
        let (reason, message) = ("Failed".to_owned(), message.to_owned());
        Event { about, is_warning: true, reason, message }
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn an_object_has_25_events_at_once_and_one_more_every_five_minutes() {
        let mut correlator = Correlator::new();
        let mut admitted =
            |name: &str, now| correlator.admit(&event(name, "no"), at(now)).is_some();
        let first = (0..40).filter(|_| admitted("a", 1)).count();
        assert_eq!(first, 25);
        assert!(admitted("b", 1), "another object has its own");
        assert!(!admitted("a", 300) && admitted("a", 302) && !admitted("a", 303));
    }

    #[test]
    fn many_similar_events_become_one_until_there_is_a_pause() {
        let mut correlator = Correlator::new();
        let mut keys = BTreeSet::new();
        for number in 0..20 {
            let event = event("a", &format!("attempt {number}"));
            let (key, message) = correlator.admit(&event, at(number)).unwrap();
            assert_eq!(message.starts_with("(combined from similar events): "), number >= 9);
            keys.insert(key);
        }
        assert_eq!(keys.len(), 10, "nine of their own, and one for the others");
        let (_, message) = correlator.admit(&event("a", "attempt 20"), at(700)).unwrap();
        assert_eq!(message, "attempt 20");
    }
}
