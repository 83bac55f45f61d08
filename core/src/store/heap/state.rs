//! The rules of the keyed heap.
//!
//! A binary heap. Every node holds the number of a slot, and every slot the place of its node
//! (`cache:HP-4`). A move is first planned, which calls the order, and then carried out, which
//! calls no foreign code.

use std::fmt;
use std::sync::Arc;

use crate::machine::{Channel, Wakes};
use crate::slab::{Slab, Slot, Value};
use crate::store::{Handle, Hashed, Key};

/// Callers of `pop` sleep here.
pub const POPPERS: Channel = 0;

/// Tells whether one object comes before another; a strict order.
pub type Less<O> = Arc<dyn Fn(&O, &O) -> bool + Send + Sync>;

/// The state of a keyed heap, without its lock.
#[derive(Clone)]
pub struct HeapQueue<K: Key, O: Handle> {
    items: Slab<K, Node<O>>,
    /// The slots, as a heap.
    nodes: Vec<Slot>,
    less: Less<O>,
    closed: bool,
}

#[derive(Clone, Debug)]
struct Node<O> {
    /// `None` in a free slot.
    object: Option<O>,
    place: usize,
}

impl<O> Default for Node<O> {
    fn default() -> Self {
        Self { object: None, place: 0 }
    }
}

impl<O> Value for Node<O> {}

/// How an object moves to its place: up to a place, or down along a path.
enum Move {
    Up(usize),
    Down(Vec<usize>),
}

impl<K: Key, O: Handle> HeapQueue<K, O> {
    /// Makes an empty, open heap.
    pub fn new(less: Less<O>) -> Self {
        Self { items: Slab::new(), nodes: Vec::new(), less, closed: false }
    }

    fn find(&self, key: &Hashed<K>) -> Option<Slot> {
        self.items.find(key.item())
    }

    fn object(&self, slot: Slot) -> &O {
        self.items.value(slot).object.as_ref().expect("a slot in the heap has an object")
    }

    /// Adds an object; takes the key if it is new. Returns the object that it replaced.
    pub(super) fn put(
        &mut self,
        key: &mut Option<Hashed<K>>,
        object: O,
        wakes: &mut Wakes,
    ) -> Option<O> {
        let found = self.find(key.as_ref()?);
        let place = found.map_or(self.nodes.len(), |slot| self.items.value(slot).place);
        let plan = self.plan(place, &object, self.nodes.len());
        let slot = match found {
            Some(slot) => slot,
            None => {
                let (hash, key) = key.take().map(|key| (key.hash(), key.into_key()))?;
                let slot = self.items.intern(&mut Some(key), u64::from(hash))?;
                self.nodes.push(slot);
                wakes.one(POPPERS);
                slot
            }
        };
        let before = self.items.value_mut(slot).object.replace(object);
        self.carry_out(place, slot, plan);
        before
    }

    /// Takes an object out by its key.
    pub(super) fn delete(&mut self, key: &Hashed<K>) -> Option<(K, O)> {
        let slot = self.find(key)?;
        self.take(self.items.value(slot).place)
    }

    /// Takes the least object.
    pub(super) fn pop(&mut self) -> Option<(K, O)> {
        self.take(0)
    }

    /// Takes out the object at a place, and fills the place with the last object.
    fn take(&mut self, place: usize) -> Option<(K, O)> {
        let (taken, last) = (*self.nodes.get(place)?, *self.nodes.last()?);
        let left = self.nodes.len() - 1;
        let plan = (place < left).then(|| self.plan(place, self.object(last), left));
        self.nodes.pop();
        if let Some(plan) = plan {
            self.carry_out(place, last, plan);
        }
        let object = self.items.value_mut(taken).object.take();
        self.items.remove(taken).zip(object)
    }

    /// Finds the final place of an object that is put at a place among the first `len`.
    fn plan(&self, place: usize, object: &O, len: usize) -> Move {
        let mut up = place;
        while up > 0 {
            let parent = (up - 1) / 2;
            if !(self.less)(object, self.object(self.nodes[parent])) {
                break;
            }
            up = parent;
        }
        if up < place { Move::Up(up) } else { Move::Down(self.path_down(place, object, len)) }
    }

    /// Lists the places whose objects must move up when an object sinks from a place.
    fn path_down(&self, mut place: usize, object: &O, len: usize) -> Vec<usize> {
        let mut path = Vec::new();
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            if left >= len {
                return path;
            }
            let at = |place: usize| self.object(self.nodes[place]);
            let least = if right < len && (self.less)(at(right), at(left)) { right } else { left };
            if !(self.less)(at(least), object) {
                return path;
            }
            path.push(least);
            place = least;
        }
    }

    /// Moves a slot from a place to its final place, and moves the slots on the way.
    fn carry_out(&mut self, mut place: usize, slot: Slot, plan: Move) {
        match plan {
            Move::Up(end) => {
                while place > end {
                    let parent = (place - 1) / 2;
                    self.set(place, self.nodes[parent]);
                    place = parent;
                }
            }
            Move::Down(path) => {
                for child in path {
                    self.set(place, self.nodes[child]);
                    place = child;
                }
            }
        }
        self.set(place, slot);
    }

    fn set(&mut self, place: usize, slot: Slot) {
        self.nodes[place] = slot;
        self.items.value_mut(slot).place = place;
    }

    pub(super) fn close(&mut self, wakes: &mut Wakes) {
        self.closed = true;
        wakes.all(POPPERS);
    }

    /// Tells whether the heap is closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the object with a key.
    pub fn get(&self, key: &Hashed<K>) -> Option<&O> {
        self.find(key).map(|slot| self.object(slot))
    }

    /// Returns how many objects there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Tells whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Visits keys and objects, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &O)> {
        self.nodes.iter().map(|&slot| (self.items.item(slot).key(), self.object(slot)))
    }

    /// Checks `cache:HP-4`, and that no child comes before its parent.
    pub(super) fn check(&self) {
        assert_eq!(self.items.len(), self.nodes.len(), "what has a key has a node");
        for (place, &slot) in self.nodes.iter().enumerate() {
            assert_eq!(self.items.value(slot).place, place, "a slot knows its place");
            assert_eq!(self.items.find(self.items.item(slot)), Some(slot), "a key finds its slot");
            let parent = place.checked_sub(1).map(|above| self.object(self.nodes[above / 2]));
            let ordered = parent.is_none_or(|parent| !(self.less)(self.object(slot), parent));
            assert!(ordered, "no child comes before its parent");
        }
    }
}

impl<K: Key, O: Handle> fmt::Debug for HeapQueue<K, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeapQueue")
            .field("len", &self.len())
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}
