//! The promises of the builder, as checks of a history.

use super::machine::{Call, Said};
use super::{Address, History, Spec};
use crate::trial::{Invariant, Violation};
use crate::wire::fixtures;

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Address>> {
    vec![
        Invariant::always(
            "first_mistake_is_told",
            "the first mistake is kept and reported, and a correct call is no mistake",
            &["election:RQ-9", "election:RQ-10", "election:RINV-12"],
            |history| {
                each(history, |_, said, right| said.url.as_ref().err() == right.url.as_ref().err())
            },
        ),
        Invariant::always(
            "parts_stay_segments",
            "a namespace, resource, name or subresource adds its own segments and no others",
            &["election:RQ-10", "election:RINV-13"],
            parts_stay_segments,
        ),
        Invariant::always(
            "paths_are_right",
            "the path of an address is built as the reference builds it",
            &[
                "election:RQ-11",
                "election:RQ-12",
                "election:RQ-20",
                "election:RQ-21",
                "election:RQ-25",
            ],
            |history| {
                both(history, |said| Some(said.url.as_ref().ok()?.split('?').next()?.to_owned()))
            },
        ),
        Invariant::always(
            "parameters_are_right",
            "parameters are sorted by key, and the time-out replaces the parameter of its name",
            &["election:RQ-12", "election:RQ-23", "election:RQ-24"],
            |history| {
                both(history, |said| {
                    let query = said.url.as_ref().ok()?.split_once('?');
                    Some(query.map_or("", |(_, query)| query).to_owned())
                })
            },
        ),
        Invariant::always(
            "templates_name_nobody",
            "a template replaces names, namespaces and values by placeholders, and keeps the rest",
            &["election:RQ-95"],
            |history| both(history, |said| said.template.clone().ok()),
        ),
        Invariant::always(
            "telling_changes_nothing",
            "reading an address or its template does not change the request",
            &["election:RQ-25", "election:RINV-9"],
            |history| each(history, |_, said, _| said.stays),
        ),
        Invariant::always(
            "one_object_has_its_namespace",
            "a call on one object with an empty namespace is refused, and no other call is",
            &["election:RQ-13", "election:RQ-40"],
            one_object_has_its_namespace,
        ),
    ]
}

/// Checks every call against the expected result.
fn each(history: &History, check: impl Fn(&Call, &Said, &Said) -> bool) -> Checked {
    fixtures::each::<Address, _>(history, |_: &Spec, call, said, right| check(call, said, right))
}

/// Compares a part of the result, if neither side reports a mistake.
fn both(history: &History, part: fn(&Said) -> Option<String>) -> Checked {
    each(history, |_, said, right| match (part(said), part(right)) {
        (Some(said), Some(right)) => said == right,
        _ => true,
    })
}

fn segments(said: &Said) -> Option<usize> {
    let path = said.url.as_ref().ok()?.split('?').next()?;
    Some(path.split('/').filter(|segment| !segment.is_empty()).count())
}

/// A part that is set adds its own segments. The address before it may be missing.
fn parts_stay_segments(history: &History) -> Checked {
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

fn one_object_has_its_namespace(history: &History) -> Checked {
    each(history, |_, said, right| {
        said.url.is_err() || right.url.is_err() || said.refused == right.refused
    })
}
