//! Tests that all queues share: each call does what its operation does, on threads and as a future.
#![cfg(feature = "queues")]

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use crate::delaying_queue::DelayingQueue;
use crate::limited_queue::LimitedQueue;
use crate::priority_queue::PriorityQueue;
use crate::queue::Deliver;
use crate::queue::WorkQueue;
use crate::runtime::bell::{Bell, poll};
use crate::runtime::{Ambient as _, Runtime, System};

fn is_pending<F: Future>(future: std::pin::Pin<&mut F>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

/// Tests of the calls that all queues have.
macro_rules! common {
    ($($queue:ident: $make:expr;)*) => {$(
        mod $queue {
            use super::*;

            #[test]
            fn what_waits_is_counted_until_it_is_taken() {
                let queue = $make;
                assert!(queue.is_empty());
                queue.add(1);
                queue.add(2);
                assert_eq!((queue.len(), queue.is_empty()), (2, false));
                let (token, key) = Deliver::take(&queue).unwrap();
                assert_eq!((key, queue.len()), (1, 1), "what is processed does not wait");
                assert!(Deliver::done(&queue, token));
                assert!(!Deliver::done(&queue, token), "that delivery has ended");
            }

            #[test]
            fn done_says_how_many_deliveries_it_ended() {
                let queue = $make;
                (1..=3).for_each(|key| queue.add(key));
                let tokens: Vec<_> = (0..3).map(|_| Deliver::take(&queue).unwrap().0).collect();
                assert!(queue.done_key(&3));
                assert!(!queue.done_key(&3), "it is not processed any more");
                assert_eq!(Deliver::done_all(&queue, tokens.clone()), 2);
                assert_eq!(Deliver::done_all(&queue, tokens), 0);
                queue.add(7);
                let (token, _) = Deliver::take(&queue).unwrap();
                queue.add(7);
                assert_eq!(Deliver::done_all(&queue, vec![token]), 1, "it waits again");
            }

            #[test]
            fn an_item_that_waits_again_wakes_one_more_consumer_although_another_waits() {
                let queue = $make;
                let [first, second]: [Arc<Bell>; 2] = Default::default();
                queue.add(1);
                let (token, _) = Deliver::take(&queue).unwrap();
                let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
                assert!(poll(one.as_mut(), &first).is_pending());
                assert!(poll(two.as_mut(), &second).is_pending());
                queue.add(1); // in processing
                queue.add(2);
                assert_eq!((first.rings(), second.rings()), (1, 0));
                assert!(Deliver::done(&queue, token));
                assert_eq!((first.rings(), second.rings()), (1, 1));
            }

            #[test]
            fn an_end_and_a_next_in_one_wake_a_consumer_for_each_of_two_items() {
                let queue = $make;
                let [first, second]: [Arc<Bell>; 2] = Default::default();
                queue.add(1);
                let (token, _) = Deliver::take(&queue).unwrap();
                let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
                assert!(poll(one.as_mut(), &first).is_pending());
                assert!(poll(two.as_mut(), &second).is_pending());
                queue.add(1); // in processing
                queue.add(2);
                assert_eq!((first.rings(), second.rings()), (1, 0));
                let next = queue.done_then_take(token).unwrap().0;
                assert_eq!((first.rings(), second.rings()), (1, 1));
                assert_eq!(queue.len(), 1, "the other one");
                assert!(!Deliver::done(&queue, token) && Deliver::done(&queue, next));
            }

            #[test]
            fn a_worker_that_waits_for_the_next_has_ended_its_item_and_is_given_it_again() {
                let (queue, system) = ($make, System::new());
                queue.add(1);
                let (token, _) = Deliver::take(&queue).unwrap();
                std::thread::scope(|threads| {
                    let worker = threads.spawn(|| queue.done_then_take(token));
                    queue.add(1); // if it had not ended, no one would ever get it
                    let late = system.now() + Duration::from_secs(10);
                    while !worker.is_finished() && system.now() < late {
                        std::thread::yield_now();
                    }
                    queue.shut_down();
                    assert_eq!(worker.join().unwrap().map(|next| next.1), Some(1));
                });
            }

            #[test]
            fn a_delivery_that_has_ended_does_not_keep_from_the_next() {
                let queue = $make;
                (1..=2).for_each(|key| queue.add(key));
                let (token, _) = Deliver::take(&queue).unwrap();
                assert!(Deliver::done(&queue, token));
                assert_eq!(queue.done_then_take(token).map(|next| next.1), Some(2));
            }

            #[test]
            fn at_the_end_the_item_is_done_and_there_is_no_next() {
                let queue = $make;
                queue.add(1);
                let (token, _) = Deliver::take(&queue).unwrap();
                queue.shut_down();
                assert!(queue.done_then_take(token).is_none());
                assert!(!Deliver::done(&queue, token));
            }

            #[test]
            fn shutdown_wakes_every_task_however_many_there_are() {
                let queue = $make;
                let bell = Arc::<Bell>::default();
                let mut tasks: Vec<_> = (0..300).map(|_| Box::pin(queue.take_async())).collect();
                assert!(tasks.iter_mut().all(|task| poll(task.as_mut(), &bell).is_pending()));
                queue.shut_down();
                assert_eq!(bell.rings(), 300);
            }
        }
    )*};
}

/// Tests of the calls of queues that hand out in the order of the adds and have drains.
macro_rules! drained {
    ($($queue:ident: $make:expr;)*) => {$(
        mod $queue {
            use super::*;

            #[test]
            fn a_task_takes_an_item_and_ends_its_delivery_when_it_lets_go_of_it() {
                let queue = $make;
                queue.add(1);
                let work = System::new().block_on(queue.get_async()).unwrap();
                assert_eq!(*work, 1);
                queue.add(1);
                assert!(queue.is_empty(), "nobody else gets it meanwhile, workqueue:WQ-8");
                assert!(is_pending(pin!(queue.take_async())));
                drop(work);
                assert!(!queue.done_key(&1), "it is done");
                assert_eq!(System::new().block_on(queue.take_async()).unwrap().1, 1);
            }

            #[test]
            fn a_drain_waits_for_what_is_processed_and_not_for_what_waits() {
                let queue = $make;
                (1..=2).for_each(|key| queue.add(key));
                let (token, _) = queue.take().unwrap();
                let mut drain = pin!(queue.drain_async());
                assert!(is_pending(drain.as_mut()));
                assert!(queue.is_shutting_down());
                queue.done(token);
                assert!(!is_pending(drain.as_mut()), "workqueue:WQ-32");
                queue.shut_down_with_drain();
                assert_eq!(queue.len(), 1);
            }

            #[test]
            fn a_strict_drain_waits_for_what_waits_too() {
                let queue = $make;
                queue.add(1);
                let mut drain = pin!(queue.drain_when_done_async());
                assert!(is_pending(drain.as_mut()));
                assert!(queue.is_shutting_down());
                let (token, _) = queue.take().unwrap();
                assert!(is_pending(drain.as_mut()));
                queue.done(token);
                assert!(!is_pending(drain.as_mut()), "workqueue:WQ-33");
            }

            #[test]
            fn a_thread_in_a_strict_drain_waits_for_what_waits_too() {
                let queue = $make;
                (0..=u8::MAX).for_each(|key| queue.add(key));
                std::thread::scope(|threads| {
                    threads.spawn(|| {
                        while !queue.is_shutting_down() {
                            std::thread::yield_now();
                        }
                        while let Some((token, _)) = queue.take() {
                            queue.done(token);
                        }
                    });
                    queue.shut_down_when_done();
                    assert!(queue.is_empty(), "workqueue:WQ-33");
                });
            }

            #[test]
            fn shutdown_refuses_what_comes_and_hands_out_what_waits() {
                let queue = $make;
                queue.add(1);
                assert!(!queue.is_shutting_down());
                queue.shut_down();
                queue.add(2);
                assert!(queue.is_shutting_down());
                assert_eq!(Deliver::take(&queue).map(|(_, key)| key), Some(1));
                assert!(Deliver::take(&queue).is_none() && queue.get().is_none());
                assert!(System::new().block_on(queue.take_async()).is_none());
                assert!(System::new().block_on(queue.get_async()).is_none());
            }

            #[test]
            fn every_drain_shuts_the_queue_down() {
                let queue = $make;
                queue.shut_down_with_drain();
                assert!(queue.is_shutting_down());
                let queue = $make;
                queue.shut_down_when_done();
                queue.add(1);
                assert!(queue.is_shutting_down() && queue.is_empty());
            }
        }
    )*};
}

mod calls {
    use super::*;

    common! {
        queue: WorkQueue::<u8>::new(&System::new());
        delaying_queue: DelayingQueue::<u8>::new(&System::new());
        limited_queue: LimitedQueue::<u8>::with_default_limiter(&System::new());
        priority_queue: PriorityQueue::<u8>::new(&System::new());
    }
}

mod drains {
    use super::*;

    drained! {
        queue: WorkQueue::<u8>::new(&System::new());
        delaying_queue: DelayingQueue::<u8>::new(&System::new());
        limited_queue: LimitedQueue::<u8>::with_default_limiter(&System::new());
    }
}

mod late {
    use std::time::Duration;

    use foldhash::fast::FixedState;

    use crate::delaying_queue::{Delaying, DelayingQueue};
    use crate::limited_queue::{Limited, LimitedQueue};
    use crate::limiter::Exponential;
    use crate::machine::{Boxed, Cx, Machine, Step};
    use crate::priority_queue::{Prioritized, PriorityQueue};
    use crate::queue::Fifo;
    use crate::runtime::Manual;

    const DELAY: Duration = Duration::from_millis(10);

    /// A machine whose first caller waits for the lock for half of its delay.
    struct Late<M> {
        clock: Option<Manual>,
        machine: M,
    }

    impl<M: Machine> Machine for Late<M> {
        type Op = M::Op;
        type Ret = M::Ret;

        fn step(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) -> Step<M::Ret> {
            if let Some(clock) = self.clock.take() {
                clock.advance(DELAY / 2);
            }
            self.machine.step(op, cx)
        }
    }

    fn late<M: Machine>(clock: &Manual, machine: M) -> Boxed<M> {
        Boxed(Box::new(Late { clock: Some(clock.clone()), machine }))
    }

    fn limiter() -> Exponential<u8> {
        Exponential::new(DELAY, DELAY)
    }

    /// Adds an item and looks half a delay later: it is due if its delay counts from the call.
    macro_rules! due_half_a_delay_later {
        ($($name:ident: $queue:ident of $machine:expr, $add:expr;)*) => {$(
            #[test]
            fn $name() {
                let clock = Manual::new();
                let host = late(&clock, $machine);
                let queue = $queue::with_host(&clock, FixedState::default(), host);
                $add(&queue);
                assert!(queue.is_empty());
                clock.advance(DELAY / 2);
                assert_eq!(queue.len(), 1, "workqueue:DQ-5, workqueue:PQ-16");
            }
        )*};
    }

    /// Tests of the calls of queues with a limiter.
    macro_rules! of_their_item {
        ($($name:ident: $make:expr;)*) => {$(
            #[test]
            fn $name() {
                let clock = Manual::new();
                let queue = $make(&clock);
                queue.add_rate_limited(1);
                queue.add_rate_limited(2);
                queue.forget(&1);
                assert_eq!((queue.num_requeues(&1), queue.num_requeues(&2)), (0, 1));
                queue.add_after(3, DELAY / 2);
                assert_eq!((queue.retries(), queue.is_empty()), (3, true));
                clock.advance(DELAY / 2);
                assert_eq!((queue.len(), queue.is_empty()), (1, false));
            }
        )*};
    }

    /// Tests of the delays of the queues that have them.
    macro_rules! delays {
        ($($queue:ident: $make:expr;)*) => {$(
            mod $queue {
                use super::*;

                #[test]
                fn a_few_hundred_items_come_together_if_their_time_does() {
                    let clock = Manual::new();
                    let queue = $make(&clock);
                    (0..=u8::MAX).for_each(|key| queue.add_after(key, DELAY));
                    assert!(queue.is_empty());
                    clock.advance(DELAY);
                    assert_eq!(queue.len(), 256);
                }

                #[test]
                fn the_shortest_delay_is_one() {
                    let (clock, shortest) = (Manual::new(), Duration::from_nanos(1));
                    let queue = $make(&clock);
                    queue.add_after(1, shortest);
                    assert!(queue.is_empty());
                    clock.advance(shortest);
                    assert_eq!(queue.len(), 1);
                }
            }
        )*};
    }

    delays! {
        delaying_queue: DelayingQueue::<u8, _>::new;
        limited_queue: |clock: &Manual| LimitedQueue::new(clock, limiter());
        priority_queue: PriorityQueue::<u8, _>::new;
    }

    of_their_item! {
        failures_and_delays_are_those_of_an_item:
            |clock: &Manual| LimitedQueue::new(clock, limiter());
        failures_and_delays_are_those_of_an_item_with_a_priority:
            |clock: &Manual| PriorityQueue::with_limiter(clock, limiter());
    }

    due_half_a_delay_later! {
        a_delay_counts_from_the_call: DelayingQueue of Delaying::<u8>::default(),
            |queue: &DelayingQueue<u8, _, _>| queue.add_after(1, DELAY);
        a_delay_beside_a_limiter_counts_from_the_call:
            LimitedQueue of Limited::new(limiter(), Fifo::default()),
            |queue: &LimitedQueue<u8, _, _, _>| queue.add_after(1, DELAY);
        a_failure_counts_from_the_call: LimitedQueue of Limited::new(limiter(), Fifo::default()),
            |queue: &LimitedQueue<u8, _, _, _>| queue.add_rate_limited(1);
        a_delay_of_a_priority_counts_from_the_call:
            PriorityQueue of Prioritized::new(limiter(), ()),
            |queue: &PriorityQueue<u8, _, _, _>| queue.add_after(1, DELAY);
        a_failure_of_a_priority_counts_from_the_call:
            PriorityQueue of Prioritized::new(limiter(), ()),
            |queue: &PriorityQueue<u8, _, _, _>| queue.add_rate_limited(1);
    }
}
