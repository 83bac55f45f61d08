//! Says in words who waits for what.

use std::fmt::Write as _;

use seatrial_core::runtime::Instant;

use super::{Kernel, Operation};

impl Kernel {
    /// Returns the name that a thread was started with.
    pub(crate) fn thread_label(&self, thread: usize) -> &str {
        self.threads.get(thread).map_or("", |thread| &thread.label)
    }

    /// Returns how a thread is called in texts: its letter in schedules, and its name.
    pub(crate) fn thread_title(&self, thread: usize) -> String {
        format!("{} `{}`", crate::engine::ThreadLetter(thread as u8), self.thread_label(thread))
    }

    /// Says what every thread that is left waits for.
    pub(crate) fn standstill(&self) -> String {
        let mut text = String::new();
        for thread in self.live.minus(self.daemons) {
            let separator = if text.is_empty() { "" } else { "; " };
            let title = self.thread_title(thread);
            let _infallible = write!(text, "{separator}{title} {}", self.plight(thread));
        }
        text
    }

    /// Says what a thread that is left does next, or waits for; nothing if it has ended.
    pub(crate) fn next_of(&self, thread: usize) -> String {
        if self.has_ended(thread) {
            return String::new();
        }
        let Some(pending) = self.threads[thread].pending else { return "runs".to_owned() };
        let can_move = self.is_enabled(thread, pending);
        match pending {
            Operation::Sleep { until, .. } if until != Instant::NEVER => {
                format!("sleeps until {:?}", until.since(Instant::ZERO))
            }
            _ if !can_move => self.plight(thread),
            Operation::Lock(lock) => format!("takes mutex {lock}"),
            Operation::Share(lock) => format!("takes a share of lock {lock}"),
            Operation::Retake { mutex, .. } => format!("wakes and takes mutex {mutex}"),
            Operation::Load(cell) => format!("reads value {cell}"),
            Operation::Publish(cell) => format!("changes value {cell}"),
            Operation::ReadClock => "reads the clock".to_owned(),
            Operation::Join(_) | Operation::Sleep { .. } => self.plight(thread),
        }
    }

    /// Returns the locks that threads hold: the number of each, its holders, and whether they share it.
    pub(crate) fn held_locks(&self) -> impl Iterator<Item = (usize, Vec<u8>, bool)> {
        self.locks.iter().enumerate().filter(|(_, lock)| !lock.is_free()).map(|(number, lock)| {
            let holders = lock.holder.into_iter().chain(lock.readers);
            (number, holders.map(|thread| thread as u8).collect(), lock.holder.is_none())
        })
    }

    fn plight(&self, thread: usize) -> String {
        match self.threads[thread].pending {
            Some(Operation::Lock(lock) | Operation::Share(lock)) => {
                format!("waits for {}", self.lock_title(thread, lock))
            }
            Some(Operation::Retake { mutex, condvar, .. }) => {
                if self.condvars[condvar].lets_go(thread) {
                    format!("was notified and waits for {}", self.lock_title(thread, mutex))
                } else {
                    format!("waits to be notified on condition variable {condvar}")
                }
            }
            Some(Operation::Join(other)) => {
                format!("waits for the end of {}", self.thread_title(other))
            }
            Some(Operation::Sleep { .. }) => "sleeps for ever".to_owned(),
            Some(Operation::Load(_) | Operation::Publish(_) | Operation::ReadClock) | None => {
                "can go on".to_owned()
            }
        }
    }

    fn lock_title(&self, thread: usize, mutex: usize) -> String {
        match self.locks[mutex].holder {
            Some(holder) if holder == thread => format!("mutex {mutex}, which it holds itself"),
            Some(holder) => format!("mutex {mutex}, held by {}", self.thread_title(holder)),
            None if self.locks[mutex].readers.is_empty() => format!("mutex {mutex}"),
            None => {
                let readers = self.locks[mutex].readers.map(|reader| self.thread_title(reader));
                format!("lock {mutex}, read by {}", readers.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
