//! Whom a step wakes, as plain data.

use std::fmt;

/// A place where callers of one machine sleep. All sleepers of one channel are interchangeable;
/// where they are not, wake them all.
pub type Channel = u8;

/// How many channels a machine has.
pub const CHANNELS: usize = 4;

/// Whom to wake, per channel: filled by a step, applied by whoever called it.
///
/// One number with sixteen bits per channel, so that it stays in a register and one look tells
/// whether anybody is to be woken.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Wakes(u64);

const BITS: u32 = u64::BITS / CHANNELS as u32;

impl Wakes {
    /// Stands for everybody who sleeps on a channel.
    pub const ALL: u16 = u16::MAX;

    /// Wakes one more sleeper.
    #[inline]
    pub fn one(&mut self, on: Channel) {
        if self.get(on) != Self::ALL {
            self.0 += 1 << shift(on); // not through `set`: see there
        }
    }

    /// Wakes one sleeper less, if any.
    #[inline]
    pub fn one_less(&mut self, on: Channel) {
        if self.get(on) != 0 {
            self.0 -= 1 << shift(on);
        }
    }

    /// Wakes `more` more sleepers.
    #[inline]
    pub fn many(&mut self, on: Channel, more: usize) {
        self.set(on, self.get(on).saturating_add(u16::try_from(more).unwrap_or(Self::ALL)));
    }

    /// Wakes every sleeper.
    #[inline]
    pub fn all(&mut self, on: Channel) {
        self.set(on, Self::ALL);
    }

    /// Returns whom two steps of one critical section wake together.
    #[inline(always)]
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self.any() && other.any() { self.sum(other) } else { Self(self.0 | other.0) }
    }

    #[cold]
    #[inline(never)]
    fn sum(mut self, other: Self) -> Self {
        for on in 0..CHANNELS as Channel {
            self.many(on, other.get(on).into());
        }
        self
    }

    /// Tells whether anybody is to be woken.
    #[inline]
    #[must_use]
    pub fn any(&self) -> bool {
        self.0 != 0
    }

    /// Returns how many sleepers of a channel are to be woken; [`Wakes::ALL`] for all.
    #[inline]
    #[must_use]
    pub fn get(&self, on: Channel) -> u16 {
        (self.0 >> shift(on)) as u16
    }

    /// Replaces the number for one channel. Compiled to a write of two bytes, which a read of all
    /// eight right behind it has to wait for.
    #[inline]
    pub fn set(&mut self, on: Channel, count: u16) {
        self.0 &= !(u64::from(Self::ALL) << shift(on));
        self.0 |= u64::from(count) << shift(on);
    }
}

/// Returns where the number of a channel begins.
///
/// # Panics
/// If there is no such channel.
#[inline]
fn shift(on: Channel) -> u32 {
    assert!(usize::from(on) < CHANNELS, "a machine has {CHANNELS} channels");
    u32::from(on) * BITS
}

impl fmt::Debug for Wakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..CHANNELS as Channel).map(|on| self.get(on))).finish()
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
        wakes.many(1, 2);
        wakes.set(3, Wakes::ALL - 1);
        wakes.many(3, 7);
        assert_eq!((wakes.get(0), wakes.get(1), wakes.get(3)), (0, Wakes::ALL, Wakes::ALL));
    }

    #[test]
    fn one_less_leaves_other_channels_alone_and_none_is_the_least() {
        let mut wakes = Wakes::default();
        wakes.many(1, 2);
        wakes.one(2);
        for left in [1, 0, 0] {
            wakes.one_less(1);
            assert_eq!((wakes.get(0), wakes.get(1), wakes.get(2)), (0, left, 1));
        }
        wakes.all(1);
        wakes.one_less(1);
        assert_eq!(wakes.get(1), Wakes::ALL - 1);
    }

    #[test]
    fn two_steps_wake_whom_each_of_them_wakes() {
        let (mut one, mut other) = (Wakes::default(), Wakes::default());
        one.many(0, 2);
        one.all(1);
        other.many(0, 3);
        other.one(1);
        other.one(3);
        let both = one.and(other);
        assert_eq!(both, other.and(one));
        assert_eq!([0, 1, 2, 3].map(|on| both.get(on)), [5, Wakes::ALL, 0, 1]);
    }

    #[test]
    fn a_number_replaces_that_of_its_channel_and_of_no_other() {
        let channels = || (0..).take(CHANNELS);
        for on in channels() {
            let mut wakes = Wakes::default();
            channels().for_each(|channel| wakes.set(channel, 7));
            wakes.set(on, 8);
            for channel in channels() {
                assert_eq!(wakes.get(channel), if channel == on { 8 } else { 7 });
            }
        }
    }

    #[test]
    fn wakes_are_shown_by_channel() {
        let mut wakes = Wakes::default();
        wakes.many(1, 3);
        assert_eq!(format!("{wakes:?}"), "[0, 3, 0, 0]");
    }
}
