//! Parts of a string of bytes whose order does not matter: written as they come, then arranged.

use std::ops::Range;

/// The most parts in a row.
const MOST: usize = 32;

/// How many bytes of a part stand in its word.
const BEGINNING: usize = 7;

/// The positions of parts that were written one after the other.
///
/// The beginning of a part is kept as a number, and most parts consist of it alone: numbers are
/// compared and copied faster than bytes.
pub(super) struct Parts {
    /// The end of each part, counted from the start of the first part.
    ends: [u16; MOST + 1],
    count: usize,
    /// Whether no part goes on behind its beginning.
    are_short: bool,
}

impl Parts {
    #[inline]
    pub(super) fn new() -> Self {
        Self { ends: [0; MOST + 1], count: 0, are_short: true }
    }

    #[inline]
    pub(super) fn count(&self) -> u8 {
        self.count as u8
    }

    /// Takes in the next part, which ends so far behind where the first begins.
    #[inline]
    pub(super) fn push(&mut self, end: usize) {
        assert!(self.count < MOST, "at most {MOST} parts have no order");
        self.are_short &= end - usize::from(self.ends[self.count]) <= BEGINNING;
        self.count += 1;
        self.ends[self.count] = u16::try_from(end).expect("parts are short");
    }

    /// Puts the parts, which begin at `begin`, into their order.
    #[inline]
    pub(super) fn arrange(&self, all: &mut Vec<u8>, begin: usize) {
        if self.count < 2 {
            return;
        }
        let mut words = [0; MOST];
        let words = &mut words[..self.count];
        let end = all.len();
        all.extend_from_slice(&[0; BEGINNING + 1]);
        let mut is_arranged = true;
        for nth in 0..words.len() {
            let (parts, mut place) = (&all[begin..], nth);
            let word = self.word(parts, nth);
            while place > 0 && self.is_before(word, words[place - 1], parts) {
                words[place] = words[place - 1];
                place -= 1;
            }
            words[place] = word;
            is_arranged &= place == nth;
        }
        all.truncate(end);
        if !is_arranged {
            self.write(words, all, begin);
        }
    }

    /// Returns the beginning of a part, and in the last byte which one it is.
    #[inline]
    fn word(&self, parts: &[u8], nth: usize) -> u64 {
        let (from, end) = (usize::from(self.ends[nth]), usize::from(self.ends[nth + 1]));
        let mut word = [0; BEGINNING + 1];
        word.copy_from_slice(&parts[from..=from + BEGINNING]);
        let behind = u64::MAX >> (8 * (end - from).min(BEGINNING));
        u64::from_be_bytes(word) & !behind | nth as u64
    }

    #[inline]
    fn is_before(&self, word: u64, other: u64, parts: &[u8]) -> bool {
        if word >> 8 != other >> 8 {
            return word < other;
        }
        parts[self.range(word)] < parts[self.range(other)]
    }

    /// Writes the parts in the order of their words.
    #[inline]
    fn write(&self, words: &[u64], all: &mut Vec<u8>, begin: usize) {
        if !self.are_short {
            return self.write_long(words, all, begin);
        }
        all.truncate(begin);
        for word in words {
            let end = all.len() + self.range(*word).len();
            all.extend_from_slice(&word.to_be_bytes());
            all.truncate(end);
        }
    }

    fn write_long(&self, words: &[u64], all: &mut Vec<u8>, begin: usize) {
        let end = all.len();
        for word in words {
            let part = self.range(*word);
            all.extend_from_within(begin + part.start..begin + part.end);
        }
        all.copy_within(end.., begin);
        all.truncate(end);
    }

    /// Returns where a part lies.
    #[inline]
    fn range(&self, word: u64) -> Range<usize> {
        let nth = usize::from(word as u8);
        usize::from(self.ends[nth])..usize::from(self.ends[nth + 1])
    }
}
