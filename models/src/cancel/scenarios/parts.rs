//! Parts that have no rules of their own under a lock, and tokens as users make them. No history is
//! recorded.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::limiter::{FlowLimiter, NeverAccept, WaitError};
use seatrial_core::parallel::parallelize_until;
use seatrial_core::polling::{Backoff, Delays, ExponentialDelays, jitter};
use seatrial_core::runtime::{Ambient as _, Runtime};
use seatrial_core::store::MutationDetector;

use super::MS;
use crate::cancel::Cancel;
use crate::trial::{Scenario, needs_exact_time, sleeps};

const ONE: NonZeroUsize = NonZeroUsize::MIN;
const TWO: NonZeroUsize = ONE.saturating_add(1);
/// More than are dealt with in one critical section.
const MANY: u8 = 70;

/// Work is divided into pieces: each is done once, and none after the token has ended.
pub(super) fn pieces() -> Scenario<Cancel> {
    Scenario::new(
        "pieces",
        "two workers share five pieces, and one worker's token ends during the second of six",
        |world| {
            let token = CancelToken::new(world.runtime());
            let done = Arc::new(Mutex::new(Vec::new()));
            let counts = Arc::clone(&done);
            let does =
                move |piece| counts.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
            parallelize_until(&token, TWO, 5, 2, does);
            let mut all = done.lock().unwrap_or_else(PoisonError::into_inner).clone();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2, 3, 4], "each piece is done once");

            let (ends, last) = (token.clone(), Arc::new(AtomicU8::new(0)));
            let notes = Arc::clone(&last);
            parallelize_until(&token, ONE, 6, 3, move |piece| {
                notes.store(piece as u8, Ordering::Relaxed);
                if piece == 1 {
                    ends.cancel();
                }
            });
            assert_eq!(last.load(Ordering::Relaxed), 1, "the last piece that was done");
        },
        |history| history.finished(),
    )
}

/// A limiter that accepts nobody lets all its callers go when it is stopped (`workqueue:FC-11`).
pub(super) fn stopped_limiter() -> Scenario<Cancel> {
    Scenario::new(
        "stopped_limiter",
        "two callers wait at a limiter that accepts nobody until it is stopped",
        |world| {
            let flow = Arc::new(NeverAccept::new(world.runtime()));
            let token = CancelToken::new(world.runtime());
            assert_eq!((flow.try_accept(), flow.wait(&token)), (false, Err(WaitError::Closed)));
            assert_eq!(world.at_once(flow.wait_async(&token)), Some(Err(WaitError::Closed)));
            let callers = ["first", "second"].map(|name| {
                let flow = Arc::clone(&flow);
                world.spawn(name, move || flow.accept())
            });
            flow.stop();
            callers.into_iter().for_each(|caller| world.join(caller));
            flow.accept();
        },
        |history| history.finished(),
    )
}

/// A token that has ended has ended, also if the time of a wait is over.
pub(super) fn ended_in_time() -> Scenario<Cancel> {
    Scenario::new(
        "ended_in_time",
        "a caller waits for a time that is over, and then for an ended token",
        |world| {
            let (token, now) = (CancelToken::new(world.runtime()), world.runtime().now());
            assert!(!token.wait_until(now), "it goes on");
            assert!(!token.wait_until(now + MS), "it goes on");
            token.cancel();
            assert!(token.wait_until(now), "it has ended");
            assert!(token.wait_until(now + 9 * MS), "it has ended");
        },
        |history| history.finished(),
    )
}

/// Counts the hooks that are run.
#[derive(Default)]
struct Rung(AtomicU8);

impl Wake for Rung {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// More children, or more hooks, than one critical section of a cancellation deals with.
pub(super) fn many_below() -> Scenario<Cancel> {
    Scenario::new(
        "many_below",
        "a token with seventy children is cancelled, and one with as many hooks",
        |world| {
            let token = CancelToken::new(world.runtime());
            let children: Vec<_> = (0..MANY).map(|_| token.child()).collect();
            token.cancel();
            assert!(children.iter().all(CancelToken::is_cancelled), "each child has ended");
            let (token, rung) = (CancelToken::new(world.runtime()), Arc::new(Rung::default()));
            let hooks: Vec<_> = (0..MANY).map(|_| token.on_end(Arc::clone(&rung).into())).collect();
            token.cancel();
            assert_eq!(rung.0.load(Ordering::Relaxed), MANY, "each hook was run once");
            drop(hooks);
        },
        |history| history.finished(),
    )
}

/// An object that can be changed by those who share it.
#[derive(Debug, Default)]
struct Changeable(AtomicU8);

impl Changeable {
    fn value(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    fn change(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Clone for Changeable {
    fn clone(&self) -> Self {
        Self(AtomicU8::new(self.value()))
    }
}

impl PartialEq for Changeable {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

/// Delays grow while they are used, for however long, and start over after a rest
/// (`workqueue:WT-9`).
pub(super) fn delays_start_over() -> Scenario<Cancel> {
    Scenario::<Cancel>::new(
        "delays_start_over",
        "a caller takes delays for longer than they are remembered, then rests, and takes another",
        |world| {
            let runtime = world.runtime();
            let (first, longest, reset) = (MS, 8 * MS, 20 * MS);
            let mut delays = ExponentialDelays::new(first, longest, reset, 2.0, 0.0, runtime.now());
            let mut after_a_rest = |rest: Duration| {
                runtime.sleep_until(runtime.now() + rest);
                delays.next(runtime)
            };
            let mut taken = vec![after_a_rest(Duration::ZERO)];
            for _ in 0..6 {
                taken.push(after_a_rest(taken[taken.len() - 1]));
            }
            assert_eq!(
                taken,
                [1, 2, 4, 8, 8, 8, 8].map(|times| times * MS),
                "it stays at the longest"
            );
            assert_eq!(after_a_rest(reset), longest, "it has not rested for longer");
            assert_eq!(after_a_rest(reset + MS), first, "it has");
        },
        |history| history.finished(),
    )
    .not_on(needs_exact_time)
}

/// Objects are watched for two minutes at least and four at most (`cache:MD-3`).
pub(super) fn watched_objects() -> Scenario<Cancel> {
    Scenario::<Cancel>::new(
        "watched_objects",
        "shared objects are changed at once, after two minutes, and after nine",
        |world| {
            let runtime = world.runtime();
            let began = runtime.now();
            let at = |seconds| runtime.sleep_until(began + Duration::from_secs(seconds));
            let detector = MutationDetector::new(runtime);
            let compare = || detector.compare().len();
            let [one, two] = [(); 2].map(|()| Arc::new(Changeable::default()));
            detector.add(&one);
            assert_eq!(compare(), 0, "nothing has changed");
            one.change();
            let changed = detector.compare();
            assert_eq!(
                (changed.len(), changed[0].was.value(), changed[0].object.value()),
                (1, 0, 1)
            );
            at(119);
            detector.add(&two);
            at(120);
            assert_eq!(compare(), 1, "the first is still watched");
            two.change();
            at(238);
            assert_eq!(compare(), 2, "the second is watched for two minutes");
            at(245);
            compare();
            at(370);
            compare();
            at(371);
            assert_eq!(compare(), 0, "none is watched for more than four minutes");
        },
        |history| history.finished(),
    )
    .not_on(sleeps)
}

/// Delays grow up to a limit, and at most up to the longest one that can be told
/// (`workqueue:WT-1` to `WT-4`).
pub(super) fn grown_delays() -> Scenario<Cancel> {
    Scenario::new(
        "grown_delays",
        "a caller asks for delays that grow, and for very long ones",
        |world| {
            const LONGEST: Duration = Duration::from_nanos(i64::MAX as u64);
            let runtime = world.runtime();
            let mut limited = Backoff { factor: 2.0, steps: 3, cap: 5 * MS, ..Backoff::new(MS) };
            let steps = [(); 5].map(|()| limited.step(runtime));
            assert_eq!(steps, [1, 2, 4, 5, 5].map(|times| times * MS), "it doubles up to its cap");
            let mut counted = Backoff { factor: 3.0, steps: 2, ..Backoff::new(MS) };
            let steps = [(); 4].map(|()| counted.step(runtime));
            assert_eq!(
                steps,
                [1, 3, 9, 9].map(|times| times * MS),
                "it grows so often and no more"
            );
            let mut varied = Backoff { jitter: 0.5, ..Backoff::new(10 * MS) };
            for _ in 0..5 {
                let step = varied.step(runtime);
                assert!(
                    (10 * MS..15 * MS).contains(&step),
                    "a random part of {step:?} is below a half"
                );
            }
            let mut huge = Backoff { factor: 1e9, steps: 9, ..Backoff::new(MS) };
            let last = [(); 5].map(|()| huge.step(runtime))[4];
            assert_eq!(last, LONGEST, "it does not wrap");
            assert_eq!(jitter(LONGEST, 1.0, runtime), LONGEST, "nor with a random part");
        },
        |history| history.finished(),
    )
}
