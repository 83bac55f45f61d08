//! Trees of many tokens: which sleepers wake, which locks are taken, and which memory is kept.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::{SECOND, at};
use crate::cancel::node::Node;
use crate::cancel::{Adopt, Cancel, CancelToken, Forget, Hook, Reason, Tree, WAITERS, Wait};
use crate::machine::single_step::Stepped;
use crate::machine::{AT_ONCE, Cx, Operation, Step, Wakes};
use crate::runtime::bell::{Bell, Breaks, poll};
use crate::runtime::peeking::Peeking;
use crate::runtime::{Ambient, Instant, Manual, Runtime, System};

fn waker(bell: &Arc<Bell>) -> Waker {
    Waker::from(Arc::clone(bell))
}

#[test]
fn hooks_of_a_token_whose_deadline_nobody_has_noticed_run_when_one_above_is_cancelled() {
    let (runtime, bell) = (Manual::new(), Arc::<Bell>::default());
    let root = CancelToken::new(&runtime);
    let timed = root.child_with_deadline(at(1));
    let below = timed.child();
    let mut hooks = [&timed, &below].map(|token| token.on_end(waker(&bell)));
    hooks.iter_mut().for_each(|hook| drop(hook.at_deadline.take()));
    runtime.advance(2 * SECOND);
    assert_eq!(bell.rings(), 0);
    root.cancel();
    assert_eq!(bell.rings(), 2);
    assert_eq!(below.reason(), Some(Reason::DeadlineExceeded), "it had ended before");
}

#[test]
fn a_hook_that_panics_keeps_nothing_from_ending() {
    let bell = Arc::<Bell>::default();
    let root = CancelToken::new(&Manual::new());
    let (left, right) = (root.child(), root.child());
    let (below_left, below_right) = (left.child(), right.child());
    let all = [&root, &left, &right, &below_left, &below_right];
    let hooks = all.map(|token| {
        let ring = || token.on_end(waker(&bell));
        (ring(), token.on_end(Breaks::waker("a hook of a test")), ring())
    });
    let cancelled = catch_unwind(AssertUnwindSafe(|| root.cancel()));
    assert!(cancelled.is_err(), "the panic goes on");
    assert!(all.iter().all(|token| token.is_cancelled()));
    assert_eq!(bell.rings(), 2 * all.len());
    drop(hooks);
}

#[test]
fn only_those_concerned_are_woken() {
    let runtime = Manual::new();
    let root = CancelToken::new(&runtime);
    let (leaf, sibling, below) = (root.child(), root.child(), root.child().child());
    let (own, others) = (Arc::<Bell>::default(), Arc::<Bell>::default());
    let mut waits = pin!(leaf.wait_async());
    let mut strangers = [&root, &sibling, &below].map(|token| Box::pin(token.wait_async()));
    assert!(poll(waits.as_mut(), &own).is_pending());
    for stranger in &mut strangers {
        assert!(poll(stranger.as_mut(), &others).is_pending());
    }
    leaf.cancel();
    assert_eq!((own.rings(), others.rings()), (1, 0));
    assert_eq!(poll(waits, &own), Poll::Ready(Reason::Cancelled));
    drop(sibling.child());
    assert_eq!(others.rings(), 0);
    drop(strangers);
}

#[test]
fn a_task_that_is_polled_for_nothing_leaves_one_hook_and_changes_it_with_its_waker() {
    let token = CancelToken::new(&Manual::new());
    let (first, second) = (Arc::<Bell>::default(), Arc::<Bell>::default());
    let mut waits = Box::pin(token.wait_async());
    for _ in 0..3 {
        assert!(poll(waits.as_mut(), &first).is_pending());
    }
    assert_eq!(Arc::strong_count(&first), 3, "one for the token, one for the future to compare");
    assert!(poll(waits.as_mut(), &second).is_pending());
    token.cancel();
    assert_eq!((first.rings(), second.rings()), (0, 1));
    assert!(poll(waits.as_mut(), &second).is_ready());
    drop(waits);
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
}

#[test]
fn to_ask_takes_no_lock_but_once_when_the_deadline_has_passed() {
    let (runtime, locked) = (Peeking::new(), Arc::<AtomicUsize>::default());
    let [root, timed] = [Instant::NEVER, runtime.now() + Duration::from_millis(1)]
        .map(|deadline| CancelToken::with_deadline(&runtime, deadline));
    let later = root.child_with_deadline(runtime.now() + 1_000 * SECOND);
    let counted = Arc::clone(&locked);
    runtime.looks(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    assert!(!root.is_cancelled() && !later.is_cancelled());
    assert_eq!(locked.load(Ordering::SeqCst), 0);
    root.cancel();
    locked.store(0, Ordering::SeqCst);
    assert!(root.is_cancelled() && later.is_cancelled());
    assert_eq!(locked.load(Ordering::SeqCst), 0);
    runtime.sleep_until(runtime.now() + Duration::from_millis(2));
    assert!(timed.is_cancelled() && timed.is_cancelled());
    assert_eq!(locked.load(Ordering::SeqCst), 1);
    runtime.ends();
}

#[test]
fn a_token_that_nobody_can_name_and_that_leads_to_no_other_is_gone() {
    let root = CancelToken::new(&Manual::new());
    let middle = root.child();
    let leaves = [middle.child(), middle.child()];
    let nodes = [&middle, &leaves[0], &leaves[1]].map(|token| Arc::downgrade(&token.node));
    let alive = || nodes.iter().filter(|node| Weak::strong_count(node) > 0).count();
    let [first, second] = leaves;
    let another_copy = second.clone();
    drop((middle, first, second));
    assert_eq!(alive(), 2, "the middle one leads to the other leaf, which a copy names");
    drop(another_copy);
    assert_eq!(alive(), 0);
    let hooked = root.child();
    let (node, hook) = (Arc::downgrade(&hooked.node), hooked.on_end(Waker::noop().clone()));
    drop(hooked);
    assert!(Weak::strong_count(&node) > 0, "it has something to do when it ends");
    drop(hook);
    assert_eq!(Weak::strong_count(&node), 0);
}

#[test]
fn a_tree_that_is_dropped_from_above_is_gone() {
    for cancelled in [false, true] {
        let root = CancelToken::new(&Manual::new());
        let child = root.child();
        let nodes = [&root, &child].map(|token| Arc::downgrade(&token.node));
        if cancelled {
            root.cancel();
        }
        drop(root);
        let late = child.child();
        assert_eq!(late.is_cancelled(), cancelled);
        drop((child, late));
        assert!(nodes.iter().all(|node| Weak::strong_count(node) == 0), "{cancelled}");
    }
}

#[test]
fn a_deep_tree_ends_and_is_dropped_without_a_deep_stack() {
    for cancelled in [false, true] {
        let root = CancelToken::new(&System::new());
        let mut deepest = root.child();
        for _ in 0..100_000 {
            deepest = deepest.child();
        }
        if cancelled {
            root.cancel();
        }
        assert_eq!(deepest.is_cancelled(), cancelled);
    }
}

#[test]
fn a_second_cancellation_wakes_nobody_and_is_told_the_children_until_they_are_forgotten() {
    let mut token = Stepped::new(Tree::new());
    let below = CancelToken::new(&Manual::new());
    assert!(token.call(Adopt(Arc::<Node<_>>::clone(&below.node))).is_ok());
    assert_eq!(token.call(Forget).len(), 0, "they have not ended");
    assert_eq!(token.waits(Wait { until: Instant::NEVER }), None);
    assert_eq!(token.call(Cancel::default()).below.len(), 1);
    assert_eq!(token.woken.get(WAITERS), Wakes::ALL);
    assert_eq!(token.call(Cancel::default()).below.len(), 1);
    assert!(!token.woken.any());
    assert_eq!(token.call(Forget).len(), 1);
    assert_eq!((token.call(Cancel::default()).below.len(), token.machine.children()), (0, 0));
}

#[test]
fn a_cancellation_collects_many_children_and_hooks_in_several_steps() {
    const MANY: usize = 2 * AT_ONCE + 1;
    let mut token = Stepped::new(Tree::new());
    let below = CancelToken::new(&Manual::new());
    for _ in 0..MANY {
        assert!(token.call(Adopt(Arc::<Node<_>>::clone(&below.node))).is_ok());
        assert!(token.call(Hook(Some(Waker::noop().clone()))).is_ok());
    }
    let mut cancel = Cancel::default();
    for part in 1..=2 {
        let mut cx = Cx::new(&token.clock);
        let step = cancel.step(&mut token.machine, &mut cx);
        assert!(matches!(step, Step::Wait { until: Some(Instant::ZERO), .. }));
        let collected = (cancel.ended.below.len(), cancel.ended.hooks.len());
        assert_eq!(collected, (part * AT_ONCE, part * AT_ONCE));
    }
    let ended = token.call(cancel);
    assert_eq!((ended.below.len(), ended.hooks.len()), (MANY, MANY));
    let forgotten = [(); 4].map(|()| token.call(Forget).len());
    assert_eq!(forgotten, [AT_ONCE, AT_ONCE, 1, 0]);
}

#[test]
fn tokens_and_their_hooks_show_whether_they_have_ended() {
    let root = CancelToken::with_deadline(&Manual::new(), at(2));
    let child = root.child();
    let shown = "CancelToken { ended: None, deadline: Some(2s) }";
    assert_eq!(format!("{root:?}"), shown);
    assert_eq!(format!("{:?}", child.on_end(Waker::noop().clone())), format!("OnEnd({shown})"));
    child.cancel();
    let shown = format!("{child:?} {:?}", child.node);
    assert!(shown.ends_with("Some(2s) } Node(Some(Cancelled))"), "{shown}");
    assert!(shown.starts_with("CancelToken { ended: Some(Cancelled)"), "{shown}");
}

#[test]
fn children_come_and_go_while_their_parent_ends() {
    let system = System::new();
    for _ in 0..200 {
        let root = CancelToken::new(&system);
        let threads = [(); 3].map(|()| {
            let root = root.clone();
            system.spawn("makes children", move || {
                let mut made = vec![];
                while !root.is_cancelled() {
                    made.push(root.child().child());
                    made.truncate(8);
                }
                made.push(root.child());
                made
            })
        });
        root.cancel();
        for thread in threads {
            let made = system.join(thread).unwrap();
            assert!(made.iter().all(|token| token.wait() == Reason::Cancelled));
        }
    }
}
