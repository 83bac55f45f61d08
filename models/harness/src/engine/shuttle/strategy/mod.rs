//! The strategies that choose the next thread, one per file.

mod all;
mod bytes;
#[cfg(test)]
mod counting;
mod counts;
mod pct;
mod portfolio;
mod pos;
mod random;
mod replay;
mod rng;
mod surw;
#[cfg(test)]
mod tests;
mod urw;
mod walk;

pub(super) use replay::Replay;

use super::kernel::{Footprint, Kernel, ThreadSet};
use super::trace::Trace;
use crate::engine::{Choice, End, Schedule};

/// How the schedules of an exploration are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// One execution of every trace, and no other.
    Trace {
        /// Executions after which to stop.
        executions: u64,
    },
    /// Every schedule.
    All {
        /// How often a thread may be stopped that could go on; any number of times if `None`.
        preemptions: Option<u32>,
        /// Executions after which to stop.
        executions: u64,
    },
    /// Every thread that can move is as likely as any other, at every step.
    Random {
        /// The seed of the random numbers.
        seed: u64,
        /// How many executions to run.
        executions: u64,
    },
    /// Random priorities that change at `depth - 1` random steps (Burckhardt and others, 2010).
    Pct {
        /// The seed of the random numbers.
        seed: u64,
        /// How many ordering constraints a bug may need to be found with a known probability.
        depth: u32,
        /// How many executions to run.
        executions: u64,
    },
    /// Every interleaving is as likely as any other, as far as the lengths of the threads are
    /// known (Zhao and others, 2025).
    Urw {
        /// The seed of the random numbers.
        seed: u64,
        /// How many executions to run.
        executions: u64,
    },
    /// Random priorities of *steps*: of two that disturb each other, the loser gets a new priority
    /// when the winner has run, so that every order of them is likely (Yuan and others, 2018).
    Pos {
        /// The seed of the random numbers.
        seed: u64,
        /// How many executions to run.
        executions: u64,
    },
    /// Every interleaving of the steps on one object is as likely as any other, another object
    /// for each execution (Zhao and others, 2025).
    Surw {
        /// The seed of the random numbers.
        seed: u64,
        /// How many executions to run.
        executions: u64,
    },
    /// A random walk that tells how many traces there are: each execution says how many it
    /// [stands for](crate::engine::Execution::stands_for).
    Walk {
        /// The seed of the random numbers.
        seed: u64,
        /// How many executions to run.
        executions: u64,
    },
    /// All of them in turn, one execution each, until none has any more.
    Portfolio(Vec<Self>),
    /// One execution, decided by bytes: zero lets a thread run on, or takes the first option. When
    /// they are used up, threads run as long as they can. Every byte string is a schedule, so a
    /// fuzzer can change them as it likes.
    Bytes(Vec<u8>),
    /// One execution, as written down; a program that cannot follow ends as
    /// [`End::Diverged`](crate::engine::End::Diverged).
    Replay(Schedule),
    /// One execution, as near to what is written down as the program can: decisions that it
    /// cannot follow are left out, and where none is left, threads run as long as they can.
    Follow(Schedule),
}

/// The options for the next step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// The threads that can move.
    pub(super) threads: ThreadSet,
    /// Whether the clock can jump.
    pub(super) clock: bool,
}

impl Options {
    /// Returns how many options there are.
    pub(super) fn len(self) -> usize {
        self.threads.len() + usize::from(self.clock)
    }

    /// Returns one of them; the clock comes last.
    fn nth(self, nth: usize) -> Choice {
        if nth < self.threads.len() {
            Choice::Thread(self.threads.member(nth) as u8)
        } else {
            Choice::Clock
        }
    }

    /// Tells whether a decision is among them.
    fn allow(self, choice: Choice) -> bool {
        match choice {
            Choice::Thread(thread) => {
                usize::from(thread) < crate::engine::MAX_THREADS
                    && self.threads.contains(usize::from(thread))
            }
            Choice::Clock => self.clock,
            Choice::Data(_) => false,
        }
    }

    /// Returns all of them.
    pub(super) fn all(self) -> impl Iterator<Item = Choice> + Clone {
        (0..self.len()).map(move |nth| self.nth(nth))
    }
}

/// Returns what an option touches.
pub(super) fn footprint(kernel: &Kernel, choice: Choice) -> Footprint {
    match choice {
        Choice::Thread(thread) => kernel.footprint(usize::from(thread)),
        _ => Footprint::JUMP,
    }
}

/// A decision, or the end of an execution that this strategy cannot go on with.
pub(super) type Decision<T> = Result<T, End>;

/// The program under test decided something that no schedule tells it.
pub(super) fn diverged() -> End {
    let text = "the program does not do the same when it is scheduled the same";
    End::Diverged(text.to_owned())
}

/// Chooses the schedules of one exploration.
pub(super) trait Chooser {
    /// Prepares for the next execution; false if there is none.
    fn begin(&mut self) -> bool;

    /// Chooses who takes the next step: one of `options`, of which there is at least one.
    fn thread(&mut self, kernel: &Kernel, options: Options) -> Decision<Choice>;

    /// Chooses a number below `options`, which is two or more, for the thread that runs.
    fn data(&mut self, kernel: &Kernel, options: u32) -> Decision<u32>;

    /// Learns that the clock has jumped.
    fn jumped(&mut self, _kernel: &Kernel) {}

    /// Learns that no thread can move, before the clock jumps or the execution ends.
    fn nobody_moves(&mut self, _kernel: &Kernel) {}

    /// Learns that the thread that runs has released a mutex.
    fn released(&mut self, _kernel: &Kernel, _mutex: usize) {}

    /// Learns that the thread that runs has started another.
    fn started(&mut self, _kernel: &Kernel, _thread: usize) {}

    /// Learns that the thread that runs has seen the end of another.
    fn joined(&mut self, _kernel: &Kernel, _thread: usize) {}

    /// Returns the logarithm of how many traces the last execution stands for, if the strategy can
    /// tell: on average, it is the number of all traces.
    fn stands_for(&self, _kernel: &Kernel) -> Option<f64> {
        None
    }

    /// Learns that the execution is over.
    fn finish(&mut self, _kernel: &Kernel, _end: &End) {}

    /// Returns the end of the last execution if it was not the execution that was asked for.
    fn unmet(&self) -> Option<End> {
        None
    }

    /// Tells whether every execution there is has been run.
    fn exhausted(&self) -> bool {
        false
    }

    /// Returns the search of all traces, if this is it.
    fn trace(&mut self) -> Option<&mut Trace> {
        None
    }
}

impl Strategy {
    /// Returns a portfolio that shares executions out among all samplers.
    #[must_use]
    pub fn portfolio(seed: u64, executions: u64) -> Self {
        const MEMBERS: u64 = 7;
        let share = |nth: u64| executions / MEMBERS + u64::from(nth < executions % MEMBERS);
        Self::Portfolio(vec![
            Self::Random { seed, executions: share(0) },
            Self::Pos { seed, executions: share(1) },
            Self::Surw { seed, executions: share(2) },
            Self::Pct { seed, depth: 2, executions: share(3) },
            Self::Pct { seed, depth: 3, executions: share(4) },
            Self::Urw { seed, executions: share(5) },
            Self::Walk { seed, executions: share(6) },
        ])
    }

    pub(super) fn chooser(self) -> Box<dyn Chooser> {
        match self {
            Self::Trace { executions } => Box::new(Trace::new(executions)),
            Self::All { preemptions, executions } => {
                Box::new(all::All::new(preemptions, executions))
            }
            Self::Random { seed, executions } => Box::new(random::Random::new(seed, executions)),
            Self::Pct { seed, depth, executions } => {
                Box::new(pct::Pct::new(seed, depth, executions))
            }
            Self::Urw { seed, executions } => Box::new(urw::Urw::new(seed, executions)),
            Self::Pos { seed, executions } => Box::new(pos::Pos::new(seed, executions)),
            Self::Surw { seed, executions } => Box::new(surw::Surw::new(seed, executions)),
            Self::Walk { seed, executions } => Box::new(walk::Walk::new(seed, executions)),
            Self::Portfolio(members) => Box::new(portfolio::Portfolio::new(members)),
            Self::Bytes(bytes) => Box::new(bytes::Bytes::new(bytes)),
            Self::Replay(schedule) => Box::new(Replay::exactly(schedule)),
            Self::Follow(schedule) => Box::new(Replay::nearly(schedule)),
        }
    }
}
