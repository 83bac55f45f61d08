//! Foreign code that panics, in a step or in a waker. Afterwards every item is waiting or reported,
//! all sleepers that a step named are woken, and drains end.

use std::hash::{Hash, Hasher};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use super::*;
use crate::fifo::{AfterPop, Fifo};
use crate::limited_queue::{LimitedQueue, Outcome};
use crate::limiter::{Item, Limiter};
use crate::priority_queue::PriorityQueue;
use crate::runtime::bell::Breaks;

/// The code that panics.
#[derive(Debug, Default)]
struct Breaking {
    eq: AtomicBool,
    copy: AtomicBool,
}

/// A key whose code panics when told to. All keys have the same hash.
#[derive(Debug)]
struct Fragile(u8, Arc<Breaking>);

impl Fragile {
    fn breaks(flag: &AtomicBool) {
        if flag.load(Ordering::SeqCst) {
            std::panic::panic_any("a bug of the key");
        }
    }
}

impl PartialEq for Fragile {
    fn eq(&self, other: &Self) -> bool {
        Self::breaks(&self.1.eq);
        self.0 == other.0
    }
}

impl Eq for Fragile {}

impl Hash for Fragile {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Clone for Fragile {
    fn clone(&self) -> Self {
        Self::breaks(&self.1.copy);
        Self(self.0, Arc::clone(&self.1))
    }
}

fn breaks<T>(run: impl FnOnce() -> T) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(run()))).is_err()
}

fn fragile() -> (Arc<Breaking>, impl Fn(u8) -> Fragile) {
    let breaking = Arc::<Breaking>::default();
    let of = Arc::clone(&breaking);
    (breaking, move |number| Fragile(number, Arc::clone(&of)))
}

fn set(flag: &AtomicBool, to: bool) {
    flag.store(to, Ordering::SeqCst);
}

/// Tests for every queue: how to make it, and how to take an item as a number.
macro_rules! every_queue {
    ($($queue:ident: $make:expr, $take:expr, $key:expr;)*) => {$(
        mod $queue {
            use super::*;

            #[test]
            fn an_item_that_cannot_be_copied_waits_and_is_delivered_later() {
                let (breaking, key) = fragile();
                let queue = $make;
                (1..=2).for_each(|number| queue.add(key(number)));
                set(&breaking.copy, true);
                assert!(breaks(|| $take(&queue)));
                set(&breaking.copy, false);
                assert_eq!(queue.len(), 2, "it waits");
                let mut taken = [0, 0].map(|_| {
                    let (token, number) = $take(&queue);
                    assert!(queue.done(token));
                    number
                });
                taken.sort_unstable();
                assert_eq!((taken, queue.len()), ([1, 2], 0));
            }

            #[test]
            fn a_task_that_was_woken_and_breaks_passes_its_wake_up_on() {
                let (breaking, key) = fragile();
                let queue = $make;
                let [first, second]: [Arc<Bell>; 2] = Default::default();
                let mut one = Box::pin(queue.take_async());
                let mut two = Box::pin(queue.take_async());
                assert!(poll(one.as_mut(), &first).is_pending());
                assert!(poll(two.as_mut(), &second).is_pending());
                queue.add(key(1));
                set(&breaking.copy, true);
                assert!(breaks(|| poll(one.as_mut(), &first).is_ready()));
                set(&breaking.copy, false);
                assert_eq!((first.rings(), second.rings()), (1, 1));
                drop(one);
                let Poll::Ready(Some(taken)) = poll(two.as_mut(), &second) else {
                    panic!("the item waits");
                };
                assert_eq!($key(&taken), 1);
                assert!(queue.done(taken.0));
            }

            #[test]
            fn a_batch_ends_before_an_item_that_cannot_be_copied_and_is_not_lost() {
                let (breaking, key) = fragile();
                let (other, sound) = fragile();
                let queue = $make;
                queue.add(sound(1));
                queue.add(key(2));
                set(&breaking.copy, true);
                let batch = queue.take_batch(NonZeroUsize::MAX);
                assert_eq!(batch.iter().map(|taken| $key(taken)).collect::<Vec<_>>(), [1]);
                assert!(breaks(|| $take(&queue)));
                set(&breaking.copy, false);
                assert_eq!($take(&queue).1, 2);
                drop(other);
            }
        }
    )*};
}

every_queue! {
    work: WorkQueue::new(&System::new()),
        |queue: &WorkQueue<Fragile>| queue.take().map(|(token, key)| (token, key.0)).unwrap(),
        |taken: &(Token, Fragile)| taken.1.0;
    delaying: DelayingQueue::new(&System::new()),
        |queue: &DelayingQueue<Fragile>| queue.take().map(|(token, key)| (token, key.0)).unwrap(),
        |taken: &(Token, Fragile)| taken.1.0;
    limited: LimitedQueue::with_default_limiter(&System::new()),
        |queue: &LimitedQueue<Fragile>| queue.take().map(|(token, key)| (token, key.0)).unwrap(),
        |taken: &(Token, Fragile)| taken.1.0;
    priority: PriorityQueue::new(&System::new()),
        |queue: &PriorityQueue<Fragile>| {
            queue.take_with_priority().map(|(token, key, _)| (token, key.0)).unwrap()
        },
        |taken: &(Token, Fragile, i32)| taken.1.0;
}

#[test]
fn a_drain_ends_although_an_item_could_not_be_copied_once() {
    let (breaking, key) = fragile();
    let queue = DelayingQueue::new(&System::new());
    queue.add(key(1));
    set(&breaking.copy, true);
    assert!(breaks(|| queue.take()));
    set(&breaking.copy, false);
    let bell = Arc::<Bell>::default();
    let mut drain = pin!(queue.drain_when_done_async());
    assert!(poll(drain.as_mut(), &bell).is_pending());
    let (token, _) = queue.take().expect("the item waits");
    assert!(queue.done(token));
    assert!(poll(drain.as_mut(), &bell).is_ready());
}

#[test]
fn a_step_that_breaks_wakes_whom_it_named_before() {
    let (breaking, key) = fragile();
    let runtime = Manual::new();
    let queue = DelayingQueue::<_, _>::new(&runtime);
    let [first, second]: [Arc<Bell>; 2] = Default::default();
    let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
    (1..=2).for_each(|number| queue.add_after(key(number), Duration::from_millis(1)));
    assert!(poll(one.as_mut(), &first).is_pending() && poll(two.as_mut(), &second).is_pending());
    runtime.advance(Duration::from_millis(1));
    let before = first.rings() + second.rings();
    set(&breaking.eq, true);
    assert!(breaks(|| queue.add(key(1))), "what is due was moved before");
    set(&breaking.eq, false);
    assert_eq!(first.rings() + second.rings(), before + 2);
}

#[test]
fn a_holder_of_the_timer_that_breaks_passes_it_on() {
    let (breaking, key) = fragile();
    let runtime = Manual::new();
    let queue = DelayingQueue::<_, _>::new(&runtime);
    queue.add_after(key(1), Duration::from_millis(1));
    let [first, second]: [Arc<Bell>; 2] = Default::default();
    let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
    assert!(poll(one.as_mut(), &first).is_pending() && poll(two.as_mut(), &second).is_pending());
    runtime.advance(Duration::from_millis(1));
    assert_eq!((first.rings(), second.rings()), (1, 0));
    set(&breaking.copy, true);
    assert!(breaks(|| poll(one.as_mut(), &first).is_ready()));
    set(&breaking.copy, false);
    assert_eq!((first.rings(), second.rings()), (1, 1));
    assert!(poll(two.as_mut(), &second).is_ready());
}

/// A limiter that panics.
struct Broken;

impl<K: 'static> Limiter<K> for Broken {
    fn when(&mut self, _: Item<'_, K>, _: Instant) -> Duration {
        std::panic::panic_any("a bug of the limiter")
    }

    fn forget(&mut self, _: Item<'_, K>, _: &mut Vec<K>) {
        std::panic::panic_any("a bug of the limiter")
    }

    fn num_requeues(&self, _: Item<'_, K>) -> u32 {
        0
    }
}

#[test]
fn a_delivery_that_a_limiter_breaks_is_settled_without_it() {
    let later = Outcome::RequeueAfter(Duration::from_millis(1));
    for (outcome, waits, delayed) in
        [(Outcome::Success, 0, 0), (Outcome::GiveUp, 0, 0), (Outcome::Retry, 1, 1), (later, 0, 1)]
    {
        let clock = Manual::new();
        let limited = LimitedQueue::new(&clock, Broken);
        limited.add(1);
        let (token, _) = limited.take().expect("one waits");
        assert!(breaks(|| limited.settle(token, outcome)));
        assert!(!limited.done(token), "the delivery has ended");
        assert_eq!(limited.len(), waits);
        let prioritized = PriorityQueue::with_limiter(&clock, Broken);
        prioritized.add(1);
        let (token, ..) = prioritized.take_with_priority().expect("one waits");
        assert!(breaks(|| prioritized.settle(token, outcome, 7)));
        assert!(!prioritized.done(token));
        assert_eq!(prioritized.len(), waits);
        clock.advance(Duration::from_millis(1));
        assert_eq!((limited.len(), prioritized.len()), (delayed, delayed), "{outcome:?}");
        if delayed > 0 {
            assert_eq!(prioritized.take_with_priority().expect("it is due").2, 7);
        }
    }
}

#[test]
fn a_waker_that_breaks_takes_nothing_from_the_call_that_wakes_it_and_from_the_others() {
    let runtime = Manual::new();
    let queue = DelayingQueue::<u8, _>::new(&runtime);
    let bell = Arc::<Bell>::default();
    let (mut one, mut two) = (pin!(queue.take_async()), pin!(queue.take_async()));
    let breaking = Breaks::waker("a bug of the executor");
    assert!(one.as_mut().poll(&mut Context::from_waker(&breaking)).is_pending());
    assert!(poll(two.as_mut(), &bell).is_pending());
    queue.add(1); // the first task is woken for this
    queue.add(2);
    assert_eq!(bell.rings(), 1);
    let mut three = pin!(queue.take_async());
    assert!(one.as_mut().poll(&mut Context::from_waker(&breaking)).is_ready());
    assert_eq!(taken(poll(two.as_mut(), &bell)), Some(2));
    assert!(three.as_mut().poll(&mut Context::from_waker(&breaking)).is_pending());
    let mut four = pin!(queue.take_async());
    assert!(poll(four.as_mut(), &bell).is_pending());
    queue.shut_down();
    assert_eq!(bell.rings(), 2, "a line that is woken as a whole goes on as well");
    assert_eq!(taken(poll(four.as_mut(), &bell)), None);
}

#[test]
fn who_is_taken_by_a_call_that_wakes_a_broken_waker_is_reported() {
    let runtime = Manual::new();
    let queue = DelayingQueue::<u8, _>::new(&runtime);
    let breaking = Breaks::waker("a bug of the executor");
    let mut asleep = pin!(queue.take_async());
    assert!(asleep.as_mut().poll(&mut Context::from_waker(&breaking)).is_pending());
    // The first step of this call makes two items ready, takes one, and wakes the task for the
    // other.
    let soon = Duration::from_millis(1);
    (1..=2).for_each(|key| queue.add_after(key, soon));
    assert!(asleep.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(asleep.as_mut().poll(&mut Context::from_waker(&breaking)).is_pending());
    assert!(breaks(|| runtime.advance(soon)), "the clock passes it on");
    let (token, key) = queue.take().expect("it is reported");
    assert_eq!(key, 1);
    assert!(queue.done(token));
    assert_eq!(taken(poll(asleep.as_mut(), &Arc::default())), Some(2));
}

#[test]
fn a_second_half_that_breaks_ends_the_first_all_the_same() {
    let (breaking, key) = fragile();
    let of = move |object: &u8| Ok(key(*object));
    let queue = Fifo::new(&System::new(), of);
    queue.replace(vec![1, 2]).unwrap();
    let popped = breaks(|| {
        queue.pop_or_requeue(|_| {
            set(&breaking.eq, true);
            (AfterPop::Requeue, ())
        })
    });
    set(&breaking.eq, false);
    assert!(popped);
    assert_eq!((queue.len(), queue.has_synced()), (1, false));
    queue.pop(|_| ()).unwrap();
    assert!(queue.has_synced(), "both were counted");
}

#[test]
fn the_second_of_two_calls_in_a_row_that_breaks_leaves_the_wake_ups_of_the_first() {
    let (breaking, key) = fragile();
    let queue = WorkQueue::new(&System::new());
    let bell = Arc::<Bell>::default();
    queue.add(key(1));
    let (token, _) = queue.take().expect("one waits");
    let mut getter = pin!(queue.take_async());
    assert!(poll(getter.as_mut(), &bell).is_pending());
    queue.add(key(1)); // in processing, so it waits again when it is done
    set(&breaking.copy, true);
    assert!(breaks(|| queue.done_then_take(token)));
    set(&breaking.copy, false);
    assert_eq!(bell.rings(), 1);
    assert!(poll(getter.as_mut(), &bell).is_ready());
}
