//! Promises about terms: which caller is told that it leads, and until when.

use seatrial_core::elector::Next;

use super::{Checked, after_every_step, at_every_step};
use crate::elector::asked::{Asked, claims_the_lease};
use crate::elector::ledger::{Elector as Known, ElectorLedger, lead};
use crate::elector::scene;
use crate::elector::timeline::number_of;
use crate::elector::{Elector, Event, History};
use crate::engine::End;
use crate::trial::{Invariant, What};

pub(super) fn all() -> Vec<Invariant<Elector>> {
    vec![
        at_every_step(
            "over_is_over",
            "no answer says that a term lasts after it was cancelled, ended or reported over",
            &[
                "election:ENV-5",
                "election:LE-46",
                "election:LE-50",
                "election:INV-13",
                "election:LE-32",
            ],
            over_is_over,
        ),
        at_every_step(
            "leads_within_its_time",
            "no answer says that a strict elector leads longer than its last renewal allows",
            &["election:SF-10", "election:SF-11", "election:LE-51", "election:INV-24"],
            leads_within_its_time,
        ),
        after_every_step(
            "loss_ends_leadership",
            "a strict elector that reads that it lost the lease does not lead again in this run",
            &["election:LE-38", "election:SF-18"],
            loss_ends_leadership,
        ),
        after_every_step(
            "token_names_its_write",
            "a term's fencing token is that of the write that acquired the lease",
            &["election:SF-14", "election:SF-15"],
            token_names_its_write,
        ),
        Invariant::at_every_event(
            "tokens_rise",
            "the later of two acquisitions has the higher fencing token",
            &["election:SF-14", "election:LE-26", "election:LE-38", "election:SF-16"],
            tokens_rise,
        ),
        Invariant::at_every_event(
            "stops_once",
            "a run leads once, starts its work once, and then calls its stop callback once",
            &["election:LE-46", "election:LE-47", "election:LE-49", "election:INV-12"],
            stops_once,
        ),
        at_every_step(
            "nobody_leads_idly",
            "no elector renews a lease for work that has ended",
            &["election:LE-48", "election:LE-49"],
            nobody_leads_idly,
        ),
        at_every_step(
            "terms_end_for_a_reason",
            "a strict term ends only because its run was cancelled, its time is over, its lease is \
             lost or its own work has ended",
            &["election:SF-11", "election:LE-38", "election:LE-48"],
            terms_end_for_a_reason,
        ),
        Invariant::at_the_end(
            "cancelled_runs_return",
            "a cancelled run returns",
            &["election:ENV-6", "election:LV-8", "election:LE-34"],
            cancelled_runs_return,
        ),
    ]
}

fn over_is_over(before: &Known, asked: &Asked<'_>, _: &Event) -> Checked {
    let Some(claimed) = asked.claims(before.is_strict()) else { return Ok(()) };
    let Some(term) = &before.term else { return Ok(()) };
    if claimed.is_some_and(|number| number < term.number) {
        let who = &before.config.identity;
        return Err(format!("{who} is told that it leads in an earlier term"));
    }
    match term.over {
        Some(because) if claimed.is_none_or(|number| number == term.number) => {
            Err(format!("{} is told that it leads, and {because}", before.config.identity))
        }
        _ => Ok(()),
    }
}

fn leads_within_its_time(before: &Known, asked: &Asked<'_>, event: &Event) -> Checked {
    let claims = asked.claims(true).is_some() || lead(asked).is_some();
    if !claims || !before.is_strict() {
        return Ok(());
    }
    // If the step learns of a success, the attempt that ends with it decides.
    let until = match asked.learned() {
        Some(Ok(_)) => Some(before.began + before.config.acting()),
        _ => before.valid_until,
    };
    match until {
        Some(until) if event.at < until => Ok(()),
        _ => {
            let (who, at) = (&before.config.identity, event.at);
            Err(format!("{who} is told at {at:?} that it leads, and may lead until {until:?}"))
        }
    }
}

/// A state that is read in this very step counts as well.
fn loss_ends_leadership(after: &Known, asked: &Asked<'_>, _: &Event) -> Checked {
    let renews = asked
        .turn()
        .is_some_and(|turn| matches!(&turn.next, Next::Call { io, .. } if claims_the_lease(io)));
    let goes_on = renews || asked.claims(true).is_some();
    if goes_on && after.led && after.term.as_ref().is_some_and(|term| term.lost) {
        let who = &after.config.identity;
        return Err(format!("{who} goes on although it has read that it lost the lease"));
    }
    Ok(())
}

fn token_names_its_write(after: &Known, asked: &Asked<'_>, _: &Event) -> Checked {
    match lead(asked) {
        Some(fence) if after.accepted.as_ref() != Some(fence) => {
            let (who, accepted) = (&after.config.identity, &after.accepted);
            Err(format!("{who} leads with the token {fence:?}, and its write was {accepted:?}"))
        }
        _ => Ok(()),
    }
}

fn tokens_rise(before: &ElectorLedger, event: &Event) -> Checked {
    let Some((elector, asked)) = before.asked(event) else { return Ok(()) };
    let Some(fence) = lead(&asked).filter(|_| elector.is_strict()) else { return Ok(()) };
    for other in before.fences.iter().filter(|other| other.uid == fence.uid) {
        let later = number_of(&fence.version).cmp(&number_of(&other.version));
        if fence.transitions.cmp(&other.transitions) != later {
            return Err(format!("the tokens {other:?} and {fence:?} are not in order"));
        }
    }
    Ok(())
}

fn stops_once(before: &ElectorLedger, event: &Event) -> Checked {
    if let Some((elector, asked)) = before.asked(event)
        && elector.led
        && lead(&asked).is_some()
    {
        return Err(format!("{} leads twice in a run", elector.config.identity));
    }
    let What::Note { label, value } = &event.what else { return Ok(()) };
    let Some(elector) = before.electors.get(*value as usize) else { return Ok(()) };
    let who = &elector.config.identity;
    match *label {
        scene::STOPS if elector.running => {
            Err(format!("{who} is told to stop while its run goes on"))
        }
        scene::STOPS if elector.stops > 0 => Err(format!("{who} is told to stop twice")),
        scene::RETURNS if elector.stops != 1 => {
            Err(format!("a run of {who} returns after {} stop callbacks", elector.stops))
        }
        scene::STARTS if elector.starts >= elector.terms => {
            Err(format!("{who} starts to work without a term"))
        }
        _ => Ok(()),
    }
}

fn nobody_leads_idly(before: &Known, asked: &Asked<'_>, _: &Event) -> Checked {
    match asked.turn().map(|turn| &turn.next) {
        Some(Next::Call { io, .. }) if before.idle && claims_the_lease(io) => {
            Err(format!("{} renews its lease, and nobody works", before.config.identity))
        }
        _ => Ok(()),
    }
}

fn terms_end_for_a_reason(before: &Known, asked: &Asked<'_>, event: &Event) -> Checked {
    let Some(term) = before.term.as_ref().filter(|term| term.over.is_none()) else {
        return Ok(());
    };
    let leads = before.is_strict() && before.running && before.led && !before.cancelled;
    let ends_the_run = asked
        .turn()
        .is_some_and(|turn| turn.notes.metric_off || matches!(turn.next, Next::Ended { .. }));
    let ends = ends_the_run || asked.over() == Some(term.number);
    if !leads || !ends || term.lost || before.reads_its_loss(asked) {
        return Ok(());
    }
    // A round fails at its deadline, and it began after the last success did.
    let lasts = before.config.acting().min(before.config.timing.renew);
    match before.renewed.map(|began| began + lasts) {
        Some(until) if event.at < until => {
            let (who, at) = (&before.config.identity, event.at);
            let lasts = format!("it lasts until {until:?}");
            Err(format!("the term of {who} ends at {at:?} without a reason; {lasts}"))
        }
        _ => Ok(()),
    }
}

fn cancelled_runs_return(known: &ElectorLedger, history: &History) -> Checked {
    let electors = &known.of_calls(history).electors;
    match electors.iter().find(|elector| elector.running && elector.cancelled) {
        Some(elector) if matches!(history.end, End::Finished | End::Deadlock(_)) => {
            let who = &elector.config.identity;
            Err(format!("{who} was cancelled, and its run does not return"))
        }
        _ => Ok(()),
    }
}
