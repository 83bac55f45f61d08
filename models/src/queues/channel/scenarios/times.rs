//! Deadlines.

use std::sync::Arc;

use seatrial_core::channel::select;
use seatrial_core::runtime::{Ambient as _, Instant};

use super::{MS, sleep, some};
use crate::channel::Channel;
use crate::queues::fixtures::keyed::Page as _;
use crate::trial::{Scenario, needs_exact_time};

/// Deadlines.
pub(super) fn all() -> Vec<Scenario<Channel>> {
    vec![
        Channel::program(
            "deadline_and_message",
            "the deadline of a select passes while a message is sent",
            |world, channels| {
                let (sender, receiver) = channels.bounded(1);
                let (met, meets) = channels.bounded(0);
                let producer = world.spawn("producer", move || sender.send(1).is_ok());
                let deadline = world.runtime().now() + 5 * MS;
                let selected = select([receiver.receiving(), met.sending(2)]).until(deadline);
                assert!(world.join(producer));
                assert_eq!(receiver.try_recv().is_ok(), selected.is_err(), "it comes once");
                drop(meets);
            },
            |before, event| {
                let ending = before.ending(event);
                ending.is_some_and(|it| it.chosen.done.is_none() && it.until != Instant::ZERO)
            },
        )
        .free_deadlines(1)
        .not_on(needs_exact_time),
        Scenario::<Channel>::new(
            "deadlines_pass",
            "a send and a select end at their deadlines and give their messages back",
            |world| {
                let channels = Channel::tried(world);
                let (sender, receiver) = channels.bounded(1);
                let (met, meets) = channels.bounded(0);
                let sender = Arc::new(sender);
                assert!(sender.send(1).is_ok());
                let threads = Arc::clone(&sender);
                let sending = world.spawn("sending", move || threads.send_timeout(2, 5 * MS));
                let own = world.clone();
                let selecting = world.spawn("selecting", move || {
                    let deadline = own.runtime().now() + 4 * MS;
                    select([sender.sending(3), meets.receiving()]).until(deadline)
                });
                sleep(world, 10 * MS);
                assert!(receiver.recv().is_ok());
                world.quiesce();
                assert!(world.join(sending).is_err());
                let unready = world.join(selecting).expect_err("its deadline has passed");
                assert_eq!(unready.unsent, [(0, 3)]);
                drop(met);
            },
            |history| {
                let ends = |ms: u32| {
                    some(history, |before, event| {
                        let ending = before.ending(event);
                        let at = event.at == Instant::ZERO + ms * MS;
                        at && ending.is_some_and(|it| it.chosen.done.is_none())
                    })
                };
                ends(4) && ends(5)
            },
        )
        .not_on(needs_exact_time),
    ]
}
