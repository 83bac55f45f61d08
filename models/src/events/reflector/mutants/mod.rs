//! The bugs: one change each in the reflector's requests, or in the replies that it gets.

mod asked;
mod pauses;
mod told;

use seatrial_core::informer::reflector::{Delivery, Got, ReflectorError, Want};
use seatrial_core::informer::{Event, ListOptions, Page, SourceError, SourceKind, WatchOptions};
use seatrial_core::runtime::Instant;

use super::Reflector;
use super::follower::Follower;
use super::server::{Object, error};
use super::tried::{Ask, Bend, Memory, Tell};
use crate::trial::{MachineOf, Mutant};

pub(super) fn bent(bend: Bend) -> MachineOf<Reflector> {
    Box::new(Follower::bent(bend))
}

pub(super) fn asks(ask: Ask) -> MachineOf<Reflector> {
    bent(Bend { ask, ..Bend::NONE })
}

pub(super) fn hears(tell: Tell) -> MachineOf<Reflector> {
    bent(Bend { tell, ..Bend::NONE })
}

pub(super) fn lists(want: Want<Object>, edit: impl FnOnce(&mut ListOptions)) -> Want<Object> {
    match want {
        Want::List(mut options) => {
            edit(&mut options);
            Want::List(options)
        }
        want => want,
    }
}

pub(super) fn watches(want: Want<Object>, edit: impl FnOnce(&mut WatchOptions)) -> Want<Object> {
    match want {
        Want::Watch(mut options) => {
            edit(&mut options);
            Want::Watch(options)
        }
        want => want,
    }
}

pub(super) fn sleeps(
    want: Want<Object>,
    edit: impl FnOnce(Instant, Option<ReflectorError>) -> (Instant, Option<ReflectorError>),
) -> Want<Object> {
    match want {
        Want::Sleep { until, failed } => {
            let (until, failed) = edit(until, failed);
            Want::Sleep { until, failed }
        }
        want => want,
    }
}

/// Replaces one kind of failure by another.
pub(super) fn mistakes(
    got: Got<Object>,
    (list, open, stream): (bool, bool, bool),
    edit: impl FnOnce(SourceKind) -> SourceKind,
) -> Got<Object> {
    let taken = |it: SourceError| {
        let after = it.retry_after();
        let taken = error(edit(it.kind()));
        after.map_or(taken.clone(), |after| taken.after(after))
    };
    match got {
        Got::Listed(Err(error)) if list => Got::Listed(Err(taken(error))),
        Got::Opened(Err(error)) if open => Got::Opened(Err(taken(error))),
        Got::Event(Some(Event::Error(error))) if stream => {
            Got::Event(Some(Event::Error(taken(error))))
        }
        got => got,
    }
}

pub(super) fn pages(got: Got<Object>, edit: impl FnOnce(&mut Page<Object>)) -> Got<Object> {
    match got {
        Got::Listed(Ok(mut page)) => {
            edit(&mut page);
            Got::Listed(Ok(page))
        }
        got => got,
    }
}

pub(super) fn events(
    got: Got<Object>,
    edit: impl FnOnce(Option<Event<Object>>) -> Option<Event<Object>>,
) -> Got<Object> {
    match got {
        Got::Event(event) => Got::Event(edit(event)),
        got => got,
    }
}

pub(super) fn delivers(
    want: Want<Object>,
    edit: impl FnOnce(Delivery<Object>) -> Delivery<Object>,
) -> Want<Object> {
    match want {
        Want::Deliver(delivery) => Want::Deliver(edit(delivery)),
        want => want,
    }
}

pub(super) fn goes_on(options: &ListOptions) -> bool {
    !options.continue_token.is_empty()
}

pub(super) fn broke_with(memory: &Memory, kind: SourceKind) -> bool {
    memory.failed == Some(kind)
}

pub(super) fn all() -> Vec<Mutant<Reflector>> {
    [
        asked::of_versions(),
        asked::of_odd_versions(),
        asked::of_pages(),
        asked::of_answered_pages(),
        pauses::of_kinds(),
        pauses::of_pauses(),
        told::of_streams(),
        told::of_events(),
        told::of_heard(),
        told::of_first(),
    ]
    .concat()
}

pub(super) fn deletions_are_not_given(_: &mut Memory, want: Want<Object>) -> Want<Object> {
    delivers(want, |it| match it {
        Delivery::Delete(object) => Delivery::Bookmark(object.version.to_string()),
        it => it,
    })
}

pub(super) fn no_bookmark_ends(_: &mut Memory, got: Got<Object>) -> Got<Object> {
    events(got, |event| match event {
        Some(Event::Bookmark { resource_version, .. }) => {
            Some(Event::Bookmark { resource_version, ends_initial: false })
        }
        event => event,
    })
}
