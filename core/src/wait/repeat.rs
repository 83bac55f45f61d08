//! The repeating loop (`election:ENV-6`).

use std::time::Duration;

use crate::cancel::{CancelToken, Tree};
use crate::machine::Host;
use crate::runtime::{Ambient, Runtime};

/// Runs `run` again and again until `token` has ended.
///
/// The gap between two runs is counted from the end of the first: `period`, and a random part of
/// `jitter * period` on top. A token that has ended before the first run lets it not happen.
/// Jitter that is not above zero is none.
pub fn repeat<R: Runtime, H: Host<Tree>>(
    period: Duration,
    jitter: f64,
    token: &CancelToken<R, H>,
    mut run: impl FnMut(),
) {
    let runtime = token.runtime();
    while !token.is_cancelled() {
        run();
        let gap = period.saturating_add(part(runtime, period, jitter));
        if token.wait_until(runtime.now() + gap) {
            return;
        }
    }
}

/// Returns a random part of `jitter * period`, never the whole.
fn part(runtime: &dyn Ambient, period: Duration, jitter: f64) -> Duration {
    if jitter > 0.0 {
        // A conversion from a number that is too large saturates.
        Duration::from_nanos((runtime.uniform() * jitter * period.as_nanos() as f64) as u64)
    } else {
        Duration::ZERO
    }
}
