//! A heap: the least of many nodes, at hand.

/// Children of a node. Four lie in one or two cache lines and make the heap half as deep as two.
const CHILDREN: usize = 4;

/// Nodes, of which none comes before its parent.
///
/// Whoever wants to find a node again has itself told where nodes stand: `stands` hears of every
/// node that was put somewhere. Nobody is told of one that was taken out.
#[derive(Clone, Debug)]
pub(crate) struct Heap<P>(Vec<P>);

impl<P: Ord + Copy> Heap<P> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the least.
    #[inline]
    pub(crate) fn first(&self) -> Option<&P> {
        self.0.first()
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&P> {
        self.0.get(at)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &P> {
        self.0.iter()
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, node: P, mut stands: impl FnMut(&P, usize)) {
        if self.0.len() == self.0.capacity() {
            self.make_room();
        }
        self.0.push(node);
        self.rise(self.0.len() - 1, node, &mut stands);
    }

    /// A quarter more: doubling would waste half at worst.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        self.0.reserve_exact((self.0.len() / 4).max(4));
    }

    /// Takes out a node.
    pub(crate) fn take(&mut self, at: usize, stands: impl FnMut(&P, usize)) -> Option<P> {
        let taken = *self.0.get(at)?;
        let last = self.0.pop()?;
        if at < self.0.len() {
            self.set(at, last, stands);
        }
        Some(taken)
    }

    /// Puts a node where another stands, and moves it to where it belongs.
    pub(crate) fn set(&mut self, at: usize, node: P, mut stands: impl FnMut(&P, usize)) {
        let at = self.rise(at, node, &mut stands);
        self.sink(at, node, &mut stands);
    }

    /// Takes out all nodes, in no order.
    pub(crate) fn drain(&mut self) -> Vec<P> {
        std::mem::take(&mut self.0)
    }

    /// Takes out all nodes but some.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&P) -> bool) {
        self.0.retain(keep);
        for at in (0..self.0.len().div_ceil(CHILDREN)).rev() {
            self.sink(at, self.0[at], &mut |_, _| ());
        }
    }

    #[inline(always)]
    fn rise(&mut self, mut at: usize, node: P, stands: &mut impl FnMut(&P, usize)) -> usize {
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.0[parent] <= node {
                break;
            }
            self.0[at] = self.0[parent];
            stands(&self.0[at], at);
            at = parent;
        }
        self.0[at] = node;
        stands(&node, at);
        at
    }

    #[inline(always)]
    fn sink(&mut self, mut at: usize, node: P, stands: &mut impl FnMut(&P, usize)) {
        while let Some(least) = self.least_child(at) {
            if self.0[least] >= node {
                break;
            }
            self.0[at] = self.0[least];
            stands(&self.0[at], at);
            at = least;
        }
        self.0[at] = node;
        stands(&node, at);
    }

    #[inline]
    fn least_child(&self, at: usize) -> Option<usize> {
        let first = at * CHILDREN + 1;
        let end = (first + CHILDREN).min(self.0.len());
        (first..end).min_by_key(|&child| self.0[child])
    }

    /// Checks that no node comes before its parent (`workqueue:INV-12`).
    pub(crate) fn check(&self) {
        for (at, node) in self.0.iter().enumerate().skip(1) {
            assert!(self.0[(at - 1) / CHILDREN] <= *node, "parents come first");
        }
    }
}

#[cfg(test)]
impl<P> Heap<P> {
    /// What stands there, to be broken.
    pub(crate) fn nodes_mut(&mut self) -> &mut [P] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quickcheck::quickcheck;

    use super::*;
    use crate::machine::by_hand::each_is_noticed;

    quickcheck! {
        fn nodes_come_out_in_their_order(nodes: Vec<u8>, odd: bool) -> bool {
            let mut heap = Heap::new();
            nodes.iter().for_each(|node| heap.push(*node, |_, _| ()));
            heap.check();
            let mut left = nodes;
            if odd {
                heap.retain(|node| node % 2 == 1);
                heap.check();
                left.retain(|node| node % 2 == 1);
            }
            left.sort_unstable();
            let out = std::iter::from_fn(|| {
                heap.check();
                assert_eq!(heap.first(), heap.iter().min());
                heap.take(0, |_, _| ())
            });
            out.eq(left)
        }

        /// Nodes are a number below and a rank above, so each is found by its number.
        fn whoever_listens_knows_where_nodes_stand(calls: Vec<(u8, u8)>) -> bool {
            let (mut heap, mut places) = (Heap::new(), BTreeMap::new());
            for (number, (rank, call)) in (0_u32..).zip(calls) {
                let node = u32::from(rank) << 16 | number;
                let mut stands = |node: &u32, at| _ = places.insert(*node, at);
                let at = usize::from(call) % (heap.len() + 1);
                let gone = match call % 3 {
                    0 => heap.take(at, &mut stands),
                    1 if at < heap.len() => {
                        let gone = heap.get(at).copied();
                        heap.set(at, node, &mut stands);
                        gone
                    }
                    _ => {
                        heap.push(node, &mut stands);
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
    fn a_heap_grows_seldom_and_by_a_quarter_at_most() {
        let (mut heap, mut capacities) = (Heap::new(), vec![]);
        for _ in 0..1_000 {
            heap.push(0, |_, _| ());
            assert!(heap.0.capacity() <= heap.len() + (heap.len() / 4).max(4));
            capacities.push(heap.0.capacity());
        }
        capacities.dedup();
        assert!(capacities.len() < 30, "{capacities:?}");
    }

    #[test]
    fn a_heap_out_of_order_is_noticed() {
        let full = || {
            let mut heap = Heap::new();
            (0..6).for_each(|node| heap.push(node, |_, _| ()));
            heap
        };
        let breaks: [fn(&mut Heap<u8>); 2] = [|heap| heap.0[0] = 9, |heap| heap.0[5] = 0];
        each_is_noticed(full, breaks, |heap| heap.check());
    }
}
