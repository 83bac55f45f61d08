//! Parts of a string of bytes whose order does not matter: written as they come, then arranged.

use std::ops::Range;

/// The most parts in a row.
const MOST: usize = 32;

/// How many bytes of a part stand in its word.
const BEGINNING: usize = 15;

/// Parts that lie one behind the other at the end of a string, and the order they belong in.
///
/// The beginning of a part is a number, and most parts have no more: numbers are compared and
/// copied faster than bytes.
pub(super) struct Parts {
    /// The beginning of each part, and in the last byte which one it is: the least first.
    words: [u128; MOST],
    /// Where each part ends, in the order of their coming.
    ends: [u16; MOST + 1],
    count: usize,
    /// Whether the parts lie where they belong.
    is_arranged: bool,
    /// Whether no part goes on behind its beginning.
    is_short: bool,
}

impl Parts {
    #[inline]
    pub(super) fn new() -> Self {
        Self {
            words: [0; MOST],
            ends: [0; MOST + 1],
            count: 0,
            is_arranged: true,
            is_short: true,
        }
    }

    #[inline]
    pub(super) fn count(&self) -> u8 {
        self.count as u8
    }

    /// Takes in what was appended to `all` since the last part. The first part lies at `begin`.
    #[inline]
    pub(super) fn settle_last(&mut self, all: &mut Vec<u8>, begin: usize) {
        let (from, end) = (begin + usize::from(self.ends[self.count]), all.len());
        self.ends[self.count + 1] = u16::try_from(end - begin).expect("parts are short");
        let word = beginning(all, from) | self.count as u128;
        let mut place = self.count;
        while place > 0 && self.is_before(word, self.words[place - 1], &all[begin..]) {
            self.words[place] = self.words[place - 1];
            place -= 1;
        }
        self.words[place] = word;
        self.is_arranged &= place == self.count;
        self.is_short &= end - from <= BEGINNING;
        self.count += 1;
    }

    #[inline]
    fn is_before(&self, word: u128, other: u128, parts: &[u8]) -> bool {
        if word >> 8 != other >> 8 {
            return word < other;
        }
        parts[self.range(word)] < parts[self.range(other)]
    }

    /// Puts the parts into their order.
    #[inline]
    pub(super) fn arrange(&self, all: &mut Vec<u8>, begin: usize) {
        let words = &self.words[..self.count];
        if self.is_arranged {
            return;
        }
        if !self.is_short {
            return self.arrange_long(all, begin);
        }
        all.truncate(begin);
        for word in words {
            let end = all.len() + self.range(*word).len();
            all.extend_from_slice(&word.to_be_bytes());
            all.truncate(end);
        }
    }

    fn arrange_long(&self, all: &mut Vec<u8>, begin: usize) {
        let end = all.len();
        for word in &self.words[..self.count] {
            let part = self.range(*word);
            all.extend_from_within(begin + part.start..begin + part.end);
        }
        all.copy_within(end.., begin);
        all.truncate(end);
    }

    /// Returns where a part lies.
    #[inline]
    fn range(&self, word: u128) -> Range<usize> {
        let nth = usize::from(word as u8);
        usize::from(self.ends[nth])..usize::from(self.ends[nth + 1])
    }
}

/// Reads the beginning of the last part; behind its end there are zeros, as in the last byte.
#[inline]
fn beginning(all: &mut Vec<u8>, from: usize) -> u128 {
    let end = all.len();
    all.extend_from_slice(&[0; BEGINNING]);
    let mut word = [0; BEGINNING + 1];
    word[..BEGINNING].copy_from_slice(&all[from..from + BEGINNING]);
    all.truncate(end);
    u128::from_be_bytes(word)
}
