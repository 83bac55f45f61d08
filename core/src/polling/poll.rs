//! Repeated attempts: `run` breaks with a value, which may be an error, or continues.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::runtime::{Instant, Runtime};

use super::Interrupted;
use super::backoff::Backoff;
use super::ticker::Ticker;

/// Runs `run` until it breaks, at most as often as `backoff` has steps, with the delays of
/// `backoff` in between (`workqueue:WT-10` to `WT-12`).
///
/// A delay that reaches the cap is the last one, and no run follows it (`WT-11`).
///
/// # Errors
/// No steps are left, or the token ended before a run or during a delay.
pub fn retry<R: Runtime, T>(
    mut backoff: Backoff,
    token: &CancelToken<R>,
    mut run: impl FnMut() -> ControlFlow<T>,
) -> Result<T, Interrupted> {
    let runtime = token.runtime();
    while backoff.steps > 0 {
        check(token)?;
        if let ControlFlow::Break(value) = run() {
            return Ok(value);
        }
        if backoff.steps == 1 {
            break; // there is nothing to wait for
        }
        let delay = backoff.step(runtime);
        sleep(token, runtime.now() + delay)?;
    }
    Err(Interrupted::TimedOut)
}

/// Runs `run` until it breaks, at the pace of `backoff`, as long as `token` has not ended
/// (`workqueue:WT-20`).
///
/// A back-off that grows or has jitter gives each delay in turn, counted from the end of the one
/// before. Otherwise its duration is a fixed rate: a run that misses its time follows the one
/// before at once, and further missed runs are dropped (`WT-22`, `WT-23`). If `immediate`, the
/// first run is at once and does not check the token; otherwise it comes after the first delay.
///
/// # Errors
/// The token ended before a run.
pub fn poll_until<R: Runtime, T>(
    backoff: Backoff,
    immediate: bool,
    token: &CancelToken<R>,
    mut run: impl FnMut() -> ControlFlow<T>,
) -> Result<T, Interrupted> {
    let runtime = token.runtime();
    let mut pace = Pace::new(backoff, runtime); // begins before the first run
    if immediate && let ControlFlow::Break(value) = run() {
        return Ok(value);
    }
    loop {
        sleep(token, pace.next())?;
        check(token)?;
        pace.take(runtime);
        if let ControlFlow::Break(value) = run() {
            return Ok(value);
        }
    }
}

/// Runs `run` once every `interval` until it breaks, and returns what it breaks with.
///
/// The first run is at once and does not check the token. Later ones begin `interval`, twice
/// `interval` and so on after the call, whatever the runs take; a run that misses its time follows
/// the one before at once, and further missed runs are dropped (`election:ENV-7`). `run` is given a
/// child of `token` that ends after `timeout`; if it breaks after that, the result still counts.
/// With an `interval` of zero, runs follow each other without a pause.
///
/// # Errors
/// The child ended between two runs: because of `token`, with its reason, or because of the time,
/// with `Ended(Reason::DeadlineExceeded)`.
pub fn poll_with_timeout<R: Runtime, T>(
    interval: Duration,
    timeout: Duration,
    token: &CancelToken<R>,
    mut run: impl FnMut(&CancelToken<R>) -> ControlFlow<T>,
) -> Result<T, Interrupted> {
    let runtime = token.runtime();
    let began = runtime.now();
    let mut ticker = Ticker::new(began, interval);
    let child = token.child_with_deadline(began + timeout);
    loop {
        if let ControlFlow::Break(value) = run(&child) {
            return Ok(value);
        }
        if child.wait_until(ticker.next()) {
            return Err(child.reason().expect("a token that has ended stays so").into());
        }
        ticker.take(runtime.now());
    }
}

/// Runs `run` at once and then every `interval` until it breaks or `token` ends: an older form
/// (`workqueue:WT-24`).
///
/// The first run does not check the token. After the token has ended there are no more runs.
///
/// # Errors
/// The token ended; this counts as a time-out.
pub fn poll_immediate_until<R: Runtime, T>(
    interval: Duration,
    token: &CancelToken<R>,
    run: impl FnMut() -> ControlFlow<T>,
) -> Result<T, Interrupted> {
    let ended = poll_until(Backoff::new(interval), true, token, run);
    ended.map_err(|_| Interrupted::TimedOut)
}

/// Runs `run` every `interval` until it breaks or `timeout` is over: an older form
/// (`workqueue:WT-25`).
///
/// When the time is over, there is one last run. A time-out of zero means no limit. If `immediate`,
/// the first run is at once, and the time begins after it; otherwise it comes after one interval.
///
/// # Errors
/// The time was over and the last run did not break.
pub fn poll_for<R: Runtime, T>(
    runtime: &R,
    interval: Duration,
    timeout: Duration,
    immediate: bool,
    mut run: impl FnMut() -> ControlFlow<T>,
) -> Result<T, Interrupted> {
    if immediate && let ControlFlow::Break(value) = run() {
        return Ok(value);
    }
    let began = runtime.now();
    let end = if timeout.is_zero() { Instant::NEVER } else { began + timeout };
    let mut ticker = Ticker::new(began, interval);
    loop {
        runtime.sleep_until(ticker.next().min(end));
        let now = runtime.now();
        ticker.take(now);
        if let ControlFlow::Break(value) = run() {
            return Ok(value);
        }
        if now >= end {
            return Err(Interrupted::TimedOut);
        }
    }
}

/// When runs begin (`workqueue:WT-23`).
enum Pace {
    Variable { backoff: Backoff, next: Instant },
    Fixed(Ticker),
}

impl Pace {
    fn new<R: Runtime>(mut backoff: Backoff, runtime: &R) -> Self {
        let now = runtime.now();
        if backoff.steps > 1 || backoff.jitter != 0.0 {
            let next = now + backoff.step(runtime);
            return Self::Variable { backoff, next };
        }
        Self::Fixed(Ticker::new(now, backoff.duration)) // without a duration always ready
    }

    fn next(&self) -> Instant {
        match self {
            Self::Variable { next, .. } => *next,
            Self::Fixed(ticker) => ticker.next(),
        }
    }

    fn take<R: Runtime>(&mut self, runtime: &R) {
        let now = runtime.now();
        match self {
            Self::Variable { backoff, next } => *next = now + backoff.step(runtime),
            Self::Fixed(ticker) => ticker.take(now),
        }
    }
}

fn check<R: Runtime>(token: &CancelToken<R>) -> Result<(), Interrupted> {
    token.reason().map_or(Ok(()), |reason| Err(reason.into()))
}

fn sleep<R: Runtime>(token: &CancelToken<R>, until: Instant) -> Result<(), Interrupted> {
    if token.wait_until(until) { check(token) } else { Ok(()) }
}
