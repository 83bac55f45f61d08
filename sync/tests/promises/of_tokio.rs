//! What tokio promises of its names.

use std::future::{pending, poll_fn};
use std::panic::panic_any;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use seatrial_sync::sync::atomic::{AtomicBool, Ordering};
use seatrial_sync::tokio::sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, TryAcquireError, broadcast, mpsc, oneshot,
    watch,
};
use seatrial_sync::tokio::time::{Duration, Instant, interval, sleep, timeout};
use seatrial_sync::tokio::{spawn, task};

use super::Body;

const LONG: Duration = Duration::from_secs(3_600);
const SHORT: Duration = Duration::from_millis(5);

/// All of them.
pub(crate) const ALL: &[(&str, Body)] = &[
    ("tasks_exclude_each_other", Body::Task(|| Box::pin(tasks_exclude_each_other()))),
    ("permits_are_dealt_out_in_order", Body::Task(|| Box::pin(permits_are_dealt_out_in_order()))),
    ("what_is_given_up_is_passed_on", Body::Task(|| Box::pin(what_is_given_up_is_passed_on()))),
    ("a_closed_semaphore_refuses", Body::Task(|| Box::pin(a_closed_semaphore_refuses()))),
    ("a_notification_waits_for_one", Body::Task(|| Box::pin(a_notification_waits_for_one()))),
    ("a_lost_notification_is_for_the_next", Body::Task(|| Box::pin(it_is_for_the_next()))),
    ("readers_share", Body::Task(|| Box::pin(readers_share()))),
    ("one_value_arrives", Body::Task(|| Box::pin(one_value_arrives()))),
    ("a_bounded_queue_waits", Body::Task(|| Box::pin(a_bounded_queue_waits()))),
    ("the_newest_is_watched", Body::Task(|| Box::pin(the_newest_is_watched()))),
    ("all_receive_and_who_is_slow_is_told", Body::Task(|| Box::pin(all_receive()))),
    ("a_cell_is_made_once", Body::Task(|| Box::pin(a_cell_is_made_once()))),
    ("tasks_meet", Body::Task(|| Box::pin(tasks_meet()))),
    ("a_group_is_complete_before_it_goes_on", Body::Task(|| Box::pin(groups_are_complete()))),
    ("a_task_that_yields_comes_to_an_end", Body::Task(|| Box::pin(it_comes_to_an_end()))),
    ("tasks_end_panic_or_are_aborted", Body::Task(|| Box::pin(tasks_end()))),
    ("time_ends_what_takes_too_long", Body::Task(|| Box::pin(time_ends_it()))),
];

async fn tasks_exclude_each_other() {
    let lock = Arc::new(Mutex::new((0, 0)));
    let add = |lock: Arc<Mutex<(u32, u32)>>| async move {
        let mut value = lock.lock().await;
        value.0 += 1;
        task::yield_now().await;
        value.1 += 1;
        assert_eq!(value.0, value.1, "two hold it");
    };
    let other = spawn(add(Arc::clone(&lock)));
    add(Arc::clone(&lock)).await;
    other.await.unwrap();
    let guard = lock.try_lock().unwrap();
    assert!(lock.try_lock().is_err() && *guard == (2, 2));
}

async fn permits_are_dealt_out_in_order() {
    let semaphore = Semaphore::new(1);
    let first = semaphore.acquire().await.unwrap();
    let (mut many, mut one) = (pin!(semaphore.acquire_many(2)), pin!(semaphore.acquire()));
    let polled = poll_fn(|context| {
        Poll::Ready((many.as_mut().poll(context).is_ready(), one.as_mut().poll(context).is_ready()))
    });
    assert_eq!(polled.await, (false, false));
    drop(first);
    semaphore.add_permits(1);
    let polled = poll_fn(|context| Poll::Ready(one.as_mut().poll(context).is_ready()));
    assert!(!polled.await, "the one before it wants both");
    assert!(matches!(semaphore.try_acquire(), Err(TryAcquireError::NoPermits)));
    let many = many.await.unwrap();
    drop(many);
    drop(one.await.unwrap());
    assert_eq!(semaphore.available_permits(), 2);
}

async fn what_is_given_up_is_passed_on() {
    let semaphore = Arc::new(Semaphore::new(0));
    let theirs = Arc::clone(&semaphore);
    let impatient = spawn(async move { timeout(SHORT, theirs.acquire()).await.map(drop).is_ok() });
    task::yield_now().await;
    semaphore.add_permits(1);
    let _had_one = impatient.await.unwrap();
    drop(semaphore.acquire().await.unwrap());
    let mut takes = Box::pin(semaphore.acquire_many(3));
    assert!(poll_fn(|context| Poll::Ready(takes.as_mut().poll(context).is_pending())).await);
    semaphore.add_permits(2); // all three are its own now
    drop(takes);
    assert_eq!(semaphore.available_permits(), 3, "some are lost with the future");
}

async fn a_closed_semaphore_refuses() {
    let semaphore = Arc::new(Semaphore::new(0));
    let theirs = Arc::clone(&semaphore);
    let waits = spawn(async move { theirs.acquire().await.is_err() });
    semaphore.close();
    assert!(waits.await.unwrap() && semaphore.is_closed());
    assert!(matches!(semaphore.try_acquire(), Err(TryAcquireError::Closed)));
    let semaphore = Semaphore::new(0);
    let mut takes = Box::pin(semaphore.acquire());
    assert!(poll_fn(|context| Poll::Ready(takes.as_mut().poll(context).is_pending())).await);
    semaphore.add_permits(1);
    semaphore.close();
    assert!(takes.await.is_err(), "it was given one, and is closed");
}

async fn a_notification_waits_for_one() {
    let notify = Arc::new(Notify::new());
    let theirs = Arc::clone(&notify);
    let waits = spawn(async move { theirs.notified().await });
    notify.notify_one(); // before it waits, or after
    waits.await.unwrap();
    let later = notify.notified();
    notify.notify_waiters();
    later.await; // it counts from its making
    assert!(timeout(SHORT, notify.notified()).await.is_err(), "nothing is left");
}

async fn it_is_for_the_next() {
    let notify = Notify::new();
    let (mut first, mut second) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
    assert!(!first.as_mut().enable() && !second.as_mut().enable());
    notify.notify_one();
    drop(first);
    second.await;
}

async fn readers_share() {
    let lock = Arc::new(RwLock::new(0));
    let (first, second) = (lock.read().await, lock.read().await);
    assert!(lock.try_write().is_err() && *first == *second);
    let theirs = Arc::clone(&lock);
    let writes = spawn(async move { *theirs.write().await += 1 });
    drop((first, second));
    writes.await.unwrap();
    assert_eq!(*lock.try_read().unwrap(), 1);
}

async fn one_value_arrives() {
    let (sender, receiver) = oneshot::channel();
    let sends = spawn(async move { sender.send(1) });
    assert_eq!(receiver.await, Ok(1));
    assert_eq!(sends.await.unwrap(), Ok(()));
    let (sender, receiver) = oneshot::channel::<u8>();
    let drops = spawn(async move { drop(sender) });
    assert!(receiver.await.is_err());
    drops.await.unwrap();
    let (mut sender, receiver) = oneshot::channel();
    let drops = spawn(async move { drop(receiver) });
    sender.closed().await;
    assert!(sender.is_closed() && sender.send(1) == Err(1));
    drops.await.unwrap();
}

async fn a_bounded_queue_waits() {
    let (sender, mut receiver) = mpsc::channel(1);
    sender.try_send(0).unwrap();
    assert!(sender.try_send(1).is_err() && sender.capacity() == 0);
    let second = sender.clone();
    let sends = spawn(async move { second.send(1).await.is_ok() });
    drop(sender);
    assert_eq!((receiver.recv().await, receiver.recv().await), (Some(0), Some(1)));
    assert_eq!(receiver.recv().await, None);
    assert!(sends.await.unwrap());
    let (sender, mut receiver) = mpsc::unbounded_channel();
    sender.send(1).unwrap();
    receiver.close();
    assert!(sender.send(2).is_err() && receiver.try_recv() == Ok(1));
    assert_eq!(receiver.recv().await, None);
}

async fn the_newest_is_watched() {
    let (sender, mut receiver) = watch::channel(0);
    let sends = spawn(async move {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    assert_eq!(*receiver.wait_for(|value| *value == 2).await.unwrap(), 2);
    assert!(receiver.changed().await.is_err(), "the sender is gone");
    sends.await.unwrap();
}

async fn all_receive() {
    let (sender, mut first) = broadcast::channel(2);
    let mut second = sender.subscribe();
    let receives = spawn(async move { (second.recv().await, second.recv().await) });
    assert_eq!(sender.send(1).ok(), Some(2));
    assert_eq!(first.recv().await, Ok(1));
    drop(sender);
    let closed = broadcast::error::RecvError::Closed;
    assert_eq!(receives.await.unwrap(), (Ok(1), Err(closed.clone())));
    assert_eq!(first.recv().await, Err(closed));
    let (sender, mut slow) = broadcast::channel(2);
    (0..5).for_each(|value| assert_eq!(sender.send(value).ok(), Some(1)));
    assert_eq!(slow.recv().await, Err(broadcast::error::RecvError::Lagged(3)));
    assert_eq!((slow.try_recv(), slow.recv().await), (Ok(3), Ok(4)));
    drop(slow);
    assert!(sender.send(5).is_err());
    let (sender, mut first) = broadcast::channel(2);
    let (second, value) = (sender.subscribe(), Arc::new(()));
    assert_eq!(sender.send(Arc::clone(&value)).ok(), Some(2));
    drop(first.recv().await);
    assert_eq!(Arc::strong_count(&value), 2, "one has yet to receive it");
    drop(second);
    assert_eq!(Arc::strong_count(&value), 1, "nobody will receive it");
}

async fn a_cell_is_made_once() {
    let cell = Arc::new(OnceCell::new());
    let theirs = Arc::clone(&cell);
    let other = spawn(async move { *theirs.get_or_init(|| async { 1 }).await });
    let mine = *cell.get_or_init(|| async { 2 }).await;
    assert_eq!((other.await.unwrap(), cell.get()), (mine, Some(&mine)));
}

async fn tasks_meet() {
    let barrier = Arc::new(Barrier::new(2));
    let theirs = Arc::clone(&barrier);
    let other = spawn(async move { theirs.wait().await.is_leader() });
    let leads = barrier.wait().await.is_leader();
    assert_ne!(leads, other.await.unwrap());
}

async fn groups_are_complete() {
    let barrier = Arc::new(Barrier::new(2));
    let (sender, mut through) = mpsc::unbounded_channel();
    let tasks = [(); 3].map(|()| {
        let (barrier, sender) = (Arc::clone(&barrier), sender.clone());
        spawn(async move {
            barrier.wait().await;
            sender.send(()).unwrap();
        })
    });
    assert_eq!((through.recv().await, through.recv().await), (Some(()), Some(())));
    assert!(timeout(SHORT, through.recv()).await.is_err(), "one of the next group got through");
    barrier.wait().await;
    for task in tasks {
        task.await.unwrap();
    }
}

async fn it_comes_to_an_end() {
    let is_set = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&is_set);
    let sets = spawn(async move { theirs.store(true, Ordering::SeqCst) });
    while !is_set.load(Ordering::SeqCst) {
        task::yield_now().await;
    }
    sets.await.unwrap();
}

async fn tasks_end() {
    let panics = spawn(async { panic!("on purpose") });
    let error: task::JoinError = panics.await.unwrap_err();
    assert!(error.is_panic() && error.into_panic().is::<&str>());
    let panics = spawn(async { panic_any(7) });
    let error: task::JoinError = panics.await.unwrap_err();
    assert!(error.into_panic().is::<i32>());
    let sleeps = spawn(sleep(LONG));
    sleeps.abort();
    assert!(sleeps.await.unwrap_err().is_cancelled());
}

async fn time_ends_it() {
    let before = Instant::now();
    assert!(timeout(SHORT, sleep(LONG)).await.is_err() && before.elapsed() >= SHORT);
    assert_eq!(timeout(LONG, async { 7 }).await, Ok(7));
    let mut late = pin!(timeout(SHORT, pending::<()>()));
    sleep(2 * SHORT).await;
    let polled = poll_fn(|context| Poll::Ready(late.as_mut().poll(context).is_ready()));
    assert!(polled.await, "its time began with the call");
    let mut ticks = interval(SHORT);
    let first = ticks.tick().await;
    assert!(ticks.tick().await >= first + SHORT);
}
