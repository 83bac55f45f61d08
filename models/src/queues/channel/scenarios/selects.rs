//! Several channels in one group.

use std::sync::Arc;

use seatrial_core::channel::{Op, select};
use seatrial_core::machine::Step;

use super::Tx;
use crate::channel::Channel;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::{Scenario, What};

/// A select of two.
pub(super) fn two() -> Vec<Scenario<Channel>> {
    vec![
        Channel::program(
            "select_of_two",
            "a select waits for two channels, and both get a message",
            |world, channels| {
                let [(first, from_first), (second, from_second)] =
                    [(); 2].map(|()| channels.bounded(1));
                let producer = |sender: Tx, message| {
                    world.spawn("producer", move || {
                        let sent = sender.send(message).is_ok();
                        (sent, sender)
                    })
                };
                let producers = [producer(first, 1), producer(second, 2)];
                for _ in 0..2 {
                    select([from_first.receiving(), from_second.receiving()]).wait();
                }
                let [one, other] = producers.map(|producer| world.join(producer));
                assert!(one.0 && other.0);
                let ends = world.spawn("ends", move || drop((one, other)));
                select([from_first.receiving(), from_second.receiving()]).wait();
                world.join(ends);
            },
            // The select finds messages in both channels.
            |before, event| {
                let chooses = matches!(event.returned(), Some((Op::Choose(_), _)));
                let full = before.pipes.values().filter(|pipe| !pipe.kept.is_empty());
                chooses && full.count() == 2
            },
        ),
        Channel::program(
            "select_waits_for_room",
            "a select waits to send into a full channel, or for another one, and room is made",
            |world, channels| {
                let [(into, full), (_silent, other)] = [(); 2].map(|()| channels.bounded(1));
                assert!(into.try_send(1).is_ok());
                let sends = world.spawn("sends", move || {
                    select([into.sending(2), other.receiving()]).wait().case
                });
                assert_eq!((full.recv(), full.recv()), (Ok(1), Ok(2)));
                assert_eq!(world.join(sends), 0);
            },
            // The select waits while the channel is full.
            |before, event| {
                let receives = matches!(event.returned(), Some((Op::Choose(_), _)));
                receives && !before.calls.is_empty() && !before.calls.contains_key(&event.thread)
            },
        ),
    ]
}

/// Selects that meet or send.
pub(super) fn meet() -> Vec<Scenario<Channel>> {
    vec![
        Channel::program(
            "selects_meet",
            "two selects meet at one of two channels without a buffer",
            |world, channels| {
                let [(to_first, first), (to_second, second)] =
                    [(); 2].map(|()| channels.bounded(0));
                let (into, from) = (to_first.clone(), second.clone());
                let other = world.spawn("other", move || {
                    select([from.receiving(), into.sending(1)]).wait().case
                });
                let own = select([to_second.sending(2), first.receiving()]).wait().case;
                world.quiesce();
                assert_eq!(world.join(other), own, "each does what the other does");
            },
            // One finds the other waiting.
            |before, event| {
                let chooses = matches!(event.returned(), Some((Op::Choose(_), _)));
                let waits = before.calls.contains_key(&event.thread);
                chooses && !waits && before.calls.len() == 1
            },
        ),
        Channel::program(
            "one_of_two_sends",
            "a select offers a message to each of two channels, and both have room",
            |world, channels| {
                let [(first, from_first), (second, from_second)] =
                    [(); 2].map(|()| channels.bounded(1));
                let fills = world.spawn("fills", move || {
                    let filled = select([first.sending(1), second.sending(2)]).wait();
                    let also = select([first.sending(3), second.sending(4)]).wait();
                    (filled.unsent.len(), also.unsent.len())
                });
                let _either = select([from_first.receiving(), from_second.receiving()]).wait();
                assert_eq!(world.join(fills), (1, 1), "one of two messages comes back");
                from_first.iter().chain(from_second.iter()).for_each(drop);
            },
            |before, event| {
                let sends = before.ending(event).is_some_and(|ending| ending.sent().is_some());
                sends && before.pipes.values().all(|pipe| pipe.kept.is_empty())
            },
        ),
    ]
}

/// Groups.
pub(super) fn groups() -> Vec<Scenario<Channel>> {
    vec![
        Channel::program(
            "group_of_two",
            "two receivers wait at different channels of one group",
            |world, channels| {
                let [(first, from_first), (second, from_second)] =
                    [(); 2].map(|()| channels.bounded(1));
                let receivers = [from_first, from_second];
                let waiting = receivers
                    .map(|receiver| world.spawn("waiting", move || receiver.recv().is_ok()));
                assert!(second.send(2).is_ok());
                world.quiesce();
                assert!(first.send(1).is_ok());
                world.quiesce();
                assert!(waiting.map(|waits| world.join(waits)).iter().all(|received| *received));
            },
            // Both wait when the first message comes.
            |before, event| {
                let done = matches!(event.what, What::Step { outcome: Step::Done(_), .. });
                done && before.calls.len() == 2 && before.ending(event).is_some()
            },
        ),
        Channel::program(
            "hands_in_a_group",
            "receivers wait at two unbuffered channels of a group, and a task gives up its message",
            |world, channels| {
                let [(first, from_first), (second, from_second)] =
                    [(); 2].map(|()| channels.bounded(0));
                let from_second = Arc::new(from_second);
                let (tasks, giving_up) = (Arc::clone(&from_second), world.clone());
                let task = world.spawn("task", move || {
                    let _taken = giving_up.at_once(tasks.recv_async());
                });
                let one = world.spawn("first", move || from_first.recv().is_ok());
                let other = world.spawn("second", move || from_second.recv().is_ok());
                assert!(second.send(2).is_ok());
                world.join(task);
                world.quiesce();
                drop(second);
                assert!(first.send(1).is_ok() && world.join(one));
                let _unless_the_task_had_it = world.join(other);
            },
            // The task gives up the message that it was handed while both others wait.
            |before, event| {
                let on_the_way = before.pipes.values().any(|pipe| !pipe.kept.is_empty());
                matches!(event.what, What::Cancel { .. }) && on_the_way && before.calls.len() == 3
            },
        ),
    ]
}
