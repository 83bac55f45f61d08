//! The slots of the objects that have a value.
//!
//! Slots are numbered as objects come, so most of those that are added come last, and whoever reads
//! them in order goes through memory in order. They lie in runs, which bounds what one of them
//! moves when it is put between others or taken out.

use std::sync::Arc;

/// How many slots a run holds.
const RUN: usize = 512;

/// Slots in their order, each once. Most often it is one.
#[derive(Debug)]
pub(super) enum Members {
    One(u32),
    /// Nobody has a copy yet, and nobody need ask who has.
    Own(Box<Runs>),
    Shared(Arc<Runs>),
}

/// Slots in their order. No run is empty.
#[derive(Clone, Default, Debug)]
pub(super) struct Runs {
    /// All runs but the last.
    before: Vec<Vec<u32>>,
    /// At hand, because most slots are put behind it: whoever does needs to see its end only.
    last: Vec<u32>,
    len: usize,
}

impl Members {
    /// Returns the runs, if there are several slots.
    fn runs(&self) -> Result<&Runs, u32> {
        match self {
            Self::One(slot) => Err(*slot),
            Self::Own(runs) => Ok(runs),
            Self::Shared(runs) => Ok(runs),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.runs().map_or(1, |runs| runs.len)
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        match self.runs() {
            Err(one) => one == slot,
            Ok(runs) => runs.find(slot).is_ok(),
        }
    }

    pub(super) fn for_each(&self, mut visit: impl FnMut(u32)) {
        match self.runs() {
            Err(one) => visit(one),
            Ok(runs) => runs.iter().flatten().for_each(|slot| visit(*slot)),
        }
    }

    /// Makes a copy, which stays as it is.
    pub(super) fn copy(&mut self) -> Self {
        match self {
            Self::One(slot) => Self::One(*slot),
            Self::Own(runs) => {
                let shared = Arc::new(std::mem::take(&mut **runs));
                *self = Self::Shared(Arc::clone(&shared));
                Self::Shared(shared)
            }
            Self::Shared(runs) => Self::Shared(Arc::clone(runs)),
        }
    }

    /// Puts a slot in, if it is not there. Most come last, and of most values nobody has a copy.
    #[inline(always)]
    pub(super) fn insert(&mut self, slot: u32) {
        match self {
            Self::Own(runs) if runs.takes_last(slot) => runs.push(slot),
            _ => self.insert_any(slot),
        }
    }

    #[inline(never)]
    fn insert_any(&mut self, slot: u32) {
        match self {
            Self::Own(runs) => runs.insert(slot),
            Self::Shared(runs) => Arc::make_mut(runs).insert(slot),
            Self::One(one) if *one == slot => {}
            Self::One(one) => {
                let last = vec![slot.min(*one), slot.max(*one)];
                *self = Self::Own(Box::new(Runs { before: Vec::new(), last, len: 2 }));
            }
        }
    }

    /// Takes a slot out, if it is there; false if none is left.
    pub(super) fn remove(&mut self, slot: u32) -> bool {
        let runs = match self {
            Self::One(one) => return *one != slot,
            Self::Own(runs) => runs,
            Self::Shared(runs) => Arc::make_mut(runs),
        };
        runs.remove(slot);
        runs.len > 0
    }
}

impl Members {
    /// Checks that they are counted, in order, and in runs as long as they may be.
    pub(super) fn check(&self) {
        let Ok(runs) = self.runs() else { return };
        assert_eq!(runs.len, runs.iter().map(Vec::len).sum(), "slots are counted");
        assert!(runs.iter().all(|run| (1..=RUN).contains(&run.len())), "runs are short");
        assert!(runs.iter().flatten().is_sorted_by(|one, next| one < next), "in order");
    }
}

impl Runs {
    fn iter(&self) -> impl Iterator<Item = &Vec<u32>> {
        self.before.iter().chain([&self.last])
    }

    /// Returns a run by its number.
    fn run(&mut self, number: usize) -> &mut Vec<u32> {
        self.before.get_mut(number).unwrap_or(&mut self.last)
    }

    /// Finds the run of a slot and its place in there, as an error if it would have to be put
    /// there.
    fn find(&self, slot: u32) -> Result<(usize, usize), (usize, usize)> {
        let number = match self.last.first() {
            Some(first) if *first <= slot => self.before.len(),
            _ => self.before.partition_point(|run| run[0] <= slot).saturating_sub(1),
        };
        let run = self.before.get(number).unwrap_or(&self.last);
        run.binary_search(&slot).map(|place| (number, place)).map_err(|place| (number, place))
    }

    /// Tells whether a slot comes last, and its run has room.
    #[inline(always)]
    fn takes_last(&self, slot: u32) -> bool {
        self.last.len() < RUN && self.last.last().is_some_and(|last| *last < slot)
    }

    #[inline(always)]
    fn push(&mut self, slot: u32) {
        self.len += 1;
        self.last.push(slot);
    }

    fn insert(&mut self, slot: u32) {
        if self.takes_last(slot) {
            return self.push(slot);
        }
        let Err((number, place)) = self.find(slot) else { return };
        self.len += 1;
        let run = self.run(number);
        if run.len() < RUN {
            return run.insert(place, slot);
        }
        // A slot that comes last gets a run of its own, so that runs that only grow are full.
        let cut = if place == RUN { RUN } else { RUN / 2 };
        let mut upper = run.split_off(cut);
        match place.checked_sub(cut) {
            Some(place) => upper.insert(place, slot),
            None => run.insert(place, slot),
        }
        self.insert_run(number + 1, upper);
    }

    fn insert_run(&mut self, number: usize, run: Vec<u32>) {
        if number > self.before.len() {
            self.before.push(std::mem::replace(&mut self.last, run));
        } else {
            self.before.insert(number, run);
        }
    }

    fn remove_run(&mut self, number: usize) -> Vec<u32> {
        if number < self.before.len() {
            return self.before.remove(number);
        }
        let last = self.before.pop().unwrap_or_default();
        std::mem::replace(&mut self.last, last)
    }

    fn remove(&mut self, slot: u32) {
        let Ok((number, place)) = self.find(slot) else { return };
        self.len -= 1;
        let run = self.run(number);
        run.remove(place);
        let left = run.len();
        if left == 0 {
            self.remove_run(number);
        } else if number < self.before.len() && left + self.run(number + 1).len() <= RUN / 2 {
            let next = self.remove_run(number + 1);
            self.run(number).extend(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(members: &Members) -> Vec<usize> {
        members.check();
        members.runs().map_or(vec![1], |runs| runs.iter().map(Vec::len).collect())
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
            |runs| runs.before.push(vec![]),
            |runs| runs.last.swap(0, 1),
            |runs| {
                runs.last.push(FULL);
                runs.len += 1;
            },
        ];
        for (number, broken) in breaks.into_iter().enumerate() {
            let mut members = of(0..FULL);
            members.check();
            let Members::Own(runs) = &mut members else { panic!("they are many") };
            broken(runs);
            assert!(std::panic::catch_unwind(|| members.check()).is_err(), "number {number}");
        }
    }
}
