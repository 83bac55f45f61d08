//! The recorded traces of queues and limiters from which the machines that ship never depart.

use crate::conformance::every_trace_replays;
use crate::trial::Component;

fn replay<C: Component>() {
    C::conformance().iter().for_each(every_trace_replays);
}

fn every_recorded_trace_replays() {
    replay::<crate::backoff::Backoff>();
    replay::<crate::limiter::Limiter>();
    replay::<crate::token_bucket::Bucket>();
    replay::<crate::delaying_queue::DelayingQueue>();
    replay::<crate::limited_queue::LimitedQueue>();
    replay::<crate::priority_queue::PriorityQueue>();
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![every_recorded_trace_replays];
