//! The promises of channels, as checks of a history.

use seatrial_core::channel::{Act, Op, Outcome, RECEIVERS, Ret, SENDERS, Side};
use seatrial_core::runtime::Instant;

use super::book::{Ending, Known};
use super::{Channel, Event, History};
use crate::trial::{Invariant, Ledger, Violation, What};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Channel>> {
    let lists = [messages(), ends()];
    lists.into_iter().flatten().collect()
}

fn messages() -> Vec<Invariant<Channel>> {
    vec![
        Invariant::always(
            "received_once",
            "every received message was sent into that channel, and is received only once",
            &["channel:CH-1"],
            received_once,
        ),
        Invariant::at_every_event(
            "nothing_lost",
            "messages that were sent and not received come out when the last receiver leaves",
            &["channel:CH-1", "channel:CH-9"],
            nothing_lost,
        ),
        Invariant::always(
            "in_order",
            "messages arrive in the order in which they were sent or their senders began to wait",
            &["channel:CH-2", "channel:CH-6"],
            in_order,
        ),
        Invariant::always(
            "capacity_is_kept",
            "a channel never holds more messages than its capacity",
            &["channel:CH-3"],
            capacity_is_kept,
        ),
        Invariant::always(
            "rendezvous_meets",
            "without a buffer, a message is sent only when a receiver takes it",
            &["channel:CH-5"],
            rendezvous_meets,
        ),
        Invariant::always(
            "withdrawn_stays_so",
            "a message whose send was given up, or reported as not sent, is never received",
            &["channel:CH-11", "channel:CH-14"],
            withdrawn_stays_so,
        ),
        Invariant::at_every_event(
            "len_counts",
            "len is the number of messages that lie in the channel",
            &["channel:CH-4"],
            len_counts,
        ),
    ]
}

fn ends() -> Vec<Invariant<Channel>> {
    vec![
        Invariant::always(
            "ends_when_empty",
            "a receiver sees the end only when all senders are gone and no message is left",
            &["channel:CH-7"],
            ends_when_empty,
        ),
        Invariant::always(
            "fails_without_receivers",
            "a send fails if and only if all receivers are gone, and gives its message back",
            &["channel:CH-8"],
            fails_without_receivers,
        ),
        Invariant::always(
            "one_arm",
            "a call does at most one of its cases, and gives the messages of all others back",
            &["channel:CH-10", "channel:CH-11"],
            one_arm,
        ),
        Invariant::always(
            "unready_only_when_so",
            "a call ends without effect only if none of its cases was ready",
            &["channel:CH-12"],
            unready_only_when_so,
        ),
        Invariant::always(
            "never_early",
            "no call times out before its deadline",
            &["channel:CH-13"],
            never_early,
        ),
        Invariant::always(
            "nothing_late",
            "no call sleeps through its deadline",
            &["channel:CH-13"],
            nothing_late,
        ),
        Invariant::always(
            "no_lost_wakeup",
            "when no thread can move, no caller sleeps whose call could go on",
            &["channel:CH-15"],
            no_lost_wakeup,
        ),
        Invariant::at_every_event(
            "wakes_no_crowd",
            "in a group of one channel, a message or a free place wakes at most one waiter",
            &["channel:CH-16"],
            wakes_no_crowd,
        ),
    ]
}

/// Checks every call that ends, against the state before it.
fn at_every_end(
    history: &History,
    check: impl Fn(&Known, &Event, &Ending<'_>) -> Result<(), String>,
) -> Checked {
    Known::at_every_event(history, |before, event| match before.ending(event) {
        Some(ending) => check(before, event, &ending),
        None => Ok(()),
    })
}

fn received_once(history: &History) -> Checked {
    at_every_end(history, |before, event, ending| {
        let Some((at, message)) = ending.received() else { return Ok(()) };
        let sent = before.pipes[&at].kept.contains(&message);
        let mut offers = before.others(event.thread, at, Side::Sending);
        let offered = offers.any(|(_, act)| *act == Act::Send(at, Some(message)));
        let was_taken = before.taken.contains(&message);
        if sent || (offered && !was_taken) || before.withdrawn.contains(&message) {
            return Ok(()); // another promise covers messages that were withdrawn
        }
        Err(format!("message {message} comes, and nobody has sent it since it came last"))
    })
}

fn nothing_lost(before: &Known, event: &Event) -> Result<(), String> {
    let Some((Op::Leave(leave), Ret::Leave(left))) = event.returned() else { return Ok(()) };
    let pipe = &before.pipes[&leave.0];
    let is_last = leave.1 == Side::Receiving && pipe.receivers == 1;
    let mut left = Vec::from_iter(left.iter().copied());
    let mut kept = if is_last { pipe.kept.clone() } else { vec![] };
    if pipe.is_rendezvous() {
        left.sort_unstable(); // messages that came back are in the order of their hand-over
        kept.sort_unstable();
    }
    if left == kept { Ok(()) } else { Err(format!("{left:?} comes out, and {kept:?} is left")) }
}

fn in_order(history: &History) -> Checked {
    at_every_end(history, |before, event, ending| {
        let Some((at, message)) = ending.received() else { return Ok(()) };
        let pipe = &before.pipes[&at];
        let is_kept = pipe.kept.contains(&message);
        let waited = before.calls.contains_key(&event.thread);
        let nobody_else = || before.others(event.thread, at, Side::Receiving).next().is_none();
        // In a rendezvous, other receivers may still hold messages that were handed to them before.
        if is_kept && (!pipe.is_rendezvous() || !waited && nobody_else()) {
            let first = pipe.kept[0];
            let says = || format!("message {message} comes, and {first} was sent before it");
            return if first == message { Ok(()) } else { Err(says()) };
        }
        let offers = || before.others(event.thread, at, Side::Sending);
        let its = offers().find(|(_, act)| **act == Act::Send(at, Some(message)));
        let Some((its, _)) = its.filter(|_| !is_kept) else { return Ok(()) };
        let mut older = offers().filter(|(call, _)| call.place < its.place);
        match older.find(|(call, _)| before.is_unmet(call)) {
            Some((_, act)) => Err(format!("message {message} comes, and {act:?} waits for longer")),
            None => Ok(()),
        }
    })
}

fn capacity_is_kept(history: &History) -> Checked {
    at_every_end(history, |before, _, ending| {
        let Some((at, message)) = ending.sent() else { return Ok(()) };
        let pipe = &before.pipes[&at];
        if pipe.is_rendezvous() || pipe.has_room() {
            return Ok(());
        }
        Err(format!("message {message} is sent, and {:?} lie there", pipe.kept))
    })
}

fn rendezvous_meets(history: &History) -> Checked {
    at_every_end(history, |before, event, ending| {
        let Some((at, message)) = ending.sent() else { return Ok(()) };
        let pipe = &before.pipes[&at];
        let waiting = before.others(event.thread, at, Side::Receiving).count();
        let is_met = before.taken.contains(&message) || waiting > pipe.kept.len();
        if !pipe.is_rendezvous() || is_met {
            return Ok(());
        }
        Err(format!("message {message} is sent, and nobody takes it"))
    })
}

fn withdrawn_stays_so(history: &History) -> Checked {
    at_every_end(history, |before, _, ending| match ending.received() {
        Some((_, message)) if before.withdrawn.contains(&message) => {
            Err(format!("message {message} comes, and was not sent"))
        }
        _ => Ok(()),
    })
}

fn len_counts(before: &Known, event: &Event) -> Result<(), String> {
    let Some((Op::Len(len), Ret::Len(says))) = event.returned() else { return Ok(()) };
    let kept = before.pipes[&len.0].kept.len();
    if *says == kept { Ok(()) } else { Err(format!("len says {says}, and {kept} are there")) }
}

fn ends_when_empty(history: &History) -> Checked {
    at_every_end(history, |before, event, ending| {
        let Some((Act::Receive(at), Outcome::Received(Err(_)))) = ending.done() else {
            return Ok(());
        };
        let pipe = &before.pipes[at];
        if pipe.senders > 0 {
            return Err(format!("a receiver learns of the end, and there are {}", pipe.senders));
        }
        let lies = before.lies(event.thread, *at);
        if lies { Err(format!("the end comes before {:?}", pipe.kept)) } else { Ok(()) }
    })
}

fn fails_without_receivers(history: &History) -> Checked {
    at_every_end(history, |before, _, ending| {
        let Some((Act::Send(at, Some(message)), Outcome::Sent(sent))) = ending.done() else {
            return Ok(());
        };
        let receivers = before.pipes[at].receivers;
        let taken = before.taken.contains(message);
        match sent {
            Ok(()) if receivers == 0 && !taken => {
                Err(format!("message {message} is sent, and nobody can receive it"))
            }
            Err(_) if receivers > 0 => Err(format!("a send fails beside {receivers} receivers")),
            Err(back) if back.0 != *message => {
                Err(format!("message {message} fails, and {} comes back", back.0))
            }
            _ => Ok(()),
        }
    })
}

fn one_arm(history: &History) -> Checked {
    at_every_end(history, |_, _, ending| {
        let done = ending.chosen.done.as_ref();
        let others = ending.acts.iter().enumerate().filter(|(at, _)| {
            done.is_none_or(|(done, _)| done != at) // a case that was done has an outcome
        });
        let messages = others.filter_map(|(at, act)| match act {
            Act::Send(_, message) => Some((at, (*message)?)),
            Act::Receive(_) => None,
        });
        let unsent = Vec::from_iter(messages);
        if ending.chosen.unsent != unsent {
            return Err(format!("{:?} comes back of {unsent:?}", ending.chosen.unsent));
        }
        let Some((case, outcome)) = done else { return Ok(()) };
        match (ending.acts.get(*case), outcome) {
            (Some(Act::Send(..)), Outcome::Sent(_)) => Ok(()),
            (Some(Act::Receive(_)), Outcome::Received(_)) => Ok(()),
            _ => Err(format!("{outcome:?} is no outcome of case {case}")),
        }
    })
}

fn unready_only_when_so(history: &History) -> Checked {
    at_every_end(history, |before, event, ending| {
        if ending.chosen.done.is_some() {
            return Ok(());
        }
        let why = ending.acts.iter().find_map(|act| before.ready(event.thread, act));
        why.map_or(Ok(()), |why| Err(format!("a call ends undone, and {why}")))
    })
}

fn never_early(history: &History) -> Checked {
    at_every_end(history, |_, event, ending| {
        let in_time = ending.until == Instant::ZERO || ending.until <= event.at;
        if ending.chosen.done.is_some() || in_time {
            return Ok(());
        }
        Err(format!("a call ends undone at {:?}, before {:?}", event.at, ending.until))
    })
}

/// Judges only histories of virtual time; only those have a quiet moment.
fn nothing_late(history: &History) -> Checked {
    if !history.events.iter().any(|event| matches!(event.what, What::Quiet)) {
        return Ok(());
    }
    Known::at_every_event(history, |before, event| {
        let late = before.calls.values().find(|call| call.until < event.at);
        let says = |until| format!("a call sleeps through its deadline {until:?}");
        late.map_or(Ok(()), |call| Err(says(call.until)))
    })
}

fn no_lost_wakeup(history: &History) -> Checked {
    Known::when_quiet(history, |known| {
        for (thread, call) in &known.calls {
            let lies = |act: &&Act<u8>| {
                act.side() == Side::Receiving && !known.pipes[&act.pipe()].kept.is_empty()
            };
            let could = call.acts.iter().find_map(|act| known.ready(*thread, act));
            if let Some(why) = could.or(call.acts.iter().find(lies).map(|_| "one is on its way")) {
                return Err(format!("{:?} waits, and {why}", call.acts));
            }
        }
        Ok(())
    })
}

fn wakes_no_crowd(before: &Known, event: &Event) -> Result<(), String> {
    let What::Step { op: Op::Choose(_), wakes, .. } = &event.what else { return Ok(()) };
    let alone = before.pipes.len() == 1;
    let crowd = [SENDERS, RECEIVERS].into_iter().find(|on| wakes.get(*on) > 1);
    match crowd.filter(|_| alone) {
        Some(on) => Err(format!("a message wakes {} who wait", wakes.get(on))),
        None => Ok(()),
    }
}
