//! Behaviour that one thread can see, and some that needs two.

mod given_up;
mod places;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::machine::single_step::Stepped;
use crate::runtime::probe::{Probe, Probing};
use crate::runtime::{Ambient, Instant, Manual};

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_bounded_channel_takes_what_fits_and_gives_it_in_order() {
    let (sender, receiver) = bounded(&System::new(), 2);
    assert!(receiver.is_empty() && !sender.is_full());
    assert_eq!((sender.try_send(1), sender.try_send(2)), (Ok(()), Ok(())));
    assert_eq!(sender.try_send(3), Err(NotSent::Unready(3)));
    assert_eq!((sender.len(), receiver.len(), sender.is_full()), (2, 2, true));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(receiver.try_recv(), Err(NotReceived::Unready));
    assert_eq!((sender.capacity(), receiver.capacity()), (Some(2), Some(2)));
}

#[test]
fn behind_the_last_sender_what_is_left_is_received_and_then_the_end() {
    let (sender, receiver) = unbounded(&System::new());
    let other = sender.clone();
    assert_eq!((sender.send(1), other.send(2)), (Ok(()), Ok(())));
    drop(sender);
    assert_eq!(receiver.recv(), Ok(1));
    drop(other);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [2]);
    assert_eq!(receiver.recv(), Err(Disconnected(())));
    assert_eq!(receiver.try_recv(), Err(NotReceived::Disconnected));
}

#[test]
fn behind_the_last_receiver_nothing_is_sent() {
    let (sender, receiver) = bounded(&System::new(), 1);
    drop(receiver.clone());
    assert_eq!(sender.send(1), Ok(()));
    drop(receiver);
    assert_eq!(sender.len(), 0, "nobody can receive it");
    assert_eq!(sender.send(2), Err(Disconnected(2)));
    assert_eq!(sender.try_send(3), Err(NotSent::Disconnected(3)));
    assert_eq!(sender.send_timeout(4, MS), Err(NotSent::Disconnected(4)));
}

#[test]
fn a_deadline_ends_a_call_not_early_and_the_message_comes_back() {
    let runtime = System::new();
    let (sender, receiver) = bounded(&runtime, 0);
    let began = runtime.now();
    assert_eq!(sender.send_timeout(1, MS), Err(NotSent::Unready(1)));
    assert_eq!(receiver.recv_timeout(MS), Err(NotReceived::Unready));
    assert!(runtime.now() >= began + 2 * MS);
    assert_eq!(receiver.try_recv(), Err(NotReceived::Unready), "what was given up is not received");
    assert_eq!(sender.try_send(1), Err(NotSent::Unready(1)), "nor is anybody there for it");
}

#[test]
fn a_rendezvous_meets_who_waits_at_the_other_end() {
    let runtime = System::new();
    let (sender, receiver) = bounded(&runtime, 0);
    assert!(sender.is_full() && receiver.is_empty());
    let sending = runtime.spawn("sending", move || sender.send(1).map(|()| sender));
    let received = std::iter::from_fn(|| Some(receiver.try_recv())).find(Result::is_ok);
    assert_eq!(received, Some(Ok(1)));
    let sender = runtime.join(sending).expect("no panic").expect("it was taken");
    let receiving = runtime.spawn("receiving", move || receiver.recv());
    while sender.try_send(2) == Err(NotSent::Unready(2)) {
        std::thread::yield_now();
    }
    assert_eq!(runtime.join(receiving).expect("no panic"), Ok(2));
}

#[test]
fn two_selects_meet_in_a_rendezvous_and_one_does_not_meet_itself() {
    let runtime = System::new();
    let channels = Channels::new(&runtime);
    let (sender, receiver) = channels.bounded(0);
    let both = select([sender.sending(1), receiver.receiving()]).now();
    assert_eq!(both.map_err(|unready| unready.unsent), Err(vec![(0, 1)]));
    let (other, theirs) = (sender.clone(), receiver.clone());
    let thread = runtime
        .spawn("other", move || select([other.sending(2), theirs.receiving()]).wait().outcome);
    let mine = select([receiver.receiving(), sender.sending(3)]).wait();
    let theirs = runtime.join(thread).expect("no panic");
    match mine.outcome {
        Outcome::Received(message) => {
            assert_eq!((message, theirs, mine.case), (Ok(2), Outcome::Sent(Ok(())), 0));
            assert_eq!(mine.unsent, [(1, 3)]);
        }
        Outcome::Sent(sent) => {
            assert_eq!((sent, theirs, mine.case), (Ok(()), Outcome::Received(Ok(3)), 1));
        }
    }
}

#[test]
fn chance_decides_between_cases_that_are_ready() {
    for runtime in [Manual::seeded(1), Manual::seeded(2)] {
        let channels = Channels::new(&runtime);
        let ends: Vec<_> = (0..4).map(|_| channels.bounded(200)).collect();
        for (sender, _) in &ends[..3] {
            (0..100).for_each(|number| sender.send(number).expect("there is room"));
        }
        let mut taken = [0; 4];
        for _ in 0..90 {
            let cases = ends.iter().map(|(_, receiver)| receiver.receiving());
            taken[select(cases).wait().case] += 1;
        }
        assert!(taken[..3].iter().all(|times| *times > 12), "{taken:?}");
        assert_eq!(taken[3], 0, "nothing is there");
    }
}

#[test]
fn a_select_ends_at_its_deadline_and_takes_what_is_there_then() {
    let runtime = Manual::new();
    let channels = Channels::new(&runtime);
    let (sender, receiver) = channels.bounded(1);
    let past = runtime.now();
    assert!(select([receiver.receiving()]).until(past).is_err());
    assert!(select([sender.sending(1)]).until(past).is_ok());
    let unready = select([sender.sending(2), sender.sending(3)]).now().expect_err("it is full");
    assert_eq!(unready.unsent, [(0, 2), (1, 3)]);
    assert!(select([receiver.receiving()]).until(past).is_ok());
}

#[test]
#[should_panic(expected = "share one group")]
fn channels_of_two_groups_are_not_selected_from() {
    let runtime = System::new();
    let [(_one, first), (_two, second)] = [bounded::<u8, _>(&runtime, 1), bounded(&runtime, 1)];
    drop(select([first.receiving(), second.receiving()]));
}

#[test]
#[should_panic(expected = "something to select from")]
fn there_is_something_to_select_from() {
    drop(select::<u8, System>([]));
}

#[test]
fn the_place_of_a_channel_that_is_gone_is_used_again() {
    let mut group = Stepped::new(Group::<u8>::default());
    let first = group.call(Open(Some(1)));
    let second = group.call(Open(None));
    for side in [Side::Sending, Side::Receiving] {
        assert_ne!(group.call(Open(None)), first);
        group.call(Leave(first, side));
    }
    assert_eq!(group.call(Open(None)), first);
    assert_ne!(first, second);
}

#[test]
fn a_channel_alone_wakes_one_for_each_message_and_among_others_all_look() {
    let choose = |act| Choose::new(Acts::One([act]), Instant::ZERO);
    let mut group = Stepped::new(Group::<u8>::default());
    let pipe = group.call(Open(Some(1)));
    group.call(choose(Act::Send(pipe, Some(1))));
    assert_eq!((group.woken.get(RECEIVERS), group.woken.get(SENDERS)), (1, 0));
    group.call(choose(Act::Receive(pipe)));
    assert_eq!((group.woken.get(RECEIVERS), group.woken.get(SENDERS)), (0, 1));
    group.call(Open(Some(1)));
    group.call(choose(Act::Send(pipe, Some(1))));
    assert_eq!(group.woken.get(RECEIVERS), crate::machine::Wakes::ALL);
}

#[test]
fn messages_are_dropped_without_the_lock() {
    let (channels, probe) = (Channels::new(&System::new()), Arc::<Probe>::default());
    let (sender, receiver) = channels.bounded(1);
    let asked = receiver.clone();
    probe.calls(move || _ = asked.len());
    let message = || Probing(1, Arc::clone(&probe));
    drop(sender.try_send(message()));
    drop(sender.try_send(message())); // there is no room
    drop(receiver.recv());
    assert_eq!(probe.ends(), (2, 2));

    let (sender, receiver) = channels.bounded(3);
    let (other, _others) = channels.bounded(3);
    probe.calls(move || _ = other.len());
    (0..3).for_each(|_| sender.send(message()).expect("there is room"));
    drop(receiver); // they would wait for ever
    drop(sender.send(message()));
    assert_eq!(probe.ends(), (6, 6));
}

#[test]
fn memory_of_a_burst_comes_back() {
    let mut group = Stepped::new(Group::<u64>::default());
    let pipe = group.call(Open(None));
    let mut once = |act| drop(group.call(Choose::new(Acts::One([act]), Instant::ZERO)));
    (0..100_000).for_each(|number| once(Act::Send(pipe, Some(number))));
    (0..100_000).for_each(|_| once(Act::Receive(pipe)));
    assert!(group.machine.room(pipe) < 5_000);
}

#[test]
fn a_state_that_is_wrong_is_noticed() {
    use crate::machine::single_step::each_is_noticed;
    let make = || {
        let mut group = Stepped::new(Group::<u8>::default());
        group.call(Open(Some(0)));
        group.call(Open(Some(1)));
        group.waits(Choose::new(Acts::One([Act::Receive(PipeId(0))]), Instant::NEVER));
        group.machine
    };
    let breaks: [fn(&mut Group<u8>); 3] = [
        |group| _ = group.enrol(None, Acts::One([Act::Send(PipeId(0), Some(1))])),
        |group| group.put(PipeId(0), &[1]),
        |group| group.put(PipeId(1), &[1, 2]),
    ];
    each_is_noticed(make, breaks, Group::check);
}

#[test]
fn errors_and_ends_are_shown_in_words() {
    let (sender, receiver) = bounded::<u8, _>(&System::new(), 3);
    let shown = [
        format!("{sender:?} {receiver:?}"),
        format!("{:?} {:?}", sender.sending(1), select([sender.sending(1)])),
        format!("{:?}", Channels::<u8>::new(&System::new())),
        format!("{}, {}", NotSent::Unready(1), NotReceived::Unready),
        format!("{}", Unready::<u8> { unsent: Vec::new() }),
    ];
    assert_eq!(
        shown.join("\n"),
        "Sender { capacity: Some(3), .. } Receiver { capacity: Some(3), .. }\n\
         Case { side: Sending, .. } Select { cases: 1, .. }\n\
         Channels\n\
         the channel had no room in time, the channel had no message in time\n\
         no channel was ready in time"
    );
    let gone = [
        Disconnected(1).to_string(),
        NotSent::Disconnected(1).to_string(),
        NotReceived::Disconnected.to_string(),
    ];
    assert_eq!(BTreeSet::from(gone).len(), 1);
}
