//! Feeds, call by call.

use std::sync::Arc;

use super::{Complete, End, Feed, FeedError, Progress, Push, Subscription, Told};
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};

fn feed(
    first: Vec<u8>,
    limit: usize,
) -> (super::Shared<u8, System>, Subscription<u8>, Progress<u8>) {
    let feed = Arc::new(Monitor::new(&System::new(), Feed::new(first, false, limit)));
    let reader = Subscription::new(Arc::clone(&feed));
    let progress = reader.progress();
    (feed, reader, progress)
}

fn told(changes: &[u8], initial: bool) -> Push<u8> {
    Push(changes.iter().map(|change| Told { change: *change, initial }).collect())
}

#[test]
fn changes_come_in_their_order_and_the_first_list_is_seen_when_the_next_is_asked_for() {
    let (feed, mut reader, progress) = feed(vec![1], usize::MAX);
    assert!(feed.call(told(&[2], true)).is_empty());
    feed.call(Complete);
    assert!(feed.call(told(&[3], false)).is_empty());
    assert_eq!((reader.next(), reader.next()), (Ok(1), Ok(2)));
    assert!(!progress.has_synced(), "the second is still being looked at");
    assert_eq!(reader.next(), Ok(3));
    assert!(progress.has_synced());
}

#[test]
fn what_was_looked_at_before_the_list_was_complete_counts() {
    let (feed, mut reader, progress) = feed(vec![1], 9);
    assert_eq!(reader.next(), Ok(1));
    reader.finish();
    assert!(!progress.has_synced());
    feed.call(Complete);
    assert!(progress.has_synced() && progress.wait_for_sync());
}

#[test]
fn an_empty_list_is_seen_at_once() {
    let (feed, _reader, progress) = feed(vec![], 9);
    feed.call(Complete);
    assert!(progress.has_synced());
}

#[test]
fn who_lags_is_told_nothing_more_and_why() {
    let (feed, mut reader, progress) = feed(vec![1], 2);
    assert!(feed.call(told(&[2, 3], false)).is_empty());
    assert_eq!(feed.call(told(&[4], false)).len(), 4, "what nobody is told comes back");
    assert_eq!(reader.next(), Err(FeedError::Lagged));
    assert!(!progress.wait_for_sync());
    assert_eq!(feed.call(told(&[5], false)).len(), 1);
}

#[test]
fn the_first_list_makes_no_room_for_later_changes() {
    let (feed, mut reader, _) = feed(vec![1, 2, 3], 2);
    assert!(feed.call(told(&[4], true)).is_empty());
    assert!(feed.call(told(&[5, 6], false)).is_empty(), "the first list does not count");
    for change in 1..6 {
        assert_eq!(reader.next(), Ok(change));
    }
    assert!(feed.call(told(&[7], false)).is_empty());
    assert_eq!(feed.call(told(&[8], false)).len(), 3);
    assert_eq!(reader.next(), Err(FeedError::Lagged));
}

#[test]
fn an_end_wakes_the_reader_and_drops_what_waits() {
    let (feed, mut reader, progress) = feed(vec![], 9);
    let system = System::new();
    let reading = system.spawn("reader", move || reader.next());
    let waiting = system.spawn("waiter", move || progress.wait_for_sync());
    assert!(feed.call(End).is_empty());
    assert_eq!(system.join(reading).unwrap(), Err(FeedError::Stopped));
    assert!(!system.join(waiting).unwrap());
}

#[test]
fn a_reader_that_goes_ends_its_feed() {
    let (feed, reader, _) = feed(vec![1, 2], 9);
    drop(reader);
    assert_eq!(feed.call(told(&[3], false)).len(), 1);
}

#[test]
fn memory_of_a_burst_comes_back() {
    let mut feed = Feed::new((0..100_000).collect::<Vec<u32>>(), true, usize::MAX);
    while feed.waiting.pop_front().is_some() {
        feed.shrink();
    }
    assert!(feed.waiting.capacity() <= 2048, "{}", feed.waiting.capacity());
}
