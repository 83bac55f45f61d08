//! The promises of a candidate, as checks of a history.

use std::time::Duration;

use seatrial_core::elector::StoreError;
use seatrial_core::elector::candidate::{CandidateSpec, RENEW_EVERY};
use seatrial_core::runtime::Instant;

use super::server::{Answer, Call, Ping, Place, Serve};
use super::stage::{BEGINS, CANCELS, ENDED, RETURNS, itself};
use super::{Candidate, Event};
use crate::trial::{self, Invariant};

/// How long a prompt reaction may take: the lag of the watch, and a few retries.
const SOON: Duration = Duration::from_secs(2);
/// The shortest pause between a failure and the next try.
const PAUSE: Duration = Duration::from_millis(5);

pub(super) fn all() -> Vec<Invariant<Candidate>> {
    vec![
        Invariant::at_every_event(
            "renews_in_time",
            "a candidate publishes its object when it begins, and renews it every five minutes",
            &["election:LC-4", "election:LC-5"],
            renews_in_time,
        ),
        Invariant::at_every_event(
            "pings_are_answered",
            "a pinged candidate renews its object, whatever fields the object lacked",
            &["election:LC-7"],
            pings_are_answered,
        ),
        Invariant::at_every_event(
            "pings_are_kept",
            "no write of a candidate removes a ping, so the server sees which candidate answered",
            &["election:LC-7"],
            pings_are_kept,
        ),
        Invariant::at_every_event(
            "describes_itself",
            "every write of a candidate names it, the versions that it runs, and a renew time",
            &["election:LC-2", "election:LC-6"],
            describes_itself,
        ),
        Invariant::at_every_event(
            "retries_pause",
            "a candidate whose write failed waits before it tries again, unless it is pinged",
            &["election:LC-5"],
            retries_pause,
        ),
        Invariant::at_every_event(
            "ends_with_its_token",
            "a candidate returns when its token ends, and does not wait for its next renewal",
            &["election:LC-4"],
            ends_with_its_token,
        ),
        Invariant::at_every_event(
            "nothing_outlives_it",
            "a candidate that has returned neither writes nor watches",
            &["election:LC-4", "election:INV-27"],
            nothing_outlives_it,
        ),
        Invariant::at_every_event(
            "ended_before_it_began",
            "a candidate whose token has ended before it began writes nothing",
            &["election:LC-4"],
            ended_before_it_began,
        ),
    ]
}

/// The known state of the candidate and of its object.
#[derive(Clone, Debug, Default)]
pub(super) struct CandidateLedger {
    began: Option<Instant>,
    cancelled: Option<Instant>,
    returned: bool,
    /// Whether the token has ended, and whether it had ended when the candidate began.
    ended: bool,
    too_late: bool,
    /// When it last wrote, and when a write last failed.
    wrote: Option<Instant>,
    failed: Option<Instant>,
    pub(super) object: Option<CandidateSpec>,
    /// The time since which a ping has waited for its answer.
    pinged: Option<Instant>,
}

impl CandidateLedger {
    /// Tells whether it runs and has not been cancelled.
    pub(super) fn runs(&self) -> bool {
        self.began.is_some() && self.cancelled.is_none() && !self.returned
    }

    fn store(&mut self, spec: &CandidateSpec, at: Instant) {
        self.object = Some(spec.clone());
        self.pinged = if spec.is_pinged() { self.pinged.or(Some(at)) } else { None };
    }
}

impl trial::Ledger<Candidate> for CandidateLedger {
    fn apply(&mut self, event: &Event) {
        let at = event.at;
        if event.noted(BEGINS).is_some() {
            (self.began, self.too_late) = (Some(at), self.ended);
        }
        if event.noted(CANCELS).is_some() {
            self.cancelled = Some(at);
        }
        self.ended |= event.noted(ENDED).is_some();
        self.returned |= event.noted(RETURNS).is_some();
        match event.returned() {
            Some((Call::Serve(_), Answer::Serve(Ok(shown)))) => {
                (self.wrote, self.failed) = (Some(at), None);
                self.store(shown.spec.as_ref().expect("it was written"), at);
            }
            Some((Call::Serve(_), Answer::Serve(Err(_)))) => self.failed = Some(at),
            Some((Call::Place(Place(spec)), _)) => self.store(spec, at),
            Some((Call::Delete(_), _)) => (self.object, self.pinged) = (None, None),
            Some((Call::Ping(Ping), _)) => {
                // The machine set the ping time to its own clock; any time after the last renewal
                // will do.
                self.pinged = self.object.is_some().then_some(at);
            }
            _ => {}
        }
    }
}

/// The object that the candidate wants written, if the event is such a call.
fn written(event: &Event) -> Option<(&CandidateSpec, Result<(), &StoreError>)> {
    match event.returned()? {
        (Call::Serve(Serve::Create(spec) | Serve::Update(spec, _)), Answer::Serve(answer)) => {
            Some((spec, answer.as_ref().map(|_| ())))
        }
        _ => None,
    }
}

fn renews_in_time(before: &CandidateLedger, event: &Event) -> Result<(), String> {
    let Some(began) = before.began.filter(|_| before.runs()) else { return Ok(()) };
    let (since, patience) = match before.wrote {
        Some(wrote) => (wrote, RENEW_EVERY + SOON),
        None => (began, SOON),
    };
    if event.at.since(since) <= patience {
        return Ok(());
    }
    Err(format!("nothing was renewed between {since:?} and {:?}", event.at))
}

fn pings_are_answered(before: &CandidateLedger, event: &Event) -> Result<(), String> {
    match before.pinged {
        Some(pinged) if before.runs() && event.at.since(pinged) > SOON => {
            Err(format!("the ping at {pinged:?} is not answered"))
        }
        _ => Ok(()),
    }
}

fn pings_are_kept(before: &CandidateLedger, event: &Event) -> Result<(), String> {
    let Some((spec, Ok(()))) = written(event) else { return Ok(()) };
    let had_one = before.pinged.is_some()
        || before.object.as_ref().is_some_and(|object| object.ping_time.is_some());
    if had_one && spec.ping_time.is_none() {
        return Err("a renewal takes the ping away".to_owned());
    }
    Ok(())
}

fn describes_itself(_: &CandidateLedger, event: &Event) -> Result<(), String> {
    let Some((spec, _)) = written(event) else { return Ok(()) };
    let said = spec.clone().ping_time(None).renew_time(None);
    if said != itself() {
        return Err(format!("it says of itself: {said:?}"));
    }
    if spec.renew_time.is_none() {
        return Err("it does not say when it was there".to_owned());
    }
    Ok(())
}

fn retries_pause(before: &CandidateLedger, event: &Event) -> Result<(), String> {
    match (written(event), before.failed) {
        (Some(_), Some(failed)) if before.pinged.is_none() && event.at.since(failed) < PAUSE => {
            Err(format!("it failed at {failed:?} and tries again at {:?}", event.at))
        }
        _ => Ok(()),
    }
}

fn ends_with_its_token(before: &CandidateLedger, event: &Event) -> Result<(), String> {
    match before.cancelled {
        Some(cancelled)
            if before.began.is_some() && !before.returned && event.at.since(cancelled) > SOON =>
        {
            Err(format!("it was cancelled at {cancelled:?} and has not returned"))
        }
        _ => Ok(()),
    }
}

fn nothing_outlives_it(before: &CandidateLedger, event: &Event) -> Result<(), String> {
    let acts = matches!(event.returned(), Some((Call::Serve(_) | Call::Watch(_), _)));
    if before.returned && acts {
        return Err("something of it still acts after it has returned".to_owned());
    }
    Ok(())
}

fn ended_before_it_began(before: &CandidateLedger, event: &Event) -> Result<(), String> {
    if before.too_late && written(event).is_some() {
        return Err("its token had ended before it began, and it writes".to_owned());
    }
    Ok(())
}
