//! Every answer that a reconcile function may give, with its options and without them.

use std::future::ready;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::pool::{Action, Fault, Pool, awaited, deciding};
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::priority;
use crate::priority_queue::PriorityQueue;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::{Scenario, World};

type Answered = Result<Action, Fault<()>>;

const LATER: Duration = Duration::from_millis(5);

/// The answers to an item of priority 5, then 2; `None` is a panic. With each comes what the queue must be
/// told: the outcome and the priority of the item from then on.
pub(in crate::queues::priority_queue) const ANSWERS: [(Option<Answered>, Outcome, i32); 11] = [
    (Some(Ok(Action::RequeueAfter(Duration::ZERO))), Outcome::RequeueAfter(Duration::ZERO), 5),
    (Some(Ok(Action::RequeueAfter(LATER))), Outcome::RequeueAfter(LATER), 5),
    (Some(Ok(Action::Requeue)), Outcome::Retry, 5),
    (Some(Err(Fault::Retry(()))), Outcome::Retry, 5),
    (None, Outcome::Retry, 5),
    (Some(Ok(Action::Priority(7, None))), Outcome::Retry, 7),
    (Some(Err(Fault::RetryAfter((), LATER))), Outcome::RetryAfter(LATER), 7),
    (Some(Ok(Action::Priority(9, Some(LATER)))), Outcome::RequeueAfter(LATER), 9),
    (
        Some(Ok(Action::Priority(-3, Some(Duration::ZERO)))),
        Outcome::RequeueAfter(Duration::ZERO),
        -3,
    ),
    (Some(Err(Fault::Terminal(()))), Outcome::GiveUp, -3),
    (Some(Ok(Action::Done)), Outcome::Success, 2),
];

/// A note before an answer: its number in [`ANSWERS`].
pub(in crate::queues::priority_queue) const ANSWER: &str = "answers";

/// Gives one answer after the other.
fn answers(world: &World<PriorityQueue>) -> impl Fn() -> Answered + Send + Sync + 'static + use<> {
    let (world, given) = (world.clone(), AtomicUsize::new(0));
    move || {
        let next = given.fetch_add(1, Ordering::Relaxed);
        world.note(ANSWER, next as u64);
        ANSWERS[next].0.expect("this one panics")
    }
}

/// A worker, a thread or a task, settles an item as each answer says.
pub(super) fn every_answer() -> Scenario<PriorityQueue> {
    Scenario::<PriorityQueue>::new(
        "every_answer",
        "the function of a thread or a task gives every answer in turn, and panics once",
        |world| {
            let (queue, runtime, answers) =
                (PriorityQueue::tried(world), world.runtime().clone(), answers(world));
            let work = || {
                queue.add_with(1, priority(5));
                world.quiesce();
                queue.add_with(1, priority(2));
                world.quiesce();
            };
            if runtime.choose(2) == 0 {
                let reconcile = deciding(move |_: &u8, _| answers());
                let pool = Pool::start(&runtime, &queue, NonZeroUsize::MIN, reconcile);
                work();
                let end = pool.shut_down(Duration::from_secs(1));
                assert!(end.is_complete(), "{end:?}");
            } else {
                let inner = Arc::clone(&queue);
                let reconcile = deciding(move |_: u8, _| ready(answers()));
                let task = move || runtime.block_on(awaited::work(&*inner, &reconcile));
                let task = world.spawn("task", task);
                work();
                queue.shut_down();
                world.join(task);
            }
        },
        |history| history.notes(ANSWER).count() == ANSWERS.len(),
    )
    .not_on(crate::trial::sleeps)
}
