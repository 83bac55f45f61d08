//! Cancellation tokens: the cost of one does not depend on how many there are.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use seatrial_core::cancel::CancelToken;
use seatrial_core::runtime::System;

use crate::measure::{allocated, assert_given_back, assert_growth, shortest, tell, timed};

/// The numbers of living children of one token, and how much longer a call on one of them may take
/// compared with the smallest number. Caches and page faults cost a little.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const FACTOR: f64 = 8.0;

/// Makes children of one token, and drops them: measures the time per child.
pub(crate) fn children() {
    let parent = CancelToken::new(&System::new());
    let [small, .., large] = SIZES.map(|size| {
        let mut made = Vec::with_capacity(size);
        let one = shortest(|| {
            made.clear();
            timed(|| made.extend((0..size).map(|_| parent.child()))) / size as u32
        });
        tell(size, "make one", one);
        let gone = shortest(|| {
            let made: Vec<_> = (0..size).map(|_| parent.child()).collect();
            timed(|| drop(made)) / size as u32
        });
        tell(size, "drop one", gone);
        one + gone
    });
    assert_growth(small, large, FACTOR);
}

#[derive(Default)]
struct Counts(AtomicUsize);

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Cancels one leaf while a task waits for each of the others: measures the time, and checks that
/// no other task is woken.
pub(crate) fn one_leaf() {
    const LEAVES: usize = 100;
    let parent = CancelToken::new(&System::new());
    let [small, .., large] = SIZES.map(|size| {
        let counts = Arc::<Counts>::default();
        let waker = Waker::from(Arc::clone(&counts));
        let tokens: Vec<_> = (0..size).map(|_| parent.child()).collect();
        let mut waits: Vec<_> = tokens.iter().map(|token| Box::pin(token.wait_async())).collect();
        for wait in &mut waits {
            assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        let one = shortest(|| {
            let leaves: Vec<_> = (0..LEAVES).map(|_| parent.child()).collect();
            timed(|| leaves.iter().for_each(CancelToken::cancel)) / LEAVES as u32
        });
        tell(size, "cancel one leaf", one);
        assert_eq!(counts.0.load(Ordering::Relaxed), 0, "somebody else was woken");
        let wait = pin!(tokens[0].wait_async());
        tokens[0].cancel();
        assert!(matches!(wait.poll(&mut Context::from_waker(&waker)), Poll::Ready(_)));
        one
    });
    assert_growth(small, large, FACTOR);
}

/// Makes many children of one token and drops them: measures the memory that the token keeps.
pub(crate) fn bytes_after_dropping() {
    const MANY: usize = 100_000;
    let before = allocated();
    let parent = CancelToken::new(&System::new());
    let children: Vec<_> = (0..MANY).map(|_| parent.child()).collect();
    let full = allocated() - before;
    drop(children);
    assert_given_back(MANY, "a token", full, allocated() - before);
}
