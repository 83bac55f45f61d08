//! Very many items that come and go: a queue frees its memory and makes it anew.

use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::System;

use crate::single_step::each_call;

/// How often the queue is filled and emptied, at most.
const TIDES: usize = 8;

/// Adds, takes and ends many items, again and again. A delivery of an earlier time must not end one
/// of a later time, although its slot is used again. Most inputs are passed over, because this takes
/// long.
///
/// # Panics
/// If it does, or if items do not come in their order.
pub(super) fn check_many(bytes: &[u8]) {
    let Some((0..8, bytes)) = bytes.split_first() else { return };
    let queue = WorkQueue::<u16>::new(&System::new());
    let mut ended = Vec::new();
    let tides = bytes.iter().take(TIDES).map(|byte| 0..=u16::from(*byte));
    for items in each_call(tides) {
        items.clone().for_each(|item| queue.add(item));
        let mut taken = Vec::new();
        for item in items {
            let (token, key) = queue.take().expect("it was added");
            assert_eq!(key, item, "the order of arrival");
            taken.push(token);
        }
        assert_eq!(queue.done_all(ended.iter().copied()), 0, "deliveries that have ended before");
        assert_eq!(queue.done_all(taken.iter().copied()), taken.len(), "deliveries under way");
        assert!(queue.is_empty(), "all items are gone");
        ended.extend(taken);
    }
}
