//! Threads and tasks.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use seatrial_core::runtime::Runtime;

use crate::engine::panic_text;
use crate::seam::{Facts, Promise};

/// A thread that ends returns its value to the thread that joins it, and a thread that panics its panic.
#[derive(Clone, Copy, Debug)]
pub struct Joins;

impl Promise for Joins {
    const NAME: &'static str = "joins";

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let values = runtime.spawn("values", || vec![1, 2]);
        let panics = runtime.spawn("panics", || panic!("on purpose"));
        let panicked: Result<(), _> = runtime.join(panics);
        assert_eq!(panic_text(&*panicked.expect_err("it panicked")), "on purpose");
        assert_eq!(runtime.join(values).expect("it did not panic"), [1, 2]);
        0
    }
}

/// A task that another thread wakes is polled again. The course is whether it had to be woken.
#[derive(Clone, Copy, Debug)]
pub struct Blocks;

impl Promise for Blocks {
    const NAME: &'static str = "blocks";
    const COURSES: &'static [u32] = &[0, 1];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let state = Arc::new(runtime.mutex((false, None::<Waker>)));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&state));
        let other = runtime.spawn("other", move || {
            let mut state = inner.lock(&theirs);
            state.0 = true;
            let waker = state.1.take();
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        let mut polls = 0;
        runtime.block_on(poll_fn(|context| {
            polls += 1;
            let mut state = runtime.lock(&state);
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        }));
        runtime.join(other).expect("it does not panic");
        polls - 1
    }
}
