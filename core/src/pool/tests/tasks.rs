//! Workers that are tasks. The queue's clock is moved by hand; tokio's clock moves when all are
//! idle.

use super::*;
use crate::pool::tasks::{ReconcileAsync, TaskPool};

/// Lets every task run until it waits.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn errors_and_panics_are_tried_again_later_each_time_until_success_forgets_them() {
    let (runtime, log) = (Manual::new(), Log::default());
    let queue = queue(&runtime);
    let (inner, clock) = (log.clone(), runtime.clone());
    let pool = TaskPool::start(&queue, workers(2), move |key: u8| {
        let attempt = inner.note(key, clock.now());
        assert_ne!(attempt, 2, "before there is a future");
        async move {
            tokio::task::yield_now().await;
            match attempt {
                1 => Err("an error"),
                3 => panic!("in the middle"),
                _ => Ok(Action::Done),
            }
        }
    });
    queue.add(1);
    for _ in 0..100 {
        settle().await;
        runtime.advance(ms(1));
    }
    assert_eq!(log.millis(1), [0, 10, 30, 70]);
    assert_eq!(queue.num_requeues(&1), 0);
    assert!(pool.shut_down(PATIENCE).await.is_complete());
}

/// Never finishes an item, and counts how often it is told of a failure.
struct Stuck(Arc<Mutex<usize>>);

impl ReconcileAsync<u8> for Stuck {
    type Error = ();

    async fn reconcile(&self, key: &u8, _: Attempt<'_>) -> Result<Action, Fault<()>> {
        if *key == 1 {
            return std::future::pending().await;
        }
        Err(Fault::Retry(()))
    }

    fn failed(&self, _: &u8, failure: &Failure<()>) {
        assert!(matches!(failure.cause, Cause::Error(())));
        *self.0.lock() += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn at_the_deadline_tasks_are_aborted_and_their_items_done() {
    let told = Arc::new(Mutex::new(0));
    let queue = queue(&Manual::new());
    let pool = TaskPool::start(&queue, workers(1), Stuck(Arc::clone(&told)));
    queue.add_all([2, 1, 3]);
    settle().await;
    assert_eq!(*told.lock(), 1);
    let began = tokio::time::Instant::now();
    assert_eq!(pool.shut_down(LONG).await, End { running: 1, waiting: 1 });
    assert_eq!(began.elapsed(), LONG);
    queue.drain_async().await; // would hang if the item were still in processing
}

#[tokio::test(start_paused = true)]
async fn what_was_done_within_the_patience_does_not_wait() {
    let queue = queue(&System::new());
    queue.add_all([1, 2, 3]);
    let pool = TaskPool::start(&queue, workers(1), async |key: u8| {
        if key == 3 {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(ms(10)).await;
        Ok::<_, ()>(Action::Done)
    });
    assert_eq!(pool.shut_down(LONG).await, End { running: 1, waiting: 0 });
}

#[tokio::test]
async fn a_queue_that_is_never_empty_leaves_time_to_others() {
    let queue = queue(&System::new());
    let again = Arc::clone(&queue);
    let pool = TaskPool::start(&queue, workers(1), move |key: u8| {
        again.add(key);
        std::future::ready(Ok::<_, ()>(Action::Done))
    });
    queue.add(1);
    settle().await; // would never come back
    assert!(pool.shut_down(PATIENCE).await.is_complete());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_item_is_processed_by_somebody() {
    let (log, queue) = (Log::default(), queue(&System::new()));
    let inner = log.clone();
    let pool = TaskPool::start(&queue, workers(4), move |key: u8| {
        inner.note(key, Instant::ZERO);
        std::future::ready(Ok::<_, ()>(Action::Done))
    });
    queue.add_all(0..100);
    assert!(pool.shut_down(PATIENCE).await.is_complete());
    assert!((0..100).all(|key| log.millis(key).len() == 1));
}

#[tokio::test]
async fn a_pool_shows_how_many_tasks_it_has() {
    let pool = TaskPool::start(&queue(&System::new()), workers(3), |_: u8| {
        std::future::ready(Ok::<_, ()>(Action::Done))
    });
    assert!(format!("{pool:?}").contains("tasks: 3"), "{pool:?}");
    assert!(pool.shut_down(PATIENCE).await.is_complete());
}

#[tokio::test]
async fn a_panic_of_the_queue_ends_no_worker() {
    let queue = Arc::new(sources::Broken::default());
    let pool =
        TaskPool::start(&queue, workers(1), |_: u8| std::future::ready(Ok::<_, ()>(Action::Done)));
    assert!(pool.shut_down(PATIENCE).await.is_complete());
    queue.check();
}
