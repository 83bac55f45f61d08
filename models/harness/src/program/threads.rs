//! Threads and tasks.

use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use seatrial_core::runtime::{Ambient as _, Instant, Panic, Runtime};

use super::Seam;
use crate::engine::AnyRuntime;

/// A thread, or a task, that can be joined.
pub struct Thread<T: Send + 'static> {
    seam: Seam,
    inner: <AnyRuntime as Runtime>::Join<T>,
}

impl<T: Send + 'static> Thread<T> {
    /// Waits for it to end; its panic becomes this thread's.
    pub fn join(self) -> T {
        self.try_join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Waits for it to end.
    ///
    /// # Errors
    /// It panicked; the payload is returned.
    pub fn try_join(self) -> Result<T, Panic> {
        self.seam.runtime().join(self.inner)
    }
}

impl Seam {
    /// Starts a thread. Its name is the head of its column in the picture of a failure.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Thread<T> {
        let seam = self.clone();
        let inner = self.runtime().spawn(name, move || {
            let _inside = seam.enter();
            body()
        });
        Thread { seam: self.clone(), inner }
    }

    /// Starts a task: a thread that does nothing but poll a future.
    pub fn task<T: Send + 'static>(
        &self,
        name: &str,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Thread<T> {
        let seam = self.clone();
        self.spawn(name, move || seam.runtime().block_on(future))
    }

    /// Runs a future on this thread, to its end.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime().block_on(future)
    }

    /// Runs a future that may be dropped at any of its awaits, as `select!` and time-outs do: whether it is, is
    /// a choice that engines try both ways. `None` if it was.
    pub async fn cancellable<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending if self.runtime().choose(2) == 1 => {
                self.act("is cancelled");
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    /// Waits for a time, as a future.
    pub fn sleep_async(&self, time: Duration) -> Sleep {
        Sleep { seam: self.clone(), until: self.now() + time, timer: None }
    }
}

/// A future that waits for a time.
pub struct Sleep {
    seam: Seam,
    until: Instant,
    timer: Option<<AnyRuntime as Runtime>::Timer>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let runtime = self.seam.runtime().clone();
        if runtime.now() >= self.until {
            return Poll::Ready(());
        }
        self.timer = Some(runtime.wake_at(self.until, context.waker().clone()));
        Poll::Pending
    }
}

impl Unpin for Sleep {}

impl<T: Send + 'static> fmt::Debug for Thread<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").finish_non_exhaustive()
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("until", &self.until).finish_non_exhaustive()
    }
}
