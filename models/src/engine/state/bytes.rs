//! The form in which states are compared: bytes, each string of them kept once.

use super::parts::Parts;

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
    #[inline]
    pub fn list<T>(
        &mut self,
        members: impl ExactSizeIterator<Item = T>,
        mut append: impl FnMut(&mut Self, T),
    ) {
        self.number(members.len() as u64);
        members.for_each(|member| append(self, member));
    }

    /// Appends parts whose order does not matter: their number, then each of them, the least first.
    #[inline]
    pub fn unordered<T>(
        &mut self,
        parts: impl Iterator<Item = T>,
        mut append: impl FnMut(&mut Self, T),
    ) {
        self.0.push(0);
        let begin = self.0.len();
        let mut row = Parts::new();
        for part in parts {
            append(self, part);
            row.push(self.0.len() - begin);
        }
        self.0[begin - 1] = row.count();
        row.arrange(&mut self.0, begin);
    }

    /// Forgets what was appended.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
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
}
