//! Calls in two halves that are awaited: one poll is one critical section.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;

use super::*;
use crate::fifo::{AfterPop, Closed, Fifo};
use crate::runtime::probe::{Probe, Probing};

type Objects = Arc<Fifo<u8, u8>>;

fn objects() -> Objects {
    Arc::new(Fifo::new(&System::new(), |object: &u8| Ok(*object)))
}

#[test]
fn a_task_that_processes_keeps_the_lock() {
    let queue = objects();
    queue.add(1).unwrap();
    let (tell, hear) = channel();
    let asking = Arc::clone(&queue);
    let (_, thread) = System::new()
        .block_on(queue.pop_async(|_| {
            let thread = System::new().spawn("asking", move || tell.send(asking.len()));
            let answer = hear.recv_timeout(Duration::from_millis(50));
            assert!(answer.is_err(), "somebody came between the halves, cache:QU-12");
            thread
        }))
        .unwrap();
    assert!(System::new().join(thread).is_ok());
    assert_eq!(hear.recv(), Ok(0), "afterwards it is let go");
}

#[test]
fn a_task_that_panics_ends_the_second_half_and_lets_the_lock_go() {
    let queue = objects();
    queue.replace(vec![1, 2]).unwrap();
    let broken = AssertUnwindSafe(|| {
        let popped = pin!(queue.pop_async(|_| panic!("a bug of the consumer")));
        assert!(poll(popped, &Arc::default()).is_ready());
    });
    assert!(catch_unwind(broken).is_err());
    assert_eq!((queue.len(), queue.has_synced()), (1, false));
    System::new().block_on(queue.pop_async(|_| ())).unwrap();
    assert!(queue.has_synced(), "both were counted");
}

#[test]
fn a_task_may_put_back_what_it_took() {
    let queue = objects();
    queue.replace(vec![1, 2]).unwrap();
    let taken = queue.pop_or_requeue_async(|popped| (AfterPop::Requeue, popped.object));
    assert_eq!(System::new().block_on(taken).unwrap().1, 1);
    assert_eq!(queue.list(), [(2, 2), (1, 1)], "cache:QU-9");
}

#[test]
fn a_task_that_takes_drops_its_old_waker_without_the_lock() {
    let (queue, probe) = (objects(), Arc::<Probe>::default());
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    let probing: Waker = Arc::new(Dropped(Probing(1, Arc::clone(&probe)))).into();
    let (mut first, mut second) = (pin!(queue.pop_async(|_| ())), pin!(queue.pop_async(|_| ())));
    assert!(poll(first.as_mut(), &Arc::default()).is_pending());
    assert!(second.as_mut().poll(&mut Context::from_waker(&probing)).is_pending());
    drop(probing);
    queue.add(1).unwrap(); // the first is told, and the second comes
    assert!(poll(second.as_mut(), &Arc::default()).is_ready());
    probe.all_got_through();
}

/// A waker that is dropped.
struct Dropped(#[expect(dead_code, reason = "it is dropped")] Probing);

impl std::task::Wake for Dropped {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_pop_shows_whether_it_sleeps_and_is_polled_once_it_is_over_by_nobody() {
    let monitor = Monitor::new(&Manual::new(), Queue::<u8>::default());
    let body = |taken: Option<(Token, u8)>| (None::<Get>, taken.map(|(_, key)| key));
    let mut halves = pin!(monitor.around_async(Get, Get, body));
    assert_eq!(format!("{halves:?}"), "Around { asleep: false, .. }");
    assert!(poll(halves.as_mut(), &Arc::default()).is_pending());
    assert_eq!(format!("{halves:?}"), "Around { asleep: true, .. }");
    monitor.call(Add { key: Some(1), hash: 1 });
    assert_eq!(poll(halves.as_mut(), &Arc::default()), Poll::Ready(Some(1)));
    assert_eq!(format!("{halves:?}"), "Around { asleep: false, .. }");
    let again = catch_unwind(AssertUnwindSafe(|| poll(halves.as_mut(), &Arc::default())));
    assert!(again.is_err());
}

#[test]
fn tasks_and_threads_share_the_objects() {
    let (runtime, queue) = (System::new(), objects());
    let count = Arc::new(AtomicU32::new(0));
    let consumer = |awaits: bool| {
        let (queue, count) = (Arc::clone(&queue), Arc::clone(&count));
        runtime.spawn("consumer", move || {
            let counted = |_: &_| count.fetch_add(1, Ordering::SeqCst);
            if awaits {
                runtime.block_on(async { while queue.pop_async(counted).await.is_ok() {} });
            } else {
                while queue.pop(counted).is_ok() {}
            }
        })
    };
    let consumers = [true, false, true, false].map(consumer);
    for object in 0..=u8::MAX {
        queue.add(object).unwrap();
    }
    queue.close();
    for consumer in consumers {
        runtime.join(consumer).expect("it does not panic");
    }
    assert_eq!(count.load(Ordering::SeqCst), 256);
    assert!(matches!(queue.pop(|_| ()), Err(Closed)));
}
