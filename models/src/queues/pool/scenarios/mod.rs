//! Small concurrent programs with workers at a queue, each named by the case that it must reach.

mod dropped;
mod ends;
mod judged;
mod tasks;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::limited_queue::{LimitedQueue, Op, Outcome, Settle};
use seatrial_core::limiter::Exponential;
use seatrial_core::pool::awaited::{self, ReconcileAsync};
use seatrial_core::pool::{Action, End, Pool as Workers};
use seatrial_core::queue::Fifo;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::ledger::PoolLedger;
use super::{Event, History, Pool};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::FixedHasher;
use crate::queues::fixtures::keyed::Page;
use crate::trial::{Join, Ledger as _, Scenario, World};

pub(super) fn all() -> Vec<Scenario<Pool>> {
    let lists = [
        of_threads(),
        judged::judged(),
        judged::given_up(),
        ends::dropped(),
        ends::broken(),
        tasks::all(),
        dropped::all(),
    ];
    lists.into_iter().flatten().collect()
}

type Queued = LimitedQueue<u8, AnyRuntime, Exponential<u8>, Fifo>;
type Tried = Arc<Queued>;

/// The patience of a shutdown whose workers end by themselves; on real threads, more than they take.
fn patience(world: &World<Pool>) -> Duration {
    Duration::from_secs(if world.has_virtual_time() { 1 } else { 3_600 })
}

const ONE: NonZeroUsize = NonZeroUsize::MIN;
const TWO: NonZeroUsize = ONE.saturating_add(1);

impl Page for Pool {
    type Tried = Tried;
    type Known = PoolLedger;

    fn tried(world: &World<Self>) -> Tried {
        Arc::new(LimitedQueue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
    }
}

/// A task that works until the queue is shut down.
fn task(world: &World<Pool>, queue: &Tried, reconcile: impl ReconcileAsync<u8>) -> Join<()> {
    let (queue, runtime) = (Arc::clone(queue), world.runtime().clone());
    world.spawn("task", move || runtime.block_on(awaited::work(&*queue, &reconcile)))
}

/// Notes the numbers of an end, for the invariants to read.
fn note(world: &World<Pool>, end: End) {
    note_left(world, end.running, end.waiting);
}

fn note_left(world: &World<Pool>, running: usize, waiting: usize) {
    world.note("running", running as u64);
    world.note("waiting", waiting as u64);
}

/// A reconcile function that panics first, then fails, and succeeds from then on.
fn stumbling(
    world: &World<Pool>,
) -> impl Fn() -> Result<Action, &'static str> + Send + Sync + use<> {
    let runtime = world.runtime().clone();
    let attempts = runtime.mutex(0);
    move || {
        let attempt = {
            let mut attempts = runtime.lock(&attempts);
            *attempts += 1;
            *attempts
        };
        match attempt {
            1 => panic!("the reconcile function fails"),
            2 => Err("it fails again"),
            _ => Ok(Action::Done),
        }
    }
}

/// Tells whether an event meets a condition that also sees the state before it.
fn some(history: &History, wanted: impl Fn(&PoolLedger, &Event) -> bool) -> bool {
    PoolLedger::some(history, wanted)
}

/// Tells whether the key is handed out after two failures.
fn failed_twice(history: &History) -> bool {
    some(history, |before, event| {
        let settles = matches!(event.call(), Some(Op::Settle(_)));
        settles && before.failures.get(&1) == Some(&2)
    })
}

/// Workers that are threads.
pub(super) fn of_threads() -> Vec<Scenario<Pool>> {
    vec![
        Scenario::new(
            "panicking_key",
            "the work on a key panics, then fails, then succeeds, and the pool ends",
            |world| {
                let queue = Pool::tried(world);
                let stumble = stumbling(world);
                let pool = Workers::start(world.runtime(), &queue, TWO, move |_: &u8| stumble());
                queue.add(1);
                world.quiesce();
                let _failures = queue.num_requeues(&1);
                note(world, pool.shut_down(patience(world)));
            },
            failed_twice,
        ),
        Pool::program(
            "added_while_reconciled",
            "a key is added again while one of two workers reconciles it",
            |world, queue| {
                let pool = Workers::start(world.runtime(), &queue, TWO, |_: &u8| {
                    Ok::<_, ()>(Action::Done)
                });
                queue.add(1);
                queue.add(1);
                world.quiesce();
                let _left = pool.shut_down(patience(world));
            },
            |before, event| {
                let adds = matches!(event.call(), Some(Op::Add(_)));
                adds && before.is_reconciled(1)
            },
        ),
        Scenario::new(
            "stuck_at_the_deadline",
            "a worker is stuck at a key when the deadline of the shutdown passes",
            |world| {
                let queue = Pool::tried(world);
                let stuck = CancelToken::new(world.runtime());
                let inner = stuck.clone();
                let pool = Workers::start(world.runtime(), &queue, ONE, move |_: &u8| {
                    inner.wait();
                    Err::<Action, _>("it was stuck")
                });
                queue.add(1);
                queue.add(2);
                world.quiesce_until(|| queue.len() == 1); // the worker has the other one
                let patience = Duration::from_millis(20);
                let deadline = world.runtime().now() + patience;
                world.note("deadline", deadline.as_nanos());
                note(world, pool.shut_down(patience));
                stuck.cancel();
                queue.shut_down_with_drain();
            },
            // The stuck key is settled after the end.
            |history| {
                let said = history.notes("running").next() == Some(1);
                said && some(history, |_, event| {
                    let retry = |op: &Op<u8>| {
                        matches!(op, Op::Settle(Settle { outcome: Outcome::Retry, .. }))
                    };
                    event.call().is_some_and(retry)
                })
            },
        ),
    ]
}
