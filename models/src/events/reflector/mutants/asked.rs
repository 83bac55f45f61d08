//! Wrong requests.

use seatrial_core::informer::SourceKind;
use seatrial_core::informer::reflector::{Delivery, Got, Want};
use seatrial_core::store::Described as _;

use super::{asks, broke_with, goes_on, hears, lists, mistakes, pages, watches};
use crate::reflector::Reflector;
use crate::reflector::server::Object;
use crate::trial::{Mutant, mutants};

pub(super) fn of_versions() -> Vec<Mutant<Reflector>> {
    mutants! { asks:
        Seeded "lists_at_any_version" from "museum A36":
            (|_, want| lists(want, |it| if !goes_on(it) { it.resource_version = "0".into() }))
            breaks ["asks_for_what_it_has", "lists_never_go_back"];
        Seeded "lists_the_newest_after_an_expired_stream" from "museum A40":
            (|memory, want| {
                let herd = broke_with(memory, SourceKind::Expired) && !memory.version.is_empty();
                if let Want::Deliver(_) = want {
                    memory.version = "seen".into();
                }
                lists(want, |it| if herd { it.resource_version.clear() })
            }) breaks ["asks_for_what_it_has"];
        Seeded "lists_the_newest_at_first" from "cache:RE-3":
            (|memory, want| lists(want, |it| {
                if memory.wanted.is_none() { it.resource_version.clear() }
            })) breaks ["asks_for_what_it_has"];
        Seeded "newest_ever_after"
            from "own: the flag that asks for the newest version is never cleared":
            (|memory, want| {
                let useless = |kind| broke_with(memory, kind);
                let now = useless(SourceKind::Expired) || useless(SourceKind::TooLarge);
                memory.count += u32::from(now);
                let sticks = memory.count > 0;
                lists(want, |it| if sticks { it.resource_version.clear() })
            }) breaks ["asks_for_what_it_has"];
        Seeded "watches_from_a_refused_list"
            from "own: the version of a list is kept before the consumer accepts the list":
            (|memory, want| {
                if let Want::Deliver(Delivery::Replace(_, version)) = &want {
                    memory.version.clone_from(version);
                }
                let version = memory.version.clone();
                let want = watches(want, |it| {
                    if !version.is_empty() { it.resource_version.clone_from(&version) }
                });
                lists(want, |it| {
                    if !version.is_empty() && !goes_on(it) { it.resource_version = version }
                })
            }) breaks ["asks_for_what_it_has"];
        Seeded "rewatches_from_the_list"
            from "own: the version of the last list is kept, and those of later changes are not":
            (|memory, want| {
                if let Want::Deliver(Delivery::Replace(_, version)) = &want {
                    memory.version.clone_from(version);
                }
                let version = memory.version.clone();
                watches(want, |it| {
                    if !it.send_initial_events { it.resource_version = version }
                })
            }) breaks ["asks_for_what_it_has"];
    }
}

pub(super) fn of_odd_versions() -> Vec<Mutant<Reflector>> {
    mutants! { asks:
        Seeded "versions_that_are_none_are_taken"
            from "own: an event without a version clears the version":
            (|memory, want| {
                if let Want::Deliver(Delivery::Add(it) | Delivery::Update(it)) = &want {
                    let version = it.metadata().map(|it| it.resource_version.to_owned());
                    memory.count = u32::from(version.is_some_and(|it| it.is_empty()));
                }
                let lost = memory.count > 0;
                watches(want, |it| if lost { it.resource_version.clear() })
            }) breaks ["asks_for_what_it_has"];
        Seeded "keeps_a_condemned_version" from "cache:WL-10":
            (|memory, want| {
                let version = memory.version.clone();
                if let Want::Watch(options) = &want
                    && !options.resource_version.is_empty()
                {
                    memory.version.clone_from(&options.resource_version);
                }
                watches(want, |it| {
                    if it.send_initial_events && it.resource_version.is_empty() {
                        it.resource_version = version;
                    }
                })
            }) breaks ["asks_for_what_it_has"];
    }
}

fn goes_on_from(asked: &str, token: &str) -> bool {
    !token.is_empty() && asked == token
}

pub(super) fn of_pages() -> Vec<Mutant<Reflector>> {
    mutants! { asks:
        Seeded "pages_a_version_that_is_known" from "museum A40":
            (|_, want| lists(want, |it| if it.limit == 0 { it.limit = 500 }))
            breaks ["pages_as_told"];
        Seeded "next_page_has_a_version" from "cache:LW-9":
            (|memory, want| {
                if let Want::List(options) = &want
                    && !goes_on(options)
                {
                    memory.version.clone_from(&options.resource_version);
                }
                let version = memory.version.clone();
                lists(want, |it| if goes_on(it) { it.resource_version = version })
            }) breaks ["pages_as_told"];
        Seeded "next_page_has_any_size" from "cache:LW-8":
            (|_, want| lists(want, |it| if goes_on(it) { it.limit = 0 }))
            breaks ["pages_as_told"];
        Seeded "falls_back_to_pages" from "cache:LW-10":
            (|memory, want| {
                let fell = memory.failed == Some(SourceKind::Expired);
                let paged = matches!(&memory.wanted, Some(Want::List(it)) if goes_on(it));
                lists(want, |it| if fell && paged { it.limit = 2 })
            }) breaks ["pages_as_told"];
    }
}

pub(super) fn of_answered_pages() -> Vec<Mutant<Reflector>> {
    mutants! { hears:
        Seeded "first_page_is_all" from "cache:LW-8":
            (|_, got| pages(got, |page| page.continue_token.clear()))
            breaks ["a_list_is_one_state"];
        Seeded "later_pages_are_lost" from "cache:LW-8":
            (|memory, got| {
                let later = matches!(&memory.wanted, Some(Want::List(it)) if goes_on(it));
                pages(got, |page| if later { page.items.clear() })
            }) breaks ["a_list_is_one_state"];
        Seeded "pages_are_kept_when_they_expire"
            from "own: the list begins anew, and the items of its first pages are kept":
            (|memory, got| {
                let later = matches!(&memory.wanted, Some(Want::List(it)) if goes_on(it));
                let again = broke_with(memory, SourceKind::Expired);
                let kept = std::mem::take(&mut memory.kept);
                let expired = later && again;
                if let (Got::Listed(Ok(page)), false) = (&got, expired) {
                    memory.kept.clone_from(&page.items);
                }
                if expired {
                    memory.kept = kept;
                    memory.count = 1;
                    return got;
                }
                let adds = std::mem::take(&mut memory.count) == 1;
                pages(got, |page| {
                    if adds {
                        let missing = |it: &&Object| !page.items.iter().any(|has| has.key == it.key);
                        let more: Vec<_> = kept.iter().filter(missing).cloned().collect();
                        page.items.extend(more);
                    }
                })
            }) breaks ["a_list_is_one_state"];
        Seeded "pages_are_asked_for_without_end"
            from "own: a server repeats a page for ever, and the reflector follows it":
            (|memory, got| {
                let asked = match &memory.wanted {
                    Some(Want::List(options)) => options.continue_token.clone(),
                    _ => String::new(),
                };
                pages(got, |page| {
                    if goes_on_from(&asked, &page.continue_token) { page.continue_token.push(' ') }
                })
            }) breaks ["failures_pause"];
        Seeded "expired_page_begins_anew_after_a_pause" from "cache:LW-10":
            (|memory, got| {
                let later = matches!(&memory.wanted, Some(Want::List(it)) if goes_on(it));
                mistakes(got, (later, false, false), |kind| match kind {
                    SourceKind::Expired => SourceKind::Other,
                    kind => kind,
                })
            }) breaks ["condemned_versions_are_left"];
    }
}
