//! Processing with the lock released.

use parking_lot::Mutex;

use super::*;

#[test]
fn process_may_write_to_a_short_queue() {
    let queue = atomic();
    queue.add(("a", 1)).unwrap();
    queue.pop(|_| queue.add(("b", 1))).unwrap().1.unwrap();
    queue.pop_batch(|_| queue.resync()).unwrap().1.unwrap();
    assert_eq!(queue.list(), [Event::SyncAll]);
}

#[test]
fn what_is_in_process_does_not_count_as_processed() {
    let queue = atomic();
    queue.replace(vec![("a", 1)], "1").unwrap();
    let (_, synced) = queue.pop(|_| queue.has_synced()).unwrap();
    assert!(!synced, "RF-16");
    assert!(queue.has_synced());
}

#[test]
fn an_event_taken_before_the_first_list_takes_no_place_of_it() {
    let queue = atomic();
    queue.resync().unwrap();
    queue.pop(|_| queue.replace(vec![("a", 1)], "1")).unwrap().1.unwrap();
    assert!(!queue.has_synced(), "the list is not processed (RF-17)");
    pop(&queue);
    assert!(queue.has_synced());
}

#[test]
fn a_long_queue_is_processed_under_the_lock() {
    let runtime = System::new();
    let queue = Arc::new(in_batches(2));
    for name in ["a", "b", "c", "d", "e"] {
        queue.add((name, 1)).unwrap();
    }
    // Four events are left, twice the batch size: the writer has to wait until process has
    // returned.
    let writer = {
        let queue = Arc::clone(&queue);
        let wrote = Arc::new(Mutex::new(false));
        let (_, (thread, before)) = queue
            .pop(|_| {
                let (queue, done) = (Arc::clone(&queue), Arc::clone(&wrote));
                let thread = runtime.spawn("writer", move || {
                    queue.add(("f", 1)).unwrap();
                    *done.lock() = true;
                });
                runtime.sleep_until(crate::runtime::Ambient::now(&runtime) + PAUSE);
                (thread, *wrote.lock())
            })
            .unwrap();
        assert!(!before, "RF-31");
        thread
    };
    runtime.join(writer).unwrap();
    assert_eq!(queue.len(), 5);
}

const PAUSE: std::time::Duration = std::time::Duration::from_millis(30);

#[test]
fn a_second_consumer_waits_until_the_first_has_processed() {
    let runtime = System::new();
    let queue = Arc::new(atomic());
    queue.add(("a", 1)).unwrap();
    queue.add(("b", 1)).unwrap();
    let order = Arc::new(Mutex::new(vec![]));
    let (_, second) = queue
        .pop(|_| {
            let second = {
                let (queue, order) = (Arc::clone(&queue), Arc::clone(&order));
                runtime.spawn("second", move || {
                    queue.pop(|popped| order.lock().push(popped.event.clone())).map(|_| ())
                })
            };
            runtime.sleep_until(crate::runtime::Ambient::now(&runtime) + PAUSE);
            order.lock().push(added(("a", 1)));
            second
        })
        .unwrap();
    runtime.join(second).unwrap().unwrap();
    assert_eq!(*order.lock(), [added(("a", 1)), added(("b", 1))], "QU-13");
}

#[test]
fn every_consumer_ends_when_a_closed_queue_is_empty() {
    let runtime = System::new();
    let queue = Arc::new(atomic());
    let consumers: Vec<_> = (0..3)
        .map(|_| {
            let queue = Arc::clone(&queue);
            runtime.spawn("consumer", move || {
                let mut taken = 0;
                while queue.pop(|_| ()).is_ok() {
                    taken += 1;
                }
                taken
            })
        })
        .collect();
    for version in 0..100 {
        queue.update(("a", version)).unwrap();
    }
    queue.close();
    let taken: i32 = consumers.into_iter().map(|thread| runtime.join(thread).unwrap()).sum();
    assert_eq!(taken, 100);
}
