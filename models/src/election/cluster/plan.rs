//! A random run as one line of text.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use seatrial_core::elector::{Bounds, Config, Timing, Versions};

use super::faults::{Action, Weather};
use super::world::{NodeSetup, Setup};
use crate::election::plain::by_reference;
use crate::random::Random;

macro_rules! plan {
    ($($(#[$doc:meta])+ $name:ident: $kind:ident = $default:expr;)+) => {
        /// A simulation: the set-up, and how bad its faults may get. Together with the seed it
        /// names one run, and its text reproduces that run. Every limit is drawn anew for each
        /// seed, from zero to the value given here and often zero, so that different faults occur
        /// in different runs.
        ///
        /// Times are nanoseconds in the fields, and have a unit in the text: `lease=15s`.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct Plan {
            $($(#[$doc])+ pub $name: plan!(@type $kind),)+
        }

        impl Default for Plan {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl fmt::Display for Plan {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(if self.strict { "strict" } else { "classic" })?;
                let default = Self::default();
                $(if self.$name != default.$name && stringify!($name) != "strict" {
                    write!(f, ",{}={}", stringify!($name), plan!(@show $kind, self.$name))?;
                })+
                Ok(())
            }
        }

        impl Plan {
            fn set(&mut self, name: &str, value: &str) -> Option<()> {
                match name {
                    $(stringify!($name) => self.$name = plan!(@read $kind, value)?,)+
                    _ => return None,
                }
                Some(())
            }
        }
    };
    (@type time) => { u64 };
    (@type number) => { u32 };
    (@type seed) => { u64 };
    (@type flag) => { bool };
    (@show time, $value:expr) => { show_time($value) };
    (@show $kind:ident, $value:expr) => { $value };
    (@read time, $value:expr) => { read_time($value) };
    (@read $kind:ident, $value:expr) => { $value.parse().ok() };
}

plan! {
    /// The rules that ship, not the reference's.
    strict: flag = true;
    /// How long a lease lasts.
    lease: time = 15 * SECOND;
    /// The renew deadline.
    renew: time = 10 * SECOND;
    /// The retry period.
    retry: time = 2 * SECOND;
    /// The acting time of the strict profile, even if the elector would refuse it; zero for the
    /// longest safe one.
    acting: time = 0;
    /// How many nodes take part.
    nodes: number = 3;
    /// How many millionths a clock may run too fast or too slow; the strict profile knows this
    /// bound.
    drift: number = 0;
    /// How late a timer is served; the strict profile knows this bound.
    scheduling: time = 0;
    /// How long work goes on after its cancellation; the strict profile knows this bound.
    work: time = 0;
    /// When a client gives up a call; zero for never.
    timeout: time = 5 * SECOND;
    /// How long a message usually takes at most.
    usual: time = SECOND / 20;
    /// How long a slow message takes at most.
    slow: time = 0;
    /// How many of a thousand messages are slow.
    slow_permille: number = 100;
    /// How many of a thousand requests are lost.
    lost: number = 0;
    /// How many of a thousand answers are lost.
    lost_reply: number = 0;
    /// How many of a thousand calls the server refuses.
    refused: number = 0;
    /// How many of a thousand reads lag.
    lag: number = 0;
    /// How many of ten nodes are cut off for some time.
    cut_off: number = 0;
    /// How many pauses of up to two leases.
    pauses: number = 0;
    /// How many suspensions with a stopped clock of up to two leases.
    stalls: number = 0;
    /// How many crashes.
    crashes: number = 0;
    /// Whether a process that crashed comes back under its old identity.
    same_identity: flag = false;
    /// How many cancellations.
    cancels: number = 0;
    /// How many deletions of the lock object.
    deletes: number = 0;
    /// How often the store goes back, at most: to nothing, to any state, or by its last few writes.
    returns: number = 0;
    /// How many changes of the record by an administrator.
    edits: number = 0;
    /// Whether a lease is released at the end of a term.
    release: flag = false;
    /// How many of a thousand runs are followed by another of the same elector.
    rerun: number = 0;
    /// How many of a thousand runs are followed by a new process.
    replaced: number = 1_000;
    /// Whether versions are compared as numbers.
    ordered: flag = false;
    /// How often the work acts on a fenced resource; zero for never.
    acts: time = 0;
    /// The length of the simulation.
    horizon: time = 200 * SECOND;
    /// Whether every change of an observation is written down.
    probe: flag = false;
    /// The seed.
    seed: seed = 0;
}

pub(super) const SECOND: u64 = 1_000_000_000;

/// The reason why a text is not a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanError(String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no part of a plan: expected strict, classic or name=value", self.0)
    }
}

impl std::error::Error for PlanError {}

impl FromStr for Plan {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let mut plan = Self::default();
        for part in text.split(',') {
            match part.split_once('=') {
                None if part == "strict" => plan.strict = true,
                None if part == "classic" => plan.strict = false,
                Some((name, value)) if name != "strict" => {
                    plan.set(name, value).ok_or_else(|| PlanError(part.to_owned()))?;
                }
                _ => return Err(PlanError(part.to_owned())),
            }
        }
        Ok(plan)
    }
}

/// Writes a time in the largest unit that needs no fraction.
fn show_time(nanos: u64) -> String {
    for (unit, name) in [(SECOND, "s"), (1_000_000, "ms"), (1_000, "us")] {
        if nanos.is_multiple_of(unit) {
            return format!("{}{name}", nanos / unit);
        }
    }
    format!("{nanos}ns")
}

fn read_time(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "s" => SECOND,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

impl Plan {
    /// Returns the same plan with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// Returns the durations of the election.
    #[must_use]
    pub fn timing(&self) -> Timing {
        let nanos = Duration::from_nanos;
        Timing { lease: nanos(self.lease), renew: nanos(self.renew), retry: nanos(self.retry) }
    }

    /// Returns the bounds that the strict profile is given.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds::default()
            .drift_ppm(self.drift)
            .work(Duration::from_nanos(self.work))
            .scheduling(Duration::from_nanos(self.scheduling))
            .acting((self.acting > 0).then(|| Duration::from_nanos(self.acting)))
    }

    /// Returns the set-up of every elector, but for its identity.
    #[must_use]
    pub fn config(&self) -> Config {
        let versions = if self.ordered { Versions::Ordered } else { Versions::Opaque };
        let config = Config::new("")
            .timing(self.timing())
            .bounds(self.bounds())
            .release_on_cancel(self.release)
            .versions(versions);
        if self.strict { config } else { by_reference(config) }
    }

    /// Draws the cluster and the weather of this seed.
    pub(super) fn draw(&self) -> (Setup, Weather) {
        let mut random = Random::new(self.seed ^ 0x5ea7_71a1_0000_0000);
        let nodes: Vec<_> = (0..self.nodes.max(1)).map(|_| self.node(&mut random)).collect();
        let actions = self.actions(&mut random, nodes.len() as u64);
        let weather = self.weather(&mut random, nodes.len());
        let timeout = (self.timeout > 0).then(|| Duration::from_nanos(self.timeout));
        let setup = Setup {
            config: self.config(),
            nodes,
            client_timeout: timeout,
            actions,
            horizon: self.horizon,
            probe: self.probe,
        };
        (setup, weather)
    }

    /// Half of the clocks run at the limits of the drift, where they are the most dangerous.
    fn node(&self, random: &mut Random) -> NodeSetup {
        let drift = i64::from(self.drift);
        let rate_ppm = match random.below(4) {
            0 => -drift,
            1 => drift,
            _ => random.up_to(2 * drift as u64) as i64 - drift,
        };
        NodeSetup {
            offset: random.up_to(1_000 * SECOND),
            rate_ppm,
            wall_offset: random.up_to(100 * SECOND) as i64 - 50 * SECOND as i64,
            starts_at: random.up_to(2 * self.retry),
            identity: None,
        }
    }

    fn actions(&self, random: &mut Random, nodes: u64) -> Vec<(u64, Action)> {
        let mut actions = Vec::new();
        let mut add = |count: u32, make: &mut dyn FnMut(&mut Random) -> Action| {
            for _ in 0..random.up_to(count.into()) {
                let at = random.up_to(self.horizon);
                actions.push((at, make(random)));
            }
        };
        let node = |random: &mut Random| random.below(nodes) as u8;
        let long = 2 * self.lease;
        add(self.pauses, &mut |random| Action::Pause {
            node: node(random),
            nanos: random.up_to(long),
        });
        add(self.stalls, &mut |random| Action::Stall {
            node: node(random),
            nanos: random.up_to(long),
        });
        add(self.crashes, &mut |random| Action::Crash {
            node: node(random),
            back_after: random.up_to(long),
            same_identity: self.same_identity && random.permille(500),
        });
        add(self.cancels, &mut |random| Action::Cancel { node: node(random) });
        add(self.deletes, &mut |_| Action::Delete);
        add(self.edits, &mut |random| match random.below(2) {
            0 => Action::ClearHolder,
            _ => Action::ClearDuration,
        });
        for _ in 0..self.returns {
            // A process that starts later has seen nothing, and takes a lease that is not there.
            let at = long.saturating_add(random.up_to(self.horizon));
            let writes = match random.below(4) {
                0 => u64::MAX,
                1 => 1 + random.below(200),
                _ => 1 + random.below(12),
            };
            actions.push((at, Action::GoBack { writes }));
        }
        actions
    }

    fn weather(&self, random: &mut Random, nodes: usize) -> Weather {
        // Each dimension is quiet in a third of the runs, so that the others also show alone.
        let some = |random: &mut Random, most: u64| match random.below(3) {
            0 => 0,
            _ => random.up_to(most),
        };
        let cut_off = (0..nodes).map(|_| {
            if random.below(10) < u64::from(self.cut_off) {
                let from = random.up_to(self.horizon);
                (from, from + random.up_to(3 * self.lease))
            } else {
                (0, 0)
            }
        });
        let cut_off = cut_off.collect();
        Weather {
            usual: some(random, self.usual),
            slow_permille: some(random, self.slow_permille.into()) as u32,
            slow: some(random, self.slow),
            lost_request_permille: some(random, self.lost.into()) as u32,
            lost_reply_permille: some(random, self.lost_reply.into()) as u32,
            refused_permille: some(random, self.refused.into()) as u32,
            lag_permille: some(random, self.lag.into()) as u32,
            lag: 1 + random.below(4),
            lateness: some(random, self.scheduling),
            work: some(random, self.work),
            works_every: self.acts,
            cut_off,
            after: [self.rerun, self.replaced],
            after_delay: 2 * self.retry,
            random: Random::new(random.bits()),
        }
    }
}
