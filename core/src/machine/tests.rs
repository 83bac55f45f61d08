//! The environment that a step sees.
#![cfg(feature = "queues")]

use std::time::Duration;

use super::single_step::HandClock;
use super::*;
use crate::queue::Queue;

#[test]
fn surroundings_show_whom_they_wake_and_the_time_that_was_read() {
    let clock = HandClock::default();
    clock.advance(Duration::from_nanos(7));
    let mut cx = Cx::new(&clock);
    cx.wakes.one(2);
    assert_eq!(cx.time_read(), None);
    assert_eq!(format!("{cx:?}"), "Cx { wakes: [0, 0, 1, 0], now: None }");
    let now = cx.now();
    clock.advance(Duration::from_nanos(1));
    assert_eq!((cx.now(), cx.time_read()), (now, Some(now)), "the clock is read once a step");
    let shown = format!("Cx {{ wakes: [0, 0, 1, 0], now: Some({now:?}) }}");
    assert_eq!(format!("{cx:?}"), shown);
}

#[test]
fn a_boxed_machine_is_shown_as_one() {
    assert_eq!(format!("{:?}", Boxed::<Queue<u8>>(Box::new(Queue::<u8>::default()))), "Boxed");
}
