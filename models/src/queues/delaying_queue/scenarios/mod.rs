//! Small concurrent programs on the delaying queue, each named by the case that it must reach.

mod batches;
mod calls;
mod ends;
mod panics;
mod tasks;
mod times;

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::delaying_queue::{Delaying, DelayingQueue as Queue};
use seatrial_core::machine::{Boxed, Step};
use seatrial_core::queue::{Fifo, Token};
use seatrial_core::runtime::Runtime;

use super::as_queue::{apply, due};
use super::{Call, DelayingQueue, Event, History, Spec};
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::tasks::Awaited;
use crate::queues::fixtures::whole::{Whole, whole};
use crate::queues::fixtures::{
    Delayed, FixedHasher, Worked, caller, earlier_time, end, millis, sleep, three_due, worker,
};
use crate::trial::{DynScenario, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<DelayingQueue>>> {
    vec![
        Box::new(times::EarlierTime),
        Box::new(times::Sooner),
        Box::new(times::DueAtAnyTime),
        Box::new(times::BroughtForward),
        Box::new(times::AddWhileDelayed),
        Box::new(times::DueTogether),
        Box::new(times::DueWhileProcessing),
        Box::new(times::DoneAfterDue),
        Box::new(batches::DueInBatches),
        Box::new(batches::BatchForTwo),
        Box::new(batches::BatchesOfManyDue),
        Box::new(ends::ShutDownWhileDelayed),
        Box::new(ends::DrainWhileDelayed),
        Box::new(ends::EndsAfterDue),
        Box::new(ends::DrainReleasedByShutdown),
        Box::new(ends::DrainOfMany),
        Box::new(times::RefreshedWhileDue),
        Box::new(times::ManyDue),
        Box::new(tasks::TaskAndThread),
        Box::new(tasks::DroppedGetter),
        Box::new(tasks::MovedTask),
        Box::new(tasks::LoneTask),
        Box::new(tasks::HolderGivesUp),
        Box::new(tasks::WokenGivesUp),
        Box::new(tasks::BusyExecutor),
        Box::new(tasks::BusyHolder),
        Box::new(times::ThreeDue),
        Box::new(times::DueApart),
        Box::new(times::ManyDueAtTheEnd),
        Box::new(calls::EveryCall),
        Box::new(panics::NotCopied),
        Box::new(calls::InOneStep),
        Box::new(calls::UpdaterEnds),
        Box::new(calls::SlowHash),
        Box::new(calls::WorkLoop),
    ]
}

type Queued<R> = Queue<u8, R, Fifo, FixedHasher, Boxed<Delaying<u8>>>;
type Tried<R> = Arc<Queued<R>>;

fn queue<R: Runtime>(world: &World<R, DelayingQueue>) -> Tried<R> {
    Arc::new(Queue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
}

impl<R: Runtime> Worked for Queued<R> {
    fn shut_down(&self) {
        self.shut_down();
    }
}

whole!(Queued<R>, [], |queue, token, _| queue.done_then_take(token));

impl<R: Runtime> Delayed for Queued<R> {
    fn add_after(&self, item: u8, delay: Duration) {
        self.add_after(item, delay);
    }
}

impl<R: Runtime> Awaited for Queued<R> {
    async fn take_async(&self) -> Option<Token> {
        self.take_async().await.map(|(token, ..)| token)
    }

    fn add(&self, item: u8) {
        self.add(item);
    }
}

/// The state before an event.
struct Before {
    /// The sequential object, for the times only.
    times: Spec<u8>,
    /// Threads asleep in `get`.
    getters: Vec<u8>,
    /// The number of items in processing: the items that calls returned, minus those that calls
    /// ended.
    in_processing: usize,
}

/// Tells whether an event meets a condition that also sees the state before it.
fn some(history: &History, wanted: impl Fn(&Before, &Event) -> bool) -> bool {
    let mut before = Before { times: Spec::new(), getters: vec![], in_processing: 0 };
    for event in &history.events {
        if wanted(&before, event) {
            return true;
        }
        apply(&mut before.times, event);
        let What::Step { op, outcome, .. } = &event.what else { continue };
        before.getters.retain(|thread| *thread != event.thread);
        match (op, outcome) {
            (Call::Get(_) | Call::GetBatch(_), Step::Wait { .. }) => {
                before.getters.push(event.thread);
            }
            (Call::Get(_), Step::Done(super::Ret::Get(Some(_)))) => before.in_processing += 1,
            (Call::Done(_), _) => before.in_processing = before.in_processing.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Tells whether an event adds an item after a delay.
fn gives(event: &Event, key: u8) -> bool {
    matches!(event.call(), Some(Call::AddAfter(add)) if add.key == Some(key))
}
