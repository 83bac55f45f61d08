//! Keys that carry their hash, so that it is computed once and outside the lock.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::runtime::Ambient;
use crate::slab::{Item, spread};

/// The hash function of one store or queue, keyed from the runtime's entropy: objects are named
/// by strangers, who must not be able to make them collide.
#[derive(Clone)]
pub struct KeyHasher(SeedableRandomState);

impl KeyHasher {
    /// Draws a hash function.
    pub fn new(ambient: &dyn Ambient) -> Self {
        Self(SeedableRandomState::with_seed(ambient.entropy(), SharedSeed::global_random()))
    }

    /// Makes a hash function that is the same in every process, for replays. Not for objects that
    /// strangers name.
    pub fn fixed(seed: u64) -> Self {
        Self(SeedableRandomState::with_seed(seed, SharedSeed::global_fixed()))
    }

    /// Hashes a key and keeps the two together.
    #[inline]
    pub fn hashed<K: Hash>(&self, key: K) -> Hashed<K> {
        let hash = self.hash(&key);
        Hashed { key, hash }
    }

    /// Hashes a key. Half of a full hash is kept: it is stored beside every entry.
    #[inline]
    pub(crate) fn hash<K: Hash + ?Sized>(&self, key: &K) -> u32 {
        let hash = self.0.hash_one(key);
        (hash ^ (hash >> 32)) as u32
    }
}

impl fmt::Debug for KeyHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHasher")
    }
}

/// A key with its hash, made by [`KeyHasher::hashed`].
#[derive(Clone, PartialEq, Eq)]
pub struct Hashed<K> {
    key: K,
    hash: u32,
}

impl<K> Hashed<K> {
    /// Puts a key and the hash that it was stored with together again.
    #[inline]
    pub(crate) fn of(key: K, hash: u32) -> Self {
        Self { key, hash }
    }

    /// Returns the key.
    #[inline]
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Returns the key and leaves the hash.
    #[inline]
    pub fn into_key(self) -> K {
        self.key
    }

    #[inline]
    pub(crate) fn item(&self) -> Item<'_, K> {
        Item::new(&self.key, u64::from(self.hash))
    }

    #[inline]
    pub(crate) fn hash(&self) -> u32 {
        self.hash
    }
}

/// The hash differs from process to process and says nothing.
impl<K: fmt::Debug> fmt::Debug for Hashed<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

/// A set of keys whose hashes are known; `H` is a [`Hashed`] or a reference to one.
pub(crate) struct KeySet<K, H>(HashTable<H>, PhantomData<K>);

impl<K: Eq, H: Borrow<Hashed<K>>> KeySet<K, H> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self(HashTable::with_capacity(capacity), PhantomData)
    }

    pub(crate) fn contains(&self, key: &Hashed<K>) -> bool {
        self.0.find(spread(key.hash), |seen| seen.borrow() == key).is_some()
    }

    /// Adds a key; false if it was there.
    pub(crate) fn insert(&mut self, key: H) -> bool {
        let same = |seen: &H| seen.borrow() == key.borrow();
        match self.0.entry(spread(key.borrow().hash), same, |seen| spread(seen.borrow().hash)) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(key);
                true
            }
        }
    }
}
