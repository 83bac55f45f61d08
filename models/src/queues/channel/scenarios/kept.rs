//! Single channels that keep messages.

use std::sync::Arc;

use seatrial_core::channel::{Op, Side};
use seatrial_core::runtime::Runtime;

use super::{Rx, Tx, channels, go_beside, waits_beside};
use crate::channel::{Channel, History};
use crate::trial::{Scenario, World};

/// Two producers and a consumer, and room for one message.
pub(super) struct TwoProducers;

impl Scenario<Channel> for TwoProducers {
    const NAME: &'static str = "two_producers";
    const SAYS: &'static str =
        "two producers wait at a channel with room for one message, and a consumer takes all";

    fn run<R: Runtime>(&self, world: &World<R, Channel>) {
        let (sender, receiver) = channels(world).bounded(1);
        let other = sender.clone();
        let producer = |name, sender: Tx<R>, messages: &'static [u8]| {
            world.spawn(name, move || messages.iter().all(|it| sender.send(*it).is_ok()))
        };
        let producers = [producer("first", sender, &[1, 2]), producer("second", other, &[3])];
        receiver.iter().for_each(drop);
        assert!(producers.map(|producer| world.join(producer)).iter().all(|sent| *sent));
    }

    /// Both producers wait.
    fn reaches(history: &History) -> bool {
        waits_beside(history, 1)
    }
}

/// Two producers wait at a full channel, and two messages are received at once.
pub(super) struct TwoReceives;

impl Scenario<Channel> for TwoReceives {
    const NAME: &'static str = "two_receives";
    const SAYS: &'static str =
        "two producers wait at a full channel, and two of its messages are received in a row";

    fn run<R: Runtime>(&self, world: &World<R, Channel>) {
        let (sender, receiver) = channels(world).bounded(2);
        assert!((1..=2).all(|message| sender.try_send(message).is_ok()));
        let producers = [3, 4].map(|message| {
            let sender = sender.clone();
            world.spawn("producer", move || sender.send(message).is_ok())
        });
        assert!((1..=2).all(|message| receiver.recv() == Ok(message)));
        assert!(producers.map(|producer| world.join(producer)).iter().all(|sent| *sent));
    }

    /// Both producers wait.
    fn reaches(history: &History) -> bool {
        waits_beside(history, 1)
    }
}

/// The same channel, used by threads and tasks.
pub(super) struct ThreadsAndTasks;

impl Scenario<Channel> for ThreadsAndTasks {
    const NAME: &'static str = "threads_and_tasks";
    const SAYS: &'static str = "a thread and a task send, and another task receives";

    fn run<R: Runtime>(&self, world: &World<R, Channel>) {
        let (sender, receiver) = channels(world).bounded(1);
        let sender = Arc::new(sender);
        let (tasks, runtime) = (Arc::clone(&sender), world.runtime().clone());
        let task = world.spawn("task", move || runtime.block_on(tasks.send_async(1)).is_ok());
        let thread = world.spawn("thread", move || sender.send(2).is_ok());
        world.runtime().block_on(async { while receiver.recv_async().await.is_ok() {} });
        assert!(world.join(task) && world.join(thread));
    }

    /// Two callers wait at the same time.
    fn reaches(history: &History) -> bool {
        waits_beside(history, 1)
    }
}

/// The last sender leaves while the channel is full.
pub(super) struct ClosesWhileFull;

impl Scenario<Channel> for ClosesWhileFull {
    const NAME: &'static str = "closes_while_full";
    const SAYS: &'static str = "the last of two senders leaves while two messages fill the channel";

    fn run<R: Runtime>(&self, world: &World<R, Channel>) {
        let (sender, receiver) = channels(world).bounded(2);
        let copy = sender.clone();
        let producer = world.spawn("producer", move || {
            drop(copy);
            (1..=2).all(|message| sender.send(message).is_ok())
        });
        receiver.iter().for_each(drop);
        assert!(world.join(producer));
    }

    fn reaches(history: &History) -> bool {
        super::some(history, |before, event| {
            let Some((Op::Leave(leave), _)) = event.returned() else { return false };
            let pipe = &before.pipes[&leave.0];
            leave.1 == Side::Sending && pipe.senders == 1 && !pipe.has_room()
        })
    }
}

/// The messages are counted while they come and go; some are left.
pub(super) struct Counted;

impl Scenario<Channel> for Counted {
    const NAME: &'static str = "counted";
    const SAYS: &'static str =
        "a receiver counts the messages of an unbounded channel while a producer sends them";

    fn run<R: Runtime>(&self, world: &World<R, Channel>) {
        let (sender, receiver) = channels(world).unbounded();
        let producer = world
            .spawn("producer", move || (1..=3).all(|message| sender.try_send(message).is_ok()));
        let counts = [receiver.len(), receiver.len()];
        assert!(counts.is_sorted() && !receiver.is_full());
        let _either = receiver.try_recv();
        assert!(world.join(producer));
        let _one = receiver.try_recv();
    }

    fn reaches(history: &History) -> bool {
        super::some(history, |before, event| {
            let counts = matches!(event.returned(), Some((Op::Len(_), _)));
            counts && before.pipes.values().any(|pipe| !pipe.kept.is_empty())
        })
    }
}

/// The receivers leave while senders wait.
pub(super) struct ReceiversGo;

impl Scenario<Channel> for ReceiversGo {
    const NAME: &'static str = "receivers_go";
    const SAYS: &'static str = "two receivers leave while a thread and a task wait for room";

    fn run<R: Runtime>(&self, world: &World<R, Channel>) {
        let (sender, receiver) = channels(world).bounded(1);
        let (sender, copy): (_, Rx<R>) = (Arc::new(sender), receiver.clone());
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
    }

    fn reaches(history: &History) -> bool {
        go_beside(history, Side::Receiving, 2)
    }
}

/// The sender leaves while receivers wait.
pub(super) struct SendersGo;

impl Scenario<Channel> for SendersGo {
    const NAME: &'static str = "senders_go";
    const SAYS: &'static str = "a sender sends a message and leaves while a thread and a task wait";

    fn run<R: Runtime>(&self, world: &World<R, Channel>) {
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
    }

    fn reaches(history: &History) -> bool {
        go_beside(history, Side::Sending, 2)
    }
}
