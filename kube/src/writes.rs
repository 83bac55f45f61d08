//! The writes of a controller to its own objects.

use std::fmt;
use std::sync::Arc;

use kube::Resource;
use seatrial_core::informer::Informer;
use seatrial_core::runtime::Tokio;

use crate::object::{Object, described};

/// Notes writes to a controller's own objects. An object is not reconciled again before the store
/// has the last noted write to it. Cheap to clone; put it into the context.
pub struct Writes<K: Resource + fmt::Debug + Send + Sync + 'static>(
    pub(crate) Arc<Informer<Object<K>, Tokio>>,
);

impl<K: Resource + fmt::Debug + Send + Sync + 'static> Writes<K> {
    /// Notes a write. Pass the object that the server answered. If its version is not a number, it
    /// is not waited for.
    pub fn wrote(&self, answer: &K) {
        if let Some(metadata) = described(answer) {
            let _no_number = self.0.wrote(metadata);
        }
    }

    /// Notes a deletion. Pass the newest known state. An object that stays until its finalizers are
    /// done was [written](Self::wrote), not deleted.
    pub fn deleted(&self, last: &K) {
        if let Some(metadata) = described(last) {
            let _no_number = self.0.deleted(metadata);
        }
    }
}

impl<K: Resource + fmt::Debug + Send + Sync + 'static> Clone for Writes<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Resource + fmt::Debug + Send + Sync + 'static> fmt::Debug for Writes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writes")
    }
}
