//! Keys that wait until a write of their controller is visible, and hold no worker meanwhile.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::ObjectRef;

/// How many keys wait for news of the store at once; the others wait for one of these places.
pub(super) const WAITS: usize = 64;

/// Parked keys.
#[derive(Default)]
pub(super) struct Parked {
    keys: Mutex<Keys>,
    news: Notify,
}

#[derive(Default)]
struct Keys {
    /// All of them, also those that wait for news already.
    all: BTreeSet<ObjectRef>,
    /// Those for whose write nobody waits yet.
    line: VecDeque<ObjectRef>,
}

impl Parked {
    /// Parks a key. A key that is parked already stays where it is.
    pub(super) fn park(&self, key: ObjectRef) {
        let mut keys = self.keys();
        if keys.all.insert(key.clone()) {
            keys.line.push_back(key);
            self.news.notify_one();
        }
    }

    /// Waits for the next key, which stays parked.
    pub(super) async fn next(&self) -> ObjectRef {
        loop {
            let key = self.keys().line.pop_front();
            match key {
                Some(key) => return key,
                None => self.news.notified().await,
            }
        }
    }

    /// The key is parked no longer.
    pub(super) fn leave(&self, key: &ObjectRef) {
        self.keys().all.remove(key);
    }

    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
