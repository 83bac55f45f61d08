//! The expiring store in a few lines: a map of objects with the times at which they were stored
//! (`cache:EX`).
//!
//! It is the specification of every call. A mistake, which is one changed line, makes a mutant of it
//! with the name of the mistake.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::machine::{Channel, Cx, Machine, Step};
use seatrial_core::runtime::Instant;
use seatrial_core::store::expiring::{Get, Op, Put, Replace, Ret};

use super::TIME_TO_LIVE;
use crate::events::fixtures::{Mistakes, Object};

/// The channel of a call that has decided and not yet acted (`decides_then_removes`).
const DECIDED: Channel = 0;

/// Objects by key, each with the time at which it was stored.
#[derive(Clone, Debug, Default)]
pub struct PlainTimes {
    mistakes: Mistakes,
    /// All objects, expired or not, until a read removes the expired ones.
    pub(super) items: BTreeMap<u8, (Object, Instant)>,
    /// The key of the object to remove (`decides_then_removes`).
    decided: Option<u8>,
}

impl PlainTimes {
    /// Makes an empty store that makes mistakes.
    pub fn with(mistakes: Mistakes) -> Self {
        Self { mistakes, ..Self::default() }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Stores an object at this time (`cache:EX-1`).
    pub(super) fn put(&mut self, object: Object, now: Instant) {
        let stored = match self.items.get(&object.0) {
            Some((old, _)) if self.makes("first_state_wins") => (*old, now),
            Some((_, at)) if self.makes("update_keeps_the_time") => (object, *at),
            _ => (object, now),
        };
        self.items.insert(object.0, stored);
    }

    /// Replaces the content by a list, stored at this time.
    pub(super) fn replace(&mut self, list: &[Object], now: Instant) {
        let before = std::mem::take(&mut self.items);
        for object in list {
            let old = before.get(&object.0).filter(|_| self.makes("list_keeps_the_times"));
            let stored = (*object, old.map_or(now, |(_, at)| *at));
            if self.makes("first_of_two_counts") {
                self.items.entry(object.0).or_insert(stored);
            } else {
                self.items.insert(object.0, stored);
            }
        }
        if self.makes("list_keeps_what_it_misses") {
            for (key, old) in before {
                self.items.entry(key).or_insert(old);
            }
        }
    }

    /// Returns an object unless it has expired. At exactly its maximum age it has not.
    pub(super) fn alive(&self, key: u8, now: Instant) -> Option<Object> {
        let (object, at) = self.items.get(&key)?;
        let age = now.since(*at);
        let is_alive = match age == TIME_TO_LIVE {
            true => !self.makes("expires_at_the_very_age"),
            false => age < TIME_TO_LIVE || self.makes("never_expires"),
        };
        is_alive.then_some(*object)
    }

    fn is_at_the_very_age(&self, key: u8, now: Instant) -> bool {
        self.items.get(&key).is_some_and(|(_, at)| now.since(*at) == TIME_TO_LIVE)
    }

    /// Returns an object unless it has expired; an expired object is removed (`cache:EX-3`).
    pub(super) fn get(&mut self, key: u8, now: Instant) -> Option<Object> {
        let alive = self.alive(key, now);
        if alive.is_none() && !self.makes("expired_stays") {
            self.items.remove(&key);
        }
        let hides = self.makes("hides_at_the_very_age") && self.is_at_the_very_age(key, now);
        alive.filter(|_| !hides)
    }

    /// Returns the objects that have not expired, in the order of their keys; the others are
    /// removed.
    pub(super) fn list(&mut self, now: Instant) -> Vec<Object> {
        if self.makes("list_returns_the_expired") {
            return self.items.values().map(|(object, _)| *object).collect();
        }
        self.keys().into_iter().filter_map(|key| self.get(key, now)).collect()
    }

    /// Returns all keys, including those of expired objects.
    pub(super) fn keys(&self) -> Vec<u8> {
        self.items.keys().copied().collect()
    }

    /// Reads one object, with the mistakes of that call.
    fn read(&mut self, key: u8, cx: &mut Cx<'_>) -> Step<Option<Object>> {
        let now = cx.now();
        if self.decided.take_if(|decided| *decided == key).is_some() {
            self.items.remove(&key);
            return Step::Done(None);
        }
        let expired = self.items.contains_key(&key) && self.alive(key, now).is_none();
        if expired && self.makes("decides_then_removes") {
            self.decided = Some(key);
            return Step::Wait { on: DECIDED, until: Some(now + Duration::from_nanos(1)) };
        }
        if self.makes("get_hides_at_the_very_age") && self.is_at_the_very_age(key, now) {
            return Step::Done(None);
        }
        let object = self.get(key, now);
        if let Some(object) = object.filter(|_| self.makes("reading_refreshes")) {
            self.put(object, now);
        }
        Step::Done(object)
    }
}

impl Machine for PlainTimes {
    type Op = Op<u8, Object>;
    type Ret = Ret<u8, Object>;

    fn step(&mut self, op: &mut Self::Op, cx: &mut Cx<'_>) -> Step<Self::Ret> {
        Step::Done(match op {
            Op::Put(Put { object, .. }) => {
                if let Some(object) = object.take() {
                    self.put(object, cx.now());
                }
                Ret::Put(())
            }
            Op::Delete(_) if self.makes("delete_does_nothing") => Ret::Delete(None),
            Op::Delete(delete) => {
                let key = *delete.0.key();
                Ret::Delete(self.items.remove(&key).map(|(object, _)| (key, object)))
            }
            Op::Replace(Replace(list)) => {
                let list: Vec<_> = list.drain(..).map(|keyed| keyed.object).collect();
                self.replace(&list, cx.now());
                Ret::Replace(vec![])
            }
            Op::Get(Get(key)) => {
                return self.read(*key.key(), cx).map(|object| Ret::Get(Ok(object)));
            }
            Op::List(_) => Ret::List((self.list(cx.now()), vec![])),
            Op::ListKeys(_) => {
                let (mut keys, now) = (self.keys(), cx.now());
                keys.retain(|key| {
                    !self.makes("keys_are_checked") || self.alive(*key, now).is_some()
                });
                Ret::ListKeys(keys)
            }
        })
    }
}
