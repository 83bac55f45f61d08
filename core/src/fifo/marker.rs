//! Marks: small hashes that say whether two objects may have the same key.

use std::hash::{Hash, Hasher};

use crate::store::KeyHasher;

/// Marks keys. Objects are named by strangers, who must not be able to give many the same mark, so
/// it is keyed, and all bytes of a key count.
///
/// A mark is computed in every call of a producer that computes nothing else, so it is a few
/// multiplications and no call: tables have a better hash, and one that costs three times as much.
#[derive(Clone, Copy)]
pub(crate) struct Marker([u64; 2]);

/// What was written so far.
struct Folding {
    state: u64,
    secret: u64,
}

impl Marker {
    pub(crate) fn new(hasher: &KeyHasher) -> Self {
        Self([hasher.secret(0), hasher.secret(1)])
    }

    #[inline(always)]
    pub(crate) fn mark<K: Hash + ?Sized>(self, key: &K) -> u32 {
        let [state, secret] = self.0;
        let mut folding = Folding { state, secret };
        key.hash(&mut folding);
        (folding.state ^ (folding.state >> 32)) as u32
    }
}

impl Folding {
    /// Takes in two numbers: all bits of both move all bits of the state.
    #[inline(always)]
    fn fold(&mut self, first: u64, second: u64) {
        let product = u128::from(first ^ self.state) * u128::from(second ^ self.secret);
        self.state = product as u64 ^ (product >> 64) as u64;
    }
}

/// Returns eight bytes as a number.
#[inline(always)]
fn eight(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight))
}

impl Hasher for Folding {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        // The last sixteen bytes may be read twice: their number tells keys apart then. It is folded
        // in: the first bytes could make up for a number that only changes some bits of the state.
        self.fold(bytes.len() as u64, 0);
        let (pieces, rest) = bytes.as_chunks::<16>();
        for piece in pieces {
            self.fold(eight(piece, 0), eight(piece, 8));
        }
        match bytes.last_chunk::<16>() {
            _ if rest.is_empty() => {}
            Some(last) => self.fold(eight(last, 0), eight(last, 8)),
            None if rest.len() >= 8 => self.fold(eight(rest, 0), eight(rest, rest.len() - 8)),
            None => {
                let number = rest.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
                self.fold(number, 0);
            }
        }
    }

    /// Ends every string.
    #[inline(always)]
    fn write_u8(&mut self, byte: u8) {
        self.fold(byte.into(), 0);
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
    fn names_that_differ_little_have_different_marks() {
        const NAMES: usize = 50_000;
        let marker = marker(2);
        let names = (0..NAMES).map(|number| format!("namespace-{}/web-{number}", number % 10));
        let marks: BTreeSet<u32> = names.map(|name| marker.mark(&name)).collect();
        assert!(marks.len() > NAMES - 5, "{} of {NAMES}", marks.len());
        let numbers: BTreeSet<u32> = (0..NAMES as u64).map(|number| marker.mark(&number)).collect();
        assert!(numbers.len() > NAMES - 5, "{} of {NAMES}", numbers.len());
    }

    #[test]
    fn equal_keys_have_equal_marks_in_one_queue_and_others_in_another() {
        let (one, other) = (marker(3), marker(4));
        assert_eq!(one.mark("default/web"), one.mark(&String::from("default/web")));
        assert_ne!(one.mark("default/web"), other.mark("default/web"));
        assert_ne!(one.mark(&("a", "bc")), one.mark(&("ab", "c")));
    }
}
