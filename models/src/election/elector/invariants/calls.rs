//! Promises about calls on the lock, and about the sleep between them.

use std::time::Duration;

use seatrial_core::elector::{Io, LeaseSpec, Next, Object, Op, StoreError, Stored};
use seatrial_core::machine::Step;
use seatrial_core::runtime::Instant;

use super::{Checked, at_every_step};
use crate::elector::asked::{Asked, claims_the_lease};
use crate::elector::ledger::{Elector as Known, ElectorLedger};
use crate::elector::part::{Answer, Call, Request};
use crate::elector::{Elector, Event};
use crate::engine::End;
use crate::trial::{Invariant, Moment, What};

pub(super) fn all() -> Vec<Invariant<Elector>> {
    vec![
        at_every_step(
            "calls_of_a_leader_have_deadlines",
            "a leader, or a release, gives a call up after its renew deadline",
            &["election:LE-36", "election:LE-40", "election:LV-8", "election:LK-28"],
            calls_of_a_leader_have_deadlines,
        ),
        at_every_step(
            "fast_path_falls_back",
            "an attempt whose update without a read fails goes on with a read",
            &["election:LE-18", "election:LE-19", "election:LE-28"],
            fast_path_falls_back,
        ),
        at_every_step(
            "abandoned_acquisition_is_freed",
            "a cancelled run that may have taken the lease checks whether it must free it",
            &["election:LE-33"],
            abandoned_acquisition_is_freed,
        ),
        Invariant::at_every_event(
            "lease_without_duration_is_waited_for",
            "a lease without a duration is taken after the elector's own lease duration",
            &["election:LE-14"],
            lease_without_duration_is_waited_for,
        ),
        at_every_step(
            "release_retries_pause",
            "a release that met a conflict waits before it tries again",
            &["election:LE-42"],
            release_retries_pause,
        ),
        at_every_step(
            "releases_outlast_conflicts",
            "a release that met a conflict tries again until its deadline, as a renewal that was \
             given up may have changed the version",
            &["election:LE-41", "election:LE-42", "election:LE-44"],
            releases_outlast_conflicts,
        ),
        at_every_step(
            "releases_free_what_was_written",
            "a strict elector frees a lease only if its record has the transition count that this \
             elector wrote: an elector of the same identity writes another count",
            &["election:LE-42"],
            releases_free_what_was_written,
        ),
        Invariant::along(
            "sleepers_wake_in_time",
            "a sleeper in a run or in a term wakes as soon as there is a reason",
            &["election:ENV-5", "election:ENV-6", "election:LE-42"],
            sleepers_wake_in_time,
        ),
    ]
}

fn calls_of_a_leader_have_deadlines(before: &Known, asked: &Asked<'_>, event: &Event) -> Checked {
    let Some(Next::Call { deadline, releases, .. }) = asked.turn().map(|turn| &turn.next) else {
        return Ok(());
    };
    let begins = matches!(asked.op, Op::Begin(_) | Op::Try(_));
    if !releases && (begins || !before.led) {
        return Ok(());
    }
    let latest = event.at + before.config.timing.renew;
    match deadline {
        Some(deadline) if *deadline <= latest => Ok(()),
        _ => Err(format!("a call has the deadline {deadline:?}, the latest is {latest:?}")),
    }
}

/// Tells whether the token of the attempt is done, so that it makes no further call.
fn is_out_of_time(before: &Known, at: Instant) -> bool {
    let due = before.call.as_ref().and_then(|call| call.deadline);
    before.cancelled || due.is_some_and(|due| at >= due)
}

fn fast_path_falls_back(before: &Known, asked: &Asked<'_>, event: &Event) -> Checked {
    let Some(sent) = before.call.as_ref().filter(|sent| sent.first) else { return Ok(()) };
    let failed = matches!(asked.learned(), Some(Err(_)));
    if !failed || !claims_the_lease(&sent.io) || is_out_of_time(before, event.at) {
        return Ok(());
    }
    match asked.turn().map(|turn| &turn.next) {
        Some(Next::Call { io: Io::Get, .. }) => Ok(()),
        _ => Err("an attempt gave up after its fast path".to_owned()),
    }
}

fn abandoned_acquisition_is_freed(before: &Known, asked: &Asked<'_>, _: &Event) -> Checked {
    let Some(Next::Ended { led: false }) = asked.turn().map(|turn| &turn.next) else {
        return Ok(());
    };
    let unsure = match (asked.learned(), &before.call) {
        (Some(Err(error)), Some(sent)) => {
            before.unsure || claims_the_lease(&sent.io) && error.may_have_been_applied()
        }
        _ => before.unsure,
    };
    if unsure && before.is_strict() && before.config.release_on_cancel {
        let who = &before.config.identity;
        return Err(format!("{who} may have taken the lease, and leaves without a look"));
    }
    Ok(())
}

fn lease_without_duration_is_waited_for(before: &ElectorLedger, event: &Event) -> Checked {
    let What::Step { op: Call::Serve(serve), outcome, .. } = &event.what else {
        return Ok(());
    };
    let (Some(number), Request::Update(_), Step::Done(Answer::Serve(Ok(new)))) =
        (serve.by, &serve.request, outcome)
    else {
        return Ok(());
    };
    let taker = &before.electors[usize::from(number)];
    let Some(old) = &before.lease else { return Ok(()) };
    let identity = taker.config.identity.as_str();
    let taken = holder(new) == identity && holder(old) != identity && !holder(old).is_empty();
    let says_none = old.content.duration_seconds.unwrap_or(0) <= 0;
    if !taken || !says_none || !taker.is_strict() {
        return Ok(());
    }
    let same = |(stored, _): &&(Stored, Instant)| {
        stored.version == old.meta.version && stored.uid == old.meta.uid
    };
    let seen = taker.learned.iter().find(same).map(|(_, at)| *at);
    let wait = taker.config.timing.stored_lease();
    if seen.is_none_or(|seen| seen + wait > taker.began) {
        return Err(format!("{identity} took a lease without duration early"));
    }
    Ok(())
}

fn holder(lease: &Object<LeaseSpec>) -> &str {
    lease.content.holder.as_ref().map_or("", |name| name.as_str())
}

/// Tells whether the call on its way is a write that frees the lease.
fn frees(before: &Known) -> bool {
    matches!(&before.call, Some(sent) if sent.io != Io::Get && !claims_the_lease(&sent.io))
}

fn release_retries_pause(before: &Known, asked: &Asked<'_>, _: &Event) -> Checked {
    let conflicts = matches!(asked.learned(), Some(Err(StoreError::Conflict)));
    let calls = matches!(asked.turn().map(|turn| &turn.next), Some(Next::Call { .. }));
    if frees(before) && conflicts && calls && before.is_strict() {
        return Err("a release tries again at once".to_owned());
    }
    Ok(())
}

fn releases_outlast_conflicts(before: &Known, asked: &Asked<'_>, event: &Event) -> Checked {
    let conflicts = matches!(asked.learned(), Some(Err(StoreError::Conflict)));
    let due = before.call.as_ref().and_then(|call| call.deadline);
    if !frees(before) || !conflicts || due.is_none_or(|due| due <= event.at) {
        return Ok(());
    }
    match asked.turn().map(|turn| &turn.next) {
        Some(Next::Rest | Next::Call { .. }) => Ok(()),
        _ => Err("a release gives up after a conflict".to_owned()),
    }
}

fn releases_free_what_was_written(before: &Known, asked: &Asked<'_>, _: &Event) -> Checked {
    let Some(Next::Call { io: io @ Io::Update(..), .. }) = asked.turn().map(|turn| &turn.next)
    else {
        return Ok(());
    };
    let Some(Ok(read)) = asked.learned() else { return Ok(()) };
    let (count, written) = (read.record.transitions, before.written);
    if claims_the_lease(io) || !before.is_strict() || written == Some(count) {
        return Ok(());
    }
    let who = &before.config.identity;
    Err(format!("{who} frees a lease that counts {count}, and it has written {written:?}"))
}

/// How late a sleeper may be on real threads. The clock of a checker stands still while a thread
/// can move.
const SLACK: Duration = Duration::from_millis(300);

fn sleepers_wake_in_time(known: &ElectorLedger, moment: Moment<'_, Elector>) -> Checked {
    match moment {
        Moment::Before(event) => known
            .asked(event)
            .map_or(Ok(()), |(before, asked)| wakes_in_time(before, &asked, event)),
        Moment::End(history) if matches!(history.end, End::Deadlock(_)) => {
            for elector in &known.of_calls(history).electors {
                let called = elector.sleepers.iter().find_map(|sleeper| sleeper.called);
                if let Some((_, because)) = called {
                    let who = &elector.config.identity;
                    return Err(format!("a sleeper of {who} never wakes although {because}"));
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn wakes_in_time(before: &Known, asked: &Asked<'_>, event: &Event) -> Checked {
    if !matches!(asked.op, Op::Rest(_) | Op::Watch(_)) {
        return Ok(());
    }
    let Some(sleeper) = before.sleepers.iter().find(|sleeper| sleeper.thread == event.thread)
    else {
        return Ok(());
    };
    let (who, at) = (&before.config.identity, event.at);
    if let Some(patience) = before.patience.filter(|_| matches!(asked.op, Op::Rest(_)))
        && patience + SLACK < at
    {
        return Err(format!("{who} waits for its work at {at:?}, which had until {patience:?}"));
    }
    match sleeper.called {
        Some((since, because)) if since + SLACK < at => {
            Err(format!("a sleeper of {who} wakes at {at:?}; at {since:?} {because}"))
        }
        _ => Ok(()),
    }
}
