//! One run: a server, the user's steps, and the processes, and the record of all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::driver::{Driver, lock};
use super::exact::{Hold, Wanted, is_exact, moments, under_control};
use super::learn::Learned;
use super::life;
use super::normal::{Normal, Times, View, normalise};
use super::orders::{Gate, Guide};
use super::panics::Notes;
use super::plan::{Fault, Plan};
use super::rights::{Granted, Needs};
use super::rules::Rules;
use super::script::Step;
use super::state::State;
use super::trace::Entry;
use super::webhooks::Webhooks;
use super::world::Outside;
use crate::apiserver::{Server, Written};

/// How long nothing may be written before a run ends: long enough for a controller that looks again
/// every five minutes.
pub(crate) const REST: Duration = Duration::from_secs(6 * 60);
/// After this time without rest, a controller counts as restless.
pub(crate) const LIMIT: Duration = Duration::from_secs(40 * 60);

/// The inputs that stay the same from run to run.
pub(crate) struct Setup {
    pub(crate) server: Server,
    pub(crate) script: Vec<Step>,
    pub(crate) rules: Arc<Rules>,
    /// The processes; the name is empty of one that is alone.
    pub(crate) programs: Vec<(Arc<str>, Arc<life::Run>)>,
    pub(crate) wanted: Wanted,
    pub(crate) learned: Arc<Learned>,
    /// What the controller may do, if not everything.
    pub(crate) granted: Option<Arc<Granted>>,
    pub(crate) webhooks: Webhooks,
    /// Runs it in place of this.
    pub(crate) elsewhere: Option<Arc<dyn Elsewhere>>,
}

/// Runs a controller as processes of the machine, in real time.
pub(crate) trait Elsewhere: Send + Sync {
    /// A run without faults of the script; the seed is that of its server.
    fn run(&self, setup: &Setup, seed: u64) -> Run;

    /// How long nothing changes before a step.
    fn rest(&self) -> Duration;

    /// Takes out of an end what differs without any reason.
    fn leave_out(&self, end: &mut Normal);
}

/// The record of a run.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) trace: Vec<Entry>,
    pub(crate) changes: Vec<Written>,
    /// The state at the end.
    pub(crate) state: State,
    /// The moments of the run, to know numbers by that are times.
    pub(crate) times: Times,
    /// The state at the end, as it is compared.
    pub(crate) end: Normal,
    /// Two runs of the plan are the same to the byte.
    pub(crate) is_exact: bool,
    /// The faults that did not strike.
    pub(crate) left: Vec<Fault>,
    /// The changes that have made garbage.
    pub(crate) garbage: Vec<u32>,
    /// How often each webhook was called.
    pub(crate) calls: BTreeMap<String, u32>,
    /// Those of them that a request may do without.
    pub(crate) ignored: BTreeSet<String>,
    pub(crate) panics: Vec<String>,
    pub(crate) broken_rule: Option<String>,
    pub(crate) refused_step: Option<String>,
    /// Why it never came to rest.
    pub(crate) restless: Option<String>,
    /// Requests in each minute of the rest.
    pub(crate) per_minute: u32,
    /// The same for each process of a system.
    pub(crate) each: Vec<(Arc<str>, u32)>,
    /// The rights that it has needed, if it has not all.
    pub(crate) needs: Needs,
    /// What has chosen its order.
    pub(crate) guide: Option<Guide>,
}

impl Run {
    /// What of it is not compared as it is.
    pub(crate) fn view<'a>(&self, rules: &'a Rules, learned: &'a Learned) -> View<'a> {
        View { rules, learned, times: self.times.clone() }
    }
}

impl Setup {
    /// Nothing but a server.
    pub(crate) fn of(server: Server) -> Self {
        let (script, rules, learned) = (Vec::new(), Arc::default(), Arc::default());
        let (programs, wanted) = (Vec::new(), Wanted::default());
        let (granted, webhooks, elsewhere) = (None, Webhooks::default(), None);
        Self { server, script, rules, programs, wanted, learned, granted, webhooks, elsewhere }
    }

    /// Runs the controller under a plan.
    pub(crate) fn run(&self, plan: &Plan) -> Run {
        self.run_in(plan, Guide::of(plan))
    }

    /// Runs it in an order that is chosen.
    pub(crate) fn run_in(&self, plan: &Plan, guide: Option<Guide>) -> Run {
        if let Some(elsewhere) = &self.elsewhere {
            return elsewhere.run(self, 0);
        }
        // Random plans also differ in the random numbers that a process draws.
        let wanted = self.wanted.with(plan.seed());
        let server = self.server.clone();
        under_control(wanted, |hold| self.run_here((plan, guide), server, (hold, wanted)))
    }

    /// Runs it without faults, with another seed, on a cluster that begins later.
    pub(crate) fn run_otherwise(&self, seed: u64, later: Duration) -> Run {
        if let Some(elsewhere) = &self.elsewhere {
            return elsewhere.run(self, seed);
        }
        let mut server = self.server.clone();
        server.advance(server.now() + later);
        let wanted = self.wanted.with(seed);
        let plan = Plan::default();
        under_control(wanted, |hold| self.run_here((&plan, None), server, (hold, wanted)))
    }

    /// The end of a run, as it is compared.
    pub(crate) fn end(&self, run: &Run) -> Normal {
        normalise(&run.state, &run.changes, &self.view(run))
    }

    /// What of a run is not compared as it is.
    pub(crate) fn view(&self, run: &Run) -> View<'_> {
        run.view(&self.rules, &self.learned)
    }

    /// The code that asks for chance and time in a run.
    #[cfg(feature = "exact")]
    pub(crate) fn asks(&self, plan: &Plan) -> Vec<seatrial_sim_libc::Ask> {
        let wanted = self.wanted.with(plan.seed());
        under_control(wanted, |hold| {
            let plan = (plan, Guide::of(plan));
            hold.asks(|| drop(self.run_here(plan, self.server.clone(), (hold, wanted))))
        })
    }

    fn run_here(
        &self,
        (plan, guide): (&Plan, Option<Guide>),
        server: Server,
        (hold, wanted): (&Hold, Wanted),
    ) -> Run {
        let (rules, learned) = (self.rules.clone(), self.learned.clone());
        let mut world = Outside::new(server, plan, rules, learned);
        world.granted.clone_from(&self.granted);
        world.hooks.all.clone_from(&self.webhooks);
        world.gate = guide.map(Gate::new);
        world.names = self.programs.iter().map(|it| it.0.clone()).collect();
        world.lives = vec![0; world.names.len()];
        let world = Arc::new(Mutex::new(world));
        let notes = Notes::begin();
        let mut driver = Driver::new(self, &world, hold, wanted);
        let restless = driver.conduct();
        driver.end_all();
        drop(notes);
        let Driver { refused, panics, .. } = driver;
        self.record(&lock(&world), refused, panics, restless)
    }

    /// The record of a run that is over.
    fn record(
        &self,
        world: &Outside,
        refused_step: Option<String>,
        panics: Vec<String>,
        restless: Option<String>,
    ) -> Run {
        let state = State::of(&world.server).collected();
        let rest = world.now().saturating_sub(REST);
        let per_minute = |is_counted: &dyn Fn(usize) -> bool| {
            let own = world.requests.iter().filter(|it| it.1 >= rest && is_counted(it.0));
            (own.count() as u64 * 60 / REST.as_secs()) as u32
        };
        let each = (0..).zip(&world.names).filter(|it| !it.1.is_empty());
        let each = each.map(|(index, name)| (name.clone(), per_minute(&|it| it == index)));
        let broken = world.broken_rule.clone();
        let is_exact = is_exact() && !self.wanted.is_ordered;
        let mut run = Run {
            trace: world.trace.clone(),
            changes: world.changes.clone(),
            broken_rule: broken.or_else(|| self.rules.at_end(&state)),
            state,
            times: Times { around: moments(world.now(), is_exact) },
            end: Normal::new(),
            is_exact,
            left: left(world),
            garbage: world.garbage.causes.clone(),
            calls: world.hooks.calls.clone(),
            ignored: world.hooks.ignored.clone(),
            panics,
            refused_step,
            restless,
            per_minute: per_minute(&|_| true),
            each: each.collect(),
            needs: world.needs.clone(),
            guide: world.gate.as_ref().map(|it| it.guide.clone()),
        };
        run.end = self.end(&run);
        run
    }
}

/// The faults that did not strike; of an order, the part that did not.
fn left(world: &Outside) -> Vec<Fault> {
    let is_order = |it: &Fault| matches!(it, Fault::Order { .. });
    let others = world.faults.iter().filter(|it| !it.strikes_nothing() && !is_order(it)).cloned();
    let order = world.gate.iter().map(|it| Fault::Order { taken: it.guide.unused() });
    others.chain(order.filter(|it| !it.strikes_nothing())).collect()
}
