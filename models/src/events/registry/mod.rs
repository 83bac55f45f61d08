//! The page of the registry: the informers of a program, one of each kind, which start, sync and
//! end together.
//!
//! The registry is the one that ships. It holds members instead of informers: they do only the
//! things that a registry can notice, so that all schedules can be searched. Informers have a page
//! of their own. The invariants judge what a user sees and what members do. The bugs are those of a
//! straightforward first version of a registry (`reference`).
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | one informer of a name | `one_of_a_kind` | `asked_twice` | `two_of_a_kind` |
//! | which runs once | `runs_once` | `all_start` | `starts_all_again` |
//! | every started informer runs | `all_run` | `all_start`, `one_comes_late` | `starts_once` |
//! | synced not early | `synced_not_early` | `first_lists_are_awaited` | `synced_when_one_is` |
//! | and not stuck | `synced_not_stuck` | `one_ends_first` | `sync_wakes_nobody` |
//! | after an end nothing runs | `nothing_runs_on` | `shut_down_twice`, `removed_beside_the_end` | `one_shut_down_waits` |
//! | and nothing is left | `nothing_is_left` | `dropped_anywhere` | `dropped_goes_on` |
//! | and nothing new comes | `nothing_behind_the_end` | `asked_behind_the_end` | `takes_more_behind_the_end` |
//! | a panic reaches the caller | `panics_come_out` | `one_panics` | `panics_are_lost` |
//! | it calls no foreign code under its lock | `terminates` | `making_asks`, `member_asks` | `makes_under_the_lock` |

mod book;
mod invariants;
mod ledger;
mod member;
mod mutants;
mod reference;
mod scenarios;
mod stage;

use seatrial_core::machine::Step;

use crate::engine::Engine;
use crate::trial::{
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf,
    component_tests,
};

pub use book::{Book, Entry, Name, Number, Which};
pub use mutants::Mistake;

/// A registry of informers, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Registry;

type Event = EventOf<Registry>;
type History = HistoryOf<Registry>;

impl Component for Registry {
    type Machine = Book;

    const NAME: &'static str = "registry";
    const SAYS: &'static str = "the informers of a program, one of a kind";

    fn machine() -> MachineOf<Self> {
        Box::new(Book::of(Which::Ships))
    }

    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
        scenarios::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    /// Two mutants need many traces.
    fn shows_mutant(engine: Engine, mutant: &str) -> bool {
        const OF_MANY_TRACES: &[&str] = &["synced_when_one_is", "one_shut_down_waits"];
        engine != Engine::Trace || !OF_MANY_TRACES.contains(&mutant)
    }

    fn describe(entry: &OpOf<Self>, _: &Step<RetOf<Self>>) -> String {
        format!("{entry:?}")
    }
}

component_tests! {
    Registry;
    scenarios:
        asked_twice,
        making_asks,
        all_start,
        one_comes_late,
        first_lists_are_awaited,
        one_never_lists,
        one_ends_first,
        shut_down_twice,
        asked_behind_the_end,
        removed_beside_the_end,
        removed_and_made_anew,
        member_asks,
        one_panics,
        dropped_anywhere;
    also: mutants
}
