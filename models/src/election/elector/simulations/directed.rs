//! The schedules of the rules, one run each, in both profiles.

use std::sync::LazyLock;

use super::judged::{Judged, of_outcome};
use super::{Simulated, Trying, shown, simulate};
use crate::cluster::invariants::Terms;
use crate::cluster::schedules::{SCHEDULES, Schedule};
use crate::elector::Elector;
use crate::trial::{InvariantInfo, MachineOf, Plan, Replayed, Simulation, Trial};

/// A schedule in one profile.
#[derive(Debug)]
pub(super) struct Directed {
    name: String,
    schedule: &'static Schedule,
    strict: bool,
    judged: Vec<Judged>,
}

/// Lists every schedule in each profile.
pub(super) fn all() -> &'static [Directed] {
    static ALL: LazyLock<Vec<Directed>> = LazyLock::new(|| {
        SCHEDULES
            .iter()
            .flat_map(|one| [Directed::new(one, false), Directed::new(one, true)])
            .collect()
    });
    &ALL
}

impl Directed {
    fn new(schedule: &'static Schedule, strict: bool) -> Self {
        let name = format!("{}_{}_{}", number(schedule.rule), schedule.name, profile(strict));
        let judged = of_outcome(schedule.expected(strict), schedule.strict, strict);
        Self { name, schedule, strict, judged }
    }

    fn simulate(&self, make: fn() -> MachineOf<Elector>) -> (Simulated, Terms) {
        let config = self.schedule.config(self.strict);
        let simulated = simulate(make, &config, |seats| self.schedule.run_on(self.strict, seats));
        (simulated, Terms { config, drift_ppm: 0 })
    }
}

fn profile(strict: bool) -> &'static str {
    if strict { "strict" } else { "classic" }
}

/// Turns `election:CX-3` into `cx_03`, so that names sort as the rules do.
fn number(rule: &str) -> String {
    let rule = rule.rsplit(':').next().unwrap_or(rule);
    match rule.split_once('-') {
        Some((kind, number)) => format!("{}_{number:0>2}", kind.to_lowercase()),
        None => rule.to_lowercase(),
    }
}

impl Simulation<Elector> for &'static Directed {
    fn name(&self) -> &'static str {
        &self.name
    }

    fn says(&self) -> &'static str {
        self.schedule.says
    }

    fn invariants(&self) -> Vec<InvariantInfo> {
        self.judged.iter().map(|judged| judged.info.clone()).collect()
    }

    fn run(&self, make: fn() -> MachineOf<Elector>, _: &Plan) -> Trial {
        let mut trying = Trying::new(&self.judged);
        let (simulated, terms) = self.simulate(make);
        trying.judge(&simulated, &terms, profile(self.strict));
        trying.trial()
    }

    fn replay(&self, make: fn() -> MachineOf<Elector>, run: &str) -> Option<Replayed> {
        if run != profile(self.strict) {
            return None;
        }
        let (simulated, terms) = self.simulate(make);
        Some(shown(&self.judged, &simulated, &terms, run))
    }
}
