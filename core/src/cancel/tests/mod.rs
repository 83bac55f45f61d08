//! The rules of tokens, one behaviour a test (`election:ENV-5`).

mod wide;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use super::{CancelToken, Reason};
use crate::runtime::bell::{Bell, poll};
use crate::runtime::{Ambient, Instant, Manual, Runtime};

const SECOND: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

fn at(seconds: u32) -> Instant {
    Instant::ZERO + seconds * SECOND
}

#[test]
fn cancelling_reaches_all_descendants_and_none_above() {
    let root = CancelToken::new(&Manual::new());
    let (left, right) = (root.child(), root.child());
    let grandchild = left.child();
    left.cancel();
    assert_eq!(left.reason(), Some(Reason::Cancelled));
    assert_eq!(grandchild.reason(), Some(Reason::Cancelled));
    assert_eq!((root.reason(), right.reason()), (None, None));
    root.cancel();
    assert!(right.is_cancelled());
}

#[test]
fn a_grandchild_is_cancelled_after_the_token_between_was_dropped() {
    let root = CancelToken::new(&Manual::new());
    let grandchild = root.child().child();
    assert!(!grandchild.is_cancelled(), "dropping is not cancelling");
    root.cancel();
    assert!(grandchild.is_cancelled());
}

#[test]
fn a_deadline_ends_a_token_and_its_descendants() {
    let runtime = Manual::new();
    let root = CancelToken::new(&runtime);
    let parent = root.child_with_deadline(at(5));
    let (early, late) = (parent.child_with_deadline(at(3)), parent.child_with_deadline(at(9)));
    assert_eq!((root.deadline(), late.deadline()), (None, Some(at(5))));
    runtime.advance(3 * SECOND);
    assert_eq!(early.reason(), Some(Reason::DeadlineExceeded));
    assert_eq!((parent.reason(), late.reason()), (None, None));
    runtime.advance(2 * SECOND);
    assert_eq!(late.reason(), Some(Reason::DeadlineExceeded));
    assert_eq!(root.reason(), None);
}

#[test]
fn the_reason_that_came_first_stays() {
    let runtime = Manual::new();
    let root = CancelToken::new(&runtime);
    let cancelled = root.child_with_deadline(at(5));
    cancelled.cancel();
    let expired = root.child_with_deadline(at(1));
    runtime.advance(SECOND);
    root.cancel(); // no one has looked at `expired` since its deadline
    runtime.advance(10 * SECOND);
    assert_eq!(cancelled.reason(), Some(Reason::Cancelled));
    assert_eq!(expired.reason(), Some(Reason::DeadlineExceeded));
}

#[test]
fn a_child_of_a_token_that_has_ended_has_ended_for_the_same_reason() {
    let runtime = Manual::new();
    let cancelled = CancelToken::new(&runtime);
    cancelled.cancel();
    let expired = CancelToken::with_deadline(&runtime, at(0));
    assert_eq!(cancelled.child_with_deadline(at(0)).reason(), Some(Reason::Cancelled));
    assert_eq!(expired.child().reason(), Some(Reason::DeadlineExceeded));
}

#[test]
fn a_copy_names_its_token_also_when_the_first_one_is_gone() {
    let root = CancelToken::new(&Manual::new());
    let copy = {
        let child = root.child();
        child.clone()
    };
    let others: Vec<_> = (0..100).map(|_| root.child()).collect(); // none of them is the token
    assert!(!copy.is_cancelled());
    others.iter().for_each(CancelToken::cancel);
    assert!(!copy.is_cancelled());
    copy.cancel();
    assert!(copy.is_cancelled() && !root.is_cancelled());
}

#[test]
fn a_waiter_wakes_when_a_token_above_is_cancelled() {
    let runtime = Manual::new();
    let root = CancelToken::new(&runtime);
    let child = root.child();
    let other = root.child();
    let waits = |token: &CancelToken<Manual>| {
        let token = token.clone();
        runtime.spawn("waits", move || token.wait())
    };
    let (first, second) = (waits(&child), waits(&other));
    assert!(runtime.until_asleep(2, PATIENCE));
    child.cancel();
    assert_eq!(runtime.join(first).unwrap(), Reason::Cancelled);
    assert!(runtime.until_asleep(1, PATIENCE), "the other one sleeps on");
    root.cancel();
    assert_eq!(runtime.join(second).unwrap(), Reason::Cancelled);
}

#[test]
fn all_waiters_of_a_token_wake_behind_one_of_another_token() {
    let runtime = Manual::new();
    let root = CancelToken::new(&runtime);
    let (first, token) = (root.child(), root.child());
    let mut asleep = 0;
    let waits = [&first, &token, &token].map(|token| {
        let token = token.clone();
        let thread = runtime.spawn("waits", move || token.wait());
        asleep += 1;
        assert!(runtime.until_asleep(asleep, PATIENCE));
        thread
    });
    let [other, waits @ ..] = waits;
    token.cancel();
    for thread in waits {
        assert_eq!(runtime.join(thread).unwrap(), Reason::Cancelled);
    }
    root.cancel();
    assert_eq!(runtime.join(other).unwrap(), Reason::Cancelled);
}

#[test]
fn a_waiter_wakes_at_the_deadline() {
    let runtime = Manual::new();
    let token = CancelToken::with_deadline(&runtime, at(2));
    let inner = token.clone();
    let waits = runtime.spawn("waits", move || inner.wait());
    assert!(runtime.until_waiting(1, PATIENCE));
    runtime.advance(2 * SECOND);
    assert_eq!(runtime.join(waits).unwrap(), Reason::DeadlineExceeded);
}

#[test]
fn a_bounded_wait_tells_whether_the_token_ended() {
    let runtime = Manual::new();
    for (deadline, until, expected) in [(3, 2, false), (2, 2, true), (1, 2, true)] {
        let token = CancelToken::with_deadline(&runtime, runtime.now() + deadline * SECOND);
        let until = runtime.now() + until * SECOND;
        let waits = runtime.spawn("waits", move || token.wait_until(until));
        assert!(runtime.until_waiting(1, PATIENCE));
        runtime.advance(2 * SECOND);
        assert_eq!(runtime.join(waits).unwrap(), expected);
    }
    let token = CancelToken::new(&runtime);
    assert!(!token.wait_until(runtime.now()), "now has come");
}

#[test]
fn the_end_of_a_token_is_awaited() {
    let (runtime, bell) = (Manual::new(), Arc::<Bell>::default());
    let root = CancelToken::new(&runtime);
    let (child, timed) = (root.child(), root.child_with_deadline(at(1)));
    let (mut one, mut other) = (pin!(child.wait_async()), pin!(timed.wait_async()));
    assert!(poll(one.as_mut(), &bell).is_pending() && poll(other.as_mut(), &bell).is_pending());
    runtime.advance(SECOND);
    assert_eq!(bell.rings(), 1);
    assert_eq!(poll(other.as_mut(), &bell), Poll::Ready(Reason::DeadlineExceeded));
    assert!(poll(one.as_mut(), &bell).is_pending());
    root.cancel();
    assert_eq!(bell.rings(), 2);
    assert_eq!(poll(one.as_mut(), &bell), Poll::Ready(Reason::Cancelled));
}

#[test]
fn hooks_run_when_a_token_ends_however_it_ends() {
    let runtime = Manual::new();
    let root = CancelToken::new(&runtime);
    let [by_cancel, by_deadline, too_late, dropped] = [(); 4].map(|()| Arc::<Bell>::default());
    let waker = |bell: &Arc<Bell>| Waker::from(Arc::clone(bell));
    let (child, timed) = (root.child(), root.child_with_deadline(at(1)));
    let hooks = (child.on_end(waker(&by_cancel)), timed.on_end(waker(&by_deadline)));
    drop(child.on_end(waker(&dropped)));
    drop(timed.on_end(waker(&dropped)));
    assert_eq!(runtime.waiters(), 1, "a hook that is dropped leaves no timer");
    runtime.advance(SECOND);
    assert_eq!((by_cancel.rings(), by_deadline.rings()), (0, 1));
    root.cancel();
    assert_eq!((by_cancel.rings(), dropped.rings()), (1, 0));
    drop(child.on_end(waker(&too_late)));
    assert_eq!(too_late.rings(), 1, "it had ended already");
    drop(timed.on_end(waker(&too_late)));
    assert_eq!((too_late.rings(), runtime.waiters()), (2, 0), "and so had the other");
    drop(hooks);
}

#[test]
fn a_hook_may_use_the_tokens_of_its_tree() {
    struct CancelsParent(CancelToken<Manual>);
    impl Wake for CancelsParent {
        fn wake(self: Arc<Self>) {
            self.0.cancel();
        }
    }
    let root = CancelToken::new(&Manual::new());
    let child = root.child();
    let hook = child.on_end(Waker::from(Arc::new(CancelsParent(root.clone()))));
    child.cancel();
    assert!(root.is_cancelled());
    drop(hook);
}
