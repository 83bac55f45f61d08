//! The page of the elector.

mod asked;
mod beside;
pub mod conformance;
pub mod decisions;
mod describe;
mod invariants;
mod ledger;
pub mod mutants;
mod network;
mod part;
pub(crate) mod records;
mod scenarios;
mod scene;
mod simulations;
mod store;
pub mod text;
mod timeline;

pub(crate) mod tests;

use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::engine::Engine;
use crate::report::Picture;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
    Simulation,
};

pub use part::{Answer, Ask, Call, Edit, Part, Request, Serve, SetUp};
pub(crate) use simulations::timeline_of;
pub use store::{Served, Store};

/// The elector, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Elector;

type Event = EventOf<Elector>;
type History = HistoryOf<Elector>;

impl Component for Elector {
    type Machine = Part;

    const NAME: &'static str = "elector";
    const SAYS: &'static str = "leader election over a lease in a versioned store";

    fn machine() -> MachineOf<Self> {
        Part::shipped()
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        simulations::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::of_the_page()
    }

    fn never_alone() -> &'static [(&'static str, &'static str)] {
        &[
            (
                "one_leader",
                "the later of two leaders holds the lease, so the earlier one also breaks \
                 `one_leader_per_lease_window`; this is the promise as the reference states it",
            ),
            (
                "one_actor",
                "as with `one_leader`, since work lasts at least as long as its term; this \
                 invariant names the overlap that does harm",
            ),
            (
                "takeover_waits_in_real_time",
                "a wait that is too short in real time, less the drift, is too short on the \
                 taker's clock as well and breaks `takeover_waits`; this invariant also checks the \
                 clocks of the simulation",
            ),
            (
                "releases_are_of_the_own_lease",
                "a release without a new read writes an old count, which breaks \
                 `releases_free_the_lease`, or allows a second leader; this invariant names the \
                 cause",
            ),
            (
                "loss_ends_leadership",
                "an elector that goes on after it has read its loss writes over a version that is \
                 not its own, which breaks `updates_name_what_was_received`, or leads beside \
                 another elector; this invariant names the cause",
            ),
            (
                "stops_once",
                "an elector that leads twice in a run also tries again where the run should end, \
                 which breaks `rounds_are_bounded`; this invariant counts the calls to its owner",
            ),
            (
                "nobody_leads_idly",
                "the end of the work cancels the run, so an elector that renews after it also \
                 breaks `no_attempt_after_cancellation`; this invariant names the cause",
            ),
            (
                "fenced_effects_never_interleave",
                "effects can interleave only if two electors lead at a time, and `one_actor` also \
                 sees the cases that do no harm; this is what fencing promises whatever the clocks \
                 do",
            ),
        ]
    }

    /// Many mutants need a drifting clock or rare faults, and most others need one execution. The
    /// engines that repeat parts of what `trace` exhausts are not asked.
    fn shows_mutants(engine: Engine) -> bool {
        engine == Engine::Cluster || engine == Engine::Trace
    }

    fn shows_mutant(engine: Engine, mutant: &str) -> bool {
        mutants::is_shown_by(mutant, engine == Engine::Cluster)
    }

    fn pictures() -> Vec<Picture> {
        simulations::boundaries()
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        describe::describe(op, outcome)
    }

    fn conformance() -> Vec<Conformance> {
        conformance::all()
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(check_bytes)
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let all = mutants::of_the_rules();
        let make = all.iter().find(|known| known.name == mutant.name)?.make;
        Some(Box::new(move |bytes| decisions::decides_as_ours(bytes, make)))
    }
}

/// The properties that fuzzers feed, on the same bytes.
pub fn check_bytes(bytes: &[u8]) {
    decisions::check_bytes(bytes);
    beside::check_bytes(bytes);
    records::check_bytes(bytes);
}
