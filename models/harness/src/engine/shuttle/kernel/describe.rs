//! Says in words who waits for what.

use std::fmt::Write as _;

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
