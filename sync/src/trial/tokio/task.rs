//! `tokio::task`.

use std::any::Any;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use seatrial::engine::is_of_engine;
use seatrial::program::Seam;
use seatrial_core::runtime::Runtime as _;

use super::super::lock::Locked;

type Panic = Box<dyn Any + Send>;

/// `tokio::task::JoinError`.
pub struct JoinError(Option<Panic>);

impl JoinError {
    /// Tells whether the task was aborted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_none()
    }

    /// Tells whether the task panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        self.0.is_some()
    }

    /// Returns its panic.
    ///
    /// # Panics
    /// If it did not.
    #[must_use]
    pub fn into_panic(self) -> Panic {
        self.0.expect("`JoinError` reason is not a panic.")
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_panic() { "JoinError::Panic" } else { "JoinError::Cancelled" })
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_panic() { "task panicked" } else { "task was cancelled" })
    }
}

impl std::error::Error for JoinError {}

/// What a task of a run and its handle share.
struct State<T> {
    result: Option<Result<T, JoinError>>,
    is_over: bool,
    is_aborted: bool,
    task: Option<Waker>,
    joiner: Option<Waker>,
}

/// `tokio::task::JoinHandle`.
pub struct JoinHandle<T>(Kind<T>);

enum Kind<T> {
    OfRun(Arc<Locked<State<T>>>),
    Real(::tokio::task::JoinHandle<T>),
}

/// Starts a task: in a run, a thread that polls nothing else.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let Some(seam) = Seam::current() else {
        return JoinHandle(Kind::Real(::tokio::spawn(future)));
    };
    start(&seam, "task", future)
}

/// Runs what waits, on a thread of its own.
pub fn spawn_blocking<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let Some(seam) = Seam::current() else {
        return JoinHandle(Kind::Real(::tokio::task::spawn_blocking(body)));
    };
    start(&seam, "blocking", async move { body() })
}

fn start<F>(seam: &Seam, name: &str, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let state = State { result: None, is_over: false, is_aborted: false, task: None, joiner: None };
    let state = Arc::new(Locked::new(state));
    let theirs = Arc::clone(&state);
    drop(seam.task(name, run(theirs, future))); // the handle waits for what the task leaves
    JoinHandle(Kind::OfRun(state))
}

/// Runs a task until it ends, panics or is aborted.
async fn run<F: Future>(state: Arc<Locked<State<F::Output>>>, future: F) {
    let mut future = Some(Box::pin(future));
    let result = poll_fn(|context| {
        let mut shared = state.lock();
        if shared.is_aborted {
            return Poll::Ready(Err(JoinError(None)));
        }
        let former = shared.task.replace(context.waker().clone());
        drop(shared);
        drop(former); // outside of the lock: dropping a waker runs foreign code
        let polled = future.as_mut().expect("it is there until the end").as_mut();
        match caught(|| polled.poll(context)) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await;
    let result = caught(|| drop(future.take())).and(result);
    let mut shared = state.lock();
    (shared.result, shared.is_over) = (Some(result), true);
    let (woken, former) = (shared.joiner.take(), shared.task.take());
    drop(shared);
    drop(former);
    if let Some(waker) = woken {
        waker.wake();
    }
}

/// Runs code of the task. What an engine ends a thread with goes on.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, JoinError> {
    let caught = catch_unwind(AssertUnwindSafe(run));
    caught.map_err(|panic| {
        if is_of_engine(&*panic) {
            resume_unwind(panic);
        }
        JoinError(Some(panic))
    })
}

impl<T> JoinHandle<T> {
    /// Lets the task end at its next await.
    pub fn abort(&self) {
        match &self.0 {
            Kind::Real(real) => real.abort(),
            Kind::OfRun(state) => {
                let mut state = state.lock();
                state.is_aborted = true;
                let woken = state.task.take();
                drop(state);
                if let Some(waker) = woken {
                    waker.wake();
                }
            }
        }
    }

    /// Tells whether it has ended.
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Kind::Real(real) => real.is_finished(),
            Kind::OfRun(state) => state.lock().is_over,
        }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let state = match &mut self.0 {
            Kind::Real(real) => return Pin::new(real).poll(context).map_err(from_real),
            Kind::OfRun(state) => state,
        };
        let mut state = state.lock();
        if let Some(result) = state.result.take() {
            return Poll::Ready(result);
        }
        assert!(!state.is_over, "JoinHandle polled after completion");
        let former = state.joiner.replace(context.waker().clone());
        drop(state);
        drop(former);
        Poll::Pending
    }
}

fn from_real(error: ::tokio::task::JoinError) -> JoinError {
    JoinError(error.try_into_panic().ok())
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Lets other tasks go on: in a run, until no other thread can move.
pub async fn yield_now() {
    match Seam::current() {
        Some(seam) => {
            seam.sleep_async(Duration::from_nanos(1)).await;
            seam.runtime().give_turn();
        }
        None => ::tokio::task::yield_now().await,
    }
}
