//! Workers that are tasks, each with its own executor: one future on one thread.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::limited_queue::{Op, Ret};
use seatrial_core::pool::{Action, awaited};
use seatrial_core::queue::Finished;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::{failed_twice, note_left, stumbling, task};
use crate::pool::Pool;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

/// Workers that are tasks.
pub(super) fn all() -> Vec<Scenario<Pool>> {
    vec![
        Scenario::new(
            "panicking_task",
            "the work on a key panics in a task, then fails, then succeeds, and the task ends",
            |world| {
                let queue = Pool::tried(world);
                let stumble = Arc::new(stumbling(world));
                let reconcile = move |_: u8| {
                    let stumble = Arc::clone(&stumble);
                    async move { stumble() }
                };
                let task = task(world, &queue, reconcile);
                queue.add(1);
                world.quiesce();
                let _failures = queue.num_requeues(&1);
                queue.shut_down();
                world.join(task);
                note_left(world, 0, queue.len());
            },
            failed_twice,
        ),
        Pool::program(
            "aborted_at_the_deadline",
            "a task that still awaits a future at the deadline of the shutdown is dropped",
            |world, queue| {
                let abort = CancelToken::new(world.runtime());
                let (inner, aborted) = (Arc::clone(&queue), abort.clone());
                let runtime = world.runtime().clone();
                let task = world.spawn("task", move || {
                    let stuck = |_: u8| pending::<Result<Action, ()>>();
                    let mut worker = pin!(awaited::work(&*inner, &stuck));
                    let mut hook = None;
                    runtime.block_on(poll_fn(|context| {
                        hook = Some(aborted.on_end(context.waker().clone()));
                        if aborted.is_cancelled() {
                            return Poll::Ready(());
                        }
                        worker.as_mut().poll(context)
                    }));
                });
                queue.add(1);
                queue.add(2);
                world.quiesce_until(|| queue.len() == 1); // the task has the other one
                queue.shut_down();
                let deadline = world.runtime().now() + Duration::from_millis(20);
                world.runtime().sleep_until(deadline);
                note_left(world, 1, queue.len());
                abort.cancel();
                world.join(task);
                queue.shut_down_with_drain(); // it would not end if the key were still in processing
            },
            // The delivery ends without an outcome.
            |before, event| {
                let ended =
                    matches!(event.returned(), Some((Op::Done(_), Ret::Done(Finished::Ended(_)))));
                ended && before.is_reconciled(1) && before.shut_down
            },
        ),
    ]
}
