//! The sequential object as a machine, with mistakes that can be switched on.

use std::time::Duration;

use seatrial_core::machine::{Channel, Cx, Machine, Step};
use seatrial_core::runtime::Instant;
use seatrial_core::store::expiring::{Get, Op, Put, Replace, Ret};

use super::{Spec, TIME_TO_LIVE};
use crate::events::fixtures::Object;
use crate::trial::mistakes;

/// The channel of a call that has decided and not yet acted ([`DecidesThenRemoves`]).
const DECIDED: Channel = 0;

mistakes! {
    /// One changed line.
    pub enum Mistake {
        // This was reported of the reference.
        /// A listing ignores the age of objects.
        ListReturnsTheExpired,

        // Other mistakes.
        /// An object expires at exactly its maximum age.
        ExpiresAtTheVeryAge,
        /// An object at exactly its maximum age is not read, and stays.
        HidesAtTheVeryAge,
        /// As [`HidesAtTheVeryAge`], but only in reads of one object.
        GetHidesAtTheVeryAge,
        /// Nothing expires.
        NeverExpires,
        /// An update keeps the time of the old object.
        UpdateKeepsTime,
        /// A list keeps the times of the old objects.
        ListKeepsTimes,
        /// A list is added to the old objects.
        ListKeepsOld,
        /// The first state is kept.
        KeepFirst,
        /// Deletion does nothing.
        DeleteDoesNothing,
        /// An expired object stays when it is read.
        ExpiredStays,
        /// A listing of keys leaves out those of expired objects.
        KeysAreChecked,
        /// Reading an object makes it last longer.
        ReadingRefreshes,
        /// One critical section decides that an object has expired, and the next one removes it.
        DecidesThenRemoves,
        /// If a key is listed twice, the first object counts.
        FirstOfTwoCounts,
    }
}

use Mistake::*;

/// The sequential object, and a decision that was not carried out yet.
#[derive(Clone, Debug)]
pub struct PlainTimes {
    mistakes: &'static [Mistake],
    spec: Spec,
    /// The key of the object to remove ([`DecidesThenRemoves`]).
    decided: Option<u8>,
}

impl PlainTimes {
    /// Makes an empty store that makes mistakes.
    pub fn with(mistakes: &'static [Mistake]) -> Self {
        let time = match () {
            () if mistakes.contains(&NeverExpires) => Duration::MAX,
            () if mistakes.contains(&ExpiresAtTheVeryAge) => {
                TIME_TO_LIVE.saturating_sub(Duration::from_nanos(1))
            }
            () => TIME_TO_LIVE,
        };
        Self { mistakes, spec: Spec::lasting(time), decided: None }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn put(&mut self, object: Object, now: Instant) {
        let before = self.spec.items.get(&object.0).copied();
        self.spec.put(object, now);
        let Some((old, at)) = before else { return };
        if self.makes(KeepFirst) {
            self.spec.items.insert(object.0, (old, now));
        }
        if self.makes(UpdateKeepsTime) {
            self.spec.items.insert(object.0, (object, at));
        }
    }

    fn replace(&mut self, list: &[Object], now: Instant) {
        let mut list = list.to_vec();
        if self.makes(FirstOfTwoCounts) {
            list.reverse();
        }
        let before = self.spec.items.clone();
        self.spec.replace(&list, now);
        let (keeps_times, keeps_old) = (self.makes(ListKeepsTimes), self.makes(ListKeepsOld));
        for (key, (object, at)) in before {
            match self.spec.items.get_mut(&key) {
                Some(stored) if keeps_times => stored.1 = at,
                None if keeps_old => drop(self.spec.items.insert(key, (object, at))),
                _ => {}
            }
        }
    }

    fn get(&mut self, key: u8, cx: &mut Cx<'_>) -> Step<Option<Object>> {
        let now = cx.now();
        if self.decided.take_if(|decided| *decided == key).is_some() {
            self.spec.items.remove(&key);
            return Step::Done(None);
        }
        let before = self.spec.items.clone();
        let object = self.spec.get(key, now);
        let hides = self.makes(HidesAtTheVeryAge) || self.makes(GetHidesAtTheVeryAge);
        if hides && self.is_at_the_very_age(key, now) {
            return Step::Done(None);
        }
        let expired = object.is_none() && before.contains_key(&key);
        if expired && (self.makes(ExpiredStays) || self.makes(DecidesThenRemoves)) {
            self.spec.items = before;
        }
        if let Some(object) = object.filter(|_| self.makes(ReadingRefreshes)) {
            self.spec.put(object, now);
        }
        if expired && self.makes(DecidesThenRemoves) {
            self.decided = Some(key);
            return Step::Wait { on: DECIDED, until: Some(now + Duration::from_nanos(1)) };
        }
        Step::Done(object)
    }

    fn list(&mut self, now: Instant) -> Vec<Object> {
        if self.makes(ListReturnsTheExpired) {
            return self.spec.items.values().map(|(object, _)| *object).collect();
        }
        let before = self.makes(ExpiredStays).then(|| self.spec.items.clone());
        let mut listed = self.spec.list(now);
        if let Some(before) = before {
            self.spec.items = before;
        }
        if self.makes(HidesAtTheVeryAge) {
            listed.retain(|object| !self.is_at_the_very_age(object.0, now));
        }
        listed
    }

    fn is_at_the_very_age(&self, key: u8, now: Instant) -> bool {
        self.spec.items.get(&key).is_some_and(|(_, at)| now.since(*at) == TIME_TO_LIVE)
    }

    fn keys(&self, now: Instant) -> Vec<u8> {
        let mut keys = self.spec.keys();
        if self.makes(KeysAreChecked) {
            keys.retain(|key| self.spec.alive(*key, now).is_some());
        }
        keys
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
            Op::Delete(_) if self.makes(DeleteDoesNothing) => Ret::Delete(None),
            Op::Delete(delete) => {
                let key = *delete.0.key();
                Ret::Delete(self.spec.items.remove(&key).map(|(object, _)| (key, object)))
            }
            Op::Replace(Replace(list)) => {
                let list: Vec<_> = list.drain(..).map(|keyed| keyed.object).collect();
                self.replace(&list, cx.now());
                Ret::Replace(vec![])
            }
            Op::Get(Get(key)) => {
                return self.get(*key.key(), cx).map(|object| Ret::Get(Ok(object)));
            }
            Op::List(_) => Ret::List((self.list(cx.now()), vec![])),
            Op::ListKeys(_) => Ret::ListKeys(self.keys(cx.now())),
        })
    }
}
