//! What a controller has written of its own objects.

use std::fmt;
use std::sync::Arc;

use kube::Resource;
use seatrial_core::informer::Informer;
use seatrial_core::runtime::Tokio;

use crate::object::{Object, described};

/// Takes note of writes to a controller's own objects: an object is not reconciled again before the
/// store has what was last written of it. Cheap to clone; it belongs into the context.
pub struct Writes<K: Resource + fmt::Debug + Send + Sync + 'static>(
    pub(super) Arc<Informer<Object<K>, Tokio>>,
);

impl<K: Resource + fmt::Debug + Send + Sync + 'static> Writes<K> {
    /// Takes note of a write: of what the server answered. One whose version is no number is not
    /// waited for.
    pub fn wrote(&self, answer: &K) {
        if let Some(metadata) = described(answer) {
            let _no_number = self.0.wrote(metadata);
        }
    }

    /// Takes note of a deletion: of the newest state that is known. An object that stays until its
    /// finalizers are done was [written](Self::wrote), not deleted.
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
