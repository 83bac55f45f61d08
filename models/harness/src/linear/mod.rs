//! Linearizability: whether some order of concurrent calls, each of which takes effect at one moment between its
//! beginning and its end, explains all their answers.
//!
//! ```
//! use seatrial::linear::{Linearizable, Spec};
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Default)]
//! struct Counter(u64);
//!
//! impl Spec for Counter {
//!     type Call = &'static str;
//!     type Answer = u64;
//!
//!     fn apply(&mut self, _: &&'static str) -> u64 {
//!         self.0 += 1;
//!         self.0 - 1
//!     }
//! }
//!
//! let calls = Linearizable::new(Counter::default());
//! let first = calls.begin("add");
//! let second = calls.begin("add"); // both are under way
//! first.end(1);
//! second.end(0);
//! calls.assert();
//! calls.call("add", || 1); // one that began later may not give an earlier answer
//! assert!(calls.check().is_err());
//! ```
//!
//! In a [`#[seatrial::test]`](macro@crate::test) the beginning and the end of a call are steps of their own: engines
//! try them before and after the steps of others. They order nothing for others: what loom finds without them, it
//! finds with them.
//!
//! A call without an end, since it panicked or was given up, may have taken effect or not.

mod search;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::Observed as _;
use crate::program::{Atomic, Seam};

use search::{Stuck, search};

/// What a structure answers if calls come one after the other.
pub trait Spec: Clone + Eq + Hash {
    /// A call, with what is given to it.
    type Call: fmt::Debug;
    /// What it returns.
    type Answer: Clone + PartialEq + fmt::Debug;

    /// Carries a call out.
    fn apply(&mut self, call: &Self::Call) -> Self::Answer;

    /// Carries a call out that gave this answer; tells whether it may have. `None` is one that has not ended. A
    /// structure that is free to give one of several answers says so here.
    fn accepts(&mut self, call: &Self::Call, answer: Option<&Self::Answer>) -> bool {
        let right = self.apply(call);
        answer.is_none_or(|answer| *answer == right)
    }

    /// Which part of the structure a call is about, for example the hash of a key. Parts do not influence one another, so
    /// each is judged by itself, from the same beginning: that makes long histories cheap.
    fn part(_call: &Self::Call) -> u64 {
        0
    }
}

/// Calls to one structure, and the promise that they are linearizable.
pub struct Linearizable<S: Spec> {
    begins: S,
    /// In a run of an engine: gives each moment its number. The lock below is not one of the engine's.
    moments: Option<Atomic>,
    record: Mutex<Record<S>>,
}

struct Record<S: Spec> {
    calls: Vec<Call<S>>,
    moment: u64,
}

/// A call, and when it began and ended. What it shares is not copied: that would be foreign code under a lock.
struct Call<S: Spec> {
    call: Arc<S::Call>,
    began: u64,
    ended: Option<(u64, Arc<S::Answer>)>,
}

/// A call that is under way. Dropped without an end it may have taken effect or not.
#[must_use = "say how it ended"]
pub struct Pending<'a, S: Spec> {
    of: &'a Linearizable<S>,
    index: usize,
}

/// No order explains the answers, or too many would have to be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotLinearizable(String);

impl<S: Spec> Linearizable<S> {
    /// Begins without a call. In a [`#[seatrial::test]`](macro@crate::test) it belongs to the run under way.
    pub fn new(begins: S) -> Self {
        // On real threads a number that orders nothing could be taken too late.
        let seam = Seam::current().filter(|seam| seam.runtime().jumps_when_quiet());
        let moments = seam.map(|seam| seam.atomic(0));
        let record = Mutex::new(Record { calls: Vec::new(), moment: 0 });
        Self { begins, moments, record }
    }

    /// Makes a call, and records it with its answer.
    pub fn call(&self, call: S::Call, act: impl FnOnce() -> S::Answer) -> S::Answer {
        let pending = self.begin(call);
        let answer = act();
        pending.end(answer.clone());
        answer
    }

    /// Records that a call begins: say so before it can have any effect.
    pub fn begin(&self, call: S::Call) -> Pending<'_, S> {
        let call = Arc::new(call);
        let index = self.record(|record, began| {
            record.calls.push(Call { call, began, ended: None });
            record.calls.len() - 1
        });
        Pending { of: self, index }
    }

    /// Judges what was recorded.
    ///
    /// # Errors
    /// No order of the calls explains their answers; or none was found among a million steps.
    pub fn check(&self) -> Result<(), NotLinearizable> {
        let mut parts = BTreeMap::<_, Vec<_>>::new();
        let calls = self.calls();
        for call in &calls {
            parts.entry(S::part(&call.call)).or_default().push(call);
        }
        for calls in parts.into_values() {
            search(&self.begins, calls).map_err(Stuck::told)?;
        }
        Ok(())
    }

    /// Judges what was recorded.
    ///
    /// # Panics
    /// If no order of the calls explains their answers; or none was found among a million steps, as the text says.
    #[track_caller]
    pub fn assert(&self) {
        if let Err(why) = self.check() {
            panic!("{why}");
        }
    }

    /// Returns the calls up to now, so that they can be judged outside of the lock.
    fn calls(&self) -> Vec<Call<S>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).calls.clone()
    }

    /// Records something at the moment of now.
    fn record<T>(&self, what: impl FnOnce(&mut Record<S>, u64) -> T) -> T {
        // Outside of the lock, since others may run here. Relaxed, so that it orders nothing for others.
        let moment = self.moments.as_ref().map(|it| it.fetch_add(1, Ordering::Relaxed));
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        record.moment += 1;
        let moment = moment.unwrap_or(record.moment);
        what(&mut record, moment)
    }
}

impl<S: Spec> Pending<'_, S> {
    /// Records that the call has ended: say so when all of its effects are there.
    pub fn end(self, answer: S::Answer) {
        let answer = Arc::new(answer);
        self.of.record(|record, ended| record.calls[self.index].ended = Some((ended, answer)));
    }
}

impl<S: Spec> fmt::Debug for Linearizable<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.calls()).finish()
    }
}

impl<S: Spec> fmt::Debug for Pending<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("index", &self.index).finish_non_exhaustive()
    }
}

impl<S: Spec> Call<S> {
    /// Carries it out; tells whether it may have given its answer.
    fn fits(&self, state: &mut S) -> bool {
        state.accepts(&self.call, self.ended.as_ref().map(|(_, answer)| &**answer))
    }
}

// A derived one would ask for copies of calls and answers.
impl<S: Spec> Clone for Call<S> {
    fn clone(&self) -> Self {
        Self { call: self.call.clone(), began: self.began, ended: self.ended.clone() }
    }
}

impl<S: Spec> fmt::Debug for Call<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ended {
            Some((_, answer)) => write!(f, "{:?} -> {answer:?}", self.call),
            None => write!(f, "{:?}, which never ended", self.call),
        }
    }
}

impl fmt::Display for NotLinearizable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotLinearizable {}
