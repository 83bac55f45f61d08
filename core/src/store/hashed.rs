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

/// The hash function of one store or queue, keyed with the runtime's entropy: objects may be named
/// by strangers, who must not be able to make them collide.
#[derive(Clone)]
pub struct KeyHasher(SeedableRandomState);

impl KeyHasher {
    /// Draws a hash function.
    pub fn new(ambient: &dyn Ambient) -> Self {
        Self(SeedableRandomState::with_seed(ambient.entropy(), SharedSeed::global_random()))
    }

    /// Makes a hash function that is the same in every process, for replays. Do not use it for
    /// objects that strangers can name.
    pub fn fixed(seed: u64) -> Self {
        Self(SeedableRandomState::with_seed(seed, SharedSeed::global_fixed()))
    }

    /// Hashes a key and returns both.
    #[inline]
    pub fn hashed<K: Hash>(&self, key: K) -> Hashed<K> {
        let hash = self.hash(&key);
        Hashed { key, hash }
    }

    /// Hashes a key. Only half of the hash is kept, because it is stored with every entry.
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
    /// Combines a key with its stored hash.
    #[inline]
    pub(crate) fn of(key: K, hash: u32) -> Self {
        Self { key, hash }
    }

    /// Returns the key.
    #[inline]
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Returns the key without the hash.
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

/// The hash is left out: it differs from process to process.
impl<K: fmt::Debug> fmt::Debug for Hashed<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

/// A set of keys with known hashes; `H` is a [`Hashed`] or a reference to one.
pub(crate) struct KeySet<K, H>(HashTable<H>, PhantomData<K>);

impl<K: Eq, H: Borrow<Hashed<K>>> KeySet<K, H> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self(HashTable::with_capacity(capacity), PhantomData)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
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
