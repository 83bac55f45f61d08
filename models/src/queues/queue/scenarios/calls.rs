//! One caller who looks at every answer.

use super::Tried;
use crate::queue::Queue;
use crate::queues::fixtures::every_call::{TWO, every_shared_call};
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

every_shared_call!(Tried);

/// A lone caller.
pub(super) fn all() -> Vec<Scenario<Queue>> {
    vec![
        Queue::whole(
            "every_call",
            "a lone caller makes every call, and looks at every answer",
            |world, queue| every_shared_call(world, &queue),
        ),
        Queue::whole("work_loop", "a lone worker runs its loop on two items", |_, queue| {
            let mut items = Vec::new();
            queue.add_all([1, 2]);
            queue.work(|item| {
                items.push(*item);
                if *item == 2 {
                    queue.shut_down();
                }
            });
            assert_eq!(items, [1, 2]);
            assert_eq!((queue.done_key(&1), queue.done_key(&2)), (false, false));
        }),
    ]
}
