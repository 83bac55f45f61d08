//! Many sleepers: which of them is next, and which of them holds the timer.

use super::*;
use crate::limited_queue::LimitedQueue;
use crate::limiter::Exponential;
use crate::priority_queue::PriorityQueue;
use crate::queue::{Done, Drain, DrainUntil};
use crate::runtime::millis::ms;

const PATIENCE: Duration = Duration::from_secs(10);

fn bells<const N: usize>() -> [Arc<Bell>; N] {
    std::array::from_fn(|_| Arc::default())
}

fn rings<const N: usize>(bells: &[Arc<Bell>; N]) -> [usize; N] {
    std::array::from_fn(|at| bells[at].rings())
}

/// Starts a thread that takes one item; returns once it sleeps.
fn taker(runtime: &Manual, queue: &Arc<DelayingQueue<u8, Manual>>) -> Joined {
    let (queue, before) = (Arc::clone(queue), runtime.asleep());
    let thread = runtime.spawn("getter", move || queue.take().map(|(_, key)| key));
    assert!(runtime.until_asleep(before + 1, PATIENCE));
    thread
}

type Joined = <Manual as Runtime>::Join<Option<u8>>;

#[test]
fn a_task_that_is_polled_for_nothing_keeps_its_place() {
    let queue = WorkQueue::<u8>::new(&System::new());
    let bells = bells::<2>();
    let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
    assert!(poll(one.as_mut(), &bells[0]).is_pending());
    assert!(poll(two.as_mut(), &bells[1]).is_pending());
    assert!(poll(one.as_mut(), &bells[0]).is_pending());
    queue.add(1);
    assert_eq!(rings(&bells), [1, 0]);
}

#[test]
fn a_call_that_is_polled_for_nothing_and_wakes_others_does_not_wake_itself() {
    /// Waits, and wakes one other sleeper.
    #[derive(Clone)]
    struct WakesOne;
    impl Embed<Looks> for WakesOne {
        type Ret = ();
        fn embed(self) -> Look {
            unreachable!("it stays what it is")
        }
        fn project(_: Look) -> Self {
            unreachable!("it stays what it is")
        }
        fn result((): ()) {}
    }
    impl Operation<Looks> for WakesOne {
        fn step(&mut self, _: &mut Looks, cx: &mut Cx<'_>) -> Step<()> {
            cx.wakes.one(0);
            Step::Wait { on: 0, until: None }
        }
    }
    let monitor = Monitor::new(&Manual::new(), Looks(0));
    let bells = bells::<2>();
    let mut one = pin!(monitor.call_async(WakesOne));
    assert!(poll(one.as_mut(), &bells[0]).is_pending());
    let mut two = pin!(monitor.call_async(Look { times: 9, deadline: Instant::NEVER }));
    assert!(poll(two.as_mut(), &bells[1]).is_pending());
    assert!(poll(one.as_mut(), &bells[0]).is_pending());
    assert_eq!(rings(&bells), [0, 1]);
}

#[test]
fn threads_and_tasks_are_woken_in_the_order_in_which_they_came() {
    const ITEMS: u32 = 1_000;
    let runtime = Manual::new();
    let queue = Arc::new(WorkQueue::<u32, _>::new(&runtime));
    let by_thread = Arc::new(AtomicU32::new(0));
    let thread = {
        let (queue, by_thread) = (Arc::clone(&queue), Arc::clone(&by_thread));
        runtime.spawn("getter", move || {
            queue.work(|_| {
                by_thread.fetch_add(1, Ordering::SeqCst);
            });
        })
    };
    let (bell, mut by_task) = (Arc::<Bell>::default(), 0);
    let mut task = Box::pin(queue.take_async());
    assert!(runtime.until_asleep(1, PATIENCE));
    assert!(poll(task.as_mut(), &bell).is_pending());
    for item in 0..ITEMS {
        let before = bell.rings();
        queue.add(item); // both are idle
        if bell.rings() > before {
            let Poll::Ready(Some((token, _))) = poll(task.as_mut(), &bell) else {
                panic!("a task that was woken finds the item");
            };
            assert!(queue.done(token));
            by_task += 1;
            task = Box::pin(queue.take_async());
            assert!(poll(task.as_mut(), &bell).is_pending());
        }
        assert!(runtime.until_asleep(1, PATIENCE));
    }
    queue.shut_down();
    runtime.join(thread).expect("it does not panic");
    assert_eq!((by_task, by_thread.load(Ordering::SeqCst)), (ITEMS / 2, ITEMS / 2));
}

/// Has three tasks sleep until an item is due, in five milliseconds. One of them has a timer.
fn one_holds_the_timer<F: Future>(
    runtime: &Manual,
    tasks: &mut [Pin<Box<F>>; 3],
    bells: &[Arc<Bell>; 3],
) {
    for (task, bell) in tasks.iter_mut().zip(bells) {
        assert!(poll(task.as_mut(), bell).is_pending());
    }
    assert_eq!(runtime.waiters(), 1, "however many sleep");
    runtime.advance(ms(5));
    assert_eq!(rings(bells), [1, 0, 0]);
}

#[test]
fn one_of_the_tasks_holds_the_timer_and_passes_it_on_when_it_is_over() {
    let runtime = Manual::new();
    let queue = DelayingQueue::<u8, _>::new(&runtime);
    queue.add_after(1, ms(5));
    let bells = bells::<3>();
    let mut tasks = [(); 3].map(|()| Box::pin(queue.take_async()));
    one_holds_the_timer(&runtime, &mut tasks, &bells);
    assert_eq!(taken(poll(tasks[0].as_mut(), &bells[0])), Some(1));
    assert_eq!(rings(&bells), [1, 1, 0], "somebody else looks until when to sleep");
    queue.add_after(2, ms(5));
    assert!(poll(tasks[1].as_mut(), &bells[1]).is_pending());
    runtime.advance(ms(5));
    let before = rings(&bells);
    assert_eq!(before.iter().sum::<usize>(), 4, "the news and the time, and one for each");
    assert_eq!(taken(poll(tasks[1].as_mut(), &bells[1])), Some(2));
}

#[test]
fn one_task_holds_the_timer_of_a_limited_queue() {
    let runtime = Manual::new();
    let queue = LimitedQueue::<u8, _, _>::new(&runtime, Exponential::new(ms(5), ms(5)));
    queue.add_rate_limited(1);
    let bells = bells::<3>();
    let mut tasks = [(); 3].map(|()| Box::pin(queue.take_async()));
    one_holds_the_timer(&runtime, &mut tasks, &bells);
}

#[test]
fn one_of_the_threads_holds_the_timer_and_passes_it_on_when_it_is_over() {
    let runtime = Manual::new();
    let queue = Arc::new(PriorityQueue::<u8, _>::new(&runtime));
    (1..=3).for_each(|key| queue.add_after(key, ms(key.into())));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let queue = Arc::clone(&queue);
            runtime.spawn("getter", move || queue.take_with_priority().map(|(_, key, _)| key))
        })
        .collect();
    let mut left = 3;
    while left > 0 {
        assert!(runtime.until_asleep(left, PATIENCE) && runtime.until_waiting(1, PATIENCE));
        assert_eq!(runtime.waiters(), 1, "however many sleep");
        runtime.advance(ms(1));
        left -= 1;
    }
    let taken = threads.into_iter().map(|thread| runtime.join(thread).expect("no panic"));
    let mut taken: Vec<_> = taken.flatten().collect();
    taken.sort_unstable();
    assert_eq!(taken, [1, 2, 3]);
}

#[test]
fn a_holder_that_is_dropped_passes_the_timer_on_to_one_of_its_kind() {
    let runtime = Manual::new();
    let queue = Arc::new(DelayingQueue::<u8, _>::new(&runtime));
    (1..=2).for_each(|key| queue.add_after(key, ms(5)));
    let bells = bells::<3>();
    let mut tasks: Vec<_> = bells.iter().map(|_| Box::pin(queue.take_async())).collect();
    let thread = taker(&runtime, &queue);
    for (task, bell) in tasks.iter_mut().zip(&bells) {
        assert!(poll(task.as_mut(), bell).is_pending());
    }
    assert_eq!(runtime.waiters(), 2, "a thread and a task");
    drop(tasks.remove(0));
    assert_eq!((rings(&bells), runtime.asleep()), ([0, 1, 0], 1), "the thread sleeps on");
    drop(tasks.remove(0));
    assert_eq!(rings(&bells), [0, 1, 1], "it was woken, was given the timer, and never looked");
    assert!(poll(tasks[0].as_mut(), &bells[2]).is_pending());
    assert!(runtime.until_waiting(2, PATIENCE), "the thread looked as well");
    runtime.advance(ms(5));
    assert_eq!(runtime.join(thread).expect("it does not panic"), Some(1));
    assert!(rings(&bells)[2] > 1, "its own time has come");
    assert_eq!(taken(poll(tasks[0].as_mut(), &bells[2])), Some(2));
}

#[test]
fn a_task_that_nobody_polls_keeps_no_thread_asleep_beside_due_items() {
    for times_known_before in [true, false] {
        let runtime = Manual::new();
        let queue = Arc::new(DelayingQueue::<u8, _>::new(&runtime));
        let add = || (1..=2).for_each(|key| queue.add_after(key, ms(5 * u64::from(key))));
        if times_known_before {
            add();
        }
        let [bell] = bells::<1>();
        let mut task = Box::pin(queue.take_async());
        assert!(poll(task.as_mut(), &bell).is_pending());
        let threads = [taker(&runtime, &queue), taker(&runtime, &queue)];
        if !times_known_before {
            add();
        }
        for awake in [1, 2] {
            let asleep = 3 - awake;
            assert!(runtime.until_asleep(asleep, PATIENCE) && runtime.until_waiting(1, PATIENCE));
            runtime.advance(ms(5));
        }
        let taken = threads.map(|thread| runtime.join(thread).expect("it does not panic"));
        assert!(taken == [Some(1), Some(2)] || taken == [Some(2), Some(1)], "{taken:?}");
        assert!(bell.rings() > 0, "it could have had one");
    }
}

#[test]
fn a_holder_that_is_woken_for_another_item_passes_the_timer_on() {
    let runtime = Manual::new();
    let queue = DelayingQueue::<u8, _>::new(&runtime);
    queue.add_after(1, ms(5));
    let bells = bells::<2>();
    let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
    assert!(poll(one.as_mut(), &bells[0]).is_pending());
    assert!(poll(two.as_mut(), &bells[1]).is_pending());
    queue.add(9);
    assert_eq!(taken(poll(one.as_mut(), &bells[0])), Some(9));
    assert_eq!(rings(&bells), [1, 1]);
    assert!(poll(two.as_mut(), &bells[1]).is_pending());
    runtime.advance(ms(5));
    assert_eq!(rings(&bells), [1, 2]);
    assert_eq!(taken(poll(two.as_mut(), &bells[1])), Some(1));
    assert_eq!(runtime.waiters(), 0);
}

#[test]
fn an_earlier_time_reaches_one_who_sleeps_and_who_learns_of_it_holds_the_timer() {
    let runtime = Manual::new();
    let queue = DelayingQueue::<u8, _>::new(&runtime);
    queue.add_after(1, ms(10));
    let bells = bells::<3>();
    let mut tasks = [(); 3].map(|()| Box::pin(queue.take_async()));
    for (task, bell) in tasks.iter_mut().zip(&bells) {
        assert!(poll(task.as_mut(), bell).is_pending());
    }
    queue.add_after(2, ms(5));
    assert_eq!(rings(&bells), [1, 0, 0]);
    assert!(poll(tasks[0].as_mut(), &bells[0]).is_pending());
    queue.add_after(3, ms(2));
    assert_eq!(rings(&bells), [1, 1, 0], "who looked stands behind the others");
    assert!(poll(tasks[1].as_mut(), &bells[1]).is_pending());
    runtime.advance(ms(2));
    assert_eq!(rings(&bells), [1, 2, 0]);
    assert_eq!(taken(poll(tasks[1].as_mut(), &bells[1])), Some(3));
    assert_eq!(rings(&bells), [1, 2, 1], "the timer is passed on");
    assert!(poll(tasks[2].as_mut(), &bells[2]).is_pending());
    runtime.advance(ms(8));
    assert_eq!(taken(poll(tasks[2].as_mut(), &bells[2])), Some(2));
    assert_eq!(taken(poll(tasks[0].as_mut(), &bells[0])), Some(1));
}

#[test]
fn those_whose_times_are_their_own_wake_each_at_its_time() {
    let runtime = Manual::new();
    let monitor = Monitor::new(&runtime, Looks(0));
    let bells = bells::<2>();
    let look = |at| Look { times: 99, deadline: runtime.now() + ms(at) };
    let (mut one, mut two) = (pin!(monitor.call_async(look(1))), pin!(monitor.call_async(look(2))));
    assert!(poll(one.as_mut(), &bells[0]).is_pending());
    assert!(poll(two.as_mut(), &bells[1]).is_pending());
    runtime.advance(ms(1));
    assert_eq!(rings(&bells), [1, 0]);
    runtime.advance(ms(1));
    assert_eq!(rings(&bells), [1, 1]);
}

#[test]
fn a_thread_that_gives_its_turn_has_woken_whom_its_call_names() {
    let runtime = System::new();
    let monitor = Arc::new(Monitor::new(&runtime, Queue::<u8>::default()));
    monitor.call(Add { key: Some(1), hash: 1 });
    let (token, _) = monitor.call(Get).expect("one item waits");
    let taking = Arc::clone(&monitor);
    let getter = runtime.spawn("getter", move || assert_eq!(taking.call(Get), None));
    while runtime.lock(&monitor.inside).sleepers.counts() != (1, 0) {
        std::thread::yield_now();
    }
    let draining = Arc::clone(&monitor);
    let drain = Drain { until: DrainUntil::NothingInFlight, began: None };
    let drain = runtime.spawn("drain", move || draining.call(drain));
    let late = runtime.now() + PATIENCE;
    while !getter.is_finished() {
        assert!(runtime.now() < late, "the queue is shut down, and nobody tells the getter");
        std::thread::yield_now();
    }
    runtime.join(getter).expect("it does not panic");
    monitor.call(Done(token));
    runtime.join(drain).expect("it does not panic");
}

#[test]
fn a_worker_that_waits_for_the_item_that_it_put_off_holds_the_timer_itself() {
    let runtime = Manual::new();
    let queue = Arc::new(DelayingQueue::<u8, _>::new(&runtime));
    queue.add(1);
    queue.add_after(2, ms(1));
    let (token, _) = queue.take().expect("one item waits");
    let taking = Arc::clone(&queue);
    let worker = runtime.spawn("worker", move || taking.done_then_take(token).map(|next| next.1));
    assert!(runtime.until_waiting(1, PATIENCE), "nobody else would wake it");
    runtime.advance(ms(1));
    assert_eq!(runtime.join(worker).expect("it does not panic"), Some(2));
}

#[test]
fn who_was_woken_and_takes_another_item_leaves_the_next_time_to_one_who_sleeps() {
    let runtime = Manual::new();
    let queue = DelayingQueue::<u8, _>::new(&runtime);
    let bells = bells::<2>();
    let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
    assert!(poll(one.as_mut(), &bells[0]).is_pending());
    assert!(poll(two.as_mut(), &bells[1]).is_pending());
    queue.add_after(1, ms(5));
    queue.add_after(2, ms(10));
    assert_eq!(rings(&bells), [1, 0], "one looks for the earliest time");
    runtime.advance(ms(5));
    assert!(poll(one.as_mut(), &bells[0]).is_ready());
    assert_eq!(rings(&bells), [1, 1], "the other must look when the second comes");
    assert!(poll(two.as_mut(), &bells[1]).is_pending());
    runtime.advance(ms(5));
    assert!(poll(two.as_mut(), &bells[1]).is_ready());
}

#[test]
fn many_that_are_due_at_once_find_as_many_who_sleep() {
    const ITEMS: usize = 256;
    let runtime = Manual::new();
    let queue = DelayingQueue::<usize, _>::new(&runtime);
    let mut asleep: Vec<_> = (0..ITEMS + 100)
        .map(|_| (Box::pin(queue.take_async()), Arc::<Bell>::default(), 0))
        .collect();
    for item in 0..ITEMS {
        queue.add_after(item, ms(5));
    }
    for (call, bell, heard) in &mut asleep {
        assert!(poll(call.as_mut(), bell).is_pending());
        *heard = bell.rings();
    }
    runtime.advance(ms(5));
    let mut taken = 0;
    loop {
        let rung = asleep.iter().position(|(_, bell, heard)| bell.rings() > *heard);
        let Some(rung) = rung else { break };
        let (call, bell, heard) = &mut asleep[rung];
        *heard = bell.rings();
        if poll(call.as_mut(), bell).is_ready() {
            taken += 1;
            drop(asleep.swap_remove(rung));
        }
    }
    assert_eq!(taken, ITEMS);
}
