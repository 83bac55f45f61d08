//! Many random runs, one after another.

use std::sync::Arc;

use super::faults::Weather;
use super::plan::Plan;
use super::run::Run;
use super::world::{Make, Simulated};
use crate::election::plain;

/// Simulates the one run that a plan names.
#[must_use]
pub fn simulate_plan(plan: &Plan) -> Run {
    let (setup, weather) = plan.draw();
    Simulated::new(setup, weather, Arc::new(plain::elector)).finish()
}

/// Simulates a plan with one seed after another, in the memory of the last run.
pub struct Campaign {
    world: Option<Simulated<Weather>>,
    make: Make,
    spare: Run,
}

impl Campaign {
    /// Prepares runs of the elector that ships, or of the reference's if the plan says so.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Arc::new(plain::elector))
    }

    /// Prepares runs of the electors that `make` makes.
    #[must_use]
    pub fn of(make: Make) -> Self {
        Self { world: None, make, spare: Run::default() }
    }

    /// Simulates the run that a plan names.
    pub fn run(&mut self, plan: &Plan) -> &Run {
        let (setup, weather) = plan.draw();
        let world = match self.world.take() {
            None => Simulated::new(setup, weather, Arc::clone(&self.make)),
            Some(mut world) => {
                world.restart(setup, weather, std::mem::take(&mut self.spare));
                world
            }
        };
        self.spare = self.world.insert(world).run_to_end();
        &self.spare
    }
}

impl Default for Campaign {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Campaign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Campaign")
    }
}
