//! Delays as numbers, and loops on a clock that is moved by hand.

mod delays;
mod polls;
mod until;

use std::time::Duration;

use crate::runtime::{Ambient, Instant, WallTime};

const SECOND: Duration = Duration::from_secs(1);

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// A clock at a given second, and random numbers that are all the same.
struct At(u64, u64);

impl Ambient for At {
    fn now(&self) -> Instant {
        Instant::ZERO + seconds(self.0)
    }

    fn wall(&self) -> WallTime {
        WallTime::default()
    }

    fn entropy(&self) -> u64 {
        self.1
    }
}
