//! Detects changes of shared objects (client-go `mutation_detector.go`).
//!
//! An `Arc` gives only shared access, so a plain type cannot be changed through it and needs no
//! detector (`cache:MD-4`). This is for objects with interior mutability: cells, locks, atomics.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::caught::drop_each;
use crate::polling::until;
use crate::runtime::{Instant, Runtime, System};

/// The least time for which objects are watched; the longest is twice as long.
const ROTATION: Duration = Duration::from_secs(120);
/// How often [`MutationDetector::run`] compares.
const PERIOD: Duration = Duration::from_secs(1);

/// An object that was changed.
#[derive(Clone, Debug)]
pub struct Mutated<T> {
    /// The object in its present state.
    pub object: Arc<T>,
    /// A copy from when it was handed out.
    pub was: T,
}

/// Keeps objects together with copies, and compares them.
pub struct MutationDetector<T: Send + Sync + 'static, R: Runtime = System> {
    runtime: R,
    /// The objects added since the last comparison. Its lock is held only briefly, because a
    /// comparison must not delay callers that hand out objects (`cache:MD-2`).
    added: R::Mutex<Vec<Mutated<T>>>,
    watched: R::Mutex<Watched<T>>,
}

struct Watched<T> {
    current: Vec<Mutated<T>>,
    /// The objects that were in `current` before the last rotation.
    retained: Vec<Mutated<T>>,
    rotated: Instant,
}

impl<T: Clone + PartialEq + Send + Sync + 'static, R: Runtime> MutationDetector<T, R> {
    /// Makes a detector that watches nothing yet.
    pub fn new(runtime: &R) -> Self {
        let watched = Watched { current: Vec::new(), retained: Vec::new(), rotated: runtime.now() };
        Self {
            added: runtime.mutex(Vec::new()),
            watched: runtime.mutex(watched),
            runtime: runtime.clone(),
        }
    }

    /// Watches an object from now on, for two to four minutes (`cache:MD-3`).
    pub fn add(&self, object: &Arc<T>) {
        let watched = Mutated { object: Arc::clone(object), was: T::clone(object) };
        self.runtime.lock(&self.added).push(watched);
    }

    /// Compares every watched object with its copy; returns those that differ.
    pub fn compare(&self) -> Vec<Mutated<T>> {
        let mut watched = self.runtime.lock(&self.watched);
        let added = std::mem::take(&mut *self.runtime.lock(&self.added));
        watched.current.extend(added);
        let all = watched.retained.iter().chain(&watched.current);
        let mutated = all.filter(|seen| *seen.object != seen.was).cloned().collect();
        let now = self.runtime.now();
        let dropped = if now.since(watched.rotated) >= ROTATION {
            watched.rotated = now;
            let current = std::mem::take(&mut watched.current);
            std::mem::replace(&mut watched.retained, current)
        } else {
            Vec::new()
        };
        drop(watched);
        drop_each(dropped); // outside the lock: dropping objects may run foreign code
        mutated
    }

    /// Compares every second, until the token ends.
    ///
    /// # Panics
    /// If an object was changed and `on_mutation` is `None`: a program whose caches are corrupt
    /// should stop (`cache:MD-1`).
    pub fn run(&self, token: &CancelToken<R>, on_mutation: Option<&dyn Fn(Vec<Mutated<T>>)>)
    where
        T: fmt::Debug,
    {
        until(PERIOD, token, || {
            let mutated = self.compare();
            match on_mutation {
                _ if mutated.is_empty() => {}
                Some(tell) => tell(mutated),
                None => panic!("objects of a cache were changed: {mutated:?}"),
            }
        });
    }
}

impl<T: Send + Sync + 'static, R: Runtime> fmt::Debug for MutationDetector<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MutationDetector")
    }
}
