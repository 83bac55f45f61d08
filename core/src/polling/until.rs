//! Loops that run something again and again until a token ends.

use std::time::Duration;

use crate::cancel::{CancelToken, Tree};
use crate::machine::Host;
use crate::runtime::Runtime;

use super::delays::{Delays, Jittered};

/// Runs `run` again and again until `token` has ended, with `delays` between.
///
/// The first run is at once, unless the token has ended. A sliding delay counts from the end of a
/// run; one that is not counts from its beginning, and a run that takes longer is followed by the
/// next at once, without making up for those that were missed (`workqueue:WT-13`, `WT-17`).
pub fn backoff_until<R: Runtime, H: Host<Tree>>(
    mut delays: impl Delays,
    sliding: bool,
    token: &CancelToken<R, H>,
    mut run: impl FnMut(),
) {
    let runtime = token.runtime();
    while !token.is_cancelled() {
        let mut deadline = || runtime.now() + delays.next(runtime);
        let next = if sliding {
            run();
            deadline()
        } else {
            let next = deadline();
            run();
            next
        };
        if token.wait_until(next) {
            return;
        }
    }
}

/// Runs `run` every `period`, with a random part of up to `jitter * period` on top, until `token`
/// has ended (`workqueue:WT-15`, `election:ENV-6`). Jitter that is not above zero is none.
pub fn jitter_until<R: Runtime, H: Host<Tree>>(
    period: Duration,
    jitter: f64,
    sliding: bool,
    token: &CancelToken<R, H>,
    run: impl FnMut(),
) {
    backoff_until(Jittered { period, factor: jitter }, sliding, token, run);
}

/// Runs `run` until `token` has ended, with `period` between the end of a run and the next.
pub fn until<R: Runtime, H: Host<Tree>>(
    period: Duration,
    token: &CancelToken<R, H>,
    run: impl FnMut(),
) {
    jitter_until(period, 0.0, true, token, run);
}

/// Runs `run` until `token` has ended, with `period` between the beginnings of runs.
pub fn non_sliding_until<R: Runtime, H: Host<Tree>>(
    period: Duration,
    token: &CancelToken<R, H>,
    run: impl FnMut(),
) {
    jitter_until(period, 0.0, false, token, run);
}

/// Runs `run` again and again with `period` between. Only a panic of `run` ends it.
pub fn forever<R: Runtime>(runtime: &R, period: Duration, mut run: impl FnMut()) -> ! {
    loop {
        run();
        runtime.sleep_until(runtime.now() + period);
    }
}
