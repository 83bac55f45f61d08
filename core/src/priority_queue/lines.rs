//! The ready entries in their order, once there are several (see [`Order`](super::order::Order)).
//!
//! Nearly every entry comes behind its equals, so each priority has a line, linked through the
//! slots: to join one, to leave it and to take its first cost the same however long it is. An
//! entry that kept an old sequence, or whose priority is one too many, goes to a heap, which takes
//! anything; the first of all is the first of the lines or the first of the heap.

use std::cmp::Reverse;

use crate::slab::{Chunked, Slot, SlotHeap};

use super::places::Ready;

/// How many priorities have a line: as many as there are bits to say which are taken.
const LINES: usize = u64::BITS as usize;

/// Ends a line.
const NONE: u32 = u32::MAX;

/// The ready entries of unlocked items.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// By rising priority. Empty ones stay as long as there is room for others.
    lines: Vec<Line>,
    /// Where the line of a priority was found last, by the lowest bits of the priority.
    seen: [u8; LINES],
    /// In which lines somebody stands, a bit for each.
    taken: u64,
    /// Under the number of a slot.
    nodes: Chunked<Node>,
    in_lines: usize,
    others: SlotHeap<Ready>,
}

/// The entries of one priority, by rising sequence.
#[derive(Clone, Copy, Debug)]
struct Line {
    priority: i32,
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Names another slot if this one stands in no line.
    place: Ready,
    before: u32,
    after: u32,
}

impl Default for Node {
    fn default() -> Self {
        Self { place: Ready::default(), before: NONE, after: NONE }
    }
}

impl Lines {
    pub(super) const fn new() -> Self {
        Self {
            lines: Vec::new(),
            seen: [0; LINES],
            taken: 0,
            nodes: Chunked::new(),
            in_lines: 0,
            others: SlotHeap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.in_lines + self.others.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.in_lines == 0 && self.others.is_empty()
    }

    /// Returns the place of a slot.
    pub(super) fn get(&self, slot: Slot) -> Option<&Ready> {
        self.in_line(slot).map(|node| &node.place).or_else(|| self.others.get(slot))
    }

    /// Takes in a slot that is not there.
    #[inline(always)]
    pub(super) fn push(&mut self, place: Ready) {
        match self.line_for(place.priority.0) {
            Some(at) if self.comes_last(at, place) => self.append(at, place),
            _ => self.push_other(place.priority, place.sequence, place.slot),
        }
    }

    /// In pieces: what is handed over whole is put together in memory, and whoever copies it from
    /// there waits until all of it has arrived.
    #[inline(never)]
    fn push_other(&mut self, priority: Reverse<i32>, sequence: u64, slot: Slot) {
        self.others.push(Ready { priority, sequence, slot });
    }

    /// Gives a slot that is there another place.
    pub(super) fn replace(&mut self, place: Ready) {
        if self.in_line(place.slot).is_some() {
            self.leave(place.slot);
        } else {
            self.others.remove(place.slot);
        }
        self.push(place);
    }

    /// Takes out the first.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Ready> {
        let Some(at) = self.taken.checked_ilog2() else { return self.others.pop() };
        let line = &mut self.lines[at as usize];
        let node = &mut self.nodes[line.first];
        let Node { place, after, .. } = *node;
        if self.others.first().is_some_and(|other| *other < place) {
            return self.others.pop();
        }
        node.place.slot = Slot(NONE);
        line.first = after;
        match after {
            NONE => {
                line.last = NONE;
                self.taken &= !(1 << at);
            }
            after => self.nodes[after].before = NONE,
        }
        self.in_lines -= 1;
        Some(place)
    }

    /// Returns the slots that stand in the first line.
    #[inline]
    pub(super) fn upcoming(&self) -> impl Iterator<Item = Slot> {
        let line = self.taken.checked_ilog2().map(|at| self.lines[at as usize]);
        let slot = |at: u32| (at != NONE).then_some(at);
        let first = line.and_then(|line| slot(line.first));
        std::iter::successors(first, move |at| slot(self.nodes[*at].after)).map(Slot)
    }

    #[inline]
    fn in_line(&self, slot: Slot) -> Option<&Node> {
        self.nodes.get(slot.0).filter(|node| node.place.slot == slot)
    }

    /// Returns the line of a priority, a new one if there is room.
    #[inline]
    fn line_for(&mut self, priority: i32) -> Option<usize> {
        let seen = usize::from(self.seen[priority as usize % LINES]);
        if self.lines.get(seen).is_some_and(|line| line.priority == priority) {
            return Some(seen);
        }
        self.search(priority)
    }

    /// As [`line_for`](Self::line_for), for a line that is not where it was seen last.
    #[inline(never)]
    fn search(&mut self, priority: i32) -> Option<usize> {
        let at = match self.find(priority) {
            Ok(at) => at,
            Err(vacant) => self.new_line(priority, vacant)?,
        };
        self.seen[priority as usize % LINES] = at as u8;
        Some(at)
    }

    #[cold]
    fn new_line(&mut self, priority: i32, mut vacant: usize) -> Option<usize> {
        if self.lines.len() == LINES {
            self.lines.retain(|line| line.first != NONE);
            self.taken = 1_u64.checked_shl(self.lines.len() as u32).unwrap_or(0).wrapping_sub(1);
            vacant = self.find(priority).unwrap_err();
        }
        if self.lines.len() == LINES {
            return None;
        }
        self.lines.insert(vacant, Line { priority, first: NONE, last: NONE });
        let below = (1 << vacant) - 1;
        self.taken = self.taken & below | (self.taken & !below) << 1;
        Some(vacant)
    }

    #[inline]
    fn find(&self, priority: i32) -> Result<usize, usize> {
        self.lines.binary_search_by_key(&priority, |line| line.priority)
    }

    #[inline]
    fn comes_last(&self, at: usize, place: Ready) -> bool {
        let last = self.lines[at].last;
        last == NONE || self.nodes[last].place < place
    }

    #[inline(always)]
    fn append(&mut self, at: usize, place: Ready) {
        let slot = place.slot.0;
        let line = &mut self.lines[at];
        let before = std::mem::replace(&mut line.last, slot);
        *self.nodes.reach(slot) = Node { place, before, after: NONE };
        match before {
            NONE => line.first = slot,
            before => self.nodes[before].after = slot,
        }
        self.taken |= 1 << at;
        self.in_lines += 1;
    }

    /// Takes a slot that stands in a line out of it.
    fn leave(&mut self, slot: Slot) {
        let Node { place, before, after } = std::mem::take(&mut self.nodes[slot.0]);
        if before == NONE || after == NONE {
            let at = self.find(place.priority.0).expect("a line lasts as long as it is not empty");
            let line = &mut self.lines[at];
            if before == NONE {
                line.first = after;
            }
            if after == NONE {
                line.last = before;
            }
            if before == after {
                self.taken &= !(1 << at); // it stood alone
            }
        }
        if before != NONE {
            self.nodes[before].after = after;
        }
        if after != NONE {
            self.nodes[after].before = before;
        }
        self.in_lines -= 1;
    }

    /// Checks that the lines are in order and hold what they count (`workqueue:INV-19`).
    pub(super) fn check(&self) {
        assert!(self.lines.len() <= LINES && self.lines.is_sorted_by_key(|line| line.priority));
        let mut found = 0;
        for (index, line) in self.lines.iter().enumerate() {
            let taken = self.taken >> index & 1 == 1;
            assert_eq!(taken, line.first != NONE, "a line is taken if somebody stands in it");
            let (mut before, mut at) = (NONE, line.first);
            while at != NONE {
                let node = self.nodes[at];
                assert_eq!(node.place.slot.0, at, "who stands in a line has a place");
                assert_eq!(node.place.priority.0, line.priority, "a line is of one priority");
                assert_eq!(node.before, before, "a line can be walked both ways");
                let follows = before == NONE || self.nodes[before].place < node.place;
                assert!(follows, "who came first stands first");
                assert!(self.others.get(node.place.slot).is_none(), "an entry is in one place");
                (before, at, found) = (at, node.after, found + 1);
            }
            assert_eq!(line.last, before, "a line knows its last");
        }
        assert_eq!(found, self.in_lines, "the lines count what they hold");
        self.others.check();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quickcheck::quickcheck;

    use super::*;
    use crate::machine::by_hand::each_is_noticed;

    fn place((priority, sequence): (i32, u64), slot: u32) -> Ready {
        Ready { priority: Reverse(priority), sequence, slot: Slot(slot) }
    }

    /// Takes all that is there.
    fn all(lines: &mut Lines) -> Vec<Ready> {
        std::iter::from_fn(|| lines.pop()).collect()
    }

    /// As many lines as there can be, with one entry each.
    fn full() -> Lines {
        let mut lines = Lines::new();
        for slot in 0..LINES as u32 {
            lines.push(place((slot as i32, 1), slot));
        }
        lines
    }

    /// Calls as `(kind, slot, priority, how old a sequence it keeps)`.
    fn agrees(calls: Vec<(u8, u8, u8, u8)>, priorities: u8) -> bool {
        let (mut lines, mut map) = (Lines::new(), BTreeMap::new());
        let first = |map: &BTreeMap<u32, Ready>| map.values().min().copied();
        for (now, (call, slot, priority, age)) in (1_000..).zip(calls) {
            let slot = u32::from(slot % 100);
            if call % 3 == 0 {
                let taken = lines.pop();
                assert_eq!(taken, first(&map));
                taken.map(|place| map.remove(&place.slot.0));
            } else {
                let old = if age % 4 == 0 { u64::from(age) } else { 0 };
                let place = place((i32::from(priority % priorities), now - old), slot);
                match map.insert(slot, place) {
                    Some(_) => lines.replace(place),
                    None => lines.push(place),
                }
            }
            lines.check();
            assert_eq!(lines.len(), map.len());
            assert!((0..100).all(|slot| lines.get(Slot(slot)) == map.get(&slot)));
        }
        let mut left: Vec<_> = map.into_values().collect();
        left.sort_unstable();
        all(&mut lines) == left
    }

    quickcheck! {
        fn few_priorities_come_in_the_order_of_a_sorted_map(calls: Vec<(u8, u8, u8, u8)>) -> bool {
            agrees(calls, 3)
        }

        fn many_priorities_come_in_the_order_of_a_sorted_map(calls: Vec<(u8, u8, u8, u8)>) -> bool {
            agrees(calls, u8::MAX)
        }
    }

    #[test]
    fn more_priorities_than_lines_are_handed_out_in_order() {
        let mut lines = Lines::new();
        for slot in 0..3 * LINES as u32 {
            lines.push(place((slot as i32 * 7 % 200, u64::from(slot)), slot));
        }
        assert_eq!((lines.lines.len(), lines.others.len()), (LINES, 2 * LINES));
        lines.check();
        let taken = all(&mut lines);
        assert!(taken.len() == 3 * LINES && taken.is_sorted(), "{taken:?}");
    }

    #[test]
    fn who_found_no_line_comes_when_the_lines_are_empty() {
        let mut lines = full();
        lines.push(place((-1, 2), LINES as u32));
        assert_eq!((lines.in_lines, lines.others.len()), (LINES, 1));
        let taken = all(&mut lines);
        assert!(taken.len() == LINES + 1 && taken.is_sorted(), "{taken:?}");
        assert_eq!(lines.len(), 0);
    }

    #[test]
    fn a_line_that_emptied_below_others_makes_room() {
        let mut lines = full();
        lines.replace(place((LINES as i32 - 1, 2), 0)); // the lowest line is empty now
        lines.push(place((-1, 3), LINES as u32));
        assert_eq!(lines.others.len(), 0);
        lines.check();
    }

    #[test]
    fn room_is_made_for_a_line_above_the_one_that_emptied() {
        let mut lines = full();
        lines.replace(place((LINES as i32 - 1, 2), 0));
        lines.push(place((LINES as i32, 3), LINES as u32));
        assert_eq!(lines.others.len(), 0);
        lines.check();
        assert_eq!(lines.pop(), Some(place((LINES as i32, 3), LINES as u32)));
    }

    #[test]
    fn several_lines_that_emptied_make_room_at_once() {
        let mut lines = full();
        for slot in 0..3 {
            lines.replace(place((LINES as i32 - 1, 2), slot));
        }
        lines.push(place((-1, 3), LINES as u32));
        assert_eq!((lines.lines.len(), lines.others.len()), (LINES - 2, 0));
        lines.check();
        let taken = all(&mut lines);
        assert!(taken.len() == LINES + 1 && taken.is_sorted(), "{taken:?}");
    }

    #[test]
    fn a_line_that_is_wrong_is_noticed() {
        let breaks: [fn(&mut Lines); 6] = [
            |lines| lines.lines.swap(1, 2),
            |lines| lines.taken = 0,
            |lines| lines.nodes[4].before = 3,
            |lines| lines.nodes[4].place.priority = Reverse(5),
            |lines| lines.lines[4].last = 3,
            |lines| lines.in_lines += 1,
        ];
        each_is_noticed(full, breaks, Lines::check);
    }
    #[test]
    fn those_in_the_first_line_are_upcoming() {
        let upcoming = |lines: &Lines| lines.upcoming().map(|slot| slot.0).collect::<Vec<_>>();
        let mut lines = Lines::new();
        assert_eq!(upcoming(&lines), []);
        for (slot, priority) in [(4, 1), (1, 2), (7, 2), (2, 1), (3, 2)] {
            lines.push(place((priority, u64::from(slot) + 10), slot));
        }
        assert_eq!(upcoming(&lines), [1, 7], "one kept an older sequence and stands in no line");
    }
}
