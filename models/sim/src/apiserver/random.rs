//! The one source of chance: uids, generated names, and the choices of made-up programs.

/// A generator that yields the same numbers for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number of the splitmix64 sequence.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A generator of its own for something beside.
    pub(crate) fn fork(&mut self) -> Self {
        Self::new(self.next())
    }

    /// A number below a limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// A random uid of version 4.
    pub(crate) fn uid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        let high = (high & !0xf000) | 0x4000;
        let low = (low & !(0b11 << 62)) | (0b10 << 62);
        let digits = b"0123456789abcdef";
        let mut text = String::with_capacity(36);
        for at in 0..32 {
            if matches!(at, 8 | 12 | 16 | 20) {
                text.push('-');
            }
            let half = if at < 16 { high } else { low };
            text.push(char::from(digits[(half >> (60 - at % 16 * 4)) as usize % 16]));
        }
        text
    }

    /// Five characters that end a generated name.
    pub(crate) fn suffix(&mut self) -> String {
        let letters = b"bcdfghjklmnpqrstvwxz2456789";
        (0..5).map(|_| char::from(letters[self.next() as usize % letters.len()])).collect()
    }
}
