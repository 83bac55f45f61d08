//! The promises of the builder, as checks of a history.

use super::machine::{Call, Said};
use super::{Address, History, Spec};
use crate::trial::{Invariant, Violation};
use crate::wire::fixtures::at_every_call;

pub(super) fn all() -> Vec<Invariant<Address>> {
    vec![
        at_every_call::<Address, Spec>(
            "first_mistake_is_told",
            "the first mistake is kept and reported, and a correct call is no mistake",
            &["election:RQ-9", "election:RQ-10", "election:RINV-12"],
            |_, _, said, right| said.url.as_ref().err() == right.url.as_ref().err(),
        ),
        Invariant::always(
            "parts_stay_segments",
            "a namespace, resource, name or subresource adds its own segments and no others",
            &["election:RQ-10", "election:RINV-13"],
            parts_stay_segments,
        ),
        at_every_call::<Address, Spec>(
            "paths_are_right",
            "the path of an address is built as the reference builds it",
            &[
                "election:RQ-11",
                "election:RQ-12",
                "election:RQ-20",
                "election:RQ-21",
                "election:RQ-25",
            ],
            |_, _, said, right| {
                both(said, right, |it| Some(it.url.as_ref().ok()?.split('?').next()?.to_owned()))
            },
        ),
        at_every_call::<Address, Spec>(
            "parameters_are_right",
            "parameters are sorted by key, and the time-out replaces the parameter of its name",
            &["election:RQ-12", "election:RQ-23", "election:RQ-24"],
            |_, _, said, right| {
                both(said, right, |it| {
                    let query = it.url.as_ref().ok()?.split_once('?');
                    Some(query.map_or("", |(_, query)| query).to_owned())
                })
            },
        ),
        at_every_call::<Address, Spec>(
            "templates_name_nobody",
            "a template replaces names, namespaces and values by placeholders, and keeps the rest",
            &["election:RQ-95"],
            |_, _, said, right| both(said, right, |it| it.template.clone().ok()),
        ),
        at_every_call::<Address, Spec>(
            "telling_changes_nothing",
            "reading an address or its template does not change the request",
            &["election:RQ-25", "election:RINV-9"],
            |_, _, said, _| said.stays,
        ),
        at_every_call::<Address, Spec>(
            "one_object_has_its_namespace",
            "a call on one object with an empty namespace is refused, and no other call is",
            &["election:RQ-13", "election:RQ-40"],
            |_, _, said, right| {
                said.url.is_err() || right.url.is_err() || said.refused == right.refused
            },
        ),
    ]
}

/// Compares a part of the result, if neither side reports a mistake.
fn both(said: &Said, right: &Said, part: fn(&Said) -> Option<String>) -> bool {
    match (part(said), part(right)) {
        (Some(said), Some(right)) => said == right,
        _ => true,
    }
}

fn segments(said: &Said) -> Option<usize> {
    let path = said.url.as_ref().ok()?.split('?').next()?;
    Some(path.split('/').filter(|segment| !segment.is_empty()).count())
}

/// A part that is set adds its own segments. The address before it may be missing.
fn parts_stay_segments(history: &History) -> Result<(), Violation> {
    let mut before = None;
    for (number, event) in history.events.iter().enumerate() {
        let Some((call, said)) = event.returned() else { continue };
        let now = segments(said);
        let adds = match call {
            Call::Resource(text) | Call::Name(text) => usize::from(!text.is_empty()),
            Call::Namespace(text) => 2 * usize::from(!text.is_empty()),
            Call::SubResource(parts) => parts.iter().filter(|part| !part.is_empty()).count(),
            _ => {
                before = now;
                continue;
            }
        };
        if let (Some(before), Some(now)) = (before, now)
            && now != before + adds
        {
            let because = format!("{call:?} makes {now} segments of {before}");
            return Err(Violation::at(number, because));
        }
        before = now;
    }
    Ok(())
}
