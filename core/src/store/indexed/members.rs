//! The slots of the objects that have a value.
//!
//! Slots are numbered in the order in which objects come, so most new ones are added at the end,
//! and reading them in order reads memory in order. They are kept in runs, which limits how many
//! slots move when one is inserted or removed.

use std::sync::Arc;

/// The largest number of slots in a run.
const RUN: usize = 512;

/// Slots in their order, each once. Usually there is only one.
#[derive(Clone, Debug)]
pub(super) enum Members {
    One(u32),
    /// Copied only if it is shared.
    Many(Arc<Runs>),
}

/// Slots in their order. No run is empty.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    runs: Vec<Vec<u32>>,
    len: usize,
}

impl Members {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(many) => many.len,
        }
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        match self {
            Self::One(one) => *one == slot,
            Self::Many(many) => many.find(slot).is_ok(),
        }
    }

    pub(super) fn for_each(&self, mut visit: impl FnMut(u32)) {
        match self {
            Self::One(one) => visit(*one),
            Self::Many(many) => many.runs.iter().flatten().for_each(|slot| visit(*slot)),
        }
    }

    /// Inserts a slot, if it is not there yet.
    pub(super) fn insert(&mut self, slot: u32) {
        match self {
            Self::Many(many) => Arc::make_mut(many).insert(slot),
            Self::One(one) if *one == slot => {}
            Self::One(one) => {
                let runs = vec![vec![slot.min(*one), slot.max(*one)]];
                *self = Self::Many(Arc::new(Runs { runs, len: 2 }));
            }
        }
    }

    /// Removes a slot, if it is there; false if none is left.
    pub(super) fn remove(&mut self, slot: u32) -> bool {
        match self {
            Self::One(one) => *one != slot,
            Self::Many(many) => {
                let many = Arc::make_mut(many);
                many.remove(slot);
                many.len > 0
            }
        }
    }

    /// Checks the count, the order and the length of the runs.
    pub(super) fn check(&self) {
        let Self::Many(many) = self else { return };
        assert_eq!(many.len, many.runs.iter().map(Vec::len).sum::<usize>(), "slots are counted");
        assert!(many.runs.iter().all(|run| (1..=RUN).contains(&run.len())), "runs are short");
        assert!(many.runs.iter().flatten().is_sorted_by(|one, next| one < next), "in order");
    }
}

impl Runs {
    /// Finds the run of a slot and its place in the run; as an error, the place where it would be
    /// inserted.
    fn find(&self, slot: u32) -> Result<(usize, usize), (usize, usize)> {
        let number = self.runs.partition_point(|run| run[0] <= slot).saturating_sub(1);
        let place = self.runs.get(number).map_or(Err(0), |run| run.binary_search(&slot));
        place.map(|place| (number, place)).map_err(|place| (number, place))
    }

    fn insert(&mut self, slot: u32) {
        let Err((number, place)) = self.find(slot) else { return };
        self.len += 1;
        if self.runs.is_empty() {
            return self.runs.push(vec![slot]);
        }
        let run = &mut self.runs[number];
        if run.len() < RUN {
            return run.insert(place, slot);
        }
        // A slot at the very end gets a new run, so that runs that only grow are full.
        let cut = if place == RUN { RUN } else { RUN / 2 };
        let mut upper = run.split_off(cut);
        match place.checked_sub(cut) {
            Some(place) => upper.insert(place, slot),
            None => run.insert(place, slot),
        }
        self.runs.insert(number + 1, upper);
    }

    fn remove(&mut self, slot: u32) {
        let Ok((number, place)) = self.find(slot) else { return };
        self.len -= 1;
        self.runs[number].remove(place);
        let left = self.runs[number].len();
        let next = self.runs.get(number + 1).map(Vec::len);
        if left == 0 {
            self.runs.remove(number);
        } else if next.is_some_and(|next| left + next <= RUN / 2) {
            let next = self.runs.remove(number + 1);
            self.runs[number].extend(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(members: &Members) -> Vec<usize> {
        members.check();
        match members {
            Members::One(_) => vec![1],
            Members::Many(many) => many.runs.iter().map(Vec::len).collect(),
        }
    }

    fn of(slots: std::ops::Range<u32>) -> Members {
        let mut members = Members::One(slots.start);
        slots.for_each(|slot| members.insert(slot));
        members
    }

    const FULL: u32 = RUN as u32;

    #[test]
    fn a_run_is_filled_before_another_is_begun_and_divided_if_one_comes_between() {
        let mut members = of(1..2 * FULL + 2);
        assert_eq!(runs(&members), [RUN, RUN, 1]);
        members.insert(0);
        assert_eq!(runs(&members), [RUN / 2 + 1, RUN / 2, RUN, 1]);
        assert!((0..2 * FULL + 2).all(|slot| members.contains(slot)));
    }

    #[test]
    fn a_run_of_which_nothing_is_left_is_gone() {
        for gone in [0..FULL, FULL..2 * FULL, 2 * FULL..2 * FULL + 3] {
            let mut members = of(0..2 * FULL + 3);
            gone.clone().for_each(|slot| assert!(members.remove(slot)));
            assert_eq!(runs(&members).len(), 2, "{gone:?}");
            assert!(!members.contains(gone.start));
            members.insert(gone.start);
            assert!(members.contains(gone.start));
            members.check();
        }
    }

    #[test]
    fn two_runs_become_one_when_they_fill_half_of_it() {
        for second in [1, 200] {
            let mut members = of(0..FULL + second);
            let mut left = FULL;
            while left + second > FULL / 2 {
                assert_eq!(runs(&members), [left as usize, second as usize]);
                left -= 1;
                members.remove(left);
            }
            assert_eq!(runs(&members), [RUN / 2]);
        }
    }

    #[test]
    fn members_that_are_wrong_are_noticed() {
        let breaks: [fn(&mut Runs); 4] = [
            |runs| runs.len += 1,
            |runs| runs.runs.push(vec![]),
            |runs| runs.runs[0].swap(0, 1),
            |runs| {
                runs.runs[0].push(FULL);
                runs.len += 1;
            },
        ];
        for (number, broken) in breaks.into_iter().enumerate() {
            let mut members = of(0..FULL);
            members.check();
            let Members::Many(many) = &mut members else { panic!("they are many") };
            broken(Arc::make_mut(many));
            assert!(std::panic::catch_unwind(|| members.check()).is_err(), "number {number}");
        }
    }
}
