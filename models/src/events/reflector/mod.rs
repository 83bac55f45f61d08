//! The page of the reflector: lists and watches that keep a consumer at the state of a collection,
//! against a server at which many things go wrong.
//!
//! Reflector, consumer and server are one machine here: a turn makes the reflector's request to the
//! server, and gives the result to the consumer. So every order of turns and of changes at the
//! server is a schedule, on every engine. Generated plans of changes are judged by the same
//! promises (`op.rs`).
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | the consumer comes to the server's state | `comes_to_the_state` | all that come to rest | `deletions_are_changes`, `no_streams_is_no_answer` |
//! | a list is one state | `a_list_is_one_state` | `first_by_a_stream`, `pages` | `any_bookmark_ends_the_first_objects`, `first_page_is_all` |
//! | each event of a stream is given, once | `events_are_told` | `follows_changes`, `bookmarks` | `deletions_are_not_given`, `nonsense_counts` |
//! | skipped events are reported | `skipped_is_told` | `bookmarks`, `odd_versions` | `skips_in_silence` |
//! | no list goes back | `lists_never_go_back` | `version_expires` | `lists_at_any_version` |
//! | requests name the version that was given last | `asks_for_what_it_has`, `says_what_it_gave` | `version_expires`, `list_is_refused` | `lists_at_any_version`, `rewatches_from_the_list` |
//! | pages are requested correctly | `pages_as_told` | `pages` | `next_page_has_a_version`, `falls_back_to_pages` |
//! | streams are requested correctly | `watches_ask_rightly` | `follows_changes` | `streams_end_after_the_least`, `asks_who_cannot_stream` |
//! | streams follow one another | `goes_on` | `stream_ends` | `end_is_an_error`, `watch_time_starts_when_it_opens` |
//! | useless versions are given up | `condemned_versions_are_left` | `version_expires`, `server_is_behind`, `odd_versions` | `gone_is_not_recognised`, `invalid_is_not_recognised` |
//! | a busy server is not listed | `busy_servers_are_not_listed` | `server_is_busy` | `refused_is_not_recognised` |
//! | lists replace streams that cannot begin with all objects | `falls_back_to_lists` | `cannot_stream`, `first_stream_breaks` | `incomplete_streams_are_tried_for_ever` |
//! | failures are followed by a pause | `failures_pause` | `server_is_busy`, `short_streams` | `two_backoffs`, `short_streams_follow_at_once` |
//! | failures are reported | `failures_are_told` | `server_is_busy`, `list_is_refused` | `tells_of_broken_streams` |
//! | resyncs | `resyncs_come` | `resyncs` | `never_resyncs` |

mod book;
mod follower;
mod invariants;
mod mutants;
mod op;
mod scenarios;
mod server;
mod states;
#[cfg(test)]
mod tests;
mod tried;
mod turn;

use seatrial_core::machine::Step;

use crate::trial::{
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property,
    RetOf, Simulation, component_tests,
};

pub(crate) use follower::RESTERS;
pub use follower::{Answer, Begin, Call, Follower, Happen, Setting, Stop, StopAtRest, Turn};
pub use op::{Op, Plan, check, check_on, decode};
pub(crate) use server::KEYS;
pub use server::{Object, Thing, Trouble};
pub(crate) use states::programs;
pub use turn::{Asked, Given, Reply, Told, Turned, Why};

/// A reflector, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Reflector;

type Event = EventOf<Reflector>;
type History = HistoryOf<Reflector>;

impl Component for Reflector {
    type Machine = Follower;

    const NAME: &'static str = "reflector";
    const SAYS: &'static str = "lists and watches that keep a consumer up to date with a server";

    fn machine() -> MachineOf<Self> {
        follower::ships()
    }

    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
        scenarios::all()
    }

    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        states::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    fn describe(call: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (call, outcome) {
            (Call::Begin(begin), _) => format!("begins: {:?}", begin.0),
            (Call::Happen(happen), _) => format!("{happen:?}"),
            (Call::Stop(_), _) => "stops".to_owned(),
            (Call::StopAtRest(_), Step::Done(_)) => "it is at rest, and stops".to_owned(),
            (Call::StopAtRest(_), _) => "waits until it is at rest".to_owned(),
            (Call::Turn(_), Step::Done(Answer::Turn(Some(turn)))) => {
                let Turned { asked, reply, given, refused, .. } = &**turn;
                let given = given.as_ref().map(|given| format!(", gives {given:?}"));
                let refused = if *refused { ", which is refused" } else { "" };
                format!("{asked:?} -> {reply:?}{}{refused}", given.unwrap_or_default())
            }
            (Call::Turn(_), Step::Done(_)) => "has stopped".to_owned(),
            (Call::Turn(_), _) => "waits".to_owned(),
        }
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), make())))
    }
}

component_tests! {
    Reflector;
    scenarios:
        follows_changes,
        version_expires,
        stream_ends,
        server_is_busy,
        server_is_behind,
        bookmarks,
        first_by_a_stream,
        first_stream_breaks,
        cannot_stream,
        pages,
        list_is_refused,
        resyncs,
        stopped_anywhere,
        odd_versions,
        short_streams;
    also: mutants, fuzz
}
