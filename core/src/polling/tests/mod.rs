//! Delays as numbers, and loops on a clock that is moved by hand.

mod delays;
mod polls;
mod sliding;
mod timed;
mod until;

use std::time::Duration;

use super::Interrupted;
use crate::cancel::Reason;
use crate::runtime::{Ambient, Instant, Manual, Runtime, WallTime};

const SECOND: Duration = Duration::from_secs(1);
const CANCELLED: Interrupted = Interrupted::Ended(Reason::Cancelled);
const LATE: Interrupted = Interrupted::Ended(Reason::DeadlineExceeded);

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// A clock at a given second, and constant random numbers.
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

/// Runs a loop on its own thread and moves the clock in steps of a tenth of a second, each time
/// after the loop has gone to sleep, until the loop ends.
fn drive<T: Send + 'static>(
    runtime: &Manual,
    body: impl FnOnce(&Manual) -> T + Send + 'static,
) -> T {
    let inner = runtime.clone();
    let (report, ended) = std::sync::mpsc::channel();
    let thread = runtime.spawn("loop", move || report.send(body(&inner)).unwrap());
    loop {
        while runtime.waiters() == 0 {
            if let Ok(value) = ended.recv_timeout(Duration::from_millis(1)) {
                runtime.join(thread).unwrap();
                return value;
            }
        }
        runtime.advance(SECOND / 10);
    }
}
