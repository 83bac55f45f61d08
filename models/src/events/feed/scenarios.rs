//! Small concurrent programs on a feed, each named by the case that it must reach.

use std::collections::VecDeque;
use std::sync::Arc;

use seatrial_core::informer::FeedError;
use seatrial_core::informer::feed::{
    Complete, End, Feed as Rules, Finish, HasSynced, Next, Op, Push, Ret, Told, WaitForSync,
};
use seatrial_core::machine::Step;
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::Runtime;

use super::book::Book;
use super::{Feed, History};
use crate::engine::AnyRuntime;
use crate::trial::{Join, Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<Feed>> {
    vec![
        reader_comes_late(),
        slow_reader(),
        ended_anywhere(),
        first_list_is_looked_at(),
        empty_list(),
        task_gives_up(),
    ]
}

/// A feed, and the world around it.
#[derive(Clone)]
struct Stage {
    world: World<Feed>,
    feed: Arc<Monitor<Rules<u8>, AnyRuntime>>,
}

impl Stage {
    fn new(world: &World<Feed>) -> Self {
        let feed = Arc::new(Monitor::new(world.runtime(), world.machine()));
        Self { world: world.clone(), feed }
    }

    fn push(&self, changes: &[u8], initial: bool) {
        let told = |change: &u8| Told { change: *change, initial };
        let lost: VecDeque<_> = self.feed.call(Push(changes.iter().map(told).collect()));
        drop(lost);
    }

    /// Reads to the end. It looks at each change before it asks for the next.
    fn read(&self) -> FeedError {
        loop {
            match self.feed.call(Next) {
                Ok(told) if told.initial => self.feed.call(Finish),
                Ok(_) => {}
                Err(over) => return over,
            }
        }
    }

    fn spawn(&self, name: &str, run: impl FnOnce(Self) + Send + 'static) -> Join<()> {
        let own = self.clone();
        self.world.spawn(name, move || run(own))
    }

    /// A thread that reads to the end.
    fn reader(&self) -> Join<()> {
        self.spawn("reader", |own| {
            own.read();
        })
    }

    /// A thread that waits until the first list was looked at.
    fn waiter(&self, name: &str) -> Join<()> {
        self.spawn(name, |own| {
            own.feed.call(WaitForSync);
        })
    }

    fn end(&self) {
        drop(self.feed.call(End));
    }
}

fn some(history: &History, wanted: impl Fn(&Book, &Op<u8>, &Ret<u8>) -> bool) -> bool {
    Book::some(history, |book, event| {
        event.returned().is_some_and(|(op, ret)| wanted(book, op, ret))
    })
}

/// A store grows while a reader subscribes: the reader begins with the objects in the store.
fn reader_comes_late() -> Scenario<Feed> {
    Scenario::new(
        "reader_comes_late",
        "a reader subscribes to a store while the store changes",
        |world| {
            let stage = Stage::new(world);
            let store = Arc::new(world.runtime().mutex((vec![1_u8], false)));
            let (writer, own) = (Arc::clone(&store), stage.clone());
            let changes = world.spawn("writer", move || {
                for change in 2..5 {
                    let subscribed = {
                        let mut store = own.world.runtime().lock(&writer);
                        store.0.push(change);
                        store.1
                    };
                    if subscribed {
                        own.push(&[change], false);
                    }
                }
            });
            let first = {
                let mut store = world.runtime().lock(&store);
                store.1 = true;
                let first = store.0.clone();
                // The lock is still held, so that no other thread can push before.
                stage.push(&first, true);
                first
            };
            stage.feed.call(Complete);
            let mut seen: Vec<u8> = Vec::new();
            while seen.last() != Some(&4) {
                let told = stage.feed.call(Next);
                let told = told.expect("nothing has ended");
                assert_eq!(told.initial, first.contains(&told.change));
                seen.push(told.change);
                if told.initial {
                    stage.feed.call(Finish);
                }
            }
            assert_eq!(seen, [1, 2, 3, 4], "no gap, nothing twice");
            world.join(changes);
        },
        |history| {
            some(history, |book, op, _| {
                let more = matches!(op, Op::Push(push) if push.0.iter().any(|told| !told.initial));
                more && book.unfinished > 0
            })
        },
    )
}

/// A reader may be slower than its limit allows, or quick enough.
fn slow_reader() -> Scenario<Feed> {
    Scenario::new(
        "slow_reader",
        "changes arrive while a reader reads, perhaps more than the limit allows",
        |world| {
            let stage = Stage::new(world);
            stage.push(&[1], true);
            let reader = stage.reader();
            let waiter = stage.waiter("waiter");
            stage.push(&[2, 3], false);
            stage.push(&[4, 5], false);
            stage.push(&[6, 7], false);
            world.quiesce();
            stage.end();
            world.join(reader);
            world.join(waiter);
        },
        |history| some(history, |_, _, ret| matches!(ret, Ret::Next(Err(FeedError::Lagged)))),
    )
}

/// A feed is ended while it is read and waited for.
fn ended_anywhere() -> Scenario<Feed> {
    Scenario::new(
        "ended_anywhere",
        "a feed is ended while changes arrive, a reader reads and callers wait for the first list",
        |world| {
            let stage = Stage::new(world);
            let reader = stage.reader();
            let waiters = ["waiter", "other waiter"].map(|name| stage.waiter(name));
            stage.push(&[1, 2], true);
            stage.end();
            stage.push(&[3], false);
            world.quiesce();
            world.join(reader);
            for waiter in waiters {
                world.join(waiter);
            }
            assert_eq!(stage.read(), FeedError::Stopped);
        },
        |history| {
            some(history, |book, op, _| {
                matches!(op, Op::End(_)) && !book.waiting.is_empty() && book.asleep.len() == 2
            })
        },
    )
}

/// Callers wait until the first list was looked at.
fn first_list_is_looked_at() -> Scenario<Feed> {
    Scenario::new(
        "first_list_is_looked_at",
        "a reader processes the first list while callers ask and wait for its end",
        |world| {
            let stage = Stage::new(world);
            stage.push(&[1, 2], true);
            let reader = stage.reader();
            let waiters = ["waiter", "other waiter"].map(|name| stage.waiter(name));
            stage.feed.call(Complete);
            stage.push(&[3], false);
            stage.feed.call(HasSynced);
            world.quiesce();
            stage.feed.call(HasSynced);
            stage.end();
            world.join(reader);
            for waiter in waiters {
                world.join(waiter);
            }
        },
        // The list is complete before all of it was looked at, and two callers sleep.
        |history| {
            some(history, |book, op, _| {
                matches!(op, Op::Finish(_)) && book.is_complete && book.asleep.len() == 2
            })
        },
    )
}

/// The first list is empty.
fn empty_list() -> Scenario<Feed> {
    Scenario::new(
        "empty_list",
        "the first list is empty, and a caller waits for it",
        |world| {
            let stage = Stage::new(world);
            let waiter = stage.waiter("waiter");
            stage.push(&[], true);
            stage.feed.call(Complete);
            stage.push(&[1], false);
            stage.feed.call(HasSynced);
            world.quiesce();
            stage.end();
            world.join(waiter);
        },
        |history| {
            some(history, |book, op, _| matches!(op, Op::Complete(_)) && book.asleep.len() == 1)
        },
    )
}

/// A task that reads is dropped while it waits, and loses nothing.
fn task_gives_up() -> Scenario<Feed> {
    Scenario::new(
        "task_gives_up",
        "a task waits for a change and gives up; another call takes the change",
        |world| {
            let stage = Stage::new(world);
            let source = stage.spawn("source", |own| {
                own.push(&[1], false);
                own.push(&[2], false);
            });
            let first = world.at_once(stage.feed.call_async(Next));
            let mut left = 2 - usize::from(first.is_some());
            while left > 0 {
                assert!(stage.feed.call(Next).is_ok());
                left -= 1;
            }
            world.join(source);
        },
        |history| {
            history.events.iter().any(|event| matches!(event.what, What::Cancel { .. }))
                && history.events.iter().any(|event| {
                    matches!(event.what, What::Step { outcome: Step::Done(Ret::Next(Ok(_))), .. })
                })
        },
    )
}
