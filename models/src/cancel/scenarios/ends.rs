//! Tokens that end, and the tokens that end with them.

use seatrial_core::cancel::{Op, Ret};
use seatrial_core::machine::Step;

use super::{Tried, some, waited_for};
use crate::cancel::Cancel;
use crate::trial::{Scenario, What};

/// Two threads wait, one for a token and one for its child.
pub(super) fn two_waiters() -> Scenario<Cancel> {
    Scenario::new(
        "two_waiters",
        "two threads wait for a token, which is cancelled",
        |world| {
            let root = Tried::root(world);
            let waiters = ["first", "second"].map(|name| root.spawn(name, |token| token.wait()));
            root.cancel();
            world.quiesce();
            root.ask();
            waiters.into_iter().for_each(|waiter| world.join(waiter));
        },
        |history| waited_for(history, 0, 2),
    )
}

/// A leaf is cancelled while threads wait for the token above it and for a sibling.
pub(super) fn leaf_among_waiters() -> Scenario<Cancel> {
    Scenario::new(
        "leaf_among_waiters",
        "a leaf is cancelled while threads wait for its parent and its sibling",
        |world| {
            let root = Tried::root(world);
            let sibling = root.child(1);
            let above = root.spawn("above", |token| token.wait());
            let beside = sibling.spawn("beside", |token| token.wait());
            let leaf = root.child(2);
            leaf.cancel();
            world.quiesce();
            [&leaf, &sibling, &root].into_iter().for_each(Tried::ask);
            root.cancel();
            world.join(above);
            world.join(beside);
        },
        |history| waited_for(history, 2, 2),
    )
}

/// A thread waits for a grandchild whose parent was dropped.
pub(super) fn grandchild() -> Scenario<Cancel> {
    Scenario::new(
        "grandchild",
        "a thread waits for a grandchild whose parent was dropped",
        |world| {
            let root = Tried::root(world);
            let middle = root.child(1);
            let (first, second) = (middle.child(2), middle.child(3));
            middle.drop_last();
            let waiter = first.spawn("waiter", |token| token.wait());
            drop(first);
            second.ask();
            root.cancel();
            second.ask();
            world.quiesce();
            world.join(waiter);
        },
        |history| waited_for(history, 2, 1),
    )
}

/// A child is made while the token above it is cancelled.
pub(super) fn child_while_cancelled() -> Scenario<Cancel> {
    Scenario::new(
        "child_while_cancelled",
        "a thread makes a child and waits for it while the root of the tree is cancelled",
        |world| {
            let root = Tried::root(world);
            let middle = root.child(1);
            let maker = middle.spawn("maker", |token| {
                let child = token.child(2);
                child.ask();
                child.wait();
            });
            root.cancel();
            world.quiesce();
            world.join(maker);
            drop(middle);
        },
        // The child comes after its parent has ended.
        |history| {
            history.events.iter().any(|event| {
                matches!(&event.what, What::Step { outcome: Step::Done(Ret::Adopt(Err(_))), .. })
            })
        },
    )
}

/// Two threads cancel the same token.
pub(super) fn two_cancel() -> Scenario<Cancel> {
    Scenario::new(
        "two_cancel",
        "two threads cancel a token, and each then asks for the state of a grandchild",
        |world| {
            let root = Tried::root(world);
            let middle = root.child(1);
            let leaf = middle.child(2);
            let (above, below) = (root.clone(), leaf.clone());
            let other = world.spawn("other", move || {
                above.cancel();
                below.ask();
            });
            root.cancel();
            leaf.ask();
            world.join(other);
            drop((middle, leaf));
        },
        // Both threads have begun before one of them has returned.
        |history| {
            let mut begun = 0;
            for event in &history.events {
                begun += usize::from(event.noted("cancels").is_some());
                if event.noted("cancelled").is_some() {
                    break;
                }
            }
            begun == 2
        },
    )
}

/// The last copy of a token is dropped while its parent is cancelled.
pub(super) fn dropped_while_cancelled() -> Scenario<Cancel> {
    Scenario::new(
        "dropped_while_cancelled",
        "a thread drops the last copy of a token while the parent is cancelled",
        |world| {
            let root = Tried::root(world);
            let (kept, middle) = (root.child(1), root.child(2));
            let (gone, late) = (middle.child(3), middle.child(4));
            let dropper = gone.spawn("dropper", drop);
            drop(gone);
            world.join(dropper);
            world.note("dropped", 3);
            world.quiesce();
            late.drop_last();
            world.quiesce();
            let last = world.spawn("last", move || middle.drop_last());
            root.cancel();
            kept.ask();
            world.join(last);
        },
        // The token leaves its parent after the cancellation has begun, before the parent has
        // forgotten it.
        |history| {
            some(history, |before, event| {
                let What::Step { op: Op::Leave(_), outcome, .. } = &event.what else {
                    return false;
                };
                let there = matches!(outcome, Step::Done(Ret::Leave(Some(_))));
                there && event.object == 0 && !before.cancels.is_empty()
            })
        },
    )
}
