//! Streams that are read wrongly.

use std::time::Duration;

use seatrial_core::informer::reflector::{Delivery, Got, Want};
use seatrial_core::informer::{Event, SourceKind};
use seatrial_core::runtime::Instant;

use super::{
    asks, bent, deletions_are_not_given, delivers, events, hears, mistakes, no_bookmark_ends,
    watches,
};
use crate::reflector::Reflector;
use crate::reflector::server::{Object, Thing, error};
use crate::reflector::tried::Bend;
use crate::trial::{Mutant, mutants};

pub(super) fn of_streams() -> Vec<Mutant<Reflector>> {
    let mut all = mutants! { asks:
        Seeded "wants_no_bookmarks" from "cache:RE-16":
            (|_, want| watches(want, |it| it.allow_bookmarks = false))
            breaks ["watches_ask_rightly"];
        Seeded "streams_end_together" from "own: the streams of all clients end at the same time":
            (|_, want| watches(want, |it| it.timeout = Duration::from_secs(60)))
            breaks ["watches_ask_rightly"];
        Seeded "streams_end_after_the_least" from "cache:RE-16":
            (|_, want| watches(want, |it| it.timeout = Duration::from_secs(300)))
            breaks ["watches_ask_rightly"];
    };
    all.extend(mutants! { hears:
        Seeded "end_is_an_error" from "cache:RE-19":
            (|memory, got| {
                let stream = !memory.reads_a_list();
                events(got, |event| match event {
                    None if stream => Some(Event::Error(error(SourceKind::Eof))),
                    event => event,
                })
            }) breaks ["goes_on"];
        Seeded "error_is_an_end" from "cache:RE-19":
            (|memory, got| {
                let read = !memory.reads_a_list() && memory.events > 1;
                events(got, |event| match event {
                    Some(Event::Error(_)) if read => None,
                    event => event,
                })
            }) breaks ["failures_pause", "busy_servers_are_not_listed"];
        Seeded "nonsense_ends_the_stream" from "museum A58":
            (|_, got| events(got, |event| match event {
                Some(Event::Foreign(_)) => None,
                event => event,
            })) breaks ["goes_on"];
    });
    all.extend(mutants! { bent:
        Seeded "short_streams_are_tried_at_once" from "cache:RE-19":
            (Bend { time: |memory| memory.now + Duration::from_secs(1), ..Bend::NONE })
            breaks ["failures_pause"];
        Seeded "skips_in_silence" from "cache:RE-23":
            (Bend { silent: true, ..Bend::NONE }) breaks ["skipped_is_told"];
        Seeded "watch_time_starts_when_it_opens" from "museum A50":
            (Bend {
                time: |memory| {
                    let reads = matches!(memory.wanted, Some(Want::Next { .. }));
                    let late = if reads { u64::from(memory.count) * 1_000_000_000 } else { 0 };
                    Instant::from_nanos(memory.now.as_nanos() - late)
                },
                tell: |memory, got| {
                    if let Got::Opened(Ok(())) = got {
                        let took = memory.opened_at.since(memory.asked_at);
                        memory.count = took.as_secs() as u32;
                    }
                    got
                },
                ..Bend::NONE
            }) breaks ["goes_on"];
    });
    all
}

pub(super) fn of_events() -> Vec<Mutant<Reflector>> {
    mutants! { asks:
        Seeded "deletions_are_changes" from "cache:RE-24":
            (|_, want| delivers(want, |it| match it {
                Delivery::Delete(object) => Delivery::Update(object),
                it => it,
            })) breaks ["events_are_told", "comes_to_the_state"];
        Seeded "deletions_are_not_given" from "cache:RE-24":
            (deletions_are_not_given) breaks ["events_are_told", "comes_to_the_state"];
        Seeded "relists_delete_nothing" from "own: an object that is missing from the list is kept":
            (|memory, want| delivers(want, |it| match it {
                Delivery::Replace(mut objects, version) => {
                    let missing =
                        |it: &&Object| !objects.iter().any(|listed| listed.key == it.key);
                    let more: Vec<_> = memory.kept.iter().filter(missing).cloned().collect();
                    objects.extend(more);
                    memory.kept.clone_from(&objects);
                    Delivery::Replace(objects, version)
                }
                it => it,
            })) breaks ["a_list_is_one_state"];
        Seeded "adds_are_given_once"
            from "own: a name that was seen before is taken for a known object":
            (|memory, want| delivers(want, |it| match it {
                Delivery::Add(object) if memory.kept.iter().any(|it| it.key == object.key) => {
                    Delivery::Bookmark(object.version.to_string())
                }
                Delivery::Add(object) => {
                    memory.kept.push(object.clone());
                    Delivery::Add(object)
                }
                it => it,
            })) breaks ["events_are_told"];
    }
}

pub(super) fn of_heard() -> Vec<Mutant<Reflector>> {
    mutants! { hears:
        Seeded "refused_lists_count" from "cache:RE-12":
            (|_, got| match got {
                Got::Delivered(Err(_)) => Got::Delivered(Ok(())),
                got => got,
            }) breaks ["says_what_it_gave"];
        Seeded "bookmarks_are_not_heard" from "cache:RE-27":
            (|memory, got| {
                let stream = !memory.reads_a_list();
                events(got, |event| match event {
                    Some(Event::Bookmark { .. }) if stream => {
                        Some(Event::Foreign("a bookmark".into()))
                    }
                    event => event,
                })
            }) breaks ["events_are_told"];
        Seeded "what_is_gone_before_the_end_stays"
            from "own: a deletion before the end of the first objects is ignored":
            (|memory, got| {
                let first = memory.reads_a_list();
                events(got, |event| match event {
                    Some(Event::Deleted(object)) if first => {
                        let resource_version = object.version.to_string();
                        Some(Event::Bookmark { resource_version, ends_initial: false })
                    }
                    event => event,
                })
            }) breaks ["a_list_is_one_state"];
        Seeded "nonsense_counts" from "cache:RE-23":
            (|memory, got| {
                let stream = !memory.reads_a_list();
                events(got, |event| match event {
                    Some(Event::Modified(object)) if !crate::reflector::turn::is_named(&object) => {
                        Some(Event::Bookmark {
                            resource_version: object.version.to_string(),
                            ends_initial: false,
                        })
                    }
                    Some(Event::Foreign(_)) if stream => {
                        Some(Event::Added(Thing::object(3, 0)))
                    }
                    event => event,
                })
            }) breaks ["events_are_told"];
        Seeded "versions_of_deletions_do_not_count" from "cache:HN-8":
            (|memory, got| {
                let last = memory.version.clone();
                if let Got::Event(Some(
                    Event::Added(object) | Event::Modified(object),
                )) = &got {
                    memory.version = object.version.to_string();
                }
                events(got, |event| match event {
                    Some(Event::Deleted(object)) if !last.is_empty() => {
                        let at = last.parse().unwrap_or(object.version);
                        Some(Event::Deleted(Thing::object(object.key, at)))
                    }
                    event => event,
                })
            }) breaks ["events_are_told"];
    }
}

/// Mutants about the first objects that come through a stream.
pub(super) fn of_first() -> Vec<Mutant<Reflector>> {
    let mut all = mutants! { hears:
        Seeded "any_bookmark_ends_the_first_objects" from "museum A52":
            (|memory, got| {
                let reads = memory.reads_a_list();
                events(got, |event| match event {
                    Some(Event::Bookmark { resource_version, .. }) if reads => {
                        Some(Event::Bookmark { resource_version, ends_initial: true })
                    }
                    event => event,
                })
            }) breaks ["a_list_is_one_state"];
        Seeded "no_bookmark_ends_the_first_objects" from "cache:WL-13":
            (no_bookmark_ends) breaks ["events_are_told", "comes_to_the_state"];
        Seeded "first_of_the_first_is_lost" from "cache:WL-4":
            (|memory, got| {
                let reads = memory.reads_a_list();
                events(got, |event| match event {
                    Some(Event::Added(_)) if reads && memory.events == 1 => {
                        Some(Event::Foreign("the first".into()))
                    }
                    event => event,
                })
            }) breaks ["a_list_is_one_state"];
        Seeded "incomplete_streams_are_tried_for_ever" from "cache:WL-13":
            (|memory, got| {
                let again = memory.reads_a_list() && memory.events > 0;
                events(got, |event| match event {
                    None if again => Some(Event::Error(error(SourceKind::TooManyRequests))),
                    event => event,
                })
            }) breaks ["falls_back_to_lists"];
        Seeded "no_streams_is_no_answer" from "cache:WL-11":
            (|memory, got| {
                let asks_for_all = memory.reads_a_list();
                mistakes(got, (false, asks_for_all, false), |_| SourceKind::Refused)
            }) breaks ["falls_back_to_lists", "comes_to_the_state"];
    };
    all.extend(mutants! { bent:
        Seeded "asks_who_cannot_stream" from "cache:WL-1":
            (Bend { believes: true, ..Bend::NONE }) breaks ["watches_ask_rightly"];
        Seeded "what_came_before_a_break_is_kept" from "cache:WL-3":
            (Bend {
                tell: |memory, got| {
                    let reads = memory.reads_a_list();
                    if let (true, Got::Event(Some(Event::Added(object)))) = (reads, &got) {
                        memory.kept.push(object.clone());
                    }
                    got
                },
                ask: |memory, want| delivers(want, |it| match it {
                    Delivery::Replace(mut objects, version) => {
                        let missing =
                            |it: &&Object| !objects.iter().any(|listed| listed.key == it.key);
                        let more: Vec<_> = memory.kept.iter().filter(missing).cloned().collect();
                        objects.extend(more);
                        Delivery::Replace(objects, version)
                    }
                    it => it,
                }),
                ..Bend::NONE
            }) breaks ["a_list_is_one_state"];
    });
    all
}
