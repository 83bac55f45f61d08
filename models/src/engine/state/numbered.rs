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
    hash: u64,
    /// What was read ahead last: where to read next.
    ahead: usize,
}

impl Row {
    /// Appends the string that `write` writes.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Bytes)) {
        let begin = self.bytes.as_slice().len();
        write(&mut self.bytes);
        let bytes = self.bytes.as_slice();
        let hash = hash(&bytes[begin..]);
        self.parts.push(Part { begin, end: bytes.len(), hash, ahead: 0 });
    }

    /// Forgets all strings.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.parts.clear();
    }

    fn part(&self, nth: usize) -> (&[u8], u64) {
        let Part { begin, end, hash, .. } = self.parts[nth];
        (&self.bytes.as_slice()[begin..end], hash)
    }
}

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

    /// Reads what it takes to find each string of a row. To find them one by one is to wait for the
    /// memory three times for each; here all wait at once.
    pub(super) fn look_ahead(&self, row: &mut Row) {
        let mask = self.table.len() - 1;
        for part in &mut row.parts {
            part.ahead = self.table[part.hash as usize & mask].1 as usize;
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
        let (bytes, hash) = row.part(nth);
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
        &self.all[self.begin(number)..self.ends[number]]
    }

    fn begin(&self, number: usize) -> usize {
        number.checked_sub(1).map_or(0, |before| self.ends[before])
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
            let mut row = Row::default();
            row.push(|into| *into = bytes.clone());
            numbered.look_ahead(&mut row);
            assert_eq!(numbered.meet(&row, 0), (number, number == next));
        }
        assert_eq!(numbered.len(), known.len());
        assert!(known.len() > 100);
    }
}
