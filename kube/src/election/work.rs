//! The protected work: a task that ends within its time once leadership is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use seatrial_core::elector::{AsyncCallbacks, Name};
use seatrial_core::runtime::Tokio;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use super::Leadership;

/// Is called with the name of the leader; the name is empty if nobody leads.
pub(super) type Observer = Box<dyn Fn(&str) + Send + Sync>;

/// Whether a part of the work may still run. As long as it may, the lease is not freed.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs(Arc<AtomicBool>);

impl Runs {
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn set(&self, runs: bool) {
        self.0.store(runs, Ordering::SeqCst);
    }
}

/// Dropped with the work, however it ends.
struct Running {
    runs: Runs,
    has_returned: bool,
    _ended: oneshot::Sender<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // An abort is neither a return nor a panic: tasks that the work has spawned may still run.
        if self.has_returned || std::thread::panicking() {
            self.runs.set(false);
        }
    }
}

/// The callbacks of the elector. They start the work, once, as its own task, so that work that
/// blocks its thread does not delay the renewal of the lease.
pub(super) struct Work<F, T> {
    work: Mutex<Option<F>>,
    task: Mutex<Option<JoinHandle<Result<T, JoinError>>>>,
    runs: Runs,
    /// How long the work may continue after leadership is lost.
    grace: Duration,
    observer: Option<Observer>,
}

impl<F, T> Work<F, T> {
    pub(super) fn new(work: F, runs: Runs, grace: Duration, observer: Option<Observer>) -> Self {
        Self { work: Mutex::new(Some(work)), task: Mutex::new(None), runs, grace, observer }
    }

    /// Waits until the work has stopped completely, and returns its value. `None` if it never began
    /// or was aborted.
    pub(super) async fn end(self) -> Option<T> {
        let task = self.task.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        // Only the inner one of the two tasks runs foreign code.
        match task.await.and_then(|ended| ended) {
            Ok(value) => Some(value),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_aborted) => None,
            },
        }
    }
}

impl<F, W, T> AsyncCallbacks<Tokio> for Work<F, T>
where
    F: FnOnce(Leadership) -> W + Send + 'static,
    W: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    async fn started_leading(&self, leadership: Leadership) {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(work) = work else { return }; // a run leads once
        let (sender, ended) = oneshot::channel::<()>();
        self.runs.set(true);
        let running = Running { runs: self.runs.clone(), has_returned: false, _ended: sender };
        let watched = leadership.clone();
        let task = tokio::spawn(async move {
            let mut running = running; // moves the whole value, not only a field
            let value = work(leadership).await;
            running.has_returned = true;
            value
        });
        let task = tokio::spawn(ended_in_time(task, watched, self.grace));
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
        let _closed = ended.await;
    }

    fn new_leader(&self, leader: &Name) {
        if let Some(observer) = &self.observer {
            observer(leader.as_str());
        }
    }
}

/// Awaits a task. If it still runs after leadership has been lost for `grace`, aborts it.
async fn ended_in_time<T>(
    mut task: JoinHandle<T>,
    leadership: Leadership,
    grace: Duration,
) -> Result<T, JoinError> {
    let lost = async {
        leadership.lost().await;
        tokio::time::sleep(grace).await;
    };
    if let Some(ended) = crate::race::first(&mut task, lost).await {
        return ended;
    }
    task.abort();
    task.await
}
