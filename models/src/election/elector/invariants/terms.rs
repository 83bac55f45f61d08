//! Promises about terms: which caller is told that it leads, and until when.

use seatrial_core::elector::Next;

use super::Checked;
use crate::elector::ledger::{ElectorLedger, at_every_step, at_the_end_of_calls, lead};
use crate::elector::scene;
use crate::elector::timeline::{claims_the_lease, number_of};
use crate::elector::{Elector, Event, History};
use crate::engine::End;
use crate::trial::{Invariant, Ledger as _, Violation, What};

pub(super) fn all() -> Vec<Invariant<Elector>> {
    vec![
        Invariant::always(
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
        Invariant::always(
            "leads_within_its_time",
            "no answer says that a strict elector leads longer than its last renewal allows",
            &["election:SF-10", "election:SF-11", "election:LE-51", "election:INV-24"],
            leads_within_its_time,
        ),
        Invariant::always(
            "loss_ends_leadership",
            "a strict elector that reads that it lost the lease does not lead again in this run",
            &["election:LE-38", "election:SF-18"],
            loss_ends_leadership,
        ),
        Invariant::always(
            "token_names_its_write",
            "a term's fencing token is that of the write that acquired the lease",
            &["election:SF-14", "election:SF-15"],
            token_names_its_write,
        ),
        Invariant::always(
            "tokens_rise",
            "the later of two acquisitions has the higher fencing token",
            &["election:SF-14", "election:LE-26", "election:LE-38", "election:SF-16"],
            tokens_rise,
        ),
        Invariant::always(
            "stops_once",
            "a run leads once, starts its work once, and then calls its stop callback once",
            &["election:LE-46", "election:LE-47", "election:LE-49", "election:INV-12"],
            stops_once,
        ),
        Invariant::always(
            "nobody_leads_idly",
            "no elector renews a lease for work that has ended",
            &["election:LE-48", "election:LE-49"],
            nobody_leads_idly,
        ),
        Invariant::always(
            "terms_end_for_a_reason",
            "a strict term ends only because its run was cancelled, its time is over, its lease is \
             lost or its own work has ended",
            &["election:SF-11", "election:LE-38", "election:LE-48"],
            terms_end_for_a_reason,
        ),
        Invariant::eventually(
            "cancelled_runs_return",
            "a cancelled run returns",
            &["election:ENV-6", "election:LV-8", "election:LE-34"],
            cancelled_runs_return,
        ),
    ]
}

fn over_is_over(history: &History) -> Checked {
    at_every_step(history, |before, asked, _| {
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
    })
}

fn leads_within_its_time(history: &History) -> Checked {
    at_every_step(history, |before, asked, event| {
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
    })
}

fn loss_ends_leadership(history: &History) -> Checked {
    let goes_on = |before: &ElectorLedger, event| {
        let (_, asked) = before.asked(event)?;
        let renews = asked.turn().is_some_and(
            |turn| matches!(&turn.next, Next::Call { io, .. } if claims_the_lease(io)),
        );
        (renews || asked.claims(true).is_some()).then_some(asked.number)
    };
    // After the step: a state that is read in this very step counts as well.
    ElectorLedger::after_events(history, goes_on, |after, number| {
        let now = &after.electors[usize::from(number)];
        if now.led && now.term.as_ref().is_some_and(|term| term.lost) {
            let who = &now.config.identity;
            return Err(format!("{who} goes on although it has read that it lost the lease"));
        }
        Ok(())
    })
}

fn token_names_its_write(history: &History) -> Checked {
    let leads = |before: &ElectorLedger, event| {
        let (_, asked) = before.asked(event)?;
        Some((asked.number, lead(&asked)?.clone()))
    };
    ElectorLedger::after_events(history, leads, |after, (number, fence)| {
        let elector = &after.electors[usize::from(number)];
        if elector.accepted.as_ref() == Some(&fence) {
            return Ok(());
        }
        let (who, accepted) = (&elector.config.identity, &elector.accepted);
        Err(format!("{who} leads with the token {fence:?}, and its write was {accepted:?}"))
    })
}

fn tokens_rise(history: &History) -> Checked {
    ElectorLedger::at_every_event(history, |before, event| {
        let Some((elector, asked)) = before.asked(event) else { return Ok(()) };
        let Some(fence) = lead(&asked).filter(|_| elector.is_strict()) else { return Ok(()) };
        for other in before.fences.iter().filter(|other| other.uid == fence.uid) {
            let later = number_of(&fence.version).cmp(&number_of(&other.version));
            if fence.transitions.cmp(&other.transitions) != later {
                return Err(format!("the tokens {other:?} and {fence:?} are not in order"));
            }
        }
        Ok(())
    })
}

fn stops_once(history: &History) -> Checked {
    ElectorLedger::at_every_event(history, |before, event| {
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
    })
}

fn nobody_leads_idly(history: &History) -> Checked {
    at_every_step(history, |before, asked, _| match asked.turn().map(|turn| &turn.next) {
        Some(Next::Call { io, .. }) if before.idle && claims_the_lease(io) => {
            Err(format!("{} renews its lease, and nobody works", before.config.identity))
        }
        _ => Ok(()),
    })
}

fn terms_end_for_a_reason(history: &History) -> Checked {
    let ends = |before: &ElectorLedger, event: &Event| {
        let (elector, asked) = before.asked(event)?;
        let term = elector.term.as_ref().filter(|term| term.over.is_none())?;
        let leads = elector.is_strict() && elector.running && elector.led && !elector.cancelled;
        let ends_the_run = asked
            .turn()
            .is_some_and(|turn| turn.notes.metric_off || matches!(turn.next, Next::Ended { .. }));
        if !leads || !(ends_the_run || asked.over() == Some(term.number)) {
            return None;
        }
        // A round fails at its deadline, and it began after the last success did.
        let lasts = elector.config.acting().min(elector.config.timing.renew);
        let until = elector.renewed.map(|began| began + lasts)?;
        (event.at < until).then_some((asked.number, event.at, until))
    };
    ElectorLedger::after_events(history, ends, |after, (number, at, until)| {
        let now = &after.electors[usize::from(number)];
        if now.term.as_ref().is_some_and(|term| term.lost) {
            return Ok(());
        }
        let who = &now.config.identity;
        let lasts = format!("it lasts until {until:?}");
        Err(format!("the term of {who} ends at {at:?} without a reason; {lasts}"))
    })
}

fn cancelled_runs_return(history: &History) -> Checked {
    let ledger = at_the_end_of_calls(history);
    let stuck = ledger.electors.iter().find(|elector| elector.running && elector.cancelled);
    match (stuck, &history.end) {
        (Some(elector), End::Finished | End::Deadlock(_)) => {
            let who = &elector.config.identity;
            Err(Violation::overall(format!("{who} was cancelled, and its run does not return")))
        }
        _ => Ok(()),
    }
}
