//! Any process, in any language, under plans of faults.
//!
//! Each plan has a server of its own and processes of their own, which find it by their `KUBECONFIG`. The
//! plans, the faults and the promises are those of [`Simulation`](crate::simulation::Simulation). Time is
//! real here: a run is at rest when nothing has changed for a while and only watches and renewals of
//! leases go on. The run without faults is made three times, and what differs between the three is not
//! compared. A plan that fails is run five times.

mod alike;
mod conduct;
mod face;
mod guard;
mod inside;
mod lives;
mod operations;
mod pod;
mod process;
mod reference;
mod report;
mod run;
mod tried;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

pub use crate::simulation::act::{Act, Object, Patch, Wait};
pub use report::{Finding, Progress, Report};
use serde_json::Value;

use self::conduct::Wish;
use self::guard::Guard;
use self::run::{Program, Setting};
use crate::http::Tls;
use crate::simulation::operations::BadOperations;
use crate::simulation::plan::is_name;
use crate::simulation::rights::Granted;
use crate::simulation::rules::Rules;
use crate::simulation::stated::Words;
use crate::simulation::{BadPlan, Plan};

/// When a rule of one's own is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stated {
    /// After each change. A resource has the name of its lists: `pods.size() <= 3`. A custom one that a built-in
    /// one hides, and one in a group, are in `objects`: `objects['services.serving.knative.dev']`.
    Always,
    /// At each change, of the states around it: `before.pods.size() <= after.pods.size()`.
    Step,
    /// At the end of each run, as [`Always`](Self::Always).
    AtEnd,
}

/// Processes, and the events around them.
#[derive(Debug)]
pub struct Drive {
    programs: Vec<Program>,
    given: Vec<Value>,
    acts: Vec<Act>,
    controllers: bool,
    pod: Option<String>,
    rules: Rules,
    stated: Vec<(Stated, String)>,
    granted: Option<Arc<Granted>>,
    rest: Duration,
    limit: Duration,
    stop: Arc<AtomicBool>,
    wish: Wish,
    operations: Option<operations::Asked>,
}

impl Drive {
    /// A campaign whose files lie in this folder: the output of each run, and its kubeconfigs. The folder of a run is
    /// one that nobody else reads.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let wish = Wish {
            random: 30,
            seed: 1,
            at_most: None,
            part: (0, 1),
            is_dealt_by_name: false,
            replay: None,
            jobs: None,
            time: None,
            folder: folder.into(),
            again: String::new(),
        };
        Self {
            programs: Vec::new(),
            given: Vec::new(),
            acts: Vec::new(),
            controllers: false,
            pod: None,
            rules: Rules::default(),
            stated: Vec::new(),
            granted: None,
            rest: Duration::from_secs(2),
            limit: Duration::from_secs(120),
            stop: Arc::default(),
            wish,
            operations: None,
        }
    }

    /// Adds a process. Its name is one that a plan can have, and no other process has it. In its command `{kubeconfig}`, `{port}` (each is another free one) and `{dir}` are
    /// filled in.
    #[must_use]
    pub fn process(mut self, name: &str, command: Vec<String>) -> Self {
        self.programs.push((name.to_owned(), command));
        self
    }

    /// These objects are there before the processes begin.
    #[must_use]
    pub fn given(mut self, objects: impl IntoIterator<Item = Value>) -> Self {
        self.given.extend(objects);
        self
    }

    /// What the user does, one step after the other, each when all is quiet.
    #[must_use]
    pub fn steps(mut self, acts: impl IntoIterator<Item = Act>) -> Self {
        self.acts.extend(acts);
        self
    }

    /// Runs the controllers of a cluster as well.
    #[must_use]
    pub fn controllers(mut self) -> Self {
        self.controllers = true;
        self
    }

    /// The processes find the server as those in a pod of this namespace do: by their environment, with the
    /// credentials of a service account in `/var/run/secrets`, and with no kubeconfig: their home is the folder of
    /// the run. Linux only.
    #[must_use]
    pub fn in_cluster(mut self, namespace: &str) -> Self {
        self.pod = Some(namespace.to_owned());
        self
    }

    /// How long nothing may change before a run is at rest.
    #[must_use]
    pub fn rest(mut self, rest: Duration) -> Self {
        self.rest = rest.clamp(Duration::from_millis(100), Duration::from_secs(3_600));
        self
    }

    /// How long a run may take until it is at rest, after each step of the user and each fault.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit.clamp(Duration::from_secs(1), Duration::from_secs(86_400));
        self
    }

    /// A process may end by itself with an error, up to four times in a run.
    #[must_use]
    pub fn may_exit(mut self) -> Self {
        self.rules.may_panic = true;
        self
    }

    /// A rule of one's own: an expression (CEL) that must be true. [`check`](Self::check) refuses one that does not
    /// compile.
    #[must_use]
    pub fn rule(mut self, when: Stated, expression: &str) -> Self {
        self.stated.push((when, expression.to_owned()));
        self
    }

    /// Ignores a resource: its objects are not compared, and writes to them are no sign of unrest.
    #[must_use]
    pub fn ignoring(mut self, resource: &str) -> Self {
        self.rules.ignored.push(resource.to_owned());
        self
    }

    /// Sets how many requests a minute are fine while nothing happens; the default is 60.
    #[must_use]
    pub fn requests_per_minute(mut self, most: u32) -> Self {
        self.rules.requests_per_minute = most;
        self
    }

    /// How many plans are made by chance, and from which seed; the default is 30 from seed 1.
    #[must_use]
    pub fn random(mut self, plans: u64, seed: u64) -> Self {
        (self.wish.random, self.wish.seed) = (plans, seed);
        self
    }

    /// Bounds how many plans are tried.
    #[must_use]
    pub fn at_most(mut self, plans: u64) -> Self {
        self.wish.at_most = Some(plans);
        self
    }

    /// Tries every plan of which the number, from 0, leaves this remainder when divided.
    #[must_use]
    pub fn part(mut self, remainder: u64, of: u64) -> Self {
        self.wish.part = (remainder, of);
        self
    }

    /// The plans are dealt out by their text and not by their number: each keeps its part when others come
    /// and go.
    #[must_use]
    pub fn dealt_by_name(mut self) -> Self {
        self.wish.is_dealt_by_name = true;
        self
    }

    /// How many plans run at once; by default as memory and cores allow.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.wish.jobs = Some(jobs);
        self
    }

    /// No plan begins after this time.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.wish.time = Some(time.min(Duration::from_secs(365 * 86_400)));
        self
    }

    /// The processes have the rights of these roles (YAML) and no others, as in
    /// [`Simulation::role`](crate::simulation::Simulation::role).
    ///
    /// # Errors
    ///
    /// The text is no YAML, or has no role.
    pub fn role(mut self, yaml: &str) -> Result<Self, String> {
        self.granted = Some(Arc::new(Granted::read(yaml)?));
        Ok(self)
    }

    /// Runs this plan only.
    ///
    /// # Errors
    ///
    /// The text is no plan.
    pub fn replay(mut self, plan: &str) -> Result<Self, BadPlan> {
        self.wish.replay = Some(plan.parse::<Plan>()?);
        Ok(self)
    }

    /// Draws changes of an object from the schema of its kind, in place of plans of faults: see
    /// [`operations`](crate::simulation::operations). The object is the first one of the kind that a step applies,
    /// after the steps before it; others are examples. [`at_most`](Self::at_most) bounds the sequences.
    #[must_use]
    pub fn operations(mut self, kind: &str) -> Self {
        self.operations.get_or_insert_default().kind = kind.to_owned();
        self
    }

    /// A field of which nothing depends is a finding. Otherwise it is only told.
    #[must_use]
    pub fn needs_effect(mut self) -> Self {
        self.operations.get_or_insert_default().needs_effect = true;
        self
    }

    /// Runs these operations only.
    ///
    /// # Errors
    ///
    /// The text is no list of operations.
    pub fn replay_operations(mut self, text: &str) -> Result<Self, BadOperations> {
        self.operations.get_or_insert_default().replay = Some(text.parse()?);
        Ok(self)
    }

    /// The command line that runs a plan again, as a report shows it; `{plan}` stands for the plan.
    #[must_use]
    pub fn shown_as(mut self, command: String) -> Self {
        self.wish.again = command;
        self
    }

    /// Setting this ends the campaign soon, with all its processes.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Runs the processes under the default plan of faults, and tells how far it has come.
    ///
    /// # Errors
    ///
    /// A name is none or taken, a process cannot be started or not be as in a pod, an object that is to be there is refused, or a file cannot be written.
    pub fn check(self, tell: &(dyn Fn(Progress) + Sync)) -> io::Result<Report> {
        let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
        if self.programs.iter().any(|it| it.1.is_empty()) || self.programs.is_empty() {
            return Err(invalid("there is no command to run".to_owned()));
        }
        // A name is that of files, and faults tell processes apart by it.
        let mut names = BTreeSet::new();
        for (name, _) in &self.programs {
            if !is_name(name) {
                return Err(invalid(format!("{name:?} is no name of a process")));
            }
            // Where case does not count in the names of files, `A` writes to those of `a`.
            if !names.insert(name.to_ascii_lowercase()) {
                return Err(invalid(format!("there are two processes of the name {name}")));
            }
        }
        if self.wish.replay.as_ref().is_some_and(|it| it.orders().next().is_some()) {
            let why = "an order is one of a simulation: real processes are not held back";
            return Err(invalid(why.to_owned()));
        }
        if self.pod.is_some() && !cfg!(target_os = "linux") {
            return Err(invalid("a process can be as in a pod on Linux only".to_owned()));
        }
        let services = process::services(&self.programs).map_err(invalid)?;
        let at = self.wish.folder.join("seatrial-certificates");
        let (certificates, authority) = process::certificates(at, &self.programs, &services)?;
        let mut setting = Setting {
            programs: self.programs,
            given: self.given,
            acts: self.acts,
            controllers: self.controllers,
            pod: self.pod,
            rules: Arc::new(self.rules),
            granted: self.granted,
            learned: Arc::default(),
            tls: Tls::generate(std::net::Ipv4Addr::LOCALHOST.into())?,
            rest: self.rest,
            limit: self.limit,
            watched: BTreeMap::new(),
            stop: self.stop,
            mark: mark(),
            lives: Arc::default(),
            services,
            certificates,
            authority,
        };
        if setting.pod.is_some() {
            pod::try_out(&self.wish.folder.join("pod"), &setting.tls)?;
        }
        let words = Words::of(&setting.server(0).map_err(invalid)?);
        let rules = Arc::get_mut(&mut setting.rules).expect("nobody else has them yet");
        for (when, text) in &self.stated {
            let added = match when {
                Stated::Always => words.rule(text).map(|it| rules.always.push(it)),
                Stated::Step => words.over(text).map(|it| rules.steps.push(it)),
                Stated::AtEnd => words.rule(text).map(|it| rules.at_end.push(it)),
            };
            added.map_err(|why| invalid(format!("the rule {text:?}: {why}")))?;
        }
        let _ends_what_is_left = Guard::over(&setting.mark);
        match &self.operations {
            Some(asked) => operations::conduct(setting, &self.wish, asked),
            None => conduct::conduct(setting, &self.wish, tell),
        }
    }
}

/// No other campaign has it, nor begins one so.
fn mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("seatrial-{}-{}-", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
