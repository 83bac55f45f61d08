//! Members are asked for, started and waited for.

use seatrial_core::runtime::Instant;

use super::super::Registry;
use super::super::book::Entry;
use super::super::member::Manners;
use super::super::stage::Stage;
use super::{some, soon};
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Registry>> {
    vec![
        asked_twice(),
        making_asks(),
        all_start(),
        one_comes_late(),
        first_lists_are_awaited(),
        one_never_lists(),
        one_ends_first(),
    ]
}

fn asked_twice() -> Scenario<Registry> {
    Scenario::new(
        "asked_twice",
        "two callers ask for the same name at once",
        |world| {
            let stage = Stage::new(world);
            let other = stage.spawn("other", |other| other.get("a"));
            stage.get("a");
            world.join(other);
            stage.get("a");
        },
        |history| {
            some(history, |seen, entry| {
                matches!(entry, Entry::Gets(_)) && seen.gets.values().flatten().count() == 1
            })
        },
    )
}

fn making_asks() -> Scenario<Registry> {
    Scenario::new(
        "making_asks",
        "the making of an informer asks the registry for another one",
        |world| {
            let stage = Stage::new(world);
            stage.get_made("a", Manners { first: Some("b"), ..Manners::default() });
            stage.get("b");
        },
        |history| {
            some(history, |seen, entry| {
                matches!(entry, Entry::Got("b", Some(0)))
                    && seen.gets.values().any(|it| it.len() == 2)
            })
        },
    )
}

fn all_start() -> Scenario<Registry> {
    Scenario::new(
        "all_start",
        "two informers are started with one call, and a second start follows",
        |world| {
            let stage = Stage::new(world);
            stage.get("a");
            stage.get("b");
            stage.start();
            world.quiesce();
            stage.start();
            stage.shut_down();
            world.quiesce();
        },
        |history| {
            some(history, |seen, entry| {
                *entry == Entry::Starts && seen.members.values().filter(|it| it.runs).count() == 2
            })
        },
    )
}

fn one_comes_late() -> Scenario<Registry> {
    Scenario::new(
        "one_comes_late",
        "a second informer is added when the first one runs already",
        |world| {
            let stage = Stage::new(world);
            stage.get("a");
            stage.start();
            stage.get("b");
            stage.start();
            world.quiesce();
            stage.shut_down();
        },
        |history| {
            some(history, |seen, entry| {
                *entry == Entry::Starts
                    && seen.members.values().filter(|it| it.is_started).count() == 1
            })
        },
    )
}

fn first_lists_are_awaited() -> Scenario<Registry> {
    Scenario::new(
        "first_lists_are_awaited",
        "a caller waits for the first lists of two informers",
        |world| {
            let stage = Stage::new(world);
            stage.get("a");
            stage.get("b");
            let waits = stage.spawn("waits", |waits| waits.wait_for_sync(Instant::NEVER));
            stage.start();
            world.quiesce();
            world.join(waits);
            stage.shut_down();
        },
        |history| some(history, |seen, entry| *entry == Entry::Started && !seen.awaits.is_empty()),
    )
}

fn one_never_lists() -> Scenario<Registry> {
    Scenario::new(
        "one_never_lists",
        "a caller waits for a limited time for the first lists of two informers, and one list never \
     arrives",
        |world| {
            let stage = Stage::new(world);
            stage.get_made("a", Manners { never_lists: true, ..Manners::default() });
            stage.get("b");
            stage.start();
            world.quiesce();
            stage.wait_for_sync(soon(world));
            stage.shut_down();
        },
        |history| {
            some(
                history,
                |_, entry| matches!(entry, Entry::Synced(Err(late)) if late == &["a (member)"]),
            )
        },
    )
}

fn one_ends_first() -> Scenario<Registry> {
    Scenario::new(
        "one_ends_first",
        "a caller waits for the first list of an informer that is removed before it has one",
        |world| {
            let stage = Stage::new(world);
            stage.get_made("a", Manners { never_lists: true, ..Manners::default() });
            stage.start();
            let waits = stage.spawn("waits", |waits| waits.wait_for_sync(Instant::NEVER));
            stage.remove("a");
            world.quiesce();
            stage.shut_down();
            world.join(waits);
        },
        |history| {
            some(history, |seen, entry| matches!(entry, Entry::Ends(_)) && !seen.awaits.is_empty())
        },
    )
}
