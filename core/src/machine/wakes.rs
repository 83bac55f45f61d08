//! Whom a step wakes, as plain data.

/// A place where callers of one machine sleep. All sleepers of one channel are interchangeable;
/// where they are not, wake them all.
pub type Channel = u8;

/// How many channels a machine has.
pub const CHANNELS: usize = 4;

/// Whom to wake, per channel: filled by a step, applied by whoever called it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Hash)]
pub struct Wakes {
    count: [u16; CHANNELS],
}

impl Wakes {
    /// Stands for everybody who sleeps on a channel.
    pub const ALL: u16 = u16::MAX;

    /// Wakes one more sleeper.
    #[inline]
    pub fn one(&mut self, on: Channel) {
        self.many(on, 1);
    }

    /// Wakes `more` more sleepers.
    #[inline]
    pub fn many(&mut self, on: Channel, more: usize) {
        let count = &mut self.count[usize::from(on)];
        *count = count.saturating_add(u16::try_from(more).unwrap_or(Self::ALL));
    }

    /// Wakes every sleeper.
    #[inline]
    pub fn all(&mut self, on: Channel) {
        self.count[usize::from(on)] = Self::ALL;
    }

    /// Tells whether anybody is to be woken.
    #[inline]
    #[must_use]
    pub fn any(&self) -> bool {
        self.count != [0; CHANNELS]
    }

    /// Returns how many sleepers of a channel are to be woken; [`Wakes::ALL`] for all.
    #[inline]
    #[must_use]
    pub fn get(&self, on: Channel) -> u16 {
        self.count[usize::from(on)]
    }

    /// Replaces the number for one channel.
    #[inline]
    pub fn set(&mut self, on: Channel, count: u16) {
        self.count[usize::from(on)] = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_can_be_counted_is_all() {
        let mut wakes = Wakes::default();
        assert!(!wakes.any());
        wakes.many(1, 1_000_000);
        assert_eq!(wakes.get(1), Wakes::ALL);
        wakes.one(1);
        assert_eq!(wakes.get(1), Wakes::ALL);
        assert_eq!(wakes.get(0), 0);
    }
}
