//! Members end: through a removal, with all others, through a panic, or with the registry.

use super::super::Registry;
use super::super::book::Entry;
use super::super::member::Manners;
use super::super::stage::Stage;
use super::some;
use crate::trial::{Scenario, has_many_traces};

pub(super) fn all() -> Vec<Scenario<Registry>> {
    vec![
        shut_down_twice(),
        asked_behind_the_end(),
        removed_beside_the_end(),
        removed_and_made_anew(),
        member_asks(),
        one_panics(),
        dropped_anywhere(),
    ]
}

fn shut_down_twice() -> Scenario<Registry> {
    Scenario::<Registry>::new(
        "shut_down_twice",
        "two callers shut the registry down at once",
        |world| {
            let stage = Stage::new(world);
            stage.get("a");
            stage.start();
            let other = stage.spawn("other", |other| other.shut_down());
            stage.shut_down();
            world.join(other);
            world.quiesce();
        },
        |history| some(history, |seen, entry| *entry == Entry::ShutsDown && seen.stops.len() == 1),
    )
    .not_on(has_many_traces)
}

fn asked_behind_the_end() -> Scenario<Registry> {
    Scenario::new(
        "asked_behind_the_end",
        "a caller asks for an informer and starts all after the shutdown",
        |world| {
            let stage = Stage::new(world);
            stage.get("a");
            stage.start();
            stage.shut_down();
            stage.get("b");
            stage.start();
            world.quiesce();
        },
        |history| some(history, |seen, entry| matches!(entry, Entry::Got(_, None)) && seen.is_over),
    )
}

fn removed_beside_the_end() -> Scenario<Registry> {
    Scenario::new(
        "removed_beside_the_end",
        "an informer is removed during the shutdown",
        |world| {
            let stage = Stage::new(world);
            stage.get("a");
            stage.start();
            let other = stage.spawn("other", |other| other.remove("a"));
            stage.shut_down();
            world.join(other);
            world.quiesce();
        },
        |history| {
            some(history, |seen, entry| {
                matches!(entry, Entry::Removed(_, true)) && !seen.stops.is_empty()
            })
        },
    )
}

fn removed_and_made_anew() -> Scenario<Registry> {
    Scenario::new(
        "removed_and_made_anew",
        "an informer is removed, and another one takes its name",
        |world| {
            let stage = Stage::new(world);
            stage.get("a");
            stage.start();
            stage.remove("a");
            stage.get("a");
            stage.start();
            world.quiesce();
            stage.shut_down();
            world.quiesce();
        },
        |history| some(history, |_, entry| matches!(entry, Entry::Got("a", Some(1)))),
    )
}

fn member_asks() -> Scenario<Registry> {
    Scenario::new(
        "member_asks",
        "an informer asks the registry for another one during the shutdown",
        |world| {
            let stage = Stage::new(world);
            stage.get_made("a", Manners { asks: Some("b"), ..Manners::default() });
            stage.start();
            stage.shut_down();
        },
        |history| some(history, |seen, entry| matches!(entry, Entry::Lists(_)) && seen.ends == 1),
    )
}

fn one_panics() -> Scenario<Registry> {
    Scenario::new(
        "one_panics",
        "an informer panics while another one runs, and the registry is shut down",
        |world| {
            let stage = Stage::new(world);
            stage.get_made("a", Manners { panics: true, ..Manners::default() });
            stage.get("b");
            stage.start();
            stage.shut_down();
            world.quiesce();
        },
        |history| {
            some(history, |seen, entry| {
                matches!(entry, Entry::ShutDown { panicked: true })
                    && seen.members.values().all(|it| it.runs)
            })
        },
    )
}

fn dropped_anywhere() -> Scenario<Registry> {
    Scenario::new(
        "dropped_anywhere",
        "a registry is dropped at any point of its informer's work",
        |world| {
            let stage = Stage::new(world);
            stage.get("a");
            stage.start();
            stage.drop_registry();
            world.quiesce();
        },
        |history| some(history, |seen, entry| matches!(entry, Entry::Runs(_)) && seen.is_dropped),
    )
}
