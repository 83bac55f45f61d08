//! Stores of objects, and the parts that they share with queues of objects (client-go
//! `tools/cache`).
//!
//! | | |
//! |---|---|
//! | [`IndexedStore`] | objects by key, and by value under indices; informers fill it |
//! | [`Lister`] | reads that store by name, namespace and labels |
//! | [`ExpiringStore`] | objects that expire |
//! | [`KeyedHeap`] | objects by key, in order from the least |
//! | [`MutationCache`] | reads of one's own writes that the store does not have yet |
//! | [`MutationDetector`] | finds changes of shared objects |
//! | [`UndeltaStore`] | shows the whole content after every change |
//! | [`KnownObjects`], [`Tombstone`] | a queue's view of its consumer's store, missed deletions |
//!
//! Objects are passed around as **handles**, the type parameter `O`: any type that is cheap to
//! clone and gives shared access, normally `Arc<Pod>`. An object in a store is never changed, so
//! readers need no copies (`cache:ST-6`).

pub mod expiring;
mod handle;
mod hashed;
pub mod heap;
pub mod indexed;
mod intake;
mod key;
mod known;
pub mod lister;
mod lru;
pub mod mutation;
mod tombstone;
mod undelta;

#[cfg(test)]
pub(crate) mod tests;

pub use expiring::{ExpiringStore, Expiry, TimeToLive};
pub use handle::{Handle, Key};
pub(crate) use hashed::KeySet;
pub use heap::{HeapError, KeyedHeap};
pub use indexed::{IndexedStore, Snapshot, index_by, index_by_one};
pub use intake::{EnqueueError, Intake, KeyFunction, Transform};
pub(crate) use key::join;
pub use key::{
    Cause, Described, ExplicitKey, KeyError, MalformedKey, Metadata, NoMetadata, ObjectName,
    metadata_key, metadata_key_of_last_state, split_key,
};
pub use known::{KnownObjects, LookupFailed, NothingKnown};
pub use lister::{Lister, Selector};
pub use mutation::{MutationCache, MutationDetector};
pub use tombstone::{LastState, Tombstone};
pub use undelta::{Push, UndeltaStore};

for_harness! {
    use hashed::{Hashed, KeyHasher};
    use intake::{Keyed, Listed};
}
