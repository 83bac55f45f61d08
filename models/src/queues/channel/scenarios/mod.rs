//! Small concurrent programs on channels, each named by the case that it must reach.

mod calls;
mod given_up;
mod kept;
mod selects;
mod times;

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use seatrial_core::channel::{Channels, Group, Op, Receiver, Sender, Side};
use seatrial_core::machine::{Boxed, Step};
use seatrial_core::runtime::Runtime;

use super::book::Known;
use super::{Channel, Event, History};
use crate::trial::{DynScenario, Ledger as _, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Channel>>> {
    vec![
        Box::new(calls::EveryCall),
        Box::new(calls::EitherOfTwo),
        Box::new(kept::TwoProducers),
        Box::new(kept::TwoReceives),
        Box::new(kept::ThreadsAndTasks),
        Box::new(kept::ClosesWhileFull),
        Box::new(kept::Counted),
        Box::new(kept::ReceiversGo),
        Box::new(kept::SendersGo),
        Box::new(given_up::TwoPairs),
        Box::new(given_up::GivenUpHand),
        Box::new(given_up::TwoGiveUp),
        Box::new(given_up::GivenUpOffer),
        Box::new(given_up::GivenUpReceive),
        Box::new(given_up::GivenUpSend),
        Box::new(given_up::GivenUpSelect),
        Box::new(selects::SelectOfTwo),
        Box::new(selects::SelectWaitsForRoom),
        Box::new(selects::SelectsMeet),
        Box::new(selects::OneOfTwoSends),
        Box::new(selects::GroupOfTwo),
        Box::new(selects::HandsInAGroup),
        Box::new(times::DeadlineAndMessage),
        Box::new(times::DeadlinesPass),
    ]
}

const MS: Duration = Duration::from_millis(1);

type Host = Boxed<Group<u8>>;
type Tx<R> = Sender<u8, R, Host>;
type Rx<R> = Receiver<u8, R, Host>;

fn channels<R: Runtime>(world: &World<R, Channel>) -> Channels<u8, R, Host> {
    Channels::with_host(world.runtime(), world.machine())
}

fn sleep<R: Runtime>(world: &World<R, Channel>, time: Duration) {
    world.runtime().sleep_until(world.runtime().now() + time);
}

/// Polls a future once and, unless it was ready, drops it after `time`, whether it was woken or
/// not.
fn holds<R: Runtime, T>(
    world: &World<R, Channel>,
    future: impl Future<Output = T>,
    time: Duration,
) -> Option<T> {
    let mut future = pin!(future);
    let once = poll_fn(|context| {
        Poll::Ready(match future.as_mut().poll(context) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        })
    });
    let ready = world.runtime().block_on(once);
    if ready.is_none() {
        sleep(world, time);
    }
    ready
}

/// Tells whether an event meets a condition that also sees the state before it.
fn some(history: &History, wanted: impl Fn(&Known, &Event) -> bool) -> bool {
    Known::some(history, wanted)
}

/// Tells whether this many calls wait when the last user of an end leaves.
fn go_beside(history: &History, side: Side, waiting: usize) -> bool {
    some(history, |before, event| match &event.what {
        What::Step { op: Op::Leave(leave), .. } if leave.1 == side => {
            let pipe = &before.pipes[&leave.0];
            let users = if side == Side::Sending { pipe.senders } else { pipe.receivers };
            users == 1 && before.calls.len() == waiting
        }
        _ => false,
    })
}

/// Tells whether a call begins to wait while this many others wait.
fn waits_beside(history: &History, waiting: usize) -> bool {
    some(history, |before, event| {
        let waits = matches!(event.what, What::Step { outcome: Step::Wait { .. }, .. });
        waits && before.calls.len() == waiting && !before.calls.contains_key(&event.thread)
    })
}

/// Tells whether a call is given up while this many messages lie in the channels.
fn given_up_beside(history: &History, messages: usize) -> bool {
    some(history, |before, event| {
        let kept = before.pipes.values().map(|pipe| pipe.kept.len()).sum::<usize>();
        matches!(event.what, What::Cancel { .. }) && kept == messages
    })
}
