//! Marks: small hashes that say whether two objects may have the same key.

use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;

use crate::store::KeyHasher;

/// The mark of a key. Small, because every event carries one: of a thousand different keys two have
/// the same mark once in four thousand times, and then the keys themselves are compared.
pub(crate) type Mark = NonZeroU32;

/// Marks keys. Objects are named by strangers, who must not be able to give many the same mark, so
/// it is keyed, and all bytes of a key count.
///
/// Where batches are taken, a mark is computed in every call of a producer, under the lock. So it is
/// two or three multiplications and no call: tables have a better hash, which costs three times as
/// much.
#[derive(Clone, Copy)]
pub(crate) struct Marker([u64; 2]);

/// What was written so far, and an odd secret: multiplying by it loses nothing.
#[derive(Clone, Copy)]
struct Folding {
    state: u64,
    secret: u64,
}

impl Marker {
    pub(crate) fn new(hasher: &KeyHasher) -> Self {
        Self([hasher.secret(0), hasher.secret(1) | 1])
    }

    #[inline(always)]
    pub(crate) fn mark<K: Hash + ?Sized>(self, key: &K) -> Mark {
        let [state, secret] = self.0;
        let mut folding = Folding { state, secret };
        key.hash(&mut folding);
        // The upper half: only it is moved by all bits of what was multiplied last.
        Mark::MIN | (folding.state >> 32) as u32
    }
}

impl Folding {
    /// Takes in two numbers: all bits of both move all bits of the state.
    #[inline(always)]
    fn fold(&mut self, first: u64, second: u64) {
        let product = u128::from(first ^ self.state) * u128::from(second ^ self.secret);
        self.state = product as u64 ^ (product >> 64) as u64;
    }

    /// Takes in up to 32 bytes, at least sixteen.
    #[inline(always)]
    fn fold_ends(&mut self, bytes: &[u8]) {
        let end = bytes.len();
        self.fold(eight(bytes, 0), eight(bytes, 8));
        self.fold(eight(bytes, end - 16), eight(bytes, end - 8));
    }

    /// Takes in fewer than eight bytes, or more than 32. Apart, so that what marks most keys is
    /// short enough for the compiler to put it where the key is.
    #[inline(never)]
    fn with_few_or_many(mut self, bytes: &[u8]) -> Self {
        let mut rest = bytes;
        while rest.len() > 32 {
            self.fold(eight(rest, 0), eight(rest, 8));
            rest = &rest[16..];
        }
        if rest.len() >= 16 {
            self.fold_ends(rest);
        } else {
            let number = rest.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            self.fold(number, 0);
        }
        self
    }
}

/// Returns eight bytes as a number.
#[inline(always)]
fn eight(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight))
}

impl Hasher for Folding {
    /// Some bytes may be taken in twice: their number tells keys apart then.
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        match bytes.len() {
            16..=32 => self.fold_ends(bytes),
            8..16 => self.fold(eight(bytes, 0), eight(bytes, bytes.len() - 8)),
            _ => *self = self.with_few_or_many(bytes),
        }
        self.state ^= bytes.len() as u64;
    }

    /// Ends every string.
    #[inline(always)]
    fn write_u8(&mut self, byte: u8) {
        self.state = (self.state ^ u64::from(byte)).wrapping_mul(self.secret);
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn marker(seed: u64) -> Marker {
        Marker::new(&KeyHasher::fixed(seed))
    }

    #[test]
    fn every_byte_of_a_key_and_their_number_count() {
        // As names: a slice tells its length itself, a name only that it ends.
        let mark = |key: &[u8]| marker(1).mark(str::from_utf8(key).expect("letters"));
        let mut marks = BTreeSet::new();
        let mut keys = 0;
        for length in 0..70 {
            let mut key = vec![b'a'; length];
            keys += 1 + length;
            marks.insert(mark(&key));
            for at in 0..length {
                key[at] = b'b';
                marks.insert(mark(&key));
                key[at] = b'a';
            }
        }
        assert_eq!(marks.len(), keys);
    }

    #[test]
    fn short_names_have_different_marks() {
        let marker = marker(5);
        let letters = || 'a'..='z';
        let names = letters().flat_map(|a| letters().map(move |b| format!("{a}{b}")));
        let marks: BTreeSet<Mark> = names.map(|name| marker.mark(&name)).collect();
        assert_eq!(marks.len(), 26 * 26);
    }

    #[test]
    fn names_that_differ_little_have_different_marks() {
        const NAMES: usize = 50_000;
        let marker = marker(2);
        let names = (0..NAMES).map(|number| format!("namespace-{}/web-{number}", number % 10));
        let marks: BTreeSet<Mark> = names.map(|name| marker.mark(&name)).collect();
        assert!(marks.len() > NAMES - 5, "{} of {NAMES}", marks.len());
        let numbers: BTreeSet<Mark> =
            (0..NAMES as u64).map(|number| marker.mark(&number)).collect();
        assert!(numbers.len() > NAMES - 5, "{} of {NAMES}", numbers.len());
    }

    #[test]
    fn equal_keys_have_equal_marks_in_one_queue_and_others_in_another() {
        let (one, other) = (marker(3), marker(4));
        assert_eq!(one.mark("default/web"), one.mark(&String::from("default/web")));
        assert_ne!(one.mark("default/web"), other.mark("default/web"));
        assert_ne!(one.mark(&("a", "bc")), one.mark(&("ab", "c")));
        assert_ne!(one.mark(&(1_u8, 2_u8)), one.mark(&(2_u8, 1_u8)));
    }
}
