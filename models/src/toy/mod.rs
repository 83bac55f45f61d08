//! Small programs over the seam, on which engines are measured against each other and against
//! known numbers.
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

mod order;
mod queue;

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use seatrial_core::runtime::{Panic, Runtime};

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
    /// Two threads at four locks, one of them so many steps behind.
    Alternate(u8),
}

impl Program {
    /// Runs the program on the calling thread.
    ///
    /// # Panics
    /// If the program sees a broken promise.
    pub fn run<R: Runtime>(self, runtime: &R) -> u64 {
        match self {
            Self::Workers { producers, adds, workers } => {
                queue_with_workers(runtime, Mistake::None, producers, adds, workers)
            }
            Self::Pair => pair(runtime),
            Self::Handoff { nested, producers } => handoff(runtime, nested, producers),
            Self::OppositeLocks => opposite_locks(runtime),
            Self::Reorder { threads, started } => order::reorder(runtime, threads, started),
            Self::Alternate(behind) => order::alternate(runtime, behind),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers { producers, adds, workers } => {
                write!(f, "{producers}p{adds}a{workers}w")
            }
            Self::Pair => f.write_str("pair"),
            Self::Handoff { nested: true, producers } => write!(f, "handoff_nested_{producers}p"),
            Self::Handoff { nested: false, producers } => write!(f, "handoff_{producers}p"),
            Self::OppositeLocks => f.write_str("opposite_locks"),
            Self::Reorder { threads, started: false } => write!(f, "reorder_{threads}"),
            Self::Reorder { threads, started: true } => write!(f, "reorder_started_{threads}"),
            Self::Alternate(behind) => write!(f, "alternate_{behind}"),
        }
    }
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("unknown program '{text}': such as 2p1a2w, pair, reorder_100");
        let number = |text: &str| text.parse::<u8>().map_err(|_| unknown());
        let handoff = |nested, producers: &str| {
            let producers = producers.strip_suffix('p').ok_or_else(unknown)?;
            Ok(Self::Handoff { nested, producers: number(producers)? })
        };
        if text == "pair" {
            return Ok(Self::Pair);
        }
        if text == "opposite_locks" {
            return Ok(Self::OppositeLocks);
        }
        if let Some(threads) = text.strip_prefix("reorder_started_") {
            return Ok(Self::Reorder { threads: number(threads)?, started: true });
        }
        if let Some(threads) = text.strip_prefix("reorder_") {
            return Ok(Self::Reorder { threads: number(threads)?, started: false });
        }
        if let Some(behind) = text.strip_prefix("alternate_") {
            return Ok(Self::Alternate(number(behind)?));
        }
        if let Some(producers) = text.strip_prefix("handoff_nested_") {
            return handoff(true, producers);
        }
        if let Some(producers) = text.strip_prefix("handoff_") {
            return handoff(false, producers);
        }
        let (producers, rest) = text.split_once('p').ok_or_else(unknown)?;
        let (adds, workers) = rest.split_once('a').ok_or_else(unknown)?;
        let workers = workers.strip_suffix('w').ok_or_else(unknown)?;
        let (producers, adds) = (number(producers)?, number(adds)?);
        Ok(Self::Workers { producers, adds, workers: number(workers)? })
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

/// A list of items under a lock, and where to wait for one.
struct Line<R: Runtime> {
    runtime: R,
    items: R::Mutex<VecDeque<u8>>,
    added: R::Condvar,
}

impl<R: Runtime> Line<R> {
    fn new(runtime: &R) -> Arc<Self> {
        let (items, added) = (runtime.mutex(VecDeque::new()), runtime.condvar());
        Arc::new(Self { runtime: runtime.clone(), items, added })
    }

    fn push(&self, item: u8) {
        let mut items = self.runtime.lock(&self.items);
        items.push_back(item);
        self.runtime.notify_one(&self.added);
    }

    /// Takes the next item and hands it to `then`, under the lock.
    fn pop<T>(&self, then: impl FnOnce(u8) -> T) -> T {
        let mut items = self.runtime.lock(&self.items);
        loop {
            match items.pop_front() {
                Some(item) => return then(item),
                None => items = self.runtime.wait(&self.added, items),
            }
        }
    }
}

fn handoff<R: Runtime>(runtime: &R, nested: bool, producers: u8) -> u64 {
    let (from, to) = (Line::new(runtime), Line::new(runtime));
    let mover = {
        let (from, to) = (Arc::clone(&from), Arc::clone(&to));
        runtime.spawn("mover", move || {
            for _ in 0..producers {
                if nested {
                    from.pop(|item| to.push(item));
                } else {
                    to.push(from.pop(|item| item));
                }
            }
        })
    };
    let consumer = {
        let to = Arc::clone(&to);
        let items = 0..=producers;
        let look = move || items.fold(0_u64, |seen, _| seen * 7 + u64::from(to.pop(|i| i)) + 1);
        runtime.spawn("consumer", look)
    };
    let mut others: Vec<_> = (0..producers)
        .map(|item| {
            let from = Arc::clone(&from);
            runtime.spawn("producer", move || from.push(item))
        })
        .collect();
    others.push(runtime.spawn("direct", move || to.push(5)));
    others.push(mover);
    for other in others {
        heard(runtime.join(other));
    }
    heard(runtime.join(consumer))
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

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_core::runtime::System;

    #[test]
    fn a_program_is_known_by_its_name() {
        for name in [
            "2p1a2w",
            "3p2a1w",
            "pair",
            "handoff_1p",
            "handoff_nested_2p",
            "opposite_locks",
            "reorder_100",
            "reorder_started_9",
            "alternate_40",
        ] {
            assert_eq!(name.parse::<Program>().unwrap().to_string(), name);
        }
        for name in ["", "2p1a", "xp1a1w", "2p1a2w2", "reorder_", "reorder_1000", "handoff_2"] {
            assert!(name.parse::<Program>().is_err(), "{name}");
        }
    }

    #[test]
    fn programs_that_cannot_deadlock_run_on_real_threads() {
        let runtime = System::new();
        for name in ["2p2a2w", "pair", "handoff_2p", "handoff_nested_1p"] {
            name.parse::<Program>().unwrap().run(&runtime);
        }
    }
}
