//! The bounded parallel loop (client-go `util/workqueue`, `ParallelizeUntil`).
//!
//! ```
//! use std::num::NonZeroUsize;
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicUsize, Ordering};
//! use seatrial_core::cancel::CancelToken;
//! use seatrial_core::parallel::parallelize_until;
//! use seatrial_core::runtime::System;
//!
//! let sum = Arc::new(AtomicUsize::new(0));
//! let (inner, workers) = (Arc::clone(&sum), NonZeroUsize::new(4).unwrap());
//! parallelize_until(&CancelToken::new(&System::new()), workers, 100, 10, move |piece| {
//!     inner.fetch_add(piece, Ordering::Relaxed);
//! });
//! assert_eq!(sum.load(Ordering::Relaxed), 4950);
//! ```

#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::caught::discard;
use crate::runtime::{Panic, Runtime};

/// Calls `process` for every number below `pieces`, on up to `workers` threads including the
/// calling one, and returns when all of them have ended.
///
/// The pieces are divided into chunks of `chunk` consecutive numbers (zero counts as one). A worker
/// takes one chunk after the other and processes it in order (`workqueue:PZ-2`, `PZ-3`). With one
/// worker everything runs in order on the calling thread.
///
/// A worker checks the token before every piece and stops if the token has ended; a piece that has
/// begun is finished (`workqueue:PZ-4`). It is not possible to ask for zero workers (`PZ-6`).
///
/// # Panics
/// If `process` panics: after the other workers have finished (`workqueue:PZ-8`). The rest of the
/// chunk of that piece is lost. If a thread cannot be started: after the threads that were started
/// have ended; each finishes its chunk and takes no further one.
pub fn parallelize_until<R: Runtime>(
    token: &CancelToken<R>,
    workers: NonZeroUsize,
    pieces: usize,
    chunk: usize,
    process: impl Fn(usize) + Send + Sync + 'static,
) {
    let runtime = token.runtime();
    let chunk = chunk.max(1);
    let chunks = pieces.div_ceil(chunk);
    let others = workers.get().min(chunks).saturating_sub(1);
    let next = runtime.mutex(Chunks { next: 0, chunk, pieces });
    let shared = Arc::new(Shared { token: token.clone(), next, process });
    let mut team = Team { runtime, threads: Vec::with_capacity(others) };
    for _ in 0..others {
        let worker = Arc::clone(&shared);
        let start = || runtime.spawn("parallel", move || worker.work());
        match catch_unwind(AssertUnwindSafe(start)) {
            Ok(thread) => team.threads.push(thread),
            Err(panic) => {
                shared.stop();
                drop(team);
                resume_unwind(panic)
            }
        }
    }
    shared.work();
    if let Some(panic) = team.join() {
        resume_unwind(panic);
    }
}

/// The state that the workers share.
struct Shared<R: Runtime, F> {
    token: CancelToken<R>,
    next: R::Mutex<Chunks>,
    process: F,
}

impl<R: Runtime, F: Fn(usize)> Shared<R, F> {
    fn work(&self) {
        while let Some(chunk) = self.take() {
            for piece in chunk {
                if self.token.is_cancelled() {
                    return;
                }
                (self.process)(piece);
            }
        }
    }

    /// Leaves the chunks that are not taken yet.
    fn stop(&self) {
        let mut next = self.token.runtime().lock(&self.next);
        next.next = next.pieces;
    }

    fn take(&self) -> Option<Range<usize>> {
        self.token.runtime().lock(&self.next).take()
    }
}

/// The chunks that are not taken yet.
struct Chunks {
    next: usize,
    chunk: usize,
    pieces: usize,
}

impl Chunks {
    fn take(&mut self) -> Option<Range<usize>> {
        let start = self.next;
        self.next = start.saturating_add(self.chunk).min(self.pieces);
        (start < self.next).then_some(start..self.next)
    }
}

/// The started threads; joined even if the calling thread panics.
struct Team<'r, R: Runtime> {
    runtime: &'r R,
    threads: Vec<R::Join<()>>,
}

impl<R: Runtime> Team<'_, R> {
    /// Waits for all threads; returns the first panic.
    fn join(&mut self) -> Option<Panic> {
        let ends = self.threads.drain(..).map(|thread| self.runtime.join(thread));
        ends.filter_map(Result::err).fold(None, |first, panic| {
            if first.is_none() {
                return Some(panic);
            }
            discard(panic);
            first
        })
    }
}

impl<R: Runtime> Drop for Team<'_, R> {
    fn drop(&mut self) {
        if let Some(panic) = self.join() {
            discard(panic); // the calling thread is already panicking
        }
    }
}
