//! The places of channels in their group, and of waiting calls at a rendezvous.

use super::*;
use crate::machine::{Cx, Operation, Step};
use crate::runtime::bursting::{Bursting, Fuse};

type Stepping = Stepped<Group<u8>>;

fn close(group: &mut Stepping, pipe: PipeId, sides: [Side; 2]) {
    for side in sides {
        assert!(group.call(Leave(pipe, side)).is_empty());
    }
}

#[test]
fn the_places_of_closed_channels_are_used_again_and_each_for_one_channel() {
    let mut group = Stepped::new(Group::default());
    let orders = [[Side::Sending, Side::Receiving], [Side::Receiving, Side::Sending]];
    let mut places = BTreeSet::new();
    for round in 0..10 {
        let opened = [0, 1, 2].map(|capacity| group.call(Open(Some(capacity))));
        places.extend(opened);
        assert_eq!(BTreeSet::from(opened).len(), 3, "they are three channels");
        opened.iter().for_each(|pipe| close(&mut group, *pipe, orders[round % 2]));
    }
    assert_eq!(places.len(), 3, "the group does not grow");
    let four: BTreeSet<_> = (0..4).map(|_| group.call(Open(None))).collect();
    assert_eq!(four.len(), 4);
    assert_eq!(four.difference(&places).count(), 1, "there are three to use again");
}

#[test]
fn the_place_of_a_channel_is_free_once_its_last_user_has_left() {
    let mut group = Stepped::new(Group::<u8>::default());
    let pipe = group.call(Open(Some(1)));
    group.call(Hold(pipe, Side::Sending));
    close(&mut group, pipe, [Side::Receiving, Side::Sending]);
    assert_ne!(group.call(Open(None)), pipe, "it has another sender");
    group.call(Leave(pipe, Side::Sending));
    assert_eq!(group.call(Open(None)), pipe);
    assert_ne!(group.call(Open(None)), pipe, "only once");
}

/// A select of some acts, which waits.
fn waiting(group: &mut Stepping, acts: Vec<Act<u8>>) -> Choose<u8> {
    let mut select = Choose::new(Acts::Several(acts.into()), Instant::NEVER);
    assert_eq!(again(group, &mut select), None);
    select
}

/// Steps a select; `None` if it waits.
fn again(group: &mut Stepping, select: &mut Choose<u8>) -> Option<Chosen<u8>> {
    let mut cx = Cx::new(&group.clock);
    let step = select.step(&mut group.machine, &mut cx);
    group.machine.check();
    match step {
        Step::Done(chosen) => Some(chosen),
        _ => None,
    }
}

/// Does one act if it is possible at once.
fn now(group: &mut Stepping, act: Act<u8>) -> Option<Outcome<u8>> {
    group.call(Choose::new(Acts::One([act]), Instant::ZERO)).done.map(|(_, outcome)| outcome)
}

const SENT: Option<Outcome<u8>> = Some(Outcome::Sent(Ok(())));

#[test]
fn who_meets_at_one_of_two_channels_waits_no_more_at_the_other() {
    let mut group = Stepped::new(Group::default());
    let [one, two] = [0, 0].map(|capacity| group.call(Open(Some(capacity))));
    let mut select = waiting(&mut group, vec![Act::Receive(one), Act::Receive(two)]);
    assert_eq!(now(&mut group, Act::Send(two, Some(2))), SENT);
    assert_eq!(now(&mut group, Act::Send(one, Some(1))), None, "it has met");
    assert_eq!(now(&mut group, Act::Send(two, Some(3))), None, "here as well");
    let chosen = again(&mut group, &mut select).expect("it has met");
    assert_eq!(chosen.done, Some((1, Outcome::Received(Ok(2)))));
    assert_eq!(now(&mut group, Act::Send(one, Some(1))), None, "nobody is there any more");
}

#[test]
fn the_select_that_waited_next_is_met_next_and_one_that_is_given_up_is_not() {
    let mut group = Stepped::new(Group::default());
    let [one, two] = [0, 0].map(|capacity| group.call(Open(Some(capacity))));
    let both = || vec![Act::Receive(one), Act::Send(two, Some(7))];
    let [mut first, mut second, mut third] = [(); 3].map(|()| waiting(&mut group, both()));
    second.cancel(&mut group.machine, &mut Cx::new(&group.clock));
    group.machine.check();
    assert_eq!(now(&mut group, Act::Receive(two)), Some(Outcome::Received(Ok(7))));
    assert_eq!(now(&mut group, Act::Send(one, Some(1))), SENT);
    assert_eq!(now(&mut group, Act::Send(one, Some(2))), None, "two were there");
    let chosen = again(&mut group, &mut first).expect("it has met");
    assert_eq!((chosen.done, chosen.unsent), (Some((1, Outcome::Sent(Ok(())))), vec![]));
    let chosen = again(&mut group, &mut third).expect("it has met");
    let received = Some((0, Outcome::Received(Ok(1))));
    assert_eq!((chosen.done, chosen.unsent), (received, vec![(1, 7)]));
}

#[test]
fn messages_that_nobody_can_receive_are_all_dropped_although_their_destructors_panic() {
    let fuse = Arc::<Fuse>::default();
    let (sender, receiver) = unbounded(&System::new());
    for number in 1..=2 {
        assert_eq!(sender.send(Bursting(number, Arc::clone(&fuse))), Ok(()));
    }
    fuse.light();
    drop(receiver);
    assert_eq!(fuse.bursts(), 2);
    assert!(sender.is_empty());
    assert_eq!(sender.send(Bursting(3, fuse)).map_err(|unsent| unsent.0.0), Err(3));
}
