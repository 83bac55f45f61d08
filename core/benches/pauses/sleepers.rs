//! Sleepers in a queue: the cost of waking one of them, or all.

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use seatrial_core::delaying_queue::DelayingQueue;
use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::{Ambient, Manual, Runtime, System};

use crate::measure::{allocated, assert_given_back, assert_growth, shortest, tell, timed, wall};

const PATIENCE: Duration = Duration::from_secs(60);
/// A delay that may be a hiccup of the machine.
const HICCUP: Duration = Duration::from_micros(200);

/// Notes when the first of many tasks was woken, counted from its making.
struct First {
    system: System,
    woken: AtomicUsize,
}

impl Wake for First {
    fn wake(self: Arc<Self>) {
        let now = usize::try_from(self.system.now().as_nanos()).unwrap_or(usize::MAX);
        self.woken.fetch_min(now, Ordering::Relaxed);
    }
}

/// Shuts down a queue in which tasks sleep. Measures how long it is locked, which is at most the
/// time until the first task is woken, and the total time per task. Neither grows with their
/// number.
pub(crate) fn shut_down() {
    let system = System::new();
    let [small, .., large] = [1_000, 10_000, 100_000].map(|size| {
        let mut each = Duration::MAX;
        let locked = shortest(|| {
            let queue = WorkQueue::<u64>::new(&system);
            let first = Arc::new(First { system, woken: AtomicUsize::new(usize::MAX) });
            let waker = Waker::from(Arc::clone(&first));
            let mut tasks: Vec<_> = (0..size).map(|_| Box::pin(queue.take_async())).collect();
            for task in &mut tasks {
                assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            }
            let began = system.now();
            each = each.min(timed(|| queue.shut_down()) / size);
            let woken = first.woken.load(Ordering::Relaxed) as u64;
            Duration::from_nanos(woken.saturating_sub(began.as_nanos()))
        });
        tell(size as usize, "locked at most", locked);
        tell(size as usize, "shut down, for each task", each);
        (locked, each)
    });
    assert_growth(small.0.max(HICCUP), large.0, 8.0);
    assert_growth(small.1, large.1, 8.0);
}

/// Wakes many tasks, at once and one by one: measures the memory that a queue keeps.
pub(crate) fn bytes_after_waking() {
    const MANY: usize = 100_000;
    let system = System::new();
    let waker = Waker::from(Arc::new(First { system, woken: AtomicUsize::new(usize::MAX) }));
    let bytes = |name: &str, wake: &dyn Fn(&WorkQueue<u64>)| {
        let queue = WorkQueue::<u64>::new(&system);
        let mut tasks: Vec<_> = (0..MANY).map(|_| Box::pin(queue.take_async())).collect();
        let before = allocated();
        for task in &mut tasks {
            assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        let full = allocated() - before;
        wake(&queue);
        let woken = allocated() - before;
        drop(tasks); // it frees the older memory: only what is kept in addition counts
        assert_given_back(MANY, name, full, woken);
    };
    bytes("tasks that are all woken", &WorkQueue::shut_down);
    bytes("tasks that are woken one by one", &|queue| {
        (0..MANY as u64).for_each(|key| queue.add(key));
        (0..MANY).for_each(|_| assert!(queue.take().map(|(token, _)| queue.done(token)).is_some()));
    });
}

/// A task asleep in a queue, which reports when it is woken.
struct Task {
    number: usize,
    told: Sender<usize>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        // At the end the receiver is gone.
        _ = self.told.send(self.number);
    }
}

type Take<'a> = Pin<Box<dyn Future<Output = Option<u64>> + 'a>>;

/// An executor of idle consumers.
struct Idle<'a> {
    queue: &'a DelayingQueue<u64, Manual>,
    tasks: Vec<(Take<'a>, Waker)>,
    told: Receiver<usize>,
}

impl<'a> Idle<'a> {
    fn new(queue: &'a DelayingQueue<u64, Manual>, count: usize) -> Self {
        let (tell, told) = channel();
        let task = |number| {
            let waker = Waker::from(Arc::new(Task { number, told: tell.clone() }));
            (Self::take(queue), waker)
        };
        let mut idle = Self { queue, tasks: (0..count).map(task).collect(), told };
        (0..count).for_each(|number| assert!(!idle.poll(number)));
        idle
    }

    fn take(queue: &'a DelayingQueue<u64, Manual>) -> Take<'a> {
        Box::pin(async {
            let (token, key) = queue.take_async().await?;
            assert!(queue.done(token));
            Some(key)
        })
    }

    /// Polls a task; tells whether it took an item. It sleeps afterwards.
    fn poll(&mut self, number: usize) -> bool {
        let (task, waker) = &mut self.tasks[number];
        let mut context = Context::from_waker(waker);
        let took = task.as_mut().poll(&mut context).is_ready();
        if took {
            *task = Self::take(self.queue);
            assert!(task.as_mut().poll(&mut context).is_pending(), "there was one item");
        }
        took
    }

    /// Polls the woken tasks until none is left. Returns how many took an item, and how many were
    /// polled.
    fn run(&mut self) -> (usize, usize) {
        let (mut took, mut polls) = (0, 0);
        while let Ok(number) = self.told.try_recv() {
            took += usize::from(self.poll(number));
            polls += 1;
        }
        (took, polls)
    }
}

/// An item becomes due while tasks sleep: measures the time, and how many tasks are polled.
pub(crate) fn due_with_tasks() {
    const ITEMS: u32 = 200;
    let [small, .., large] = [1, 100, 1_000].map(|size| {
        let one = shortest(|| {
            let clock = Manual::new();
            let queue = DelayingQueue::<u64, _>::new(&clock);
            let mut idle = Idle::new(&queue, size);
            let mut polls = 0;
            let all = timed(|| {
                for item in 0..u64::from(ITEMS) {
                    queue.add_after(item, Duration::from_millis(1));
                    polls += idle.run().1; // those that learn of an earlier time
                    clock.advance(Duration::from_millis(1));
                    let (took, polled) = idle.run();
                    assert_eq!(took, 1, "one item is due");
                    polls += polled;
                }
            });
            assert!(polls <= 4 * ITEMS as usize, "{polls} polls for {ITEMS} items");
            all / ITEMS
        });
        tell(size, "an item due, tasks asleep", one);
        one
    });
    assert_growth(small, large, 4.0);
}

/// An item becomes due while threads sleep: measures the time.
pub(crate) fn due_with_threads() {
    const ITEMS: u32 = 100;
    const ROUND: NonZeroUsize = NonZeroUsize::MIN;
    let [small, .., large] = [1, 100, 1_000].map(|size| {
        let system = System::new();
        let queue = Arc::new(DelayingQueue::<u64>::new(&system));
        let (tell_taken, taken) = channel();
        let threads: Vec<_> = (0..size)
            .map(|_| {
                let (queue, taken) = (Arc::clone(&queue), tell_taken.clone());
                system.spawn("idle", move || {
                    while let Some((token, key)) = queue.take_batch(ROUND).pop() {
                        assert!(queue.done(token));
                        _ = taken.send(key);
                    }
                })
            })
            .collect();
        system.sleep_until(system.now() + Duration::from_millis(100)); // all are asleep by then, or nearly all
        let one = shortest(|| {
            wall(|| {
                for item in 0..u64::from(ITEMS) {
                    queue.add_after(item, Duration::from_micros(1));
                    assert_eq!(taken.recv_timeout(PATIENCE), Ok(item));
                }
            }) / ITEMS
        });
        queue.shut_down();
        threads.into_iter().for_each(|thread| system.join(thread).expect("it does not panic"));
        tell(size, "an item due, threads asleep", one);
        one
    });
    assert_growth(small, large, 8.0);
}
