//! Single channels that keep messages.

use std::sync::Arc;

use seatrial_core::channel::{Op, Side};
use seatrial_core::runtime::Runtime;

use super::{Rx, Tx, channels, go_beside, waits_beside};
use crate::channel::Channel;
use crate::trial::Scenario;

/// Two producers and a consumer, and room for one message.
pub(super) fn two_producers() -> Scenario<Channel> {
    Scenario::new(
        "two_producers",
        "two producers wait at a channel with room for one message, and a consumer takes all",
        |world| {
            let (sender, receiver) = channels(world).bounded(1);
            let other = sender.clone();
            let producer = |name, sender: Tx, messages: &'static [u8]| {
                world.spawn(name, move || messages.iter().all(|it| sender.send(*it).is_ok()))
            };
            let producers = [producer("first", sender, &[1, 2]), producer("second", other, &[3])];
            receiver.iter().for_each(drop);
            assert!(producers.map(|producer| world.join(producer)).iter().all(|sent| *sent));
        },
        // Both producers wait.
        |history| waits_beside(history, 1),
    )
}

/// Two producers wait at a full channel, and two messages are received at once.
pub(super) fn two_receives() -> Scenario<Channel> {
    Scenario::new(
        "two_receives",
        "two producers wait at a full channel, and two of its messages are received in a row",
        |world| {
            let (sender, receiver) = channels(world).bounded(2);
            assert!((1..=2).all(|message| sender.try_send(message).is_ok()));
            let producers = [3, 4].map(|message| {
                let sender = sender.clone();
                world.spawn("producer", move || sender.send(message).is_ok())
            });
            assert!((1..=2).all(|message| receiver.recv() == Ok(message)));
            assert!(producers.map(|producer| world.join(producer)).iter().all(|sent| *sent));
        },
        // Both producers wait.
        |history| waits_beside(history, 1),
    )
}

/// The same channel, used by threads and tasks.
pub(super) fn threads_and_tasks() -> Scenario<Channel> {
    Scenario::new(
        "threads_and_tasks",
        "a thread and a task send, and another task receives",
        |world| {
            let (sender, receiver) = channels(world).bounded(1);
            let sender = Arc::new(sender);
            let (tasks, runtime) = (Arc::clone(&sender), world.runtime().clone());
            let task = world.spawn("task", move || runtime.block_on(tasks.send_async(1)).is_ok());
            let thread = world.spawn("thread", move || sender.send(2).is_ok());
            world.runtime().block_on(async { while receiver.recv_async().await.is_ok() {} });
            assert!(world.join(task) && world.join(thread));
        },
        // Two callers wait at the same time.
        |history| waits_beside(history, 1),
    )
}

/// The last sender leaves while the channel is full.
pub(super) fn closes_while_full() -> Scenario<Channel> {
    Scenario::new(
        "closes_while_full",
        "the last of two senders leaves while two messages fill the channel",
        |world| {
            let (sender, receiver) = channels(world).bounded(2);
            let copy = sender.clone();
            let producer = world.spawn("producer", move || {
                drop(copy);
                (1..=2).all(|message| sender.send(message).is_ok())
            });
            receiver.iter().for_each(drop);
            assert!(world.join(producer));
        },
        |history| {
            super::some(history, |before, event| {
                let Some((Op::Leave(leave), _)) = event.returned() else { return false };
                let pipe = &before.pipes[&leave.0];
                leave.1 == Side::Sending && pipe.senders == 1 && !pipe.has_room()
            })
        },
    )
}

/// The messages are counted while they come and go; some are left.
pub(super) fn counted() -> Scenario<Channel> {
    Scenario::new(
        "counted",
        "a receiver counts the messages of an unbounded channel while a producer sends them",
        |world| {
            let (sender, receiver) = channels(world).unbounded();
            let producer = world
                .spawn("producer", move || (1..=3).all(|message| sender.try_send(message).is_ok()));
            let counts = [receiver.len(), receiver.len()];
            assert!(counts.is_sorted() && !receiver.is_full());
            let _either = receiver.try_recv();
            assert!(world.join(producer));
            let _one = receiver.try_recv();
        },
        |history| {
            super::some(history, |before, event| {
                let counts = matches!(event.returned(), Some((Op::Len(_), _)));
                counts && before.pipes.values().any(|pipe| !pipe.kept.is_empty())
            })
        },
    )
}

/// The receivers leave while senders wait.
pub(super) fn receivers_go() -> Scenario<Channel> {
    Scenario::new(
        "receivers_go",
        "two receivers leave while a thread and a task wait for room",
        |world| {
            let (sender, receiver) = channels(world).bounded(1);
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
        |history| go_beside(history, Side::Receiving, 2),
    )
}

/// The sender leaves while receivers wait.
pub(super) fn senders_go() -> Scenario<Channel> {
    Scenario::new(
        "senders_go",
        "a sender sends a message and leaves while a thread and a task wait",
        |world| {
            let (sender, receiver) = channels(world).bounded(2);
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
        |history| go_beside(history, Side::Sending, 2),
    )
}
