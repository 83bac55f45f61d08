//! Consumers that are tasks.

use std::sync::Arc;

use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::System;

use crate::Measure;
use crate::measure::{Key, keys, prepared_duel, wall};
use crate::row::Row;

pub(crate) const ROWS: &[Measure] =
    &[Measure::new("async", "one producer, one consumer", one_and_one)];

/// A channel does not merge equal items and needs no call when an item is done. So a queue may cost
/// twice as much.
fn one_and_one(part: &'static str, row: &'static str) -> Row {
    const ITEMS: usize = 200_000;
    let keys = Arc::new(keys(ITEMS));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    let runtime = runtime.expect("tokio starts");
    let ours = async || {
        let queue = Arc::new(WorkQueue::<Key>::new(&System::new()));
        let (adding, keys) = (Arc::clone(&queue), Arc::clone(&keys));
        let producer = tokio::spawn(async move {
            for key in keys.iter() {
                adding.add(key.clone());
                tokio::task::coop::consume_budget().await;
            }
            adding.shut_down();
        });
        let consumer = tokio::spawn(async move {
            let mut count = 0;
            while let Some(item) = queue.get_async().await {
                count += 1;
                item.done();
                tokio::task::coop::consume_budget().await;
            }
            count
        });
        assert!(producer.await.is_ok());
        assert_eq!(consumer.await.ok(), Some(ITEMS));
    };
    let channel = async || {
        let (sender, receiver) = async_channel::unbounded::<Key>();
        let keys = Arc::clone(&keys);
        let producer = tokio::spawn(async move {
            for key in keys.iter() {
                assert!(sender.send(key.clone()).await.is_ok());
                tokio::task::coop::consume_budget().await;
            }
        });
        let consumer = tokio::spawn(async move {
            let mut count = 0;
            while receiver.recv().await.is_ok() {
                count += 1;
                tokio::task::coop::consume_budget().await;
            }
            count
        });
        assert!(producer.await.is_ok());
        assert_eq!(consumer.await.ok(), Some(ITEMS));
    };
    let times = prepared_duel(
        ITEMS,
        || wall(|| runtime.block_on(ours())),
        || wall(|| runtime.block_on(channel())),
    );
    Row::new(part, row, times).against("async-channel").gate(0.5)
}
