//! The page of the informer: reflector, store and handlers as a program runs them, each on its
//! threads. In addition, recorded traces of the reference's queue, store and handlers are
//! replayed.
//!
//! An informer is no machine of one lock, so the checks judge what a user sees: the calls of
//! handlers, the informer's answers, the requests to the server. The bugs are those of a
//! straightforward first version of an informer (`reference`), built on the parts that ship.
//!
//! `cargo seatrial list informer` prints what is checked, and the mutants that break it.

mod book;
mod conformance;
mod invariants;
mod ledger;
mod mutants;
mod reference;
mod scenarios;
mod source;
mod stage;
mod tried;

use seatrial_core::machine::Step;

use crate::engine::Engine;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, RetOf, Scenario,
};

pub use book::{Book, Complaint, Entry, Number, Told};
pub use conformance::conformance;

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
        Box::new(Book::of(None))
    }

    fn scenarios() -> Vec<Scenario<Self>> {
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
        entry.as_ref().map_or("Which".to_owned(), |it| format!("{it:?}"))
    }
}
