//! A heap, which finds the least of many nodes immediately.

use super::Chunked;

/// Children of a node. Four are in one or two cache lines and make the heap half as deep as two.
const CHILDREN: usize = 4;

/// The position of the first node. The gap before it keeps siblings side by side in one chunk.
pub(crate) const FIRST: u32 = CHILDREN as u32 - 1;

/// Nodes in heap order: none comes before its parent.
///
/// To track positions, pass `moved`: it is called whenever a node gets a position, not when one is
/// taken out.
#[derive(Clone, Debug)]
pub(crate) struct Heap<P>(Chunked<P>);

/// Returns the position of the parent of a node, which is not the first.
#[inline(always)]
fn parent(at: u32) -> u32 {
    at / CHILDREN as u32 + (FIRST - 1)
}

/// Returns the position of the first child of a node, if it may have any; the others follow.
#[inline(always)]
fn first_child(at: u32) -> Option<u32> {
    (at - (FIRST - 1)).checked_mul(CHILDREN as u32)
}

impl<P: Ord + Copy + Default> Heap<P> {
    pub(crate) const fn new() -> Self {
        Self(Chunked::new())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len().saturating_sub(FIRST as usize)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() <= FIRST as usize
    }

    /// Returns the least node.
    #[inline]
    pub(crate) fn first(&self) -> Option<&P> {
        self.get(FIRST)
    }

    /// Returns the node at a position.
    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&P> {
        debug_assert!(at >= FIRST, "there is no node before the first");
        self.0.get(at).filter(|_| (at as usize) < self.0.len())
    }

    /// Visits the positions and their nodes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &P)> {
        (0..).zip(self.0.iter()).skip(FIRST as usize)
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, node: P, mut moved: impl FnMut(&P, u32)) {
        if self.0.len() == 0 {
            self.0.reach(FIRST - 1);
        }
        let at = self.0.extend_by_one();
        self.rise(at, node, &mut moved);
    }

    /// Takes out a node.
    pub(crate) fn take(&mut self, at: u32, moved: impl FnMut(&P, u32)) -> Option<P> {
        let taken = *self.get(at)?;
        let last = self.0.pop()?;
        if (at as usize) < self.0.len() {
            self.set(at, last, moved);
        }
        Some(taken)
    }

    /// Replaces a node, and moves the new one to its place.
    pub(crate) fn set(&mut self, at: u32, node: P, mut moved: impl FnMut(&P, u32)) {
        let at = self.rise(at, node, &mut moved);
        self.sink(at, node, &mut moved);
    }

    #[inline(always)]
    fn rise(&mut self, mut at: u32, node: P, moved: &mut impl FnMut(&P, u32)) -> u32 {
        while at > FIRST {
            let above = self.0[parent(at)];
            if above <= node {
                break;
            }
            self.0[at] = above;
            moved(&above, at);
            at = parent(at);
        }
        self.0[at] = node;
        moved(&node, at);
        at
    }

    #[inline(always)]
    fn sink(&mut self, mut at: u32, node: P, moved: &mut impl FnMut(&P, u32)) {
        while let Some((below, least)) = self.least_child(at) {
            if least >= node {
                break;
            }
            self.0[at] = least;
            moved(&least, at);
            at = below;
        }
        self.0[at] = node;
        moved(&node, at);
    }

    /// Returns the child of a node that comes first, with its position.
    #[inline(always)]
    fn least_child(&self, at: u32) -> Option<(u32, P)> {
        let first = first_child(at)?;
        let there = self.0.len().checked_sub(first as usize + 1)?;
        let children = self.0.run::<CHILDREN>(first)?;
        let least = |(one, other): (usize, usize)| {
            if children[other] < children[one] { other } else { one }
        };
        let nth = match there {
            0 => 0,
            1 => least((0, 1)),
            2 => least((least((0, 1)), 2)),
            _ => least((least((0, 1)), least((2, 3)))),
        };
        Some((first + nth as u32, children[nth]))
    }

    /// Checks that no node comes before its parent (`workqueue:INV-12`).
    pub(crate) fn check(&self) {
        for (at, node) in self.iter().skip(1) {
            assert!(self.0[parent(at)] <= *node, "parents come first");
        }
    }
}

#[cfg(test)]
impl<P: Ord + Copy + Default> Heap<P> {
    fn pop(&mut self, moved: impl FnMut(&P, u32)) -> Option<P> {
        self.take(FIRST, moved)
    }

    /// Returns a node by its number, from zero, so that a test can break it.
    pub(crate) fn node_mut(&mut self, number: u32) -> &mut P {
        &mut self.0[FIRST + number]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quickcheck::quickcheck;

    use super::*;
    use crate::machine::single_step::each_is_noticed;

    quickcheck! {
        fn nodes_come_out_in_their_order(nodes: Vec<u8>) -> bool {
            let mut heap = Heap::new();
            nodes.iter().for_each(|node| heap.push(*node, |_, _| ()));
            heap.check();
            let mut left = nodes;
            left.sort_unstable();
            let out = std::iter::from_fn(|| {
                heap.check();
                assert_eq!(heap.first(), heap.iter().map(|(_, node)| node).min());
                heap.pop(|_, _| ())
            });
            out.eq(left)
        }

        /// A node has its number in the lower bits and its rank above, so a node is identified by
        /// its number.
        fn moved_tells_the_position_of_every_node(calls: Vec<(u8, u8)>) -> bool {
            let (mut heap, mut places) = (Heap::new(), BTreeMap::new());
            for (number, (rank, call)) in (0_u32..).zip(calls) {
                let node = u32::from(rank) << 16 | number;
                let mut moved = |node: &u32, at| _ = places.insert(*node, at);
                let at = FIRST + u32::from(call) % (heap.len() as u32 + 1);
                let gone = match call % 3 {
                    0 => heap.take(at, &mut moved),
                    1 if heap.get(at).is_some() => {
                        let gone = heap.get(at).copied();
                        heap.set(at, node, &mut moved);
                        gone
                    }
                    _ => {
                        heap.push(node, &mut moved);
                        None
                    }
                };
                gone.map(|gone| places.remove(&gone));
                heap.check();
                assert!(places.iter().all(|(node, at)| heap.get(*at) == Some(node)));
                assert_eq!(places.len(), heap.len());
            }
            true
        }
    }

    #[test]
    fn siblings_lie_in_one_chunk_and_know_their_parent() {
        let mut heap = Heap::new();
        (0..1_000).for_each(|node| heap.push(node, |_, _| ()));
        for at in FIRST..FIRST + 100 {
            let first = first_child(at).unwrap();
            assert!((first..first + CHILDREN as u32).all(|child| parent(child) == at));
            let siblings = heap.0.run::<CHILDREN>(first).unwrap();
            assert!((first..).zip(siblings).all(|(child, node)| heap.get(child) == Some(node)));
        }
        assert_eq!(first_child(u32::MAX / 2), None, "no node has so high a number");
    }

    #[test]
    fn a_heap_that_was_emptied_keeps_little() {
        let mut heap = Heap::new();
        (0..1_000).for_each(|node| heap.push(node, |_, _| ()));
        while heap.pop(|_, _| ()).is_some() {}
        assert_eq!((heap.len(), heap.is_empty(), heap.first()), (0, true, None));
        assert!(heap.0.room() < 200, "{}", heap.0.room());
    }

    #[test]
    fn a_heap_out_of_order_is_noticed() {
        let full = || {
            let mut heap = Heap::new();
            (0..6).for_each(|node| heap.push(node, |_, _| ()));
            heap
        };
        let breaks: [fn(&mut Heap<u8>); 2] =
            [|heap| *heap.node_mut(0) = 9, |heap| *heap.node_mut(5) = 0];
        each_is_noticed(full, breaks, |heap| heap.check());
    }
}
