//! Rendezvous, and calls that are given up.

use std::sync::Arc;

use seatrial_core::channel::{Receiver, select};

use super::{MS, given_up_beside, holds, waits_beside};
use crate::channel::Channel;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::{Scenario, What};

/// Rendezvous.
pub(super) fn rendezvous() -> Vec<Scenario<Channel>> {
    vec![
        Channel::program(
            "two_pairs",
            "two senders meet two receivers at a channel without a buffer",
            |world, channels| {
                let (sender, receiver) = channels.bounded(0);
                let (sender, receiver) = (Arc::new(sender), Arc::new(receiver));
                let sending = [1, 2].map(|message| {
                    let sender = Arc::clone(&sender);
                    world.spawn("sending", move || sender.send(message).is_ok())
                });
                let receives = Arc::clone(&receiver);
                let receiving = world.spawn("receiving", move || receives.recv().is_ok());
                assert!(receiver.recv().is_ok());
                world.quiesce();
                assert!(world.join(receiving));
                assert!(sending.map(|sent| world.join(sent)).iter().all(|sent| *sent));
            },
            // Two callers wait at the same time.
            |before, event| waits_beside(before, event, 1),
        ),
        Channel::program(
            "given_up_hand",
            "a task gives up after a message was handed to it, and a thread may wait",
            |world, channels| {
                let (sender, receiver) = channels.bounded(0);
                let receiver = Arc::new(receiver);
                let (tasks, giving_up) = (Arc::clone(&receiver), world.clone());
                let task = world.spawn("task", move || {
                    let _taken = giving_up.at_once(tasks.recv_async());
                });
                let threads = Arc::clone(&receiver);
                let thread = world.spawn("thread", move || threads.recv());
                assert!(sender.send(1).is_ok());
                world.join(task);
                world.quiesce();
                drop(sender);
                let _late = world.join(thread);
            },
            |before, event| given_up_beside(before, event, 1),
        ),
        Channel::program(
            "two_give_up",
            "two tasks give up, one after the other, after a message was handed to each",
            |world, channels| {
                let (sender, receiver) = channels.bounded(0);
                let receiver = Arc::new(receiver);
                let tasks = ["first", "second"].map(|name| {
                    let (tasks, own): (Arc<Receiver<_, _>>, _) =
                        (Arc::clone(&receiver), world.clone());
                    world.spawn(name, move || {
                        let _taken = holds(&own, tasks.recv_async(), MS);
                    })
                });
                for message in 1..=2 {
                    let _sent = sender.send_timeout(message, 2 * MS);
                }
                for task in tasks {
                    world.join(task);
                }
                receiver.try_iter().for_each(drop);
            },
            |before, event| given_up_beside(before, event, 2),
        )
        .not_on(crate::trial::needs_exact_time),
    ]
}

/// Tasks that give up.
pub(super) fn tasks() -> Vec<Scenario<Channel>> {
    vec![
        Channel::program(
            "given_up_offer",
            "a task gives up its send before a receiver takes the message",
            |world, channels| {
                let (sender, receiver) = channels.bounded(0);
                let sender = Arc::new(sender);
                let (tasks, giving_up) = (Arc::clone(&sender), world.clone());
                let task = world.spawn("task", move || {
                    let _sent = giving_up.at_once(tasks.send_async(1));
                });
                let _during = receiver.try_recv();
                world.join(task);
                let _after = receiver.try_recv();
            },
            // The task gives up before its message is taken.
            |before, event| matches!(event.what, What::Cancel { .. }) && before.taken.is_empty(),
        ),
        Channel::program(
            "given_up_receive",
            "a task gives up after it was woken for a message, and a thread waits",
            |world, channels| {
                let (sender, receiver) = channels.bounded(1);
                let receiver = Arc::new(receiver);
                let (tasks, giving_up) = (Arc::clone(&receiver), world.clone());
                let task = world.spawn("task", move || {
                    let _taken = giving_up.at_once(tasks.recv_async());
                });
                let thread = world.spawn("thread", move || receiver.recv());
                assert!(sender.send(1).is_ok());
                world.join(task);
                world.quiesce();
                drop(sender);
                let _received = world.join(thread);
            },
            |before, event| given_up_beside(before, event, 1),
        ),
    ]
}

/// Tasks that give up what they could do.
pub(super) fn woken() -> Vec<Scenario<Channel>> {
    vec![
        Channel::program(
            "given_up_send",
            "a task gives up after it was woken for a free place, and a thread waits",
            |world, channels| {
                let (sender, receiver) = channels.bounded(1);
                let sender = Arc::new(sender);
                assert!(sender.send(1).is_ok());
                let (tasks, giving_up) = (Arc::clone(&sender), world.clone());
                let task = world.spawn("task", move || {
                    let _sent = giving_up.at_once(tasks.send_async(2));
                });
                let thread = world.spawn("thread", move || sender.send(3));
                let first = receiver.recv();
                assert!(first.is_ok());
                world.join(task);
                world.quiesce();
                drop(receiver);
                let _sent = world.join(thread);
            },
            // There is a free place when the task gives up, and another caller waits for it.
            |before, event| {
                let free = before.pipes.values().any(|pipe| pipe.kept.is_empty());
                matches!(event.what, What::Cancel { .. }) && free && before.calls.len() == 2
            },
        ),
        Channel::program(
            "given_up_select",
            "a task gives up a select after one of its cases was met",
            |world, channels| {
                let [(first, from_first), (second, from_second)] =
                    [(); 2].map(|()| channels.bounded(0));
                let from_first = Arc::new(from_first);
                let (tasks, giving_up) = (Arc::clone(&from_first), world.clone());
                let task = world.spawn("task", move || {
                    let cases = [tasks.receiving(), second.sending(2)];
                    let _selected = giving_up.at_once(select(cases).wait_async());
                });
                let thread = world.spawn("thread", move || from_first.recv());
                let _met = from_second.try_recv();
                assert!(first.send(1).is_ok());
                world.join(task);
                world.quiesce();
                drop(first);
                let _unless_the_task_had_it = world.join(thread);
                assert!(from_second.recv().is_err(), "its only sender has gone");
            },
            |before, event| given_up_beside(before, event, 1),
        ),
    ]
}
