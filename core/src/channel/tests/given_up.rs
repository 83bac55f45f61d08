//! Futures that wait, and that are dropped.

use std::pin::pin;
use std::task::Poll;

use super::*;
use crate::runtime::bell::{Bell, poll};

#[test]
fn tasks_and_threads_use_the_same_channel() {
    let runtime = System::new();
    let (sender, receiver) = bounded(&runtime, 1);
    let sending = runtime.spawn("sending", move || (0..100).try_for_each(|n| sender.send(n)));
    let received = runtime.block_on(async {
        let mut received = Vec::new();
        while let Ok(message) = receiver.recv_async().await {
            received.push(message);
        }
        received
    });
    assert_eq!(received, (0..100).collect::<Vec<_>>());
    assert_eq!(runtime.join(sending).expect("no panic"), Ok(()));
}

#[test]
fn a_wake_up_of_a_task_that_is_dropped_goes_to_another() {
    let (sender, receiver) = bounded(&System::new(), 1);
    let (first_bell, second_bell) = (Arc::<Bell>::default(), Arc::<Bell>::default());
    let mut second = pin!(receiver.recv_async());
    {
        let mut first = pin!(receiver.recv_async());
        assert!(poll(first.as_mut(), &first_bell).is_pending());
        assert!(poll(second.as_mut(), &second_bell).is_pending());
        assert_eq!(sender.send(1), Ok(()));
        assert_eq!((first_bell.rings(), second_bell.rings()), (1, 0));
    }
    assert_eq!(second_bell.rings(), 1);
    assert_eq!(poll(second.as_mut(), &second_bell), Poll::Ready(Ok(1)));
}

#[test]
fn a_dropped_send_sends_nothing_and_a_dropped_select_takes_nothing() {
    let channels = Channels::new(&System::new());
    let (sender, receiver) = channels.bounded(0);
    let bell = Arc::<Bell>::default();
    {
        let mut sending = pin!(sender.send_async(1));
        let mut selecting = pin!(select([sender.sending(2)]).wait_async());
        assert!(poll(sending.as_mut(), &bell).is_pending());
        assert!(poll(selecting.as_mut(), &bell).is_pending());
        assert_eq!(receiver.try_recv(), Ok(1), "who came first is met first");
        assert_eq!(poll(sending.as_mut(), &bell), Poll::Ready(Ok(())));
    }
    assert_eq!(receiver.try_recv(), Err(NotReceived::Unready));
}

/// The sender has continued, so the message is not lost.
#[test]
fn what_was_handed_to_a_task_that_is_dropped_is_received_by_the_next() {
    let (sender, receiver) = bounded(&System::new(), 0);
    let bell = Arc::<Bell>::default();
    {
        let mut receiving = pin!(receiver.recv_async());
        assert!(poll(receiving.as_mut(), &bell).is_pending());
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(sender.try_send(2), Err(NotSent::Unready(2)), "it has one already");
    }
    assert_eq!(receiver.len(), 0, "from hand to hand nothing waits");
    assert_eq!(receiver.try_recv(), Ok(1));
    let mut other = pin!(receiver.recv_async());
    {
        let mut receiving = pin!(receiver.recv_async());
        assert!(poll(receiving.as_mut(), &bell).is_pending());
        assert_eq!(sender.try_send(3), Ok(()));
        assert!(poll(other.as_mut(), &bell).is_pending());
    }
    assert_eq!(poll(other.as_mut(), &bell), Poll::Ready(Ok(3)), "somebody waited already");
}

/// The messages of one sender keep their order, even if both come back.
#[test]
fn what_two_dropped_tasks_had_comes_in_the_order_in_which_it_was_sent() {
    let (sender, receiver) = bounded(&System::new(), 0);
    let bell = Arc::<Bell>::default();
    {
        let mut second = Box::pin(receiver.recv_async());
        {
            let mut first = pin!(receiver.recv_async());
            assert!(poll(first.as_mut(), &bell).is_pending());
            assert!(poll(second.as_mut(), &bell).is_pending());
            assert_eq!((sender.try_send(1), sender.try_send(2)), (Ok(()), Ok(())));
        }
    }
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_select_takes_one_message_of_all_that_come() {
    let channels = Channels::new(&System::new());
    let ends: Vec<_> = (0..3).map(|_| channels.bounded(0)).collect();
    let bell = Arc::<Bell>::default();
    let mut selecting = pin!(select(ends.iter().map(|(_, it)| it.receiving())).wait_async());
    assert!(poll(selecting.as_mut(), &bell).is_pending());
    let sent: Vec<_> = ends.iter().map(|(sender, _)| sender.try_send(7).is_ok()).collect();
    assert_eq!(sent, [true, false, false]);
    let Poll::Ready(selected) = poll(selecting.as_mut(), &bell) else { panic!("it was met") };
    assert_eq!((selected.case, selected.outcome), (0, Outcome::Received(Ok(7))));
}

#[test]
fn a_task_that_selects_ends_at_its_deadline() {
    let runtime = Manual::new();
    let (_sender, receiver) = bounded::<u8, _>(&runtime, 1);
    let (bell, deadline) = (Arc::<Bell>::default(), runtime.now() + MS);
    let mut selecting = pin!(select([receiver.receiving()]).until_async(deadline));
    assert!(poll(selecting.as_mut(), &bell).is_pending());
    runtime.advance(MS);
    while bell.rings() == 0 {
        std::thread::yield_now();
    }
    assert!(matches!(poll(selecting.as_mut(), &bell), Poll::Ready(Err(_))));
}

#[test]
fn a_message_that_a_dropped_task_had_is_dropped_without_the_lock() {
    let (channels, probe) = (Channels::new(&System::new()), Arc::<Probe>::default());
    let ((sender, receiver), bell) = (channels.bounded(0), Arc::<Bell>::default());
    let asked = receiver.clone();
    probe.calls(move || _ = asked.len());
    {
        let mut sending = pin!(sender.send_async(Probing(1, Arc::clone(&probe))));
        assert!(poll(sending.as_mut(), &bell).is_pending());
    }
    assert_eq!(probe.ends(), (1, 1));
}
