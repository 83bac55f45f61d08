//! Loops, polls and the flow limiter: when they run, and that they end with their token.

use std::ops::ControlFlow;

use seatrial_core::limiter::{FlowLimiter, TokenBucketFlow, WaitError};
use seatrial_core::polling::{
    Backoff, non_sliding_until, poll_for, poll_immediate_until, poll_until, poll_with_timeout,
    retry, until,
};
use seatrial_core::runtime::{Ambient as _, Instant, Runtime};

use super::{MS, Tried};
use crate::cancel::Cancel;
use crate::trial::{Scenario, World, needs_exact_time};

/// The value of a note about a run that should not happen.
const NEVER: u64 = u64::MAX;

/// Runs a loop. It notes when each run was due, and when the end was due. Times are milliseconds
/// since the beginning. `cost` is the time that each run takes; each run returns the number of runs
/// so far.
fn timed(
    world: &World<Cancel>,
    (due, ends): (&[u32], u32),
    cost: u32,
    the_loop: impl FnOnce(&mut dyn FnMut() -> usize),
) {
    let runtime = world.runtime();
    let began = runtime.now();
    let at = |ms: u32| (began + ms * MS).as_nanos();
    let mut runs = 0;
    the_loop(&mut || {
        world.note("runs", due.get(runs).map_or(NEVER, |ms| at(*ms)));
        runs += 1;
        runtime.sleep_until(runtime.now() + cost * MS);
        runs
    });
    world.note("ends", if runs == due.len() { at(ends) } else { NEVER });
}

fn breaks_at(runs: usize, last: usize) -> ControlFlow<()> {
    if runs < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

fn until_the_deadline(world: &World<Cancel>) {
    let in_30 = || Tried::root_until(world, world.runtime().now() + 30 * MS).token;
    timed(world, (&[0, 13, 26], 30), 3, |run| {
        until(10 * MS, &in_30(), || {
            run();
        });
    });
    timed(world, (&[0, 10, 20], 30), 3, |run| {
        non_sliding_until(10 * MS, &in_30(), || {
            run();
        });
    });
    timed(world, (&[0, 12, 24], 36), 12, |run| {
        non_sliding_until(10 * MS, &in_30(), || {
            run();
        });
    });
    timed(world, (&[0, 10, 20], 25), 2, |run| {
        let parent = Tried::root_until(world, Instant::NEVER).token;
        let ended = poll_with_timeout(10 * MS, 25 * MS, &parent, |_| breaks_at(run(), 9));
        assert!(ended.is_err() && !parent.is_cancelled());
    });
}

fn polls(world: &World<Cancel>) {
    let token = Tried::root_until(world, Instant::NEVER).token;
    let pace = Backoff::new(10 * MS);
    let growing = Backoff { factor: 2.0, steps: 3, ..pace };
    timed(world, (&[10, 20, 30], 33), 3, |run| {
        assert!(poll_until(pace, false, &token, || breaks_at(run(), 3)).is_ok());
    });
    // The second tick is kept, the third is dropped.
    timed(world, (&[10, 35, 60], 85), 25, |run| {
        assert!(poll_until(pace, false, &token, || breaks_at(run(), 3)).is_ok());
    });
    // Of the ticks that come during a long run one is kept, so two runs follow each other.
    timed(world, (&[10, 45, 50], 50), 0, |run| {
        let slow_at_first = || {
            let runs = run();
            if runs == 1 {
                world.runtime().sleep_until(world.runtime().now() + 35 * MS);
            }
            breaks_at(runs, 3)
        };
        assert!(poll_until(pace, false, &token, slow_at_first).is_ok());
    });
    timed(world, (&[0, 10, 30], 30), 0, |run| {
        assert!(poll_until(growing, true, &token, || breaks_at(run(), 3)).is_ok());
    });
    timed(world, (&[0, 10, 30], 30), 0, |run| {
        assert!(retry(growing, &token, || breaks_at(run(), 9)).is_err());
    });
    timed(world, (&[10, 20, 25], 25), 0, |run| {
        let runtime = world.runtime();
        let ended = poll_for(runtime, 10 * MS, 25 * MS, false, || breaks_at(run(), 9));
        assert!(ended.is_err());
    });
    // The time begins after the first run.
    timed(world, (&[0, 13, 23, 28], 31), 3, |run| {
        let runtime = world.runtime();
        let ended = poll_for(runtime, 10 * MS, 25 * MS, true, || breaks_at(run(), 9));
        assert!(ended.is_err());
    });
}

fn ended(world: &World<Cancel>) {
    let ended = Tried::root_until(world, world.runtime().now()).token;
    let pace = Backoff { steps: 2, ..Backoff::new(10 * MS) };
    timed(world, (&[], 0), 0, |run| {
        until(MS, &ended, || {
            run();
        });
    });
    timed(world, (&[], 0), 0, |run| {
        assert!(retry(pace, &ended, || breaks_at(run(), 9)).is_err());
    });
    timed(world, (&[0], 0), 0, |run| {
        assert!(poll_immediate_until(MS, &ended, || breaks_at(run(), 9)).is_err());
    });
}

/// Every kind of loop, one after another.
pub(super) fn loops_keep_time() -> Scenario<Cancel> {
    Scenario::<Cancel>::new(
        "loops_keep_time",
        "loops and polls of every kind run until a deadline or for a number of runs",
        |world| {
            until_the_deadline(world);
            polls(world);
            ended(world);
        },
        |history| history.notes("ends").count() == 14,
    )
    .not_on(needs_exact_time)
}

/// Loops whose token is cancelled while they sleep.
pub(super) fn loop_is_cancelled() -> Scenario<Cancel> {
    Scenario::<Cancel>::new(
        "loop_is_cancelled",
        "a loop and a poll sleep when their token is cancelled",
        |world| {
            let root = Tried::root(world);
            let loops = root.spawn("loop", |own| {
                timed(&own.world, (&[0], 5), 0, |run| {
                    until(20 * MS, &own.token, || {
                        run();
                    });
                });
            });
            let polls = root.spawn("poll", |own| {
                timed(&own.world, (&[0], 5), 0, |run| {
                    let pace = Backoff::new(20 * MS);
                    assert!(poll_until(pace, true, &own.token, || breaks_at(run(), 9)).is_err());
                });
            });
            world.runtime().sleep_until(world.runtime().now() + 5 * MS);
            root.cancel();
            world.join(loops);
            world.join(polls);
        },
        |history| history.notes("runs").count() == 2 && history.notes("ends").count() == 2,
    )
    .not_on(needs_exact_time)
}

/// A caller that waits at a flow limiter goes on at its turn, or is told at once that the turn will
/// not come.
pub(super) fn throttled() -> Scenario<Cancel> {
    Scenario::<Cancel>::new(
        "throttled",
        "a flow limiter grants turns in time, or refuses them at once",
        |world| {
            let now = world.runtime().now();
            let flow = TokenBucketFlow::new(world.runtime(), 100.0, 2);
            let token = Tried::root_until(world, Instant::NEVER).token;
            let hurried = Tried::root_until(world, now + 5 * MS).token;
            let ended = Tried::root_until(world, now).token;
            timed(world, (&[0, 0, 10, 20], 20), 0, |run| {
                for _ in 0..2 {
                    assert!(flow.try_accept());
                    run();
                }
                assert!(!flow.try_accept(), "nothing is left");
                assert_eq!(flow.wait_for(&token, 3), Err(WaitError::ExceedsBurst));
                assert_eq!(flow.wait_for(&hurried, 1), Err(WaitError::WouldExceedDeadline));
                assert!(matches!(flow.wait_for(&ended, 1), Err(WaitError::Ended(_))));
                flow.accept();
                run();
                assert_eq!(flow.wait_for(&token, 1), Ok(()));
                run();
            });
        },
        |history| history.notes("runs").count() == 4,
    )
    .not_on(needs_exact_time)
}
