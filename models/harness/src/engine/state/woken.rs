//! Sets of callers: whom a step wakes.

/// A set of callers.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Woken(pub(super) u32);

/// The most callers that a set holds.
pub(super) const MOST: usize = u32::BITS as usize;

impl Woken {
    pub(super) fn of(members: impl Iterator<Item = usize>) -> Self {
        Self(members.fold(0, |set, member| set | 1 << member))
    }

    /// Returns its members.
    pub fn members(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let member = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (member < u32::BITS).then_some(member as usize)
        })
    }
}

impl std::fmt::Debug for Woken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.members()).finish()
    }
}

/// The ways in which wake-ups can be spent: whom each of them reaches.
#[derive(Default, Debug)]
pub(super) struct Ways {
    all: Vec<Woken>,
    /// Room for those before the last wake-ups.
    before: Vec<Woken>,
}

impl Ways {
    /// Begins with one way, which reaches no caller.
    pub(super) fn begin(&mut self) {
        self.all.clear();
        self.all.push(Woken(0));
    }

    /// Reaches these in any case.
    pub(super) fn reach(&mut self, callers: Woken) {
        self.all.iter_mut().for_each(|way| way.0 |= callers.0);
    }

    /// Reaches this number of these, whichever they are.
    pub(super) fn spend(&mut self, on: Woken, count: u32) {
        if count >= on.0.count_ones() {
            return self.reach(on);
        }
        std::mem::swap(&mut self.all, &mut self.before);
        self.all.clear();
        let more = |way: &Woken| {
            let way = way.0;
            subsets(on.0, count).map(move |more| Woken(way | more))
        };
        self.all.extend(self.before.iter().flat_map(more));
    }

    /// Returns the last way and the others.
    pub(super) fn split_last(&self) -> (Woken, &[Woken]) {
        let (last, others) = self.all.split_last().expect("there is one way at least");
        (*last, others)
    }
}

/// Returns the subsets of a set that have this number of members: from the whole set down to none of it.
fn subsets(set: u32, count: u32) -> impl Iterator<Item = u32> {
    let all =
        std::iter::successors(Some(set), move |&subset| (subset > 0).then(|| (subset - 1) & set));
    all.filter(move |subset| subset.count_ones() == count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_on_one_channel_goes_with_every_choice_on_another() {
        let of = |members: &[usize]| Woken::of(members.iter().copied());
        let mut ways = Ways::default();
        ways.begin();
        ways.spend(of(&[0, 1]), 1);
        ways.spend(of(&[2, 3]), 1);
        ways.reach(of(&[4]));
        let (last, others) = ways.split_last();
        let mut all: Vec<_> = others.iter().chain([&last]).map(|way| way.0).collect();
        all.sort_unstable();
        assert_eq!(all, [0b1_0101, 0b1_0110, 0b1_1001, 0b1_1010]);
    }
}
