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
        (0..MOST).filter(move |member| self.0 >> member & 1 == 1)
    }
}

impl std::fmt::Debug for Woken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.members()).finish()
    }
}

/// Returns the subsets of a set that have so many members.
pub(super) fn subsets(set: u32, count: u32) -> Vec<u32> {
    if count == set.count_ones() {
        return vec![set];
    }
    // From the whole set down to none of it, each subset once.
    let all = std::iter::successors(Some(set), |&subset| (subset > 0).then(|| (subset - 1) & set));
    all.filter(|subset| subset.count_ones() == count).collect()
}
