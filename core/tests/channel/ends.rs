//! The two kinds of channels under one name.

use std::time::Duration;

use crossbeam_channel as crossbeam;
use seatrial_core::channel::{
    Channels, Disconnected, NotReceived, NotSent, Outcome, Receiver, Sender, select,
};
use seatrial_core::runtime::System;

/// What came of a call: `Err(true)` if the other end is gone, `Err(false)` if it was not ready.
pub(crate) type Got<T> = Result<T, bool>;

/// What a `select` did: the case and what came of it.
pub(crate) type Case = (usize, Got<Option<u32>>);

/// Senders and receivers of one kind.
pub(crate) trait Kind: 'static {
    type Sender: Clone + Send + 'static;
    type Receiver: Clone + Send + 'static;

    /// Opens channels that can be waited for together, each for that many messages.
    fn open(capacities: &[Option<usize>]) -> Vec<(Self::Sender, Self::Receiver)>;
    fn send(sender: &Self::Sender, message: u32) -> Got<()>;
    fn try_send(sender: &Self::Sender, message: u32) -> Got<()>;
    fn send_timeout(sender: &Self::Sender, message: u32, most: Duration) -> Got<()>;
    fn recv(receiver: &Self::Receiver) -> Got<u32>;
    fn try_recv(receiver: &Self::Receiver) -> Got<u32>;
    fn recv_timeout(receiver: &Self::Receiver, most: Duration) -> Got<u32>;
    /// Does one of several things, all sends before all receives; does not wait unless told to.
    fn select(
        sends: &[(&Self::Sender, u32)],
        receives: &[&Self::Receiver],
        wait: bool,
    ) -> Option<Case>;
    /// Returns length, whether it is empty and full, and the capacity, as each end says.
    fn look(sender: &Self::Sender) -> (usize, bool, bool, Option<usize>);
    fn look_back(receiver: &Self::Receiver) -> (usize, bool, bool, Option<usize>);
}

/// The channels of this crate.
pub(crate) struct Ours;

fn sent(sent: Result<(), NotSent<u32>>, message: u32) -> Got<()> {
    match sent {
        Ok(()) => Ok(()),
        Err(NotSent::Unready(back)) if back == message => Err(false),
        Err(NotSent::Disconnected(back)) if back == message => Err(true),
        Err(other) => panic!("another message comes back: {other}"),
    }
}

fn received(received: Result<u32, NotReceived>) -> Got<u32> {
    received.map_err(|error| error == NotReceived::Disconnected)
}

impl Kind for Ours {
    type Sender = Sender<u32>;
    type Receiver = Receiver<u32>;

    fn open(capacities: &[Option<usize>]) -> Vec<(Self::Sender, Self::Receiver)> {
        let channels = Channels::new(&System::new());
        let open = |capacity: &Option<usize>| {
            capacity.map_or_else(|| channels.unbounded(), |most| channels.bounded(most))
        };
        capacities.iter().map(open).collect()
    }

    fn send(sender: &Self::Sender, message: u32) -> Got<()> {
        sender.send(message).map_err(|Disconnected(back)| back == message)
    }

    fn try_send(sender: &Self::Sender, message: u32) -> Got<()> {
        sent(sender.try_send(message), message)
    }

    fn send_timeout(sender: &Self::Sender, message: u32, most: Duration) -> Got<()> {
        sent(sender.send_timeout(message, most), message)
    }

    fn recv(receiver: &Self::Receiver) -> Got<u32> {
        receiver.recv().map_err(|Disconnected(())| true)
    }

    fn try_recv(receiver: &Self::Receiver) -> Got<u32> {
        received(receiver.try_recv())
    }

    fn recv_timeout(receiver: &Self::Receiver, most: Duration) -> Got<u32> {
        received(receiver.recv_timeout(most))
    }

    fn select(
        sends: &[(&Self::Sender, u32)],
        receives: &[&Self::Receiver],
        wait: bool,
    ) -> Option<Case> {
        let sending = sends.iter().map(|(sender, message)| sender.sending(*message));
        let cases = select(sending.chain(receives.iter().map(|receiver| receiver.receiving())));
        let selected = if wait { cases.wait() } else { cases.now().ok()? };
        let unsent = sends.len() - usize::from(selected.case < sends.len());
        assert_eq!(selected.unsent.len(), unsent, "the others come back");
        let outcome = match selected.outcome {
            Outcome::Sent(sent) => sent.map(|()| None).map_err(|_| true),
            Outcome::Received(message) => message.map(Some).map_err(|_| true),
        };
        Some((selected.case, outcome))
    }

    fn look(it: &Self::Sender) -> (usize, bool, bool, Option<usize>) {
        (it.len(), it.is_empty(), it.is_full(), it.capacity())
    }

    fn look_back(it: &Self::Receiver) -> (usize, bool, bool, Option<usize>) {
        (it.len(), it.is_empty(), it.is_full(), it.capacity())
    }
}

/// Those of crossbeam.
pub(crate) struct Theirs;

impl Kind for Theirs {
    type Sender = crossbeam::Sender<u32>;
    type Receiver = crossbeam::Receiver<u32>;

    fn open(capacities: &[Option<usize>]) -> Vec<(Self::Sender, Self::Receiver)> {
        let open = |capacity: &Option<usize>| {
            capacity.map_or_else(crossbeam::unbounded, crossbeam::bounded)
        };
        capacities.iter().map(open).collect()
    }

    fn send(sender: &Self::Sender, message: u32) -> Got<()> {
        sender.send(message).map_err(|_| true)
    }

    fn try_send(sender: &Self::Sender, message: u32) -> Got<()> {
        sender.try_send(message).map_err(|error| error.is_disconnected())
    }

    fn send_timeout(sender: &Self::Sender, message: u32, most: Duration) -> Got<()> {
        sender.send_timeout(message, most).map_err(|error| error.is_disconnected())
    }

    fn recv(receiver: &Self::Receiver) -> Got<u32> {
        receiver.recv().map_err(|_| true)
    }

    fn try_recv(receiver: &Self::Receiver) -> Got<u32> {
        receiver.try_recv().map_err(|error| error.is_disconnected())
    }

    fn recv_timeout(receiver: &Self::Receiver, most: Duration) -> Got<u32> {
        receiver.recv_timeout(most).map_err(|error| error.is_disconnected())
    }

    fn select(
        sends: &[(&Self::Sender, u32)],
        receives: &[&Self::Receiver],
        wait: bool,
    ) -> Option<Case> {
        let mut cases = crossbeam::Select::new();
        for (sender, _) in sends {
            cases.send(sender);
        }
        for receiver in receives {
            cases.recv(receiver);
        }
        let selected = if wait { cases.select() } else { cases.try_select().ok()? };
        let case = selected.index();
        let outcome = match sends.get(case) {
            Some((sender, message)) => selected.send(sender, *message).map(|()| None).ok(),
            None => selected.recv(receives[case - sends.len()]).map(Some).ok(),
        };
        Some((case, outcome.ok_or(true)))
    }

    fn look(it: &Self::Sender) -> (usize, bool, bool, Option<usize>) {
        (it.len(), it.is_empty(), it.is_full(), it.capacity())
    }

    fn look_back(it: &Self::Receiver) -> (usize, bool, bool, Option<usize>) {
        (it.len(), it.is_empty(), it.is_full(), it.capacity())
    }
}
