//! What stores and queues of objects have in common: keys, tombstones, known objects
//! (client-go `tools/cache`).
//!
//! Objects are passed around as **handles**, the type parameter `O`: anything that is cheap to
//! clone and gives shared access, normally `Arc<Pod>`. Nobody ever changes an object that is in a
//! store, so readers need no copies (`cache:ST-6`).

pub mod expiring;
mod handle;
mod hashed;
pub mod heap;
pub mod indexed;
mod key;
mod known;
mod tombstone;

#[cfg(test)]
pub(crate) mod tests;

pub use expiring::{ExpiringStore, Expiry, TimeToLive};
pub use handle::{Handle, Key};
pub use hashed::{Hashed, KeyHasher};
pub(crate) use hashed::{KeySet, spread};
pub use heap::{HeapError, KeyedHeap};
pub use indexed::{IndexedStore, Snapshot, index_by};
pub use key::{
    Cause, Described, ExplicitKey, KeyError, MalformedKey, Metadata, NoMetadata, ObjectName,
    metadata_key, metadata_key_of_last_state, split_key,
};
pub use known::{KnownObjects, LookupFailed, NothingKnown};
pub use tombstone::{LastState, Tombstone};
