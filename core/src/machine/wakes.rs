//! The sleepers that a step wakes, as plain data.

use std::fmt;

/// A place where callers of one machine sleep. All sleepers of one channel are interchangeable; if
/// they are not, wake all of them.
pub type Channel = u8;

/// How many channels a machine has.
pub const CHANNELS: usize = 4;

/// The sleepers to wake on each channel: filled by a step, applied by its caller.
///
/// One number with sixteen bits per channel: the highest bit means that sleepers must learn of an
/// earlier time, the others count sleepers.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Wakes(u64);

const BITS: u32 = u64::BITS / CHANNELS as u32;

/// The bit which means that sleepers must learn of an earlier time.
const EARLIER: u16 = 1 << (BITS - 1);

impl Wakes {
    /// All sleepers of a channel.
    pub const ALL: u16 = u16::MAX;

    /// The largest number that is counted.
    const MOST: u16 = EARLIER - 1;

    /// Wakes one more sleeper.
    #[inline]
    pub fn one(&mut self, on: Channel) {
        self.many(on, 1);
    }

    /// Wakes one sleeper less, if they are counted.
    #[inline]
    pub fn one_less(&mut self, on: Channel) {
        let raw = self.raw(on);
        if raw != Self::ALL && raw & Self::MOST != 0 {
            self.put(on, raw - 1);
        }
    }

    /// Wakes `more` more sleepers.
    #[inline]
    pub fn many(&mut self, on: Channel, more: usize) {
        let raw = self.raw(on);
        let count = usize::from(raw & Self::MOST).saturating_add(more);
        match u16::try_from(count) {
            Ok(count) if raw != Self::ALL && count < Self::MOST => {
                self.put(on, raw & EARLIER | count);
            }
            _ => self.all(on),
        }
    }

    /// Says that the common deadline of all sleepers of a channel has become earlier
    /// ([`SHARES_TIME`](super::Operation::SHARES_TIME)).
    ///
    /// If every sleeper had its own timer, all would have to wake. In a
    /// [`Monitor`](crate::monitor::Monitor) one thread and one task hold a timer for the others, so
    /// it wakes one more thread and one more task.
    #[inline]
    pub fn earlier(&mut self, on: Channel) {
        self.put(on, self.raw(on) | EARLIER);
    }

    /// Wakes every sleeper.
    #[inline]
    pub fn all(&mut self, on: Channel) {
        self.put(on, Self::ALL);
    }

    /// Returns the sleepers that two steps of one critical section wake together.
    #[inline]
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        if !self.any() || !other.any() {
            return Self(self.0 | other.0);
        }
        for on in 0..CHANNELS as Channel {
            let raw = other.raw(on);
            self.many(on, (raw & Self::MOST).into());
            self.put(on, self.raw(on) | raw & EARLIER);
        }
        self
    }

    /// Tells whether any sleeper must wake.
    #[inline]
    #[must_use]
    pub fn any(&self) -> bool {
        self.0 != 0
    }

    /// Returns how many sleepers of a channel must wake if each has its own timer; [`Wakes::ALL`]
    /// for all.
    #[inline]
    #[must_use]
    pub fn get(&self, on: Channel) -> u16 {
        let raw = self.raw(on);
        if raw & EARLIER != 0 { Self::ALL } else { raw }
    }

    /// Returns how many sleepers of a channel must wake if none needs to learn of an earlier time;
    /// [`Wakes::ALL`] for all.
    #[must_use]
    pub(crate) fn counted(&self, on: Channel) -> u16 {
        match self.raw(on) {
            Self::ALL => Self::ALL,
            raw => raw & Self::MOST,
        }
    }

    /// Tells whether a sleeper of a channel must learn of an earlier time, in addition to those
    /// that are counted.
    #[must_use]
    pub(crate) fn is_earlier(&self, on: Channel) -> bool {
        let raw = self.raw(on);
        raw != Self::ALL && raw & EARLIER != 0
    }

    /// Sets the number for one channel.
    #[inline]
    pub fn set(&mut self, on: Channel, count: u16) {
        self.put(on, if count < Self::MOST { count } else { Self::ALL });
    }

    #[inline]
    fn raw(self, on: Channel) -> u16 {
        (self.0 >> shift(on)) as u16
    }

    #[inline]
    fn put(&mut self, on: Channel, raw: u16) {
        self.0 &= !(u64::from(Self::ALL) << shift(on));
        self.0 |= u64::from(raw) << shift(on);
    }
}

/// Returns the position of a channel's number.
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
        assert_eq!(wakes.get(1), Wakes::ALL, "all are not counted");
    }

    #[test]
    fn an_earlier_time_is_for_all_or_told_beside_those_who_are_counted() {
        let of = |wakes: Wakes| (wakes.get(1), wakes.counted(1), wakes.is_earlier(1));
        let mut wakes = Wakes::default();
        wakes.earlier(1);
        assert_eq!((of(wakes), wakes.any(), wakes.get(0)), ((Wakes::ALL, 0, true), true, 0));
        wakes.many(1, 2);
        wakes.earlier(1);
        assert_eq!(of(wakes), (Wakes::ALL, 2, true));
        assert_eq!(of(wakes.and(wakes)), (Wakes::ALL, 4, true), "it is learned once");
        wakes.one_less(1);
        wakes.one_less(1);
        wakes.one_less(1);
        assert_eq!(of(wakes), (Wakes::ALL, 0, true), "and by somebody who needs no item");
        let mut all = Wakes::default();
        all.all(1);
        assert_eq!(of(wakes.and(all)), (Wakes::ALL, Wakes::ALL, false));
        assert_eq!(of(all.and(wakes)), (Wakes::ALL, Wakes::ALL, false));
        wakes.set(1, 4);
        assert_eq!(of(wakes), (4, 4, false));
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
