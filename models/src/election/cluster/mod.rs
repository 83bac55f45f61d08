//! The `cluster` engine: a discrete-event simulation of an election.

pub(crate) mod any_set_up;
pub mod boundary;
mod campaign;
mod drive;
mod due;
mod faults;
mod intervene;
pub mod invariants;
mod plan;
mod run;
pub mod schedules;
mod server;
mod work;
mod world;

pub(crate) mod going_back;
pub(crate) mod tests;

pub use crate::random::Random;
pub use campaign::{Campaign, simulate_plan};
pub use faults::{Action, After, Attempted, Faults};
pub use plan::{Plan, PlanError};
pub use run::{Answer, Happening, Process, Run, Verb, What, Window, longest_overlap};
pub use seatrial_sim::world::{Fate, NodeClock};
pub use server::{Entry, Server, Writer};
pub use world::{Make, NodeSetup, Setup, Simulated, simulate};
