//! The page of the informer: reflector, queue, store and handlers as a program runs them, each on
//! its threads. In addition, recorded traces of the reference's queue, store and handlers are
//! replayed.
//!
//! An informer is no machine of one lock, so the checks judge what a user sees: the calls of
//! handlers, the informer's answers, the requests to the server. The bugs are those of a
//! straightforward first version of an informer (`reference`), built on the parts that ship.
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | handlers are told a legal sequence of changes of each object | `a_legal_sequence` | `comes_late`, `follows_changes` | `late_handlers_see_twice` |
//! | they are told all changes | `all_is_told` | `removed_while_events_flow` | `removes_by_place` |
//! | the store has a change before handlers are told | `stored_before_told` | `follows_changes` | `told_before_it_is_stored` |
//! | synced not early | `synced_not_early` | `first_list_is_seen` | `synced_with_the_informer` |
//! | and not stuck | `synced_not_stuck` | `empty_list` | `empty_is_never_synced` |
//! | objects are transformed once | `transformed_once` | `first_by_a_stream` | `lists_stay_as_they_came` |
//! | a removed handler is not called | `removed_is_left_alone` | `removal_is_awaited` | `removal_is_not_awaited` |
//! | and goes | `removed_goes` | `removed_while_events_flow` | `removal_is_not_told` |
//! | one run | `runs_once` | `runs_twice` | `runs_twice` |
//! | a panic of the run reaches the caller | `panics_come_out` | `index_panics` | `panic_leaves_the_reflector` |
//! | an end leaves nothing running or open | `nothing_is_left` | `stopped_anywhere`, `list_takes_time` | `stream_stays_open` |
//! | it ends in order | `ends_in_order` | `stopped_anywhere` | `one_signal_for_all` |
//! | it ends at once | `ends_at_once` | `server_is_busy`, `stopped_in_a_pause` | `pause_of_lists_delays_the_end` |
//! | and stores nothing after the end | `stores_nothing_behind_the_end` | `much_is_queued` | `goes_on_behind_the_end` |
//! | no handler waits for another | `nobody_waits_for_another` | `slow_beside_fast` | `waits_for_each_handler` |
//! | a slow handler is reported | `slow_is_reported` | `many_wait` | `slow_is_not_reported` |
//! | a panic costs one change | `a_panic_costs_one_change` | `handler_panics` | `panic_ends_the_handler` |
//! | failures are followed by a pause | `failures_pause` | `server_is_busy` | `back_off_has_another_clock` |
//! | only handlers that want resyncs get them | `resyncs_as_wanted` | `resyncs_for_one` | `resync_is_for_all` |
//! | and all of these get them | `resyncs_come` | `resyncs` | `never_resyncs` |

mod book;
mod conformance;
mod invariants;
mod ledger;
mod mutants;
mod reference;
mod scenarios;
mod source;
mod stage;
#[cfg(test)]
mod tests;
mod tried;

use seatrial_core::machine::Step;

use crate::engine::Engine;
use crate::trial::{
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf,
    component_tests,
};

pub use book::{Book, Complaint, Entry, Number, Told, Which};
pub use conformance::conformance;
pub use mutants::Mistake;

/// An informer with its handlers, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Informer;

type Event = EventOf<Informer>;
type History = HistoryOf<Informer>;

impl Component for Informer {
    type Machine = Book;

    const NAME: &'static str = "informer";
    const SAYS: &'static str =
        "a store that follows a server, and handlers that are called for each change";

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

    fn shows_mutant(engine: Engine, mutant: &str) -> bool {
        mutants::shows(engine, mutant)
    }

    fn describe(entry: &OpOf<Self>, _: &Step<RetOf<Self>>) -> String {
        format!("{entry:?}")
    }
}

component_tests! {
    Informer;
    scenarios:
        follows_changes,
        comes_late,
        first_list_is_seen,
        empty_list,
        first_by_a_stream,
        stopped_anywhere,
        removed_while_events_flow,
        removal_is_awaited,
        handlers_act,
        acts_during_removal,
        never_ran,
        runs_twice,
        index_panics,
        much_is_queued,
        list_takes_time,
        slow_beside_fast,
        handler_panics,
        stopped_in_a_pause,
        server_is_busy,
        stream_is_refused,
        resyncs,
        resyncs_for_one,
        many_wait;
    also: mutants
}
