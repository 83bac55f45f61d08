//! Single channels that keep messages.

use std::sync::Arc;

use seatrial_core::channel::{Op, Side};
use seatrial_core::runtime::Runtime;

use super::{Rx, Tx, go_beside, waits_beside};
use crate::channel::Channel;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::Scenario;

/// Producers.
pub(super) fn produced() -> Vec<Scenario<Channel>> {
    vec![
        Channel::program(
            "two_producers",
            "two producers wait at a channel with room for one message, and a consumer takes all",
            |world, channels| {
                let (sender, receiver) = channels.bounded(1);
                let other = sender.clone();
                let producer = |name, sender: Tx, messages: &'static [u8]| {
                    world.spawn(name, move || messages.iter().all(|it| sender.send(*it).is_ok()))
                };
                let producers =
                    [producer("first", sender, &[1, 2]), producer("second", other, &[3])];
                receiver.iter().for_each(drop);
                assert!(producers.map(|producer| world.join(producer)).iter().all(|sent| *sent));
            },
            // Both producers wait.
            |before, event| waits_beside(before, event, 1),
        ),
        Channel::program(
            "two_receives",
            "two producers wait at a full channel, and two of its messages are received in a row",
            |world, channels| {
                let (sender, receiver) = channels.bounded(2);
                assert!((1..=2).all(|message| sender.try_send(message).is_ok()));
                let producers = [3, 4].map(|message| {
                    let sender = sender.clone();
                    world.spawn("producer", move || sender.send(message).is_ok())
                });
                assert!((1..=2).all(|message| receiver.recv() == Ok(message)));
                assert!(producers.map(|producer| world.join(producer)).iter().all(|sent| *sent));
            },
            // Both producers wait.
            |before, event| waits_beside(before, event, 1),
        ),
        Channel::program(
            "threads_and_tasks",
            "a thread and a task send, and another task receives",
            |world, channels| {
                let (sender, receiver) = channels.bounded(1);
                let sender = Arc::new(sender);
                let (tasks, runtime) = (Arc::clone(&sender), world.runtime().clone());
                let task =
                    world.spawn("task", move || runtime.block_on(tasks.send_async(1)).is_ok());
                let thread = world.spawn("thread", move || sender.send(2).is_ok());
                world.runtime().block_on(async { while receiver.recv_async().await.is_ok() {} });
                assert!(world.join(task) && world.join(thread));
            },
            // Two callers wait at the same time.
            |before, event| waits_beside(before, event, 1),
        ),
    ]
}

/// Ends, and counts.
pub(super) fn ended() -> Vec<Scenario<Channel>> {
    vec![
        Channel::program(
            "closes_while_full",
            "the last of two senders leaves while two messages fill the channel",
            |world, channels| {
                let (sender, receiver) = channels.bounded(2);
                let copy = sender.clone();
                let producer = world.spawn("producer", move || {
                    drop(copy);
                    (1..=2).all(|message| sender.send(message).is_ok())
                });
                receiver.iter().for_each(drop);
                assert!(world.join(producer));
            },
            |before, event| {
                let Some((Op::Leave(leave), _)) = event.returned() else { return false };
                let pipe = &before.pipes[&leave.0];
                leave.1 == Side::Sending && pipe.senders == 1 && !pipe.has_room()
            },
        ),
        Channel::program(
            "counted",
            "a receiver counts the messages of an unbounded channel while a producer sends them",
            |world, channels| {
                let (sender, receiver) = channels.unbounded();
                let producer = world.spawn("producer", move || {
                    (1..=3).all(|message| sender.try_send(message).is_ok())
                });
                let counts = [receiver.len(), receiver.len()];
                assert!(counts.is_sorted() && !receiver.is_full());
                let _either = receiver.try_recv();
                assert!(world.join(producer));
                let _one = receiver.try_recv();
            },
            |before, event| {
                let counts = matches!(event.returned(), Some((Op::Len(_), _)));
                counts && before.pipes.values().any(|pipe| !pipe.kept.is_empty())
            },
        ),
    ]
}

/// Users that leave while others wait.
pub(super) fn left() -> Vec<Scenario<Channel>> {
    vec![
        Channel::program(
            "receivers_go",
            "two receivers leave while a thread and a task wait for room",
            |world, channels| {
                let (sender, receiver) = channels.bounded(1);
                let (sender, copy): (_, Rx) = (Arc::new(sender), receiver.clone());
                assert!(sender.send(1).is_ok());
                let (tasks, threads) = (Arc::clone(&sender), Arc::clone(&sender));
                let runtime = world.runtime().clone();
                let task = world.spawn("task", move || runtime.block_on(tasks.send_async(2)));
                let thread = world.spawn("thread", move || threads.send(3));
                drop(copy);
                let sent = sender.try_send(4);
                assert!(sent.is_err(), "it is full");
                drop(receiver);
                world.quiesce();
                assert!(world.join(task).is_err() && world.join(thread).is_err());
            },
            |before, event| go_beside(before, event, Side::Receiving, 2),
        ),
        Channel::program(
            "senders_go",
            "a sender sends a message and leaves while a thread and a task wait",
            |world, channels| {
                let (sender, receiver) = channels.bounded(2);
                let receiver = Arc::new(receiver);
                let (tasks, runtime) = (Arc::clone(&receiver), world.runtime().clone());
                let task = world.spawn("task", move || {
                    runtime.block_on(async { while tasks.recv_async().await.is_ok() {} });
                });
                let thread = world.spawn("thread", move || receiver.iter().for_each(drop));
                assert!(sender.send(1).is_ok());
                world.quiesce();
                drop(sender);
                world.quiesce();
                world.join(task);
                world.join(thread);
            },
            |before, event| go_beside(before, event, Side::Sending, 2),
        ),
    ]
}
