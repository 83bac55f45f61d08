//! Fencing tokens: with them a protected resource can refuse a former leader (`election:SF-14`).

use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};

use super::lock::Version;
use super::record::Name;

/// The token of one term, captured from its acquisition.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub struct Fence {
    /// The uid of the lock object; a new object begins a new epoch.
    pub uid: Name,
    /// The record's count of transitions. Raised by every acquisition.
    pub transitions: i64,
    /// The version that the acquisition gave the lock object.
    pub version: Version,
}

impl Fence {
    /// Makes a token from its parts, for a resource that received them.
    #[must_use]
    pub const fn new(uid: Name, transitions: i64, version: Version) -> Self {
        Self { uid, transitions, version }
    }
}

/// A protected resource's memory of tokens. It accepts an effect only if its token is not lower
/// than the highest one seen.
///
/// Tokens of different lock objects are ordered by version if versions are numbers, otherwise by
/// first sight. It remembers the last 1,024 lock objects whose epoch is over.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    highest: Option<Fence>,
    /// Lock objects whose epoch is over: a set to search, and their order.
    past: BTreeSet<Name>,
    order: VecDeque<Name>,
}

/// How many past lock objects a gate remembers. Each is a lock that was deleted and made anew.
const PAST: usize = 1_024;

impl Gate {
    /// Makes a gate that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the highest token seen.
    #[must_use]
    pub fn highest(&self) -> Option<&Fence> {
        self.highest.as_ref()
    }

    /// Decides whether an effect with `token` is accepted; if so, remembers the token.
    pub fn admit(&mut self, token: &Fence) -> bool {
        let Some(highest) = &self.highest else {
            self.highest = Some(token.clone());
            return true;
        };
        let order = if highest.uid == token.uid {
            Some(token.transitions.cmp(&highest.transitions))
        } else if self.past.contains(&token.uid) {
            Some(Ordering::Less)
        } else {
            token.version.compare(&highest.version)
        };
        // A token that cannot be compared counts as newer, because its lock object was never seen
        // before.
        match order {
            Some(Ordering::Less) => return false,
            Some(Ordering::Equal) => return true,
            Some(Ordering::Greater) | None => {}
        }
        let left = self.highest.replace(token.clone());
        if let Some(left) = left.filter(|left| left.uid != token.uid) {
            self.leave(left.uid);
        }
        true
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.past.len().max(self.order.len())
    }

    fn leave(&mut self, uid: Name) {
        if self.past.insert(uid.clone()) {
            self.order.push_back(uid);
        }
        if self.order.len() > PAST
            && let Some(oldest) = self.order.pop_front()
        {
            self.past.remove(&oldest);
        }
    }
}
