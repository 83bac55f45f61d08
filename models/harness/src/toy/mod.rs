//! Small programs over the seam, on which engines are measured against each other and against
//! known numbers; programs of others that have a known bug, on which they are measured as well.
//!
//! | program | what it does |
//! |---|---|
//! | `2p1a2w` | two producers add one item each, two workers process, the main thread shuts down |
//! | `pair` | two independent `2p1a1w` side by side |
//! | `handoff` | a mover takes items from one queue to another, nested in its lock or not |
//! | `opposite_locks` | two threads take two locks in opposite orders |
//! | `reorder_100` | 99 threads set one value after the other, one looks in between |
//! | `reorder_started_100` | the same, and starting a thread is a step as well |
//! | `alternate_40` | two threads take turns at four locks, one of them 40 steps behind |
//! | `twostage_100` | 99 threads set a value and then one derived from it, one looks in between |
//! | `stack` | one thread pushes, one pops although nothing is left |
//! | `bluetooth` | a driver is stopped between the question whether it is and the request |
//! | `impatient` | a deadline passes although somebody is about to come |
//! | `stringbuffer` | a text shrinks between the question for its length and the copy |

mod bugs;
mod component;
mod lines;
mod name;
mod order;
mod queue;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use seatrial_core::runtime::{Panic, Runtime};

pub use component::{Toy, ToyBugs};
pub use queue::{Mistake, ThreeSets};

/// A program; `run` returns a number that depends on the schedule only through what its threads
/// saw.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Program {
    /// Producers and workers at one queue.
    Workers {
        /// Threads that add items, each its own.
        producers: u8,
        /// How often each adds its item.
        adds: u8,
        /// Threads that process items.
        workers: u8,
    },
    /// Two queues, each with two producers and a worker.
    Pair,
    /// Two queues and a thread that moves items from one to the other.
    Handoff {
        /// Whether the second lock is taken under the first.
        nested: bool,
        /// Threads that add to the first queue.
        producers: u8,
    },
    /// A deadlock in one of three traces.
    OppositeLocks,
    /// Threads set two values, one reads them.
    Reorder {
        /// All threads, the reader among them.
        threads: u8,
        /// Whether the main thread takes a step before it starts each of them.
        started: bool,
    },
    /// Two threads at four locks, one of them a number of steps behind.
    Alternate(u8),
    /// Threads set a value and then one derived from it, one reads them; this number of threads.
    TwoStage(u8),
    /// A thread pushes, another pops.
    Stack,
    /// A driver serves a request while it is stopped.
    Bluetooth,
    /// A text is appended to another while it shrinks.
    StringBuffer,
    /// A thread gives up waiting for another one that can come. Only a deadline that passes in the
    /// middle of other work shows the bug.
    Impatient,
}

impl Program {
    /// Runs the program on the calling thread.
    ///
    /// # Panics
    /// If the program sees a broken promise.
    pub fn run<R: Runtime>(self, runtime: &R) -> u64 {
        self.attempt(runtime).unwrap_or_else(|bug| panic!("{bug}"))
    }

    /// Runs the program on the calling thread; says what went wrong if its known bug shows.
    ///
    /// # Errors
    /// If its known bug shows.
    ///
    /// # Panics
    /// If the program sees another broken promise.
    pub fn attempt<R: Runtime>(self, runtime: &R) -> Result<u64, String> {
        match self {
            Self::Workers { producers, adds, workers } => {
                Ok(queue_with_workers(runtime, Mistake::None, producers, adds, workers))
            }
            Self::Pair => Ok(pair(runtime)),
            Self::Handoff { nested, producers } => Ok(lines::handoff(runtime, nested, producers)),
            Self::OppositeLocks => Ok(opposite_locks(runtime)),
            Self::Reorder { threads, started } => order::reorder(runtime, threads, started),
            Self::Alternate(behind) => order::alternate(runtime, behind),
            Self::TwoStage(threads) => bugs::two_stage(runtime, threads),
            Self::Stack => bugs::stack(runtime),
            Self::Bluetooth => bugs::bluetooth(runtime),
            Self::StringBuffer => bugs::string_buffer(runtime),
            Self::Impatient => bugs::impatient(runtime),
        }
    }
}

/// Runs producers and workers at a queue that makes a mistake, or none.
///
/// # Panics
/// If an item is processed concurrently, or lost.
pub fn queue_with_workers<R: Runtime>(
    runtime: &R,
    mistake: Mistake,
    producers: u8,
    adds: u8,
    workers: u8,
) -> u64 {
    let queue = Arc::new(ThreeSets::new(runtime, mistake));
    let workers: Vec<_> = (0..workers).map(|_| worker(runtime, &queue)).collect();
    let producers: Vec<_> =
        (0..producers).map(|key| producer(runtime, &queue, key, adds)).collect();
    for producer in producers {
        heard(runtime.join(producer));
    }
    queue.shut_down();
    let seen = workers.into_iter().map(|worker| heard(runtime.join(worker)));
    let seen = seen.fold(0, combine);
    assert!(queue.is_idle(), "an item was lost");
    seen
}

fn worker<R: Runtime>(runtime: &R, queue: &Arc<ThreeSets<R>>) -> R::Join<u64> {
    let queue = Arc::clone(queue);
    runtime.spawn("worker", move || {
        let mut seen = 0_u64;
        while let Some(key) = queue.get() {
            seen = seen * 5 + u64::from(key) + 1;
            queue.done(key);
        }
        seen
    })
}

fn producer<R: Runtime>(runtime: &R, queue: &Arc<ThreeSets<R>>, key: u8, adds: u8) -> R::Join<()> {
    let queue = Arc::clone(queue);
    runtime.spawn("producer", move || (0..adds).for_each(|_| queue.add(key)))
}

fn pair<R: Runtime>(runtime: &R) -> u64 {
    let queues: Vec<_> = (0..2).map(|_| Arc::new(ThreeSets::new(runtime, Mistake::None))).collect();
    let (mut workers, mut producers) = (Vec::new(), Vec::new());
    for queue in &queues {
        workers.push(worker(runtime, queue));
        producers.extend((0..2).map(|key| producer(runtime, queue, key, 1)));
    }
    for producer in producers {
        heard(runtime.join(producer));
    }
    for queue in &queues {
        queue.shut_down();
    }
    workers.into_iter().map(|worker| heard(runtime.join(worker))).fold(0, combine)
}

fn opposite_locks<R: Runtime>(runtime: &R) -> u64 {
    let locks = Arc::new((runtime.mutex(()), runtime.mutex(())));
    let other = {
        let (seam, locks) = (runtime.clone(), Arc::clone(&locks));
        runtime.spawn("other", move || {
            let first = seam.lock(&locks.0);
            let second = seam.lock(&locks.1);
            drop((first, second));
        })
    };
    let second = runtime.lock(&locks.1);
    let first = runtime.lock(&locks.0);
    drop((first, second));
    heard(runtime.join(other));
    0
}

fn combine(seen: u64, more: u64) -> u64 {
    seen.wrapping_mul(1_000_003).wrapping_add(more)
}

/// Passes the panic of a joined thread on.
fn heard<T>(joined: Result<T, Panic>) -> T {
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
