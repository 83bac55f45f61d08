//! Controllers as they are, under plans of faults.
//!
//! [`Simulation::of`] takes a function that is given a [`Connection`], a service of tower, and runs the
//! controller. With kube-rs of any version it makes its client of it:
//! `Simulation::of(|connection| run(Client::new(connection, "default")))`. What the
//! user of a cluster does comes as steps. [`check`](Simulation::check) runs it once without faults,
//! and then again and again with one: a crash after each write, a restart onto a replica that lags,
//! a change and its opposite that no watch has told of; then several at once, by chance. Each time
//! the cluster must come to the same end, and to rest. [`Simulation::system`] has several processes.
//!
//! Everything happens on one thread and on tokio's paused clock. The guide is
//! `docs/check-your-kube-controller.md`.

#[cfg(feature = "drive")]
pub(crate) mod act;
mod acted;
mod campaign;
mod check;
mod compare;
mod cycle;
mod doctor;
mod driver;
mod exact;
mod found;
mod garbage;
mod given;
pub(crate) mod judge;
pub(crate) mod learn;
mod life;
pub(crate) mod network;
pub(crate) mod normal;
pub mod operations;
mod orders;
mod paint;
mod panics;
pub(crate) mod picture;
pub(crate) mod plan;
mod requests;
pub(crate) mod rights;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod script;
mod secrets;
pub(crate) mod state;
pub(crate) mod stated;
mod strike;
pub(crate) mod suggest;
mod system;
pub(crate) mod trace;
pub(crate) mod webhooks;
pub(crate) mod world;

#[cfg(doctest)]
#[doc = include_str!("../../../../docs/check-your-kube-controller.md")]
struct Guide;

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

pub use campaign::{Campaign, Held};
pub use check::{Failure, Other, Report, Verdict};
pub use doctor::{Diagnosis, Difference, Without};
pub use exact::is_exact;
pub use judge::{RULES, Violation};
pub use orders::Orders;
pub use picture::{Column, Event, untimed};
pub use plan::{BadPlan, Fault, Plan};
pub use rights::Rights;
#[cfg(feature = "exact")]
pub use seatrial_sim_libc::Remedies;
use serde::Serialize;
use serde_json::Value;
pub use state::State;
pub use world::{Connection, Outside};

use self::campaign::Wish;
use self::rules::Rules;
use self::run::Setup;
use self::script::{Name, Step, refusal};
use crate::apiserver::{Server, User};

/// The variable that holds the plan to run again.
const REPLAY: &str = "SEATRIAL_REPLAY";
/// The variable that asks for a diagnosis in place of a campaign.
const DOCTOR: &str = "SEATRIAL_DOCTOR";
/// A controller, and the events around it.
pub struct Simulation {
    setup: Setup,
    rules: Rules,
    given: Vec<Value>,
    wish: Wish,
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setup, rules, wish, .. } = self;
        let script = &setup.script;
        let mut text = f.debug_struct("Simulation");
        text.field("script", script)
            .field("rules", rules)
            .field("wish", wish)
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// Begins with this server instead of an empty one.
    #[must_use]
    pub fn on(mut self, server: Server) -> Self {
        self.setup.server = server;
        self
    }

    /// The object is there before the controller begins.
    ///
    /// # Panics
    ///
    /// The object cannot be written as JSON.
    #[must_use]
    pub fn given(mut self, object: &impl Serialize) -> Self {
        self.given.push(json(object));
        self
    }

    /// The user creates an object. Each step waits until nothing was written for 30 s.
    ///
    /// # Panics
    ///
    /// The object cannot be written as JSON.
    #[must_use]
    pub fn create(self, object: &impl Serialize) -> Self {
        let object = json(object);
        self.then(Step::Create(object))
    }

    /// The user patches an object (RFC 7386). `kind` is as in `StatefulSet` or `statefulsets.apps`;
    /// `name` is in the namespace `default` unless it is as in `namespace/name`.
    #[must_use]
    pub fn patch(self, kind: &str, name: &str, patch: Value) -> Self {
        let object = Name { kind: kind.to_owned(), name: name.to_owned() };
        self.then(Step::Patch { object, patch, subresource: "" })
    }

    /// The status of an object changes, as a kubelet or another controller would write it.
    #[must_use]
    pub fn patch_status(self, kind: &str, name: &str, patch: Value) -> Self {
        let object = Name { kind: kind.to_owned(), name: name.to_owned() };
        self.then(Step::Patch { object, patch, subresource: "/status" })
    }

    /// The user deletes an object.
    #[must_use]
    pub fn delete(self, kind: &str, name: &str) -> Self {
        self.then(Step::Delete(Name { kind: kind.to_owned(), name: name.to_owned() }))
    }

    fn then(mut self, step: Step) -> Self {
        self.setup.script.push(step);
        self
    }

    /// Adds a rule for the state after every write: an error says what is wrong.
    #[must_use]
    pub fn always(
        mut self,
        rule: impl Fn(&State) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.rules.always.push(Box::new(rule));
        self
    }

    /// Adds a rule for every change: it is given the state before and after it.
    #[must_use]
    pub fn step(
        mut self,
        rule: impl Fn(&State, &State) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.rules.steps.push(Box::new(rule));
        self
    }

    /// Adds a rule for the state in which the controller has come to rest after the last step.
    #[must_use]
    pub fn at_end(
        mut self,
        rule: impl Fn(&State) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.rules.at_end.push(Box::new(rule));
        self
    }

    /// Ignores a resource: its objects are not compared, and writes to them are no sign of unrest. Faults
    /// strike them all the same. Events and leases are no part of a run from the start.
    #[must_use]
    pub fn ignoring(mut self, resource: &str) -> Self {
        self.rules.ignored.push(resource.to_owned());
        self
    }

    /// Ignores a field of a kind when ends are compared. In the pointer (RFC 6901) `*` stands for any text
    /// within one step of it, as in `/metadata/annotations/example.com~1*`.
    #[must_use]
    pub fn ignoring_field(mut self, kind: &str, pointer: &str) -> Self {
        self.rules.ignored_fields.push((kind.to_owned(), pointer.to_owned()));
        self
    }

    /// The controller may do nothing. Otherwise a run without faults in which it never asks for anything,
    /// never writes, or never reads what the user does, is no pass.
    #[must_use]
    pub fn may_be_idle(mut self) -> Self {
        self.rules.may_be_idle = true;
        self
    }

    /// The controller may panic, as one does that leaves its troubles to its next process.
    #[must_use]
    pub fn may_panic(mut self) -> Self {
        self.rules.may_panic = true;
        self
    }

    /// Compares two runs of a plan as where the level `exact` cannot be: by their ends and the broken
    /// promises. For a controller that depends on what is not under control, such as other threads.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        self.setup.wanted.is_ordered = true;
        self
    }

    /// Sets how many requests a minute are fine while nothing happens; the default is 60.
    #[must_use]
    pub fn requests_per_minute(mut self, most: u32) -> Self {
        self.rules.requests_per_minute = most;
        self
    }

    /// How many plans are made by chance, and from which seed; 30 from 1 unless it is said.
    #[must_use]
    pub fn random(mut self, plans: u64, seed: u64) -> Self {
        (self.wish.random, self.wish.seed) = (plans, seed);
        self
    }

    /// The seed of what a process draws by itself, such as the keys of its hash maps. The server has a
    /// seed of its own, so this one explores the orders in which the same controller may work.
    #[cfg(feature = "exact")]
    #[must_use]
    pub fn process_seed(mut self, seed: u64) -> Self {
        self.setup.wanted.seed = seed;
        self
    }

    /// Sets the inputs of a process that are under control: all of them, unless a canary says
    /// otherwise.
    #[cfg(feature = "exact")]
    #[must_use]
    pub fn remedies(mut self, remedies: Remedies) -> Self {
        self.setup.wanted.remedies = remedies;
        self
    }

    /// The events of the run without faults, line by line, with every object that was written.
    #[cfg(feature = "exact")]
    pub fn log(mut self) -> Vec<String> {
        self.prepare();
        compare::exact_history(&self.setup.run(&Plan::default()))
    }

    /// Bounds how many plans a check tries. The report says how many of how many it were; without this
    /// all are tried.
    #[must_use]
    pub fn at_most(mut self, plans: u64) -> Self {
        self.wish.at_most = Some(plans);
        self
    }

    /// Runs every plan once, which takes half the time. Otherwise it is run twice, and is inadmissible if
    /// its two histories differ. The run without faults and a plan that fails are always run twice.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.wish.once = true;
        self
    }

    /// Runs this plan only.
    ///
    /// # Panics
    ///
    /// The text is no plan.
    #[must_use]
    pub fn replay(mut self, plan: &str) -> Self {
        let plan = plan.parse::<Plan>();
        self.wish.replay = Some(plan.unwrap_or_else(|error| panic!("{error}")));
        self
    }

    /// Draws the run under a plan, whether something is wrong with it or not; the empty plan is the run
    /// without faults.
    ///
    /// # Panics
    ///
    /// The text is no plan, or the server refuses an object that is to be there before.
    pub fn draw(mut self, plan: &str) -> String {
        self.prepare();
        let plan = plan.parse::<Plan>().unwrap_or_else(|error| panic!("{error}"));
        picture::draw(&self.setup.run(&plan).trace, &[])
    }

    /// Hands the rules over, and creates what is given.
    fn prepare(&mut self) {
        assert!(!self.setup.programs.is_empty(), "the system has no process");
        self.setup.rules = Arc::new(std::mem::take(&mut self.rules));
        let server = &mut self.setup.server;
        for object in std::mem::take(&mut self.given) {
            let step = Step::Create(object);
            let request = step.request(server).unwrap_or_else(|why| panic!("{step}: {why}"));
            let request = request.by(User::admin());
            if let Some(why) = refusal(&self.setup.webhooks.handle(server, &request)) {
                panic!("{step}: {why}");
            }
        }
        if let Some(granted) = &self.setup.granted {
            server.note_access(granted.policy.clone());
        }
    }

    /// Runs the controller under the default plan, or under that of `SEATRIAL_REPLAY` if it is set.
    /// Prints the report. `SEATRIAL_HTML=1` writes a failure as a page too.
    ///
    /// # Panics
    ///
    /// A plan does not hold: the message has the plan, the violations, and a picture.
    #[track_caller]
    pub fn check(self) -> Report {
        match self.try_check() {
            Ok(report) => {
                println!("{report}");
                report
            }
            Err(failure) => panic!("{}", paint::message(&failure)),
        }
    }

    /// The same, for tests that look at a failure themselves.
    ///
    /// # Errors
    ///
    /// Something is wrong.
    ///
    /// # Panics
    ///
    /// The server refuses an object that is to be there before, or `SEATRIAL_REPLAY` is no plan.
    pub fn try_check(mut self) -> Result<Report, Box<Failure>> {
        if let (None, Ok(plan)) = (&self.wish.replay, std::env::var(REPLAY)) {
            self = self.replay(&plan);
        }
        if std::env::var_os(DOCTOR).is_some() {
            return check::diagnosed(self.diagnose());
        }
        let began = Instant::now();
        self.prepare();
        let Self { setup, wish, .. } = self;
        Campaign::begin(setup, wish)?.conduct(began)
    }

    /// Runs the controller without faults, for tests that try the plans themselves: some of them,
    /// or on many machines.
    ///
    /// # Errors
    ///
    /// Something is wrong without any fault.
    ///
    /// # Panics
    ///
    /// The server refuses an object that is to be there before.
    pub fn campaign(mut self) -> Result<Campaign, Box<Failure>> {
        self.prepare();
        let Self { setup, wish, .. } = self;
        let campaign = Campaign::begin(setup, wish)?;
        campaign.lacking().map_or(Ok(campaign), Err)
    }
}

fn json(object: &impl Serialize) -> Value {
    serde_json::to_value(object).expect("an object of Kubernetes can be written as JSON")
}
