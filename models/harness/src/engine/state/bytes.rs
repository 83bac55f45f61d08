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

    /// Appends numbers whose order does not matter: how many, then each of them, the least first.
    ///
    /// # Panics
    /// If there are more than sixty-four.
    #[inline]
    pub fn unordered_numbers(&mut self, numbers: impl Iterator<Item = u64>) {
        let (mut sorted, mut count) = ([0; 64], 0);
        for number in numbers {
            let mut place = count;
            while place > 0 && sorted[place - 1] > number {
                sorted[place] = sorted[place - 1];
                place -= 1;
            }
            sorted[place] = number;
            count += 1;
        }
        self.list(sorted[..count].iter(), |bytes, number| bytes.number(*number));
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
        let all = ["b", "", "aaaa", "b", "ab"];
        each_order_is_one(&all);
        for other in [["b", "aaaa", "b", "ab", "ab"], ["b", "", "aaaa", "ab", "ab"]] {
            assert_ne!(unordered(&all), unordered(&other));
        }
        assert_ne!(unordered(&all), unordered(&all[1..]));
        assert_ne!(unordered(&[]), unordered(&[""]));
    }

    #[test]
    fn parts_may_be_long_and_differ_late() {
        each_order_is_one(&["aaaaaaaa", "aaaaaaab", "aaaaaaa", "b", "aaaaaaaaaaaaaaaaaaa"]);
        assert_ne!(
            unordered(&["aaaaaaaa", "aaaaaaab", "b"]),
            unordered(&["aaaaaaaa", "aaaaaaac", "b"])
        );
        let ends_in_zeros = [vec![1], vec![1, 0], vec![1, 0, 0], vec![0]];
        let written = |order: [usize; 4]| {
            let mut bytes = Bytes::default();
            bytes.unordered(order.iter(), |bytes, &nth| {
                ends_in_zeros[nth].iter().for_each(|&number: &u8| bytes.number(number));
            });
            bytes
        };
        assert_eq!(written([0, 1, 2, 3]), written([2, 3, 1, 0]));
        assert_eq!(written([0, 1, 2, 3]).as_slice(), [4, 0, 1, 1, 0, 1, 0, 0]);
    }

    #[test]
    fn numbers_in_any_order_are_written_from_the_least() {
        let written = |numbers: &[u64]| {
            let mut bytes = Bytes::default();
            bytes.unordered_numbers(numbers.iter().copied());
            bytes
        };
        assert_eq!(written(&[3, 1, 300, 1]).as_slice(), [4, 1, 1, 3, 0xac, 2]);
        assert_eq!(written(&[300, 3, 1, 1]), written(&[3, 1, 300, 1]));
        assert_ne!(written(&[1, 3]), written(&[1, 1, 3]));
        assert_eq!(written(&[]).as_slice(), [0]);
    }

    fn unordered(parts: &[&str]) -> Bytes {
        let mut bytes = Bytes::default();
        bytes.number(7_u8);
        bytes.unordered(parts.iter(), |bytes, part| {
            bytes.list(part.bytes(), |bytes, letter| bytes.number(letter));
        });
        bytes
    }

    /// Asserts that five parts are written the same in whatever order they come.
    fn each_order_is_one(parts: &[&str; 5]) {
        let expected = unordered(parts);
        for code in 0..5_usize.pow(5) {
            let order: [usize; 5] = std::array::from_fn(|nth| code / 5_usize.pow(nth as u32) % 5);
            if (0..5).all(|nth| order.contains(&nth)) {
                assert_eq!(unordered(&order.map(|nth| parts[nth])), expected);
            }
        }
    }
}
