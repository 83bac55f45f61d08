//! Every string of bytes kept once, under a number.

use std::hint::black_box;

use super::Bytes;

/// Strings of bytes in a row, and their hashes.
#[derive(Default)]
pub(super) struct Row {
    bytes: Bytes,
    parts: Vec<Part>,
}

struct Part {
    begin: usize,
    end: usize,
    /// Its hash.
    tag: u32,
    /// The position to read next, from the last read ahead.
    ahead: usize,
}

impl Row {
    /// Appends the string that `write` writes.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Bytes)) {
        let begin = self.bytes.as_slice().len();
        write(&mut self.bytes);
        let bytes = self.bytes.as_slice();
        let tag = hash(&bytes[begin..]);
        self.parts.push(Part { begin, end: bytes.len(), tag, ahead: 0 });
    }

    /// Forgets all strings.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.parts.clear();
    }

    fn part(&self, nth: usize) -> (&[u8], u32) {
        let Part { begin, end, tag, .. } = self.parts[nth];
        (&self.bytes.as_slice()[begin..end], tag)
    }
}

/// Strings of bytes, numbered in the order of their coming: an open hash table over one long
/// string that holds them all.
pub(super) struct Numbered {
    all: Vec<u8>,
    /// The end of each string in `all`.
    ends: Vec<usize>,
    /// The hash and the number plus one of a string; zero in a free place. A power of two of them,
    /// at most two thirds of them used.
    table: Vec<(u32, u32)>,
}

impl Numbered {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), ends: Vec::new(), table: vec![(0, 0); 1024] }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Reads the memory that a lookup of each string of a row needs. Lookups one by one would wait
    /// for the memory three times for each string; here the waits overlap.
    pub(super) fn look_ahead(&self, row: &mut Row) {
        for part in &mut row.parts {
            part.ahead = self.table[self.home(part.tag)].1 as usize;
        }
        for part in &mut row.parts {
            part.ahead = self.begin(part.ahead.saturating_sub(1));
        }
        let mut seen = 0;
        for Part { begin, end, ahead, .. } in &row.parts {
            let last = (ahead + end).saturating_sub(begin + 1);
            seen ^= self.all.get(*ahead).unwrap_or(&0) ^ self.all.get(last).unwrap_or(&0);
        }
        black_box(seen);
    }

    /// Returns the number of a string of a row, and whether it is new.
    pub(super) fn meet(&mut self, row: &Row, nth: usize) -> (usize, bool) {
        let (bytes, tag) = row.part(nth);
        let mut place = self.home(tag);
        loop {
            match self.table[place] {
                (_, 0) => break,
                (same, number) if same == tag && self.string(number as usize - 1) == bytes => {
                    return (number as usize - 1, false);
                }
                _ => place = self.behind(place),
            }
        }
        self.all.extend_from_slice(bytes);
        self.ends.push(self.all.len());
        let number = u32::try_from(self.ends.len()).expect("states are counted in 32 bits");
        self.table[place] = (tag, number);
        if self.ends.len() * 3 > self.table.len() * 2 {
            self.grow();
        }
        (number as usize - 1, true)
    }

    /// Returns where the search for a string begins.
    fn home(&self, tag: u32) -> usize {
        tag as usize & (self.table.len() - 1)
    }

    /// Returns where a search goes on.
    fn behind(&self, place: usize) -> usize {
        (place + 1) & (self.table.len() - 1)
    }

    fn string(&self, number: usize) -> &[u8] {
        &self.all[self.begin(number)..self.ends[number]]
    }

    fn begin(&self, number: usize) -> usize {
        number.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// Doubles the table. Its places are visited in order, and each number goes to its old place or
    /// half a table further, so memory is gone through in two rows.
    fn grow(&mut self) {
        let places = self.table.len() * 2;
        for (tag, number) in std::mem::replace(&mut self.table, vec![(0, 0); places]) {
            if number != 0 {
                let mut place = self.home(tag);
                while self.table[place].1 != 0 {
                    place = self.behind(place);
                }
                self.table[place] = (tag, number);
            }
        }
    }
}

/// Multiplies and folds, eight bytes at a time. Collisions only cost time, so a hash that resists
/// chosen input is not needed.
fn hash(bytes: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let fold = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let mut words = bytes.chunks_exact(8);
    let mut hash = FACTOR ^ bytes.len() as u64;
    for word in words.by_ref() {
        hash = fold(hash, u64::from_le_bytes(word.try_into().expect("eight bytes")));
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    fold(fold(hash, u64::from_le_bytes(last)), FACTOR) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::ops::Range;

    use super::*;

    #[test]
    fn every_string_keeps_its_number() {
        let (mut numbered, mut known) = (Numbered::new(), HashMap::new());
        let mut state = 1_u64;
        let mut row = Row::default();
        for _ in 0..10_000 {
            row.clear();
            let strings: Vec<_> = (0..=state >> 61).map(|_| numbers(&mut state)).collect();
            for string in &strings {
                row.push(|bytes| string.clone().for_each(|number| bytes.number(number)));
            }
            numbered.look_ahead(&mut row);
            for (nth, string) in strings.into_iter().enumerate() {
                let next = known.len();
                let number = *known.entry(string).or_insert(next);
                assert_eq!(numbered.meet(&row, nth), (number, number == next));
            }
        }
        assert_eq!(numbered.len(), known.len());
        assert!(known.len() > 4_096, "the table has grown");
    }

    #[test]
    fn strings_of_one_hash_are_told_apart() {
        let (mut numbered, mut row) = (Numbered::new(), Row::default());
        (0..3_u64).for_each(|number| row.push(|bytes| bytes.number(number)));
        row.parts.iter_mut().for_each(|part| part.tag = u32::MAX); // which wants the last place
        for expected in [[(0, true), (1, true), (2, true)], [(0, false), (1, false), (2, false)]] {
            numbered.look_ahead(&mut row);
            assert_eq!([0, 1, 2].map(|nth| numbered.meet(&row, nth)), expected);
            numbered.grow();
        }
    }

    fn numbers(state: &mut u64) -> Range<u64> {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (length, first) = (1 + (*state >> 62), (*state >> 40) % 3_000);
        first..first + length
    }
}
