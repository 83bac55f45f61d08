//! The threads, tasks and hooks that are told of an end, and when.

use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

use seatrial_core::cancel::{CancelToken, Reason};
use seatrial_core::limiter::{FlowLimiter, TokenBucketFlow, WaitError};
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::{MS, Tried, pair, some, waited_for, word};
use crate::cancel::Cancel;
use crate::engine::{AnyRuntime, Engine};
use crate::trial::Scenario;

/// A token is cancelled at about the time of its deadline.
pub(super) fn deadline_and_cancel() -> Scenario<Cancel> {
    Scenario::<Cancel>::new(
        "deadline_and_cancel",
        "a token is cancelled at about the deadline of its child",
        |world| {
            let root = Tried::root(world);
            let now = world.runtime().now();
            let timed = root.child_until(1, now + 2 * MS);
            let waiter = timed.spawn("waiter", |token| token.wait());
            timed.ask();
            root.cancel();
            timed.ask();
            let late = root.child_until(2, now + 2 * MS);
            late.ask();
            world.quiesce();
            timed.ask();
            world.join(waiter);
            // This token is not cancelled before its deadline.
            let alone = Tried { number: 3, ..Tried::root(world) };
            let expires = alone.child_until(4, world.runtime().now() + MS);
            let waiter = expires.spawn("late waiter", |token| token.wait());
            world.quiesce();
            expires.ask();
            alone.cancel();
            expires.ask();
            world.join(waiter);
        },
        |history| waited_for(history, 0, 1),
    )
    .free_deadlines(1)
}

/// Hooks are registered and taken back while their tokens end.
pub(super) fn hooks() -> Scenario<Cancel> {
    Scenario::new(
        "hooks",
        "hooks are registered and taken back while their tokens end",
        |world| {
            let root = Tried::root(world);
            let child = root.child(1);
            let stays = root.hook(1);
            child.hook(2).take_back();
            let other = child.spawn("other", |token| {
                let left = token.hook(3);
                let taken = token.hook(4);
                taken.take_back();
                token.world.quiesce();
                drop(left.left);
            });
            root.cancel();
            world.join(other);
            drop(stays.left);
            child.ask();
        },
        // A hook is registered after its token has ended.
        |history| {
            some(history, |before, event| {
                event.noted("rings").is_some_and(|hook| !before.hooks.contains_key(&hook))
            })
        },
    )
}

/// Hooks run once all tokens have ended.
pub(super) fn hooks_come_last() -> Scenario<Cancel> {
    Scenario::new(
        "hooks_come_last",
        "a hook of a token looks at the tokens below it",
        |world| {
            let root = Tried::root(world);
            let child = root.child(1);
            let grandchild = child.child(2);
            let below = Mutex::new(vec![child.token.clone(), grandchild.token]);
            let looks = Arc::new(Looks { below, seen: AtomicUsize::new(0) });
            let hook = root.token.on_end(Waker::from(Arc::clone(&looks)));
            root.cancel();
            let seen = looks.seen.load(Ordering::Relaxed);
            assert_eq!(seen, 2, "tokens that had ended before the hook");
            drop(hook);
            drop(looks.take()); // the history keeps the hook, and must not keep tokens
        },
        |history| history.finished(),
    )
}

/// A hook that counts which tokens have ended.
struct Looks {
    below: Mutex<Vec<CancelToken<AnyRuntime>>>,
    seen: AtomicUsize,
}

impl Looks {
    fn take(&self) -> Vec<CancelToken<AnyRuntime>> {
        mem::take(&mut *self.below.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Wake for Looks {
    fn wake(self: Arc<Self>) {
        let ended = self.take().iter().filter(|token| token.is_cancelled()).count();
        self.seen.store(ended, Ordering::Relaxed);
    }
}

/// A task waits, and goes on in another task: the waker of its last poll counts.
pub(super) fn moved_task() -> Scenario<Cancel> {
    Scenario::new(
        "moved_task",
        "a wait is polled by one task and then by another, while its token is cancelled",
        |world| {
            let root = Tried::root(world);
            let task = root.spawn("task", |token| {
                let runtime = token.world.runtime().clone();
                let mut wait = pin!(token.token.wait_async());
                if token.world.at_once(wait.as_mut()).is_none() {
                    token.world.note("waits", token.number);
                    let reason = runtime.block_on(wait);
                    token.world.note("answers", pair(token.number, word(Some(reason))));
                }
            });
            let canceller = root.spawn("canceller", |token| token.cancel());
            world.quiesce();
            world.join(canceller);
            world.join(task);
        },
        |history| waited_for(history, 0, 1),
    )
}

/// A task waits for its turn at a flow limiter, and goes on in another task.
pub(super) fn moved_turn() -> Scenario<Cancel> {
    Scenario::new(
        "moved_turn",
        "a wait for a turn at a flow limiter is polled by one task and then by another",
        |world| {
            let runtime = world.runtime();
            let flow = TokenBucketFlow::new(runtime, 100.0, 1);
            let began = runtime.now();
            assert!(flow.try_accept(), "it starts full");
            let root = Tried::root(world);
            let mut turn = pin!(flow.wait_for_async(&root.token, 1));
            let early = world.at_once(turn.as_mut());
            // Real threads may come here only when the turn has come, too.
            assert!(early.is_none() || !world.has_virtual_time(), "it is empty");
            assert_eq!(early.unwrap_or_else(|| runtime.block_on(turn)), Ok(()));
            assert!(runtime.now().since(began) >= 10 * MS, "turns come every 10 ms");
        },
        |history| history.finished(),
    )
}

/// A turn at a flow limiter comes when the token of the wait ends: the turn counts.
pub(super) fn turn_at_the_deadline() -> Scenario<Cancel> {
    Scenario::<Cancel>::new(
        "turn_at_the_deadline",
        "the turn of a thread at a flow limiter comes at the deadline of its token",
        |world| {
            let flow = TokenBucketFlow::new(world.runtime(), 100.0, 1);
            assert!(flow.try_accept(), "it starts full");
            let root = Tried::root(world);
            let timed = root.child_until(1, world.runtime().now() + 10 * MS);
            assert_eq!(flow.wait_for(&timed.token, 1), Ok(()));
            assert!(!flow.try_accept(), "the turn is taken");
        },
        |history| history.finished(),
    )
    .not_on(|engine| {
        let why = "real clocks go on between two readings";
        (engine == Engine::Threads).then_some(why)
    })
}

/// A task and a thread wait for one token, and another task has given up.
pub(super) fn awaited() -> Scenario<Cancel> {
    Scenario::new(
        "awaited",
        "a task and a thread wait for a token; another task has given up",
        |world| {
            let root = Tried::root(world);
            let child = root.child(1);
            let task = child.spawn("task", |token| {
                let runtime = token.world.runtime().clone();
                runtime.block_on(token.wait_async());
            });
            let thread = child.spawn("thread", |token| token.wait());
            assert!(world.at_once(child.token.wait_async()).is_none(), "nobody has cancelled it");
            root.cancel();
            world.quiesce();
            world.join(task);
            world.join(thread);
        },
        |history| waited_for(history, 0, 2),
    )
}

/// A thread asks for the state of a token again and again.
pub(super) fn asked_while_cancelled() -> Scenario<Cancel> {
    Scenario::new(
        "asked_while_cancelled",
        "a thread asks for the state of a token and its child while the token is cancelled",
        |world| {
            let root = Tried::root(world);
            let child = root.child(1);
            let above = root.clone();
            let asker = child.spawn("asker", move |token| {
                [&above, &token, &above, &token].into_iter().for_each(Tried::ask);
            });
            root.cancel();
            child.ask();
            world.join(asker);
        },
        // The thread is told first that the token goes on, and then that it has ended.
        |history| {
            let answers: Vec<_> = history.notes("answers").map(|value| value % 16).collect();
            answers.starts_with(&[0]) && answers.contains(&1)
        },
    )
}

/// A thread waits for its turn at a flow limiter, and its token is cancelled.
pub(super) fn turn_given_back() -> Scenario<Cancel> {
    Scenario::new(
        "turn_given_back",
        "a thread waits for a turn at a flow limiter, is cancelled, and gives the turn back",
        |world| {
            let flow = Arc::new(TokenBucketFlow::new(world.runtime(), 100.0, 1));
            assert!(flow.try_accept(), "it starts full");
            let root = Tried::root(world);
            let (inner, own) = (Arc::clone(&flow), root.clone());
            let waiter = world.spawn("waiter", move || {
                own.world.note("waits", own.number);
                let turn = inner.wait_for(&own.token, 1);
                let ended = matches!(turn, Err(WaitError::Ended(_)));
                let told = ended.then_some(Reason::Cancelled);
                own.world.note("answers", pair(own.number, word(told)));
                ended
            });
            root.cancel();
            if world.join(waiter) {
                world.runtime().sleep_until(world.runtime().now() + 10 * MS);
                assert!(flow.try_accept(), "a turn that was given up is somebody else's");
            }
        },
        |history| waited_for(history, 0, 1),
    )
}
