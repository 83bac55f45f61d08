//! One caller who looks at every answer.

use seatrial_core::channel::{Disconnected, NotReceived, NotSent, Outcome, select};
use seatrial_core::runtime::Ambient as _;

use super::{MS, Rx, Tx};
use crate::channel::Channel;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::{Component, Scenario, World};

fn sends(world: &World<impl Component>, sender: &Tx, receiver: &Rx) {
    assert_eq!((sender.capacity(), receiver.capacity()), (Some(2), Some(2)));
    assert_eq!((sender.len(), sender.is_empty(), sender.is_full()), (0, true, false));
    assert_eq!((sender.send(1), sender.try_send(2)), (Ok(()), Ok(())));
    assert_eq!((receiver.len(), receiver.is_empty(), receiver.is_full()), (2, false, true));
    assert_eq!(sender.try_send(3), Err(NotSent::Unready(3)));
    assert_eq!(sender.send_timeout(4, MS), Err(NotSent::Unready(4)));
    assert!(world.at_once(sender.send_async(5)).is_none());
    let unready = select([sender.sending(6)]).now().expect_err("there is no room");
    assert_eq!(unready.unsent, [(0, 6)]);
}

fn receives(world: &World<impl Component>, sender: &Tx, receiver: &Rx) {
    assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(1), Ok(2)));
    assert_eq!(receiver.try_recv(), Err(NotReceived::Unready));
    assert_eq!(receiver.recv_timeout(MS), Err(NotReceived::Unready));
    assert!(world.at_once(receiver.recv_async()).is_none());
    assert_eq!(world.at_once(sender.send_async(7)), Some(Ok(())));
    assert_eq!(sender.send_timeout(8, MS), Ok(()));
    assert_eq!(world.at_once(receiver.recv_async()), Some(Ok(7)));
    assert_eq!(receiver.recv_timeout(MS), Ok(8));
    let selected = select([sender.sending(9), receiver.receiving()]).wait();
    assert_eq!((selected.case, selected.outcome), (0, Outcome::Sent(Ok(()))));
    let until = world.runtime().now() + MS;
    let selected = select([receiver.receiving()]).until(until).expect("a message waits");
    assert_eq!((selected.case, selected.outcome), (0, Outcome::Received(Ok(9))));
    assert!(select([receiver.receiving()]).until(until).is_err());
    assert!(world.at_once(select([receiver.receiving()]).wait_async()).is_none());
    assert_eq!((sender.send(10), sender.send(11)), (Ok(()), Ok(())));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [10, 11]);
}

/// The note of the case that a select chose.
const CHOSE: &str = "chose";

/// Answers.
pub(super) fn all() -> Vec<Scenario<Channel>> {
    vec![
        Channel::whole(
            "every_call",
            "a lone caller makes every call, and looks at every answer",
            |world, channels| {
                let (sender, receiver) = channels.bounded(2);
                sends(world, &sender, &receiver);
                receives(world, &sender, &receiver);
                let (other, nobody) = channels.unbounded();
                assert_eq!((other.capacity(), nobody.is_full()), (None, false));
                drop(nobody);
                assert_eq!(other.send(12), Err(Disconnected(12)));
                assert_eq!(other.try_send(13), Err(NotSent::Disconnected(13)));
                assert_eq!(world.at_once(other.send_async(14)), Some(Err(Disconnected(14))));
                assert_eq!(sender.send(15), Ok(()));
                drop(sender);
                assert_eq!(receiver.iter().collect::<Vec<_>>(), [15]);
                assert_eq!(receiver.recv(), Err(Disconnected(())));
                assert_eq!(receiver.try_recv(), Err(NotReceived::Disconnected));
                assert_eq!(world.at_once(receiver.recv_async()), Some(Err(Disconnected(()))));
            },
        ),
        Scenario::new(
            "either_of_two",
            "a select finds messages in both of its channels, and takes one",
            |world| {
                let channels = Channel::tried(world);
                let [(first, from_first), (second, from_second)] =
                    [(); 2].map(|()| channels.unbounded());
                assert!(first.send(1).is_ok() && second.send(2).is_ok());
                let selected = select([from_first.receiving(), from_second.receiving()]).wait();
                world.note(CHOSE, selected.case as u64);
            },
            // The second case happens although the first is possible.
            |history| history.notes(CHOSE).any(|case| case == 1),
        ),
    ]
}
