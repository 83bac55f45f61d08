//! How the items of a queue are hashed.

use std::hash::{BuildHasher, Hash};
#[cfg(any(test, feature = "hosts"))]
use std::{hash::Hasher, sync::Arc};

use foldhash::fast::SeedableRandomState;

use crate::runtime::Runtime;
use crate::slab::hasher;

/// Hashes the items of a queue. In a harness another hasher may take the place of ours, and the
/// type of the queue does not show it.
pub enum Hashing {
    /// Keyed with the runtime's entropy, because strangers may choose the items.
    Keyed(SeedableRandomState),
    /// Another hasher, made for each hash.
    #[cfg(any(test, feature = "hosts"))]
    Other(Arc<dyn Fn() -> Box<dyn Hasher> + Send + Sync>),
}

impl Hashing {
    pub(crate) fn keyed<R: Runtime>(runtime: &R) -> Self {
        Self::Keyed(hasher(runtime))
    }

    #[inline(always)]
    pub(crate) fn hash_one<K: Hash>(&self, key: &K) -> u64 {
        match self {
            Self::Keyed(keyed) => keyed.hash_one(key),
            #[cfg(any(test, feature = "hosts"))]
            Self::Other(make) => {
                let mut hasher = make();
                key.hash(&mut hasher);
                hasher.finish()
            }
        }
    }
}

#[cfg(any(test, feature = "hosts"))]
impl<B: BuildHasher<Hasher: 'static> + Send + Sync + 'static> From<B> for Hashing {
    fn from(other: B) -> Self {
        Self::Other(Arc::new(move || Box::new(other.build_hasher())))
    }
}

impl std::fmt::Debug for Hashing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hashing")
    }
}
