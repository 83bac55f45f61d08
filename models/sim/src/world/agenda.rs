//! What happens next.

/// The due things; things that are due at the same time keep the order in which they were
/// scheduled.
///
/// A sorted list, the next thing last: a cluster has a few dozen due things at most, and most new
/// ones are due soon. A heap was a tenth slower.
#[derive(Debug)]
pub struct Agenda<D> {
    sorted: Vec<(u128, D)>,
    scheduled: u64,
}

impl<D> Default for Agenda<D> {
    fn default() -> Self {
        Self { sorted: Vec::new(), scheduled: 0 }
    }
}

impl<D> Agenda<D> {
    /// Schedules something for a time.
    #[inline]
    pub fn at(&mut self, time: u64, due: D) {
        self.scheduled += 1;
        let key = u128::from(time) << 64 | u128::from(self.scheduled);
        let sooner = self.sorted.iter().rev().take_while(|(other, _)| *other < key).count();
        self.sorted.insert(self.sorted.len() - sooner, (key, due));
    }

    /// Takes the next thing with its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, D)> {
        self.sorted.pop().map(|(key, due)| ((key >> 64) as u64, due))
    }

    /// Forgets all that is scheduled.
    pub fn clear(&mut self) {
        self.sorted.clear();
        self.scheduled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_comes_first_and_equals_keep_their_order() {
        let mut agenda = Agenda::default();
        for (time, name) in [(5, "c"), (3, "a"), (5, "d"), (3, "b"), (9, "e")] {
            agenda.at(time, name);
        }
        let next = |agenda: &mut Agenda<_>| agenda.pop().map(|(_, name)| name);
        let order = [(); 3].map(|()| next(&mut agenda));
        assert_eq!(order, [Some("a"), Some("b"), Some("c")]);
        agenda.at(5, "late");
        assert_eq!([(); 3].map(|()| next(&mut agenda)), [Some("d"), Some("late"), Some("e")]);
        agenda.at(1, "forgotten");
        agenda.clear();
        assert_eq!(agenda.pop(), None);
    }
}
