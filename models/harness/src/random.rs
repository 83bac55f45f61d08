//! Random numbers that every release draws alike.

/// SplitMix64: the same seed gives the same numbers for ever, so a seed is a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Random(u64);

impl Random {
    /// Makes a generator.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws a number below `limit`; zero if that is zero.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// Draws a number from zero to `limit`, both included.
    #[inline]
    pub fn up_to(&mut self, limit: u64) -> u64 {
        self.below(limit.saturating_add(1))
    }

    /// Happens this number of times in a thousand.
    #[inline]
    pub fn permille(&mut self, times: u32) -> bool {
        times > 0 && self.below(1_000) < u64::from(times)
    }
}

/// Returns bytes that look random and are the same in every run.
pub fn random_bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        let mut random = Random::new(1_234_567);
        let drawn = [random.bits(), random.bits(), random.bits()];
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(drawn, published);
    }

    #[test]
    fn draws_stay_within_their_limits_and_reach_them() {
        let mut random = Random::new(7);
        let drawn: Vec<_> = (0..1_000).map(|_| random.up_to(3)).collect();
        assert!((0..=3).all(|number| drawn.contains(&number)));
        assert!(drawn.iter().all(|number| *number <= 3));
        assert_eq!(random.below(0), 0);
        assert!(!random.permille(0) && random.permille(1_000));
    }
}
