//! Drives the coroutines of shuttle as the kernel allows and a strategy decides.

use shuttle_engine::scheduler::{Schedule, Scheduler, Task, TaskId};

use super::kernel::{Kernel, Phase, WaitEnd};
use super::session::{self, Session};
use super::strategy::Options;
use crate::engine::{Choice, End};

/// The one scheduler: it lives in shuttle, its state in the [`Session`].
#[derive(Debug)]
pub(super) struct Driver;

impl Scheduler for Driver {
    fn new_execution(&mut self) -> Option<Schedule> {
        Some(Schedule::default())
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        _is_yielding: bool,
    ) -> Option<TaskId> {
        // Tasks are numbered in the order of their start, as the kernel numbers threads.
        let here = |thread: usize| runnable.iter().any(|task| usize::from(task.id()) == thread);
        session::with(|session| {
            if let Some(current) = current.map(usize::from)
                && session.kernel.has_ended(current)
                && here(current)
            {
                return Some(TaskId::from(current)); // it is on the last yard of its way out
            }
            session.next().or_else(|| session.kernel.next_to_leave(runnable)).map(TaskId::from)
        })
    }

    fn next_u64(&mut self) -> u64 {
        session::with(|session| session.kernel.entropy())
    }
}

impl Session {
    /// Returns the thread that runs next; `None` if the execution is over or given up.
    fn next(&mut self) -> Option<usize> {
        while self.kernel.phase() == Phase::Running {
            if let Some(thread) = self.kernel.ready_thread() {
                self.kernel.run(thread);
                return Some(thread);
            }
            match self.decide() {
                Ok(Some(thread)) => return Some(thread),
                Ok(None) => {}
                Err(end) => self.kernel.stop(end),
            }
        }
        None
    }

    /// Takes one decision: `Ok(None)` is a jump of the clock, `Err` the end of the execution.
    fn decide(&mut self) -> Result<Option<usize>, Option<End>> {
        let kernel = &mut self.kernel;
        let enabled = kernel.enabled();
        let is_free = kernel.can_jump_freely();
        if enabled.is_empty() && !is_free {
            self.chooser.nobody_moves(kernel);
            if kernel.only_daemons_are_left() {
                return Err(None);
            }
            if !kernel.can_jump_at_standstill() {
                return Err(Some(End::Deadlock(kernel.standstill())));
            }
        }
        if kernel.steps() >= kernel.config.max_steps {
            return Err(Some(End::Endless(kernel.standstill())));
        }
        let options = Options { threads: enabled, clock: is_free || enabled.is_empty() };
        self.was_free |= options.len() > 1;
        match self.chooser.thread(kernel, options) {
            Ok(Choice::Thread(thread)) => {
                let thread = usize::from(thread);
                self.grant(thread, options)?;
                Ok(Some(thread))
            }
            Ok(_) => {
                kernel.jump();
                self.chooser.jumped(kernel);
                Ok(None)
            }
            Err(end) => Err(Some(end)),
        }
    }

    fn grant(&mut self, thread: usize, options: Options) -> Result<(), Option<End>> {
        let kernel = &mut self.kernel;
        let (condvar, end) = (kernel.waits_on(thread), kernel.wait_end(thread));
        kernel.grant(thread, options.threads);
        if let (Some(condvar), Some(end)) = (condvar, end) {
            let notified = match end {
                WaitEnd::Notified => true,
                WaitEnd::TimedOut => false,
                WaitEnd::Either => self.answer(2).ok_or(None)? == 0,
            };
            self.kernel.end_wait(condvar, notified);
        }
        Ok(())
    }
}

impl Kernel {
    /// Returns a thread that still has to unwind, each in turn. `None` if the threads that are left
    /// are stuck, so that their stacks have to be abandoned.
    fn next_to_leave(&mut self, runnable: &[&Task]) -> Option<usize> {
        let left = runnable.iter().map(|task| usize::from(task.id()));
        let mut left = left.filter(|&thread| !self.is_stuck(thread));
        let first = left.next()?;
        let next = std::iter::once(first).chain(left).find(|&thread| thread > self.running());
        let next = next.unwrap_or(first);
        self.run(next);
        Some(next)
    }
}
