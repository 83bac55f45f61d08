//! Cancellation, which is built on the rest of the seam (`election:ENV-5`).

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use seatrial_core::cancel::{CancelToken, Reason};
use seatrial_core::runtime::Runtime;

use crate::seam::{Facts, Promise};

const MS: Duration = Duration::from_millis(1);

/// A thread that waits for a token wakes when one above it is cancelled.
#[derive(Clone, Copy, Debug)]
pub struct CancelWakes;

impl Promise for CancelWakes {
    const NAME: &'static str = "cancel_wakes";

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let root = CancelToken::new(runtime);
        let waiters = [(); 2].map(|()| {
            let token = root.child();
            runtime.spawn("waiter", move || token.wait())
        });
        root.cancel();
        for waiter in waiters {
            let reason = runtime.join(waiter).expect("a waiter does not panic");
            assert_eq!(reason, Reason::Cancelled);
        }
        0
    }
}

/// A bell on a condition variable of its own.
struct Bell<R: Runtime> {
    runtime: R,
    rung: R::Mutex<bool>,
    changed: R::Condvar,
}

impl<R: Runtime> Wake for Bell<R> {
    fn wake(self: Arc<Self>) {
        let mut rung = self.runtime.lock(&self.rung);
        *rung = true;
        self.runtime.notify_all(&self.changed);
    }
}

/// A thread that sleeps elsewhere is woken by its hook, by a cancellation as well as by the
/// deadline.
#[derive(Clone, Copy, Debug)]
pub struct HookWakes;

impl Promise for HookWakes {
    const NAME: &'static str = "hook_wakes";

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let cancelled = CancelToken::new(runtime);
        let expires = CancelToken::with_deadline(runtime, runtime.now() + MS);
        let sleepers = [&cancelled, &expires].map(|token| {
            let (runtime, token) = (runtime.clone(), token.clone());
            runtime.clone().spawn("sleeper", move || {
                let (rung, changed) = (runtime.mutex(false), runtime.condvar());
                let bell = Arc::new(Bell { runtime: runtime.clone(), rung, changed });
                let hook = token.on_end(Waker::from(Arc::clone(&bell)));
                let mut rung = runtime.lock(&bell.rung);
                while !*rung {
                    rung = runtime.wait(&bell.changed, rung);
                }
                drop(rung);
                drop(hook);
                token.reason()
            })
        });
        cancelled.cancel();
        let reasons = sleepers.map(|sleeper| runtime.join(sleeper).expect("it does not panic"));
        assert_eq!(reasons, [Some(Reason::Cancelled), Some(Reason::DeadlineExceeded)]);
        0
    }
}

/// A token ends at its deadline, not early, and a cancellation after that does not change why.
#[derive(Clone, Copy, Debug)]
pub struct TokenDeadline;

impl Promise for TokenDeadline {
    const NAME: &'static str = "token_deadline";

    fn check<R: Runtime>(runtime: &R, facts: Facts) -> u32 {
        let deadline = runtime.now() + 2 * MS;
        let token = CancelToken::with_deadline(runtime, deadline);
        let child = token.child_with_deadline(deadline + MS);
        let (inner, late) = (runtime.clone(), token.clone());
        let canceller = runtime.spawn("canceller", move || {
            inner.sleep_until(deadline + MS);
            late.cancel();
        });
        assert_eq!(child.wait(), Reason::DeadlineExceeded);
        let woke = runtime.now();
        assert!(woke >= deadline, "too early");
        assert!(woke == deadline || !facts.exact_time, "too late");
        runtime.join(canceller).expect("it does not panic");
        assert_eq!(token.reason(), Some(Reason::DeadlineExceeded));
        0
    }
}
