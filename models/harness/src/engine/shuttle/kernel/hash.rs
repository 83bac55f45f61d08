//! A number that two executions share iff they are the same trace.
//!
//! A trace in the sense of Mazurkiewicz is an execution up to the order of steps that do not
//! disturb each other. It is determined by the order in which threads used each object, where reads
//! of a published value between two writes are unordered, and by the answers that each thread got
//! to its choices of data. So every object carries a chain of hashes, every thread another, and the
//! trace is their sum.

/// Mixes all bits of a number into all others.
pub(crate) const fn mix(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 29;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 32)
}

/// The accesses to one object, in order, as hashes.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Chain {
    written: u64,
    /// Sum over the reads since the last write: their order does not matter.
    read: u64,
}

impl Chain {
    /// Adds an access that is ordered with all others.
    pub(crate) fn write(&mut self, by: u64) {
        self.written = mix(mix(self.written).wrapping_add(mix(self.read)).wrapping_add(by));
        self.read = 0;
    }

    /// Adds an access that is ordered with writes alone.
    pub(crate) fn read(&mut self, by: u64) {
        self.read = self.read.wrapping_add(mix(by ^ 0x5bd1_e995));
    }

    /// Returns the share of this object in the trace; none if it was never used.
    pub(crate) fn share(self, path: u64) -> u64 {
        if self.written == 0 && self.read == 0 {
            return 0;
        }
        mix(mix(self.written) ^ mix(self.read ^ 7) ^ path)
    }
}
