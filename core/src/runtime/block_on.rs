//! Runs a future through the runtime's own locks, so that checkers see every step of it.
//!
//! A checker's own `block_on` would bring its own notion of parking. This one needs only a lock and
//! a condition variable.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::Runtime;

struct Signal<R: Runtime> {
    runtime: R,
    woken: R::Mutex<bool>,
    changed: R::Condvar,
}

impl<R: Runtime> Wake for Signal<R> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut woken = self.runtime.lock(&self.woken);
        *woken = true;
        self.runtime.notify_one(&self.changed);
    }
}

pub(super) fn block_on<R: Runtime, F: Future>(runtime: &R, future: F) -> F::Output {
    let signal = Arc::new(Signal {
        runtime: runtime.clone(),
        woken: runtime.mutex(false),
        changed: runtime.condvar(),
    });
    let waker = Waker::from(Arc::clone(&signal));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        #[cfg(feature = "tokio")]
        super::tokio::give_way();
        let mut woken = runtime.lock(&signal.woken);
        while !*woken {
            woken = runtime.wait(&signal.changed, woken);
        }
        *woken = false;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::runtime::Manual;

    #[test]
    fn a_future_is_polled_once_at_first_and_once_for_every_wake() {
        let runtime = Manual::new();
        let (mut polls, mut waking) = (0, vec![]);
        let slept = Arc::new(AtomicUsize::new(0));
        runtime.block_on(std::future::poll_fn(|context| {
            polls += 1;
            match polls {
                1 | 4 => {
                    let (inner, waker) = (runtime.clone(), context.waker().clone());
                    let slept = Arc::clone(&slept);
                    waking.push(runtime.spawn("wakes", move || {
                        let asleep = inner.until_asleep(1, Duration::from_secs(2));
                        slept.fetch_add(asleep.into(), Ordering::SeqCst);
                        waker.wake();
                    }));
                }
                2 | 3 => context.waker().wake_by_ref(),
                _ => return Poll::Ready(()),
            }
            Poll::Pending
        }));
        assert_eq!(polls, 5);
        for thread in waking {
            runtime.join(thread).unwrap();
        }
        assert_eq!(slept.load(Ordering::SeqCst), 2, "it sleeps until it is woken, every time");
    }
}
