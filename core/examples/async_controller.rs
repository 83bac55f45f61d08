//! A controller on tokio: a task takes changes from an event queue, a pool of tasks reconciles
//! them, and one more task writes the status that they report. Nothing blocks a thread.
//!
//! ```text
//! cargo run -p seatrial-core --features informers,tokio --example async_controller
//! ```

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::fifo::Fifo;
use seatrial_core::limited_queue::LimitedQueue;
use seatrial_core::pool::tasks::TaskPool;
use seatrial_core::pool::{Action, Failure, Fault, deciding, policy};
use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::System;

type Key = Arc<str>;
/// Objects are pairs of a name, which is the key, and a version.
type Events = Fifo<Key, (Key, u32)>;

/// Takes objects one by one until the event queue is closed and empty.
async fn watch(events: &Events, queue: &LimitedQueue<Key>) {
    while let Ok((popped, ())) = events.pop_async(|_| ()).await {
        let (name, version) = popped.object;
        println!("{name}: version {version} was seen");
        queue.add(name);
    }
}

/// Writes the status of one object at a time, so it is never written twice at once. All reports
/// that come during a write cause one more write.
async fn write_status(statuses: &WorkQueue<Key>) {
    while let Some(name) = statuses.get_async().await {
        tokio::time::sleep(Duration::from_millis(5)).await; // the server takes its time
        println!("{}: the status is written", *name);
    }
}

#[tokio::main]
async fn main() {
    let system = System::new();
    let events = Arc::new(Events::new(&system, |object| Ok(Key::clone(&object.0))));
    let queue = Arc::new(LimitedQueue::with_default_limiter(&system));
    let statuses = Arc::new(WorkQueue::new(&system));

    let reports = Arc::clone(&statuses);
    let reconcile = deciding(move |name: Key, attempt: u32| {
        let reports = Arc::clone(&reports);
        async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            if &*name == "db" && attempt == 1 {
                return Err(Fault::RetryAfter("the server is busy", Duration::from_millis(10)));
            }
            reports.add(name);
            Ok(Action::Done)
        }
    });
    let log = |name: &Key, failure: &Failure<&str>| println!("{name}: {failure}");
    let reconcile = policy(reconcile).at_most(10).telling(log);
    let workers = NonZeroUsize::new(4).expect("four workers");
    let pool = TaskPool::start(&queue, workers, reconcile);
    let (source, sink) = (Arc::clone(&events), Arc::clone(&queue));
    let watching = tokio::spawn(async move { watch(&source, &sink).await });
    let to_write = Arc::clone(&statuses);
    let writing = tokio::spawn(async move { write_status(&to_write).await });

    for (name, version) in [("web", 1), ("db", 1), ("web", 2)] {
        events.add((Key::from(name), version)).expect("it has a key");
    }
    tokio::time::sleep(Duration::from_millis(200)).await; // a real one waits for a signal

    // Along the stream: first the source, then the workers, then the task that they report to.
    events.close();
    watching.await.expect("the source ends");
    let end = pool.shut_down(Duration::from_secs(10)).await;
    statuses.shut_down();
    writing.await.expect("the last status is written");
    println!("{end:?}");
    assert!(end.is_complete());
}
