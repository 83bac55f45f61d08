//! Loops that run a function again and again until a token ends.

use std::time::Duration;

use crate::cancel::CancelToken;
use crate::runtime::Runtime;

use super::delays::{Delays, Jittered};

/// Runs `run` again and again until `token` has ended, with `delays` in between.
///
/// The first run is at once, unless the token has ended. A sliding delay counts from the end of a
/// run. A delay that is not sliding counts from its beginning; if a run takes longer, the next one
/// follows at once, and missed runs are not made up for (`workqueue:WT-13`, `WT-17`).
pub fn backoff_until<R: Runtime>(
    mut delays: impl Delays,
    sliding: bool,
    token: &CancelToken<R>,
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

/// Runs `run` every `period`, plus a random part of up to `jitter * period`, until `token` has
/// ended (`workqueue:WT-15`, `election:ENV-6`). A jitter that is not positive means none.
pub fn jitter_until<R: Runtime>(
    period: Duration,
    jitter: f64,
    sliding: bool,
    token: &CancelToken<R>,
    run: impl FnMut(),
) {
    backoff_until(Jittered { period, factor: jitter }, sliding, token, run);
}

/// Runs `run` until `token` has ended, with `period` from the end of a run to the next run.
pub fn until<R: Runtime>(period: Duration, token: &CancelToken<R>, run: impl FnMut()) {
    jitter_until(period, 0.0, true, token, run);
}

/// Runs `run` until `token` has ended, with `period` from the beginning of a run to the next.
pub fn non_sliding_until<R: Runtime>(period: Duration, token: &CancelToken<R>, run: impl FnMut()) {
    jitter_until(period, 0.0, false, token, run);
}

/// Runs `run` again and again with `period` in between. Only a panic of `run` ends it.
pub fn forever<R: Runtime>(runtime: &R, period: Duration, mut run: impl FnMut()) -> ! {
    loop {
        run();
        runtime.sleep_until(runtime.now() + period);
    }
}
