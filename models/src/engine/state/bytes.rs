//! The form in which states are compared: bytes, each string of them kept once.

/// Collects what tells a state from others.
///
/// Numbers and lists say where they end, so two states whose parts are written in the same order
/// have equal bytes iff all their parts are equal.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    /// Appends a number.
    #[inline]
    pub fn number(&mut self, number: impl Into<u64>) {
        let mut left = number.into();
        while left >= 0x80 {
            self.0.push(left as u8 | 0x80);
            left >>= 7;
        }
        self.0.push(left as u8);
    }

    /// Appends a number that may be missing.
    #[inline]
    pub fn maybe(&mut self, number: Option<impl Into<u64>>) {
        match number {
            None => self.0.push(0),
            Some(number) => {
                self.0.push(1);
                self.number(number);
            }
        }
    }

    /// Appends a list: its length, then its members.
    pub fn list<T>(
        &mut self,
        members: impl ExactSizeIterator<Item = T>,
        mut append: impl FnMut(&mut Self, T),
    ) {
        self.number(members.len() as u64);
        members.for_each(|member| append(self, member));
    }

    /// Appends parts whose order does not matter: their number, then each of them, the least first.
    pub fn unordered<T>(
        &mut self,
        parts: impl Iterator<Item = T>,
        mut append: impl FnMut(&mut Self, T),
    ) {
        let (begin, mut lengths, mut count) = (self.0.len(), [0; MOST_PARTS], 0);
        self.0.push(0);
        for part in parts {
            let from = self.0.len();
            append(self, part);
            lengths[count] = self.0.len() - from;
            count += 1;
            self.settle(begin + 1, &mut lengths[..count]);
        }
        self.0[begin] = count as u8;
    }

    /// Moves the last of some parts, whose lengths are given, to its place among the others.
    fn settle(&mut self, begin: usize, lengths: &mut [usize]) {
        let Some((&mut length, others)) = lengths.split_last_mut() else { return };
        let last = self.0.len() - length;
        let (mut place, mut at) = (0, begin);
        for other in others.iter() {
            if self.0[at..at + other] > self.0[last..] {
                break;
            }
            at += other;
            place += 1;
        }
        self.0[at..].rotate_right(length);
        lengths[place..].rotate_right(1);
    }

    /// Forgets what was appended.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The most parts whose order does not matter.
const MOST_PARTS: usize = 64;

/// Strings of bytes, numbered in the order of their coming: an open hash table over one long
/// string that holds them all.
pub(super) struct Numbered {
    all: Vec<u8>,
    /// Where each string ends in `all`.
    ends: Vec<usize>,
    /// A part of the hash and the number plus one of a string; zero in a free place. A power of two
    /// of them, at most half of them used.
    table: Vec<(u32, u32)>,
}

impl Numbered {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), ends: Vec::new(), table: vec![(0, 0); 1024] }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of a string, and whether it is new.
    pub(super) fn meet(&mut self, bytes: &Bytes) -> (usize, bool) {
        let bytes = bytes.0.as_slice();
        let hash = hash(bytes);
        let (tag, mask) = ((hash >> 32) as u32, self.table.len() - 1);
        let mut place = hash as usize & mask;
        loop {
            match self.table[place] {
                (_, 0) => break,
                (same, number) if same == tag && self.string(number as usize - 1) == bytes => {
                    return (number as usize - 1, false);
                }
                _ => place = (place + 1) & mask,
            }
        }
        self.all.extend_from_slice(bytes);
        self.ends.push(self.all.len());
        let number = u32::try_from(self.ends.len()).expect("states are counted in 32 bits");
        self.table[place] = (tag, number);
        if self.ends.len() * 2 > self.table.len() {
            self.grow();
        }
        (number as usize - 1, true)
    }

    fn string(&self, number: usize) -> &[u8] {
        let begin = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.all[begin..self.ends[number]]
    }

    fn grow(&mut self) {
        let places = self.table.len() * 4;
        let mut table = vec![(0, 0); places];
        for number in 0..self.ends.len() {
            let hash = hash(self.string(number));
            let mut place = hash as usize & (places - 1);
            while table[place].1 != 0 {
                place = (place + 1) & (places - 1);
            }
            table[place] = ((hash >> 32) as u32, number as u32 + 1);
        }
        self.table = table;
    }
}

/// Multiplies and folds, eight bytes at a time. Whoever chooses the states gains nothing from
/// collisions: they only cost time.
fn hash(bytes: &[u8]) -> u64 {
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
    fold(fold(hash, u64::from_le_bytes(last)), FACTOR)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn lists_and_numbers_say_where_they_end() {
        let written = |write: &dyn Fn(&mut Bytes)| {
            let mut bytes = Bytes::default();
            write(&mut bytes);
            bytes
        };
        let lists = |lists: &[&[u64]]| {
            written(&|bytes| {
                for list in lists {
                    bytes.list(list.iter(), |bytes, number| bytes.number(*number));
                }
            })
        };
        assert_ne!(lists(&[&[1, 2], &[3]]), lists(&[&[1], &[2, 3]]));
        assert_ne!(lists(&[&[300]]), lists(&[&[172, 2]]));
        assert_ne!(
            written(&|bytes| bytes.maybe(None::<u64>)),
            written(&|bytes| bytes.maybe(Some(0_u64)))
        );
    }

    #[test]
    fn the_order_of_parts_does_not_matter_but_everything_else_does() {
        let written = |parts: &[&str]| {
            let mut bytes = Bytes::default();
            bytes.number(7_u8);
            bytes.unordered(parts.iter(), |bytes, part| {
                bytes.list(part.bytes(), |bytes, letter| bytes.number(letter));
            });
            bytes
        };
        let all = written(&["b", "", "aaaa", "b", "ab"]);
        assert_eq!(all, written(&["ab", "b", "aaaa", "b", ""]));
        assert_eq!(all, written(&["", "ab", "aaaa", "b", "b"]));
        for other in [&["b", "aaaa", "b", "ab"] as &[&str], &["b", "", "aaaa", "ab", "ab"]] {
            assert_ne!(all, written(other));
        }
        assert_ne!(written(&[]), written(&[""]));
    }

    #[test]
    fn every_string_keeps_its_number() {
        let (mut numbered, mut known) = (Numbered::new(), HashMap::new());
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut bytes = Bytes::default();
            bytes.list(
                (0..state >> 62).map(|n| (state >> 40) % 50 + n).collect::<Vec<_>>().iter(),
                |bytes, number| bytes.number(*number),
            );
            let next = known.len();
            let number = *known.entry(bytes.clone()).or_insert(next);
            assert_eq!(numbered.meet(&bytes), (number, number == next));
        }
        assert_eq!(numbered.len(), known.len());
        assert!(known.len() > 100);
    }
}
