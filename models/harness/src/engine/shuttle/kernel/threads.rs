//! Threads, and the next operation of each.

use seatrial_core::runtime::Instant;

use super::hash::mix;
use super::names::ThreadName;
use super::{Kernel, MAIN, ObjectName, Phase, SERVICE, ThreadSet};
use crate::engine::MAX_THREADS;

/// The next act of a thread, as far as others can tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    /// Takes a mutex, or a lock that others could share.
    Lock(usize),
    /// Takes a share of a lock.
    Share(usize),
    /// Takes a mutex again after a wait.
    Retake { mutex: usize, condvar: usize, deadline: Option<Instant> },
    /// Goes on when a thread has ended.
    Join(usize),
    /// Goes on at a time. A patient thread goes on when no thread can move.
    Sleep { until: Instant, patient: bool },
    /// Reads a published value or an atomic number.
    Load(usize),
    /// Replaces a published value, or accesses an atomic number in a way that may change it.
    Publish(usize),
    /// Reads the clock. An operation only where the clock may jump at any time.
    ReadClock,
}

#[derive(Debug)]
pub(super) struct Thread {
    pub(super) name: ThreadName,
    pub(super) path: u64,
    pub(super) label: String,
    /// The thread that started it; it is unknown for the main thread and the service.
    pub(super) parent: Option<usize>,
    /// `None` while it runs, or may run on without other threads noticing.
    pub(super) pending: Option<Operation>,
    pub(super) children: usize,
    pub(super) objects: usize,
    /// Random numbers drawn.
    draws: u64,
    /// Mutexes held.
    pub(super) held: u32,
    /// Waits that ended for no reason.
    spurious: u32,
    /// Whether the deadline ended the last wait.
    pub(super) timed_out: bool,
    /// A hash of the answers that it got to its choices of data.
    pub(super) answers: u64,
    /// The message of its panic.
    panicked: Option<String>,
    joined: bool,
    /// How often it was told to leave.
    told_to_leave: u32,
}

/// How often a thread may catch the unwinding that is to end it, or try to go on without.
const PATIENCE: u32 = 10_000;

impl Kernel {
    /// Adds a thread that is ready to run.
    ///
    /// # Panics
    /// If the execution has too many threads.
    pub(crate) fn start(&mut self, name: ThreadName, label: &str) -> usize {
        let thread = self.threads.len();
        let parent = (name != SERVICE && name != MAIN).then_some(self.running);
        assert!(thread < MAX_THREADS, "an execution has {MAX_THREADS} threads at most");
        self.threads.push(Thread {
            name,
            path: self.names.thread_path(name),
            label: label.to_owned(),
            parent,
            pending: None,
            children: 0,
            objects: usize::from(name == SERVICE), // its first one is made for it
            draws: 0,
            held: 0,
            spurious: 0,
            timed_out: false,
            answers: 0,
            panicked: None,
            joined: false,
            told_to_leave: 0,
        });
        self.ready.insert(thread);
        self.live.insert(thread);
        if name == SERVICE {
            self.daemons.insert(thread);
        }
        thread
    }

    /// Returns the name of the running thread's next child.
    pub(crate) fn next_child(&mut self) -> ThreadName {
        let parent = &mut self.threads[self.running];
        let nth = parent.children;
        parent.children += 1;
        self.names.child(parent.name, nth)
    }

    /// Returns the name of the next object that the running thread makes.
    pub(super) fn next_object(&mut self) -> ObjectName {
        let maker = &mut self.threads[self.running];
        let nth = maker.objects;
        maker.objects += 1;
        self.names.object(maker.name, nth)
    }

    /// Says what the running thread is about to do.
    pub(crate) fn publish(&mut self, operation: Operation) {
        debug_assert_eq!(self.phase, Phase::Running);
        self.threads[self.running].pending = Some(operation);
        self.ready.remove(self.running);
    }

    /// Ends the running thread.
    pub(crate) fn finish(&mut self, panicked: Option<String>) {
        let ended = self.running;
        self.threads[ended].panicked = panicked;
        self.threads[ended].pending = None;
        self.ready.remove(ended);
        self.live.remove(ended);
        for thread in self.live {
            if self.threads[thread].pending == Some(Operation::Join(ended)) {
                self.threads[thread].pending = None;
                self.ready.insert(thread);
            }
        }
    }

    pub(crate) fn has_ended(&self, thread: usize) -> bool {
        !self.live.contains(thread)
    }

    /// Notes that a thread was joined: its joiner knows of its panic, if it panicked.
    pub(crate) fn joined(&mut self, thread: usize) {
        self.threads[thread].joined = true;
    }

    /// Returns the panic of a thread that no thread joined, or of the main thread.
    pub(super) fn unheard_panic(&self) -> Option<String> {
        let mut unheard = self.threads.iter().enumerate().filter(|(_, thread)| !thread.joined);
        unheard.find_map(|(number, thread)| {
            let text = thread.panicked.as_ref()?;
            Some(format!("{} panicked: {text}", self.thread_title(number)))
        })
    }

    /// Returns how many threads were started so far.
    pub(crate) fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Returns what a thread is called in every execution.
    pub(crate) fn name(&self, thread: usize) -> ThreadName {
        self.threads[thread].name
    }

    /// Returns who started a thread, where that does not depend on the schedule.
    pub(crate) fn parent(&self, thread: usize) -> Option<usize> {
        self.threads[thread].parent
    }

    /// Returns the thread that runs.
    pub(crate) fn running(&self) -> usize {
        self.running
    }

    /// Makes a thread the running one.
    pub(crate) fn run(&mut self, thread: usize) {
        self.running = thread;
    }

    /// Returns the threads that may run on without other threads noticing.
    pub(crate) fn ready_threads(&self) -> ThreadSet {
        self.ready
    }

    /// Returns the threads that have not ended.
    pub(crate) fn live(&self) -> ThreadSet {
        self.live
    }

    /// Returns a thread that may run on without other threads noticing: the running one if it can.
    pub(crate) fn ready_thread(&self) -> Option<usize> {
        if self.ready.contains(self.running) { Some(self.running) } else { self.ready.first() }
    }

    /// Returns a number that depends on the thread and on how many it has drawn, on nothing else.
    pub(crate) fn entropy(&mut self) -> u64 {
        let seed = mix(self.config.entropy);
        let Some(thread) = self.threads.get_mut(self.running) else { return seed };
        thread.draws += 1;
        mix(mix(thread.path ^ seed).wrapping_add(thread.draws))
    }

    /// Tells whether the running thread may still wake for no reason.
    pub(crate) fn can_wake_spuriously(&self) -> bool {
        self.threads[self.running].spurious < self.config.spurious_wake_ups
    }

    /// Notes that the running thread wakes for no reason.
    pub(crate) fn wake_spuriously(&mut self) {
        self.threads[self.running].spurious += 1;
    }

    /// Tells whether the deadline ended the last wait of the running thread.
    pub(crate) fn timed_out(&self) -> bool {
        self.threads[self.running].timed_out
    }

    /// Notes that the running thread is told to leave; false if it was told so often that it
    /// will not.
    pub(crate) fn tell_to_leave(&mut self) -> bool {
        let running = self.running;
        let told = &mut self.threads[running].told_to_leave;
        *told += 1;
        let patient = *told < PATIENCE;
        if !patient {
            self.stuck.insert(running);
        }
        patient
    }

    /// Tells whether a stack had to be abandoned.
    pub(crate) fn someone_is_stuck(&self) -> bool {
        !self.stuck.is_empty()
    }

    /// Tells whether the thread neither goes on nor unwinds.
    pub(crate) fn is_stuck(&self, thread: usize) -> bool {
        self.stuck.contains(thread)
    }
}
