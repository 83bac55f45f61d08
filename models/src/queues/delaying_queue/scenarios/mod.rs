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

use super::as_queue::{apply, due};
use super::{Call, DelayingQueue, Event, History, Spec};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::every_call::TWO;
use crate::queues::fixtures::tasks::Awaited;
use crate::queues::fixtures::whole::{Whole, whole};
use crate::queues::fixtures::{Delayed, FixedHasher, Worked, caller, end, millis, sleep, worker};
use crate::trial::{Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<DelayingQueue>> {
    vec![
        times::earlier_time(),
        times::sooner(),
        times::due_at_any_time(),
        times::brought_forward(),
        times::add_while_delayed(),
        times::due_together(),
        times::due_while_processing(),
        times::done_after_due(),
        batches::due_in_batches(),
        batches::batch_for_two(),
        batches::batches_of_many_due(),
        ends::shut_down_while_delayed(),
        ends::drain_while_delayed(),
        ends::ends_after_due(),
        ends::drain_released_by_shutdown(),
        ends::drain_of_many(),
        times::refreshed_while_due(),
        times::many_due(),
        tasks::task_and_thread(),
        tasks::dropped_getter(),
        tasks::moved_task(),
        tasks::lone_task(),
        tasks::holder_gives_up(),
        tasks::woken_gives_up(),
        tasks::busy_executor(),
        tasks::busy_holder(),
        times::three_due(),
        times::due_apart(),
        times::many_due_at_the_end(),
        calls::every_call(),
        panics::not_copied(),
        calls::in_one_step(),
        calls::updater_ends(),
        calls::slow_hash(),
        calls::work_loop(),
    ]
}

type Queued = Queue<u8, AnyRuntime, Fifo, FixedHasher, Boxed<Delaying<u8>>>;
type Tried = Arc<Queued>;

fn queue(world: &World<DelayingQueue>) -> Tried {
    Arc::new(Queue::with_host(world.runtime(), FixedHasher::default(), world.machine()))
}

impl Worked for Queued {
    fn shut_down(&self) {
        self.shut_down();
    }
}

whole!(Queued, [], |queue, token, _| queue.done_then_take(token));

impl Delayed for Queued {
    fn add_after(&self, item: u8, delay: Duration) {
        self.add_after(item, delay);
    }
}

impl Awaited for Queued {
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
