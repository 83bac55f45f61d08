//! How an execution is brought down before its threads have ended: each of them unwinds at its next
//! call, and loom sees nothing but threads that end.

use seatrial_core::runtime::Instant;

use super::thread::{Asleep, Unwinding};
use super::{Books, End};

impl Books {
    /// Begins to bring the execution down although other threads may have more to do: loom hears of
    /// none of it, so it does not learn in which other orders that could have come.
    pub(in crate::engine::loom) fn cut_short(&mut self, end: End) {
        let running = self.running;
        let mut others = (0..self.threads.len()).filter(|&at| at != running);
        self.cut |= self.abort.is_none() && others.any(|at| !self.threads[at].ended);
        self.abort(end);
    }

    /// Begins to bring the execution down.
    pub(in crate::engine::loom) fn abort(&mut self, end: End) {
        self.abort.get_or_insert(end);
        for thread in self.threads.iter_mut().filter(|thread| thread.parked) {
            thread.unpark();
        }
    }

    /// Finds out whether the running thread unwinds.
    pub(in crate::engine::loom) fn note_unwinding(&mut self, me: usize) {
        if !std::thread::panicking() {
            self.threads.iter_mut().for_each(|thread| thread.unwinding = Unwinding::No);
        } else if self.threads[me].unwinding == Unwinding::No {
            let others = self.threads.iter().any(|t| t.unwinding == Unwinding::Surely);
            self.threads[me].unwinding =
                if others { Unwinding::Perhaps } else { Unwinding::Surely };
        }
    }

    /// Tells whether a thread is thrown out of its call. One that unwinds already is not: nothing
    /// may be thrown out of its destructors.
    pub(in crate::engine::loom) fn is_thrown(&self, at: usize) -> bool {
        let thread = &self.threads[at];
        self.abort.is_some() && !thread.ended && thread.unwinding == Unwinding::No
    }

    /// Forgets what a thread waits for: it unwinds or ends instead.
    pub(in crate::engine::loom) fn give_up(&mut self, me: usize) {
        self.wake(me);
        let thread = &mut self.threads[me];
        thread.wants = None;
        thread.relock = None;
        thread.called = false;
        thread.serving.clear();
    }

    /// Handles the state in which no thread can move and no thread waits for the clock.
    pub(super) fn deadlock(&mut self) {
        if self.abort.is_some() {
            return self.give_up_guess();
        }
        let panicked = self.threads.iter().find_map(|t| t.panicked.clone().filter(|_| !t.joined));
        let deadlock = || End::Deadlock(self.describe());
        let end = panicked.map_or_else(deadlock, End::Panicked);
        self.abort(end);
    }

    /// Throws a thread that was only guessed to unwind.
    fn give_up_guess(&mut self) {
        let guessed = self.threads.iter_mut().find(|t| t.unwinding == Unwinding::Perhaps);
        match guessed {
            Some(thread) => {
                thread.unwinding = Unwinding::No;
                thread.unpark();
            }
            None => self.stuck(),
        }
    }

    /// Destructors that run while the execution is brought down wait for each other. Nothing can
    /// be thrown out of a destructor, so there is no way to go on in this process.
    fn stuck(&self) -> ! {
        eprintln!("destructors wait for each other for ever: {}", self.describe());
        std::process::abort();
    }

    /// Says what every thread that is left does.
    pub(super) fn describe(&self) -> String {
        let left = (0..self.threads.len()).filter(|&at| !self.threads[at].ended);
        let texts: Vec<_> = left.map(|at| self.describe_thread(at)).collect();
        format!("at {:?}: {}", self.time(), texts.join("; "))
    }

    fn describe_thread(&self, at: usize) -> String {
        let thread = &self.threads[at];
        let name = |at: usize| self.threads[at].name.as_str();
        let what = match (thread.wants.or(thread.relock), thread.asleep) {
            (Some(wanted), _) if self.is_withheld(wanted) => {
                let lock = wanted.lock;
                let owners: Vec<_> = self.locks[lock].owners().map(name).collect();
                format!("waits for lock {lock}, held by {}", owners.join(", "))
            }
            (_, Some(Asleep::Ended(other))) => format!("waits for {} to end", name(other)),
            (_, Some(Asleep::Until(until))) => format!("sleeps until {until:?}"),
            (_, Some(Asleep::Notified { condvar, until, .. })) if until == Instant::NEVER => {
                format!("waits on condition variable {condvar}")
            }
            (_, Some(Asleep::Notified { condvar, until, .. })) => {
                format!("waits on condition variable {condvar} until {until:?}")
            }
            _ => "can move".to_owned(),
        };
        format!("{} {what}", thread.name)
    }
}
