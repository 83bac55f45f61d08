//! The state of one execution, as plain data: it decides which threads can move.
//!
//! The coroutines of shuttle know nothing of locks or time. They tell the kernel what they are
//! about to do ([`Kernel::publish`]) and switch. The scheduler asks the kernel which threads are
//! enabled, lets a strategy choose among them, and applies the chosen operation ([`Kernel::grant`])
//! before the thread goes on. So an operation takes effect the moment its thread is chosen.
//!
//! A step of a thread is one such operation and everything up to its next one. The acts in between
//! (releasing a lock, notifying under it, starting a thread, ending) need no choice of their own: a
//! thread that could tell the difference needs the lock first.

mod clock;
mod condvar;
mod describe;
mod footprint;
mod grant;
mod hash;
mod names;
mod objects;
mod set;
mod threads;

use std::sync::atomic::{AtomicU32, Ordering};

use seatrial_core::runtime::Instant;

use super::Config;
use crate::engine::{Choice, End, Schedule};

pub(super) use footprint::{ClockUse, Footprint};
pub(super) use grant::WaitEnd;
pub(super) use hash::mix;
pub(super) use names::{MAIN, Names, ObjectName, SERVICE, ThreadName};
pub(super) use objects::ObjectId;
pub(super) use set::ThreadSet;
pub(super) use threads::Operation;

use hash::Chain;
use objects::{Cell, Lock};
use threads::Thread;

/// How far an execution has got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// No execution runs: objects can be looked at, but no thread can wait.
    Outside,
    /// Threads are scheduled.
    Running,
    /// The execution is over or given up; threads that are left unwind their stacks.
    Leaving,
}

/// The state of one execution, and the names that outlive it.
pub(super) struct Kernel {
    pub(super) config: Config,
    pub(super) schedule: Schedule,
    names: Names,
    /// Tells objects of this execution from those of others, also of those that run beside it.
    execution: u32,
    phase: Phase,
    stopped: Option<End>,
    threads: Vec<Thread>,
    running: usize,
    /// Threads whose next stretch touches nothing that others see.
    ready: ThreadSet,
    /// Threads that have not ended.
    live: ThreadSet,
    /// The live threads that an execution does not wait for.
    daemons: ThreadSet,
    /// Threads that neither go on nor unwind.
    stuck: ThreadSet,
    locks: Vec<Lock>,
    condvars: Vec<condvar::Condvar>,
    cells: Vec<Cell>,
    now: Instant,
    /// The steps that read, armed and moved the clock.
    clock_chain: Chain,
    /// Jumps of the clock while threads could move.
    free_jumps: u32,
    /// Jumps of the clock when no thread could move: such a jump is ordered with everything.
    standstills: u32,
    /// The thread that took the last step. `preemptions` counts how often another one was chosen
    /// although that thread could go on.
    last: Option<usize>,
    preemptions: u32,
    /// Calls since the last step that no schedule can interrupt.
    idle_calls: u64,
}

impl Kernel {
    pub(super) fn new(config: Config) -> Self {
        Self::with_names(config, Names::new())
    }

    pub(super) fn with_names(config: Config, names: Names) -> Self {
        Self {
            config,
            schedule: Schedule::default(),
            names,
            execution: 0,
            phase: Phase::Outside,
            stopped: None,
            threads: Vec::new(),
            running: 0,
            ready: ThreadSet::EMPTY,
            live: ThreadSet::EMPTY,
            daemons: ThreadSet::EMPTY,
            stuck: ThreadSet::EMPTY,
            locks: Vec::new(),
            condvars: Vec::new(),
            cells: Vec::new(),
            now: Instant::ZERO,
            clock_chain: Chain::default(),
            free_jumps: 0,
            standstills: 0,
            last: None,
            preemptions: 0,
            idle_calls: 0,
        }
    }

    /// Forgets the last execution and begins the next, whose main thread is about to run.
    pub(super) fn begin(&mut self) {
        static EXECUTIONS: AtomicU32 = AtomicU32::new(1);
        self.execution = EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        self.phase = Phase::Running;
        self.stopped = None;
        self.schedule.choices.clear();
        self.threads.clear();
        self.locks.clear();
        self.condvars.clear();
        self.cells.clear();
        self.ready = ThreadSet::EMPTY;
        self.live = ThreadSet::EMPTY;
        self.daemons = ThreadSet::EMPTY;
        self.stuck = ThreadSet::EMPTY;
        self.now = Instant::ZERO;
        self.clock_chain = Chain::default();
        self.free_jumps = 0;
        self.standstills = 0;
        self.last = None;
        self.preemptions = 0;
        self.idle_calls = 0;
        self.running = self.start(MAIN, "main");
    }

    /// Ends the execution and says how it went. A divergence or a refusal comes first. Then comes a
    /// panic that no thread joined, since any other end may be its consequence.
    pub(super) fn end(&mut self) -> End {
        self.phase = Phase::Outside;
        let stopped = self.stopped.take();
        if let Some(End::Diverged(_) | End::Refused(_)) = stopped {
            return stopped.expect("just matched");
        }
        match self.unheard_panic() {
            Some(text) => End::Panicked(text),
            None => stopped.unwrap_or(End::Finished),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Gives the execution up, or ends it (`None`): all threads that are left unwind.
    pub(super) fn stop(&mut self, end: Option<End>) {
        if self.phase == Phase::Running {
            self.phase = Phase::Leaving;
            self.stopped = end;
        }
    }

    /// Counts a call that the thread is not interrupted at; false if it makes far too many.
    pub(super) fn idle_call(&mut self) -> bool {
        self.idle_calls += 1;
        if self.phase == Phase::Running && self.idle_calls > self.config.max_steps {
            let text = format!("{} spins without ever waiting", self.thread_title(self.running));
            self.stop(Some(End::Endless(text)));
        }
        self.phase == Phase::Running
    }

    /// Returns how often a thread was stopped that could have gone on.
    pub(super) fn preemptions(&self) -> u32 {
        self.preemptions
    }

    /// Returns the decisions taken so far.
    pub(super) fn steps(&self) -> u64 {
        self.schedule.choices.len() as u64
    }

    /// Returns the number of the trace that this execution is (see [`hash`]).
    pub(super) fn trace(&self) -> u64 {
        let locks = self.locks.iter().map(|lock| (lock.chain, lock.name));
        let cells = self.cells.iter().map(|cell| (cell.chain, cell.name));
        let objects =
            locks.chain(cells).map(|(chain, name)| chain.share(self.names.object_path(name)));
        let threads = self
            .threads
            .iter()
            .map(|thread| if thread.answers == 0 { 0 } else { mix(thread.answers ^ thread.path) });
        let parts = objects.chain(threads).fold(0, u64::wrapping_add);
        parts.wrapping_add(self.clock_chain.share(11))
    }

    /// Records the answer to a choice of data.
    pub(super) fn answer(&mut self, answer: u32) {
        self.schedule.choices.push(Choice::Data(answer));
        let thread = &mut self.threads[self.running];
        thread.answers = mix(thread.answers.wrapping_add(u64::from(answer) + 1));
    }
}
