//! Parts of an operator that begin in order, run together and end together.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};

use super::ManagerError;

/// A future that is ready when a part of an operator is to stop.
pub type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Any error of a part.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

type Run = Pin<Box<dyn Future<Output = Result<(), Cause>> + Send>>;

/// A part of an operator, such as a controller.
pub(super) struct Part {
    pub(super) name: String,
    pub(super) begin: Box<dyn FnOnce(Stop) -> Run + Send>,
}

/// Whether somebody has asked for something, and waiting for that. Cheap to clone.
#[derive(Clone)]
pub(super) struct Flag(watch::Sender<bool>);

impl Flag {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(super) fn set(&self) {
        self.0.send_replace(true);
    }

    pub(super) fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    pub(super) fn wait(&self) -> Stop {
        let mut flag = self.0.subscribe();
        Box::pin(async move {
            let _closed = flag.wait_for(|it| *it).await;
        })
    }
}

/// Parts that have begun.
pub(super) struct Group {
    asked: Flag,
    tasks: JoinSet<Result<(), Cause>>, // aborted when it drops
    running: Vec<(Id, String)>,
}

impl Group {
    /// Begins parts, in their order.
    pub(super) fn begin(parts: Vec<Part>) -> Self {
        let (asked, mut tasks) = (Flag::new(), JoinSet::new());
        let begin = |Part { name, begin }| {
            let stop = asked.wait();
            let run = catch_unwind(AssertUnwindSafe(|| begin(stop)));
            let task = async move {
                match run {
                    Ok(run) => run.await,
                    Err(panic) => resume_unwind(panic), // as if the part had panicked later
                }
            };
            (tasks.spawn(task).id(), name)
        };
        let running = parts.into_iter().map(begin).collect();
        Self { asked, tasks, running }
    }

    /// Runs until all parts have ended, or one has failed, or `stop` is ready. Then the others are
    /// asked to stop; one that has not ended after the grace is aborted.
    pub(super) async fn run(mut self, stop: Stop, grace: Duration) -> Result<(), ManagerError> {
        let ended = self.until(stop).await;
        self.end(ended, grace).await
    }

    /// Runs until all parts have ended, or one has failed, or `stop` is ready.
    pub(super) async fn until(&mut self, stop: Stop) -> Result<(), ManagerError> {
        crate::race::first(self.one_fails(), stop).await.unwrap_or(Ok(()))
    }

    /// Asks the parts to stop, and waits for them; one that has not ended after the grace is aborted.
    /// The first error counts, and `result` came before.
    pub(super) async fn end(
        mut self,
        mut result: Result<(), ManagerError>,
        grace: Duration,
    ) -> Result<(), ManagerError> {
        self.asked.set();
        let rest = async {
            while !self.tasks.is_empty() {
                let ended = self.one_fails().await;
                result = std::mem::replace(&mut result, Ok(())).and(ended);
            }
        };
        if tokio::time::timeout(grace, rest).await.is_err() {
            self.tasks.shutdown().await;
            let names: Vec<_> = self.running.into_iter().map(|(_, name)| name).collect();
            return result.and(Err(ManagerError::StillRan { parts: names.join(", ") }));
        }
        result
    }

    /// Waits until one of the parts fails, or all have ended.
    async fn one_fails(&mut self) -> Result<(), ManagerError> {
        while let Some(ended) = self.tasks.join_next_with_id().await {
            let (id, ended) = match ended {
                Ok((id, result)) => (id, result),
                Err(error) => (error.id(), Err(panicked(error).into())),
            };
            let place = self.running.iter().position(|(it, _)| *it == id);
            let name = place.map(|place| self.running.remove(place).1).unwrap_or_default();
            match ended {
                Ok(()) => tracing::info!(part = name, "a part has ended"),
                Err(cause) => {
                    tracing::error!(part = name, "a part has failed: {cause}");
                    return Err(ManagerError::Part { name, cause });
                }
            }
        }
        Ok(())
    }
}

/// Returns the message of a panic, if it has one.
fn panicked(error: JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "it was aborted".to_owned() };
    let text = panic.downcast_ref::<String>().map(String::as_str);
    match text.or_else(|| panic.downcast_ref::<&str>().copied()) {
        Some(says) => format!("it panicked: {says}"),
        None => "it panicked".to_owned(),
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("name", &self.name).finish_non_exhaustive()
    }
}
