//! Promises for a lease whose holder the server chooses.

use seatrial_core::elector::{LeaseSpec, Name};

use super::Checked;
use crate::elector::ledger::ElectorLedger;
use crate::elector::part::{Answer, Call, Request, Serve};
use crate::elector::{Elector, Event};
use crate::trial::Invariant;

pub(super) fn all() -> Vec<Invariant<Elector>> {
    vec![Invariant::at_every_event(
        "server_chooses",
        "where the server chooses, an elector creates no lease, renews only a lease that names it, \
         and lets its term end when another elector is preferred",
        &["election:LC-1", "election:LC-9", "election:LC-12", "election:LC-14", "election:INV-28"],
        server_chooses,
    )]
}

fn names(named: Option<&Name>) -> &str {
    named.map_or("", Name::as_str)
}

fn server_chooses(before: &ElectorLedger, event: &Event) -> Checked {
    let Some((Call::Serve(serve), Answer::Serve(Ok(_)))) = event.returned() else {
        return Ok(());
    };
    let Serve { by: Some(number), request, .. } = serve else { return Ok(()) };
    let elector = &before.electors[usize::from(*number)];
    if !elector.config.coordinated {
        return Ok(());
    }
    match request {
        Request::Create(_) => Err("it creates a lease".to_owned()),
        Request::Update(_) => {
            let lease = before.lease.as_ref().map(|lease| &lease.content);
            may_renew(lease.expect("it was updated"), &elector.config.identity)
        }
        _ => Ok(()),
    }
}

fn may_renew(lease: &LeaseSpec, identity: &Name) -> Checked {
    let (holder, preferred) =
        (names(lease.holder.as_ref()), names(lease.preferred_holder.as_ref()));
    if holder != identity.as_str() {
        return Err(format!("'{identity}' takes a lease that names '{holder}'"));
    }
    if !preferred.is_empty() {
        return Err(format!("'{identity}' renews though '{preferred}' is preferred"));
    }
    Ok(())
}
