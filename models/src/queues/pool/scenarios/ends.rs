//! Pools that are dropped, that end while items wait, and whose queue or listener fails.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::limited_queue::Outcome;
use seatrial_core::pool::{
    Action, Attempt, Failure, Fault, Pool as Workers, Reconcile, Source, awaited, deciding, policy,
};
use seatrial_core::queue::Token;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::{ONE, Queued, Tried, note, patience};
use crate::engine::{AnyRuntime, Engine};
use crate::pool::Pool;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::{Scenario, World};

/// Refuses real threads.
fn needs_quiet(engine: Engine) -> Option<&'static str> {
    let why = "real threads cannot tell when no other thread can move";
    (engine == Engine::Threads).then_some(why)
}

/// A pool of one worker, which is stuck at an item until a token ends, while another item waits.
struct Stuck {
    queue: Tried,
    pool: Workers<Queued, AnyRuntime>,
    token: CancelToken<AnyRuntime>,
    /// How often the reconcile function was called.
    calls: Arc<AtomicU32>,
}

impl Stuck {
    fn new(world: &World<Pool>) -> Self {
        let (queue, token) = (Pool::tried(world), CancelToken::new(world.runtime()));
        let calls = Arc::new(AtomicU32::new(0));
        let (until, counted) = (token.clone(), Arc::clone(&calls));
        let pool = Workers::start(world.runtime(), &queue, ONE, move |_: &u8| {
            counted.fetch_add(1, Ordering::Relaxed);
            until.wait();
            Ok::<_, ()>(Action::Done)
        });
        queue.add(1);
        queue.add(2);
        world.quiesce();
        Self { queue, pool, token, calls }
    }
}

/// A queue that panics when it should hand out its second item, and at the end of its third.
struct Breaks(Tried);

impl Breaks {
    fn hand_out(&self, token: Token, key: u8) -> (u8, Token) {
        if key == 2 {
            self.0.done(token);
            panic!("the queue breaks");
        }
        (key, token)
    }
}

impl Source for Breaks {
    type Key = u8;
    type Delivery = Token;

    fn next(&self) -> Option<(u8, Token)> {
        self.0.take().map(|(token, key)| self.hand_out(token, key))
    }

    async fn next_async(&self) -> Option<(u8, Token)> {
        self.0.take_async().await.map(|(token, key)| self.hand_out(token, key))
    }

    fn settle(&self, token: Token, outcome: Outcome, _: Option<i32>) {
        if self.0.settle(token, outcome) && outcome == Outcome::GiveUp {
            panic!("the queue breaks again");
        }
    }

    fn failures(&self, key: &u8) -> u32 {
        self.0.num_requeues(key)
    }

    fn rest(&self, time: Duration) -> impl Future<Output = ()> + Send {
        self.0.rest(time)
    }

    fn release(&self, token: Token) {
        self.0.done(token);
    }

    fn shut_down(&self) {
        self.0.shut_down();
    }

    fn waiting(&self) -> usize {
        self.0.len()
    }
}

/// Gives up the third item.
fn judge(key: u8, calls: &AtomicU32) -> Result<Action, Fault<()>> {
    calls.fetch_add(1, Ordering::Relaxed);
    if key == 3 { Err(Fault::Terminal(())) } else { Ok(Action::Done) }
}

/// A reconciler that always fails, and panics when it hears of that.
struct Touchy;

impl Reconcile<u8> for Touchy {
    type Error = ();

    fn reconcile(&self, _: &u8, _: Attempt<'_>) -> Result<Action, Fault<()>> {
        Err(Fault::Terminal(()))
    }

    fn failed(&self, _: &u8, _: &Failure<()>) {
        panic!("it does not want to hear of it");
    }
}

/// Pools that end.
pub(super) fn dropped() -> Vec<Scenario<Pool>> {
    vec![
        Scenario::<Pool>::new(
            "dropped_pool",
            "a pool is dropped while its worker has an item and another waits",
            |world| {
                let Stuck { queue, pool, token, calls } = Stuck::new(world);
                drop(pool);
                token.cancel();
                world.quiesce();
                assert_eq!(
                    (queue.len(), calls.load(Ordering::Relaxed)),
                    (1, 1),
                    "it takes no second item"
                );
            },
            |history| history.finished(),
        )
        .not_on(needs_quiet),
        Scenario::<Pool>::new(
            "waiting_at_the_end",
            "a pool is shut down with patience while an item waits",
            |world| {
                let Stuck { pool, token, calls, .. } = Stuck::new(world);
                let runtime = world.runtime().clone();
                let goes_on = world.spawn("goes on", move || {
                    runtime.sleep_until(runtime.now() + Duration::from_millis(5));
                    token.cancel();
                });
                let end = pool.shut_down(patience(world));
                assert!(end.is_complete(), "{end:?}");
                assert_eq!(calls.load(Ordering::Relaxed), 2, "calls of the reconcile function");
                note(world, end);
                world.join(goes_on);
            },
            |history| history.finished(),
        )
        .not_on(needs_quiet),
    ]
}

/// Queues and listeners that panic.
pub(super) fn broken() -> Vec<Scenario<Pool>> {
    vec![
        Scenario::new(
            "breaking_queue",
            "a queue panics at two of four items, and its workers go on: a thread, \
                                or a task",
            |world| {
                let (queue, calls) =
                    (Arc::new(Breaks(Pool::tried(world))), Arc::new(AtomicU32::new(0)));
                for key in 1..=4 {
                    queue.0.add(key);
                }
                let counted = Arc::clone(&calls);
                if world.runtime().choose(2) == 0 {
                    let reconcile = deciding(move |key: &u8, _| judge(*key, &counted));
                    let pool = Workers::start(world.runtime(), &queue, ONE, reconcile);
                    let end = pool.shut_down(patience(world));
                    assert!(end.is_complete(), "{end:?}");
                } else {
                    queue.0.shut_down();
                    let runtime = world.runtime().clone();
                    let reconcile = deciding(move |key: u8, _| ready(judge(key, &counted)));
                    let task = move || runtime.block_on(awaited::work(&*queue, &reconcile));
                    let task = world.spawn("task", task);
                    world.join(task);
                }
                assert_eq!(calls.load(Ordering::Relaxed), 3, "calls of the reconcile function");
            },
            |history| history.finished(),
        ),
        Pool::whole(
            "panicking_listener",
            "a key fails for good, and the first of two listeners panics",
            |world, queue| {
                let told = Arc::new(AtomicU32::new(0));
                let counts = Arc::clone(&told);
                let reconcile = policy(Touchy).telling(move |_: &u8, _: &Failure<()>| {
                    counts.fetch_add(1, Ordering::Relaxed);
                });
                let pool = Workers::start(world.runtime(), &queue, ONE, reconcile);
                queue.add(1);
                world.quiesce();
                assert_eq!(told.load(Ordering::Relaxed), 1, "the second listener is told");
                note(world, pool.shut_down(patience(world)));
            },
        )
        .not_on(needs_quiet),
    ]
}
