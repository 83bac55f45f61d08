//! Controllers on kube-rs under plans of faults, as cases of a component: so they have the same
//! budgets, shards, reports and witnesses as all other cases.
//!
//! A [`Simulation`](crate::simulation::Simulation) says how the controller is run and what its user does. Here it is
//! divided into parts, each of which tries a share of its plans. The parts are cases, so
//! `--partition` deals them out to a fleet and `merge` puts them together again.
//!
//! ```no_run
//! use seatrial_sim::campaign::{Campaign, Controller, controller};
//! use seatrial::catalogue::Catalogue;
//! use seatrial_sim::simulation::Simulation;
//!
//! # async fn run(_: seatrial_sim::simulation::Connection) {}
//! struct Operator;
//!
//! impl Controller for Operator {
//!     const NAME: &'static str = "operator";
//!     const SAYS: &'static str = "what my operator does";
//!
//!     fn campaigns() -> Vec<Campaign> {
//!         vec![Campaign::new("starts", "it is started", || Simulation::of(run))]
//!     }
//! }
//!
//! const CATALOGUE: Catalogue = Catalogue::new("check", &[controller::<Operator>()]);
//!
//! fn main() -> std::process::ExitCode {
//!     seatrial::tests::main(&CATALOGUE, &[])
//! }
//! ```

#[cfg(feature = "drive")]
mod driven;
mod part;
mod told;

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use seatrial::trial::{
    Component, Invariant, MachineOf, NoMachine, Scenario, Simulation as DynSimulation, Subject,
    subject,
};

#[cfg(feature = "drive")]
pub use self::driven::driven;
use self::part::Part;
use crate::simulation::Simulation as Controlled;

/// The number of parts of a campaign unless it names another one: enough for a fleet.
const PARTS: u32 = 16;

/// A controller that is tried.
pub trait Controller: Send + Sync + 'static {
    /// Its name in reports and patterns.
    const NAME: &'static str;
    /// A description of the controller, in one line.
    const SAYS: &'static str;

    /// Lists the campaigns on it.
    fn campaigns() -> Vec<Campaign>;
}

/// The simulation of a controller, under every plan of faults.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    name: &'static str,
    says: &'static str,
    simulation: fn() -> Controlled,
    parts: u32,
    stated: &'static Location<'static>,
}

impl Campaign {
    /// Names a simulation. How many plans are tried by chance, and from which seed, is decided by the
    /// budget and the seed of a run; the plans of a single fault are all tried.
    #[track_caller]
    pub const fn new(
        name: &'static str,
        says: &'static str,
        simulation: fn() -> Controlled,
    ) -> Self {
        Self { name, says, simulation, parts: PARTS, stated: Location::caller() }
    }

    /// Divides it into this number of cases, 16 by default. More machines than that find nothing to do.
    #[must_use]
    pub const fn in_parts(self, parts: u32) -> Self {
        Self { parts: if parts == 0 { 1 } else { parts }, ..self }
    }

    /// The name of a part, which a report and a witness call the case.
    fn case(&self, index: u32) -> &'static str {
        match self.parts {
            1 => self.name,
            parts => interned(format!("{}.{:02}of{parts:02}", self.name, index + 1)),
        }
    }
}

/// Makes a controller's place in a catalogue.
pub const fn controller<T: Controller>() -> &'static dyn Subject {
    subject::<Of<T>>()
}

/// The component of a controller.
struct Of<T>(PhantomData<fn() -> T>);

impl<T: Controller> Component for Of<T> {
    type Machine = NoMachine;

    const NAME: &'static str = T::NAME;
    const SAYS: &'static str = T::SAYS;

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        Vec::new()
    }

    fn simulations() -> Vec<Box<dyn DynSimulation<Self>>> {
        let parts = |campaign: Campaign| (0..campaign.parts).map(move |at| Part::of(campaign, at));
        let boxed = |part: Part| Box::new(part) as Box<dyn DynSimulation<Self>>;
        T::campaigns().into_iter().flat_map(parts).map(boxed).collect()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        Vec::new()
    }
}

/// A text that lives as long as the program: the names of cases do, and each is kept once.
fn interned(text: String) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text.as_str()) {
        return known;
    }
    let text: &'static str = Box::leak(text.into_boxed_str());
    kept.insert(text);
    text
}
