//! A program, and how it is run outside of a trial.

use std::future::Future;
use std::pin::Pin;

/// What is run.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    Thread(fn()),
    Task(fn() -> Pin<Box<dyn Future<Output = ()>>>),
}

impl Body {
    /// Runs it on real threads, tasks by tokio.
    pub(crate) fn run(self) {
        match self {
            Self::Thread(body) => body(),
            Self::Task(body) => {
                let tokio = tokio::runtime::Builder::new_multi_thread().enable_time().build();
                tokio.expect("threads can be started").block_on(body());
            }
        }
    }
}
