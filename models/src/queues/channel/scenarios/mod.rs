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

use seatrial_core::channel::{Channels, Op, Receiver, Sender, Side};
use seatrial_core::machine::Step;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::book::Known;
use super::{Channel, Event, History};
use crate::engine::AnyRuntime;
use crate::queues::fixtures::keyed::{Page, gives_up};
use crate::trial::{Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<Channel>> {
    let lists = [
        calls::all(),
        kept::produced(),
        kept::ended(),
        kept::left(),
        given_up::rendezvous(),
        given_up::tasks(),
        given_up::woken(),
        selects::two(),
        selects::meet(),
        selects::groups(),
        times::all(),
    ];
    lists.into_iter().flatten().collect()
}

const MS: Duration = Duration::from_millis(1);

type Tx = Sender<u8, AnyRuntime>;
type Rx = Receiver<u8, AnyRuntime>;

impl Page for Channel {
    type Tried = Channels<u8, AnyRuntime>;
    type Known = Known;

    fn tried(world: &World<Self>) -> Self::Tried {
        Channels::with_host(world.runtime(), world.machine())
    }
}

fn sleep(world: &World<Channel>, time: Duration) {
    world.runtime().sleep_until(world.runtime().now() + time);
}

/// Polls a future once and, unless it was ready, drops it after `time`, whether it was woken or
/// not.
fn holds<T>(world: &World<Channel>, future: impl Future<Output = T>, time: Duration) -> Option<T> {
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
fn go_beside(before: &Known, event: &Event, side: Side, waiting: usize) -> bool {
    match event.call() {
        Some(Op::Leave(leave)) if leave.1 == side => {
            let pipe = &before.pipes[&leave.0];
            let users = if side == Side::Sending { pipe.senders } else { pipe.receivers };
            users == 1 && before.calls.len() == waiting
        }
        _ => false,
    }
}

/// Tells whether a call begins to wait while this many others wait.
fn waits_beside(before: &Known, event: &Event, waiting: usize) -> bool {
    let waits = matches!(event.what, What::Step { outcome: Step::Wait { .. }, .. });
    waits && before.calls.len() == waiting && !before.calls.contains_key(&event.thread)
}

/// Tells whether a call is given up while this many messages lie in the channels.
fn given_up_beside(before: &Known, event: &Event, messages: usize) -> bool {
    let kept = before.pipes.values().map(|pipe| pipe.kept.len()).sum::<usize>();
    gives_up(event) && kept == messages
}
