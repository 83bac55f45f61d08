//! The processes of a simulation: one, or several that work on one cluster.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::Simulation;
use super::campaign::Wish;
use super::life::{Process, Run};
use super::plan::is_name;
use super::rules::Rules;
use super::run::Setup;
use super::world::Connection;
use crate::apiserver::{Options, Server};

/// When a simulated cluster begins: the first day of 2026.
const BEGINS_AT: Duration = Duration::from_secs(1_767_225_600);

impl Simulation {
    /// A simulation of what this function runs. It is called for every process of the controller, so
    /// it makes everything anew that a process has of its own.
    pub fn of<F: Future + 'static>(
        controller: impl Fn(Connection) -> F + Send + Sync + 'static,
    ) -> Self {
        Self::system().with("".into(), runs(controller))
    }

    /// A simulation of several processes: see [`process`](Self::process) and [`replicas`](Self::replicas).
    /// Each has a runtime, an identity and random numbers of its own, and dies for itself. Faults name the
    /// process that they strike, as in `crash(a,3)`.
    pub fn system() -> Self {
        let server = Server::new(&Options { begins_at: BEGINS_AT, ..Options::default() });
        let setup = Setup::of(server);
        let wish = Wish {
            random: 30,
            seed: 1,
            once: false,
            at_most: None,
            orders: 0,
            any_turn: false,
            replay: None,
        };
        Self { setup, rules: Rules::default(), given: Vec::new(), wish }
    }

    /// Adds a process of this name, which runs what the function returns. The function is called for each of
    /// its lives.
    ///
    /// # Panics
    ///
    /// The name is taken, or is not of letters, digits, `-`, `_` and `.` with a letter first.
    #[must_use]
    pub fn process<F: Future + 'static>(
        self,
        name: &str,
        run: impl Fn(Connection) -> F + Send + Sync + 'static,
    ) -> Self {
        self.named(name, runs(run))
    }

    /// Adds this number of processes that run the same: `name-0`, `name-1`, and so on. What an election
    /// needs to know them apart is [`Connection::identity`].
    ///
    /// # Panics
    ///
    /// As for [`process`](Self::process).
    #[must_use]
    pub fn replicas<F: Future + 'static>(
        mut self,
        name: &str,
        count: usize,
        run: impl Fn(Connection) -> F + Send + Sync + 'static,
    ) -> Self {
        let run = runs(run);
        for number in 0..count {
            self = self.named(&format!("{name}-{number}"), run.clone());
        }
        self
    }

    fn named(self, name: &str, run: Arc<Run>) -> Self {
        assert!(is_name(name), "{name:?} is no name of a process");
        let is_new = self.setup.programs.iter().all(|it| *it.0 != *name && !it.0.is_empty());
        assert!(is_new, "there is another process, of this name or of none: {name}");
        self.with(name.into(), run)
    }

    fn with(mut self, name: Arc<str>, run: Arc<Run>) -> Self {
        self.setup.programs.push((name, run));
        self
    }
}

fn runs<F: Future + 'static>(run: impl Fn(Connection) -> F + Send + Sync + 'static) -> Arc<Run> {
    Arc::new(move |connection| -> Process {
        let life = run(connection);
        Box::pin(async move {
            drop(life.await);
        })
    })
}

impl Connection {
    /// Who this process is in this life, such as `a-2` in the second life of the process `a`. It is another
    /// one in each life, as the candidates of an election want it.
    pub fn identity(&self) -> String {
        self.with(|outside| {
            let (name, life) = (&outside.names[outside.current], outside.lives[outside.current]);
            format!("{}-{life}", if name.is_empty() { "controller" } else { name })
        })
    }
}
