//! Who waits for what, and what time it is: the bookkeeping of one execution.
//!
//! loom knows nothing of deadlines, and a panic poisons its mutexes. So locks, condition variables
//! and joins are kept here, in plain data, and loom is only told who is runnable: a thread that is
//! *blocked* here is parked there. When the last thread blocks, time jumps to the earliest
//! deadline; if there is none, nobody will ever move again, and that is a deadlock.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;

use seatrial_core::runtime::Instant;

use super::numbers::number;
use super::record::Record;
use crate::engine::End;

/// What a thread sleeps for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asleep {
    /// A notification, at most until the deadline; then the lock.
    Notified { condvar: usize, lock: usize, until: Instant },
    /// A point in time.
    Until(Instant),
    /// The end of a thread.
    Ended(usize),
}

impl Asleep {
    fn until(self) -> Instant {
        match self {
            Self::Notified { until, .. } | Self::Until(until) => until,
            Self::Ended(_) => Instant::NEVER,
        }
    }
}

/// What a thread that came to a pause does next.
#[derive(Debug)]
pub(super) enum Next {
    /// It goes on.
    Go,
    /// It parks until it is unparked.
    Park,
    /// It runs the wakers that are due: nobody else can.
    Serve,
    /// It unwinds, since the execution is being brought down.
    Unwind,
}

/// Whether a panic is on its way through the stack of a thread.
///
/// loom runs all threads on one thread of the machine. As soon as one of them unwinds, the machine
/// says so of all of them; then it is sure for the first and a guess for the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Unwinding {
    #[default]
    No,
    Perhaps,
    Surely,
}

/// One thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) name: String,
    pub(super) number: u8,
    /// Its handle in loom; that of a thread that has not been spawned yet is missing.
    pub(super) handle: Option<::loom::thread::Thread>,
    /// The lock that it found held.
    pub(super) wants: Option<usize>,
    /// The lock that it is about to try.
    pub(super) aim: Option<usize>,
    /// The lock that it has to take again after its sleep.
    pub(super) relock: Option<usize>,
    pub(super) asleep: Option<Asleep>,
    /// Whether its last sleep was ended by the deadline.
    pub(super) timed_out: bool,
    /// How many wakers it runs for the clock, one inside the other.
    pub(super) serving: u32,
    pub(super) parked: bool,
    pub(super) ended: bool,
    pub(super) panicked: Option<String>,
    pub(super) joined: bool,
    pub(super) unwinding: Unwinding,
    /// How often it was made to unwind.
    pub(super) thrown: u32,
    /// Questions asked, random numbers drawn, locks made: all counted per thread, so that they
    /// do not depend on the schedule.
    pub(super) questions: u32,
    pub(super) draws: u32,
    locks: u32,
    way: Vec<u8>,
    children: u8,
}

/// The state of one execution.
#[derive(Debug)]
pub(super) struct World {
    pub(super) threads: Vec<Thread>,
    pub(super) running: usize,
    /// The thread that took the last recorded step.
    last: usize,
    pub(super) record: Record,
    /// How the execution ended, once it is being brought down before its threads have ended.
    pub(super) abort: Option<End>,
    now: Instant,
    holders: Vec<Option<usize>>,
    sleepers: Vec<VecDeque<usize>>,
    timers: BTreeMap<(Instant, u64), Waker>,
    armed: u64,
}

impl World {
    pub(super) fn new(record: Record) -> Self {
        let main = Thread { name: "main".to_owned(), ..Thread::default() };
        Self {
            threads: vec![main],
            running: 0,
            last: 0,
            record,
            abort: None,
            now: Instant::ZERO,
            holders: Vec::new(),
            sleepers: Vec::new(),
            timers: BTreeMap::new(),
            armed: 0,
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.now
    }

    /// Adds a thread as a child of `parent`.
    pub(super) fn spawn(&mut self, parent: usize, name: &str) -> usize {
        self.threads[parent].children += 1;
        let mut way = self.threads[parent].way.clone();
        way.push(self.threads[parent].children);
        self.threads.push(Thread {
            name: name.to_owned(),
            number: number(&way),
            way,
            ..Thread::default()
        });
        self.threads.len() - 1
    }

    pub(super) fn new_lock(&mut self) -> usize {
        let maker = &mut self.threads[self.running];
        self.record.new_lock(maker.number, maker.locks);
        maker.locks += 1;
        self.holders.push(None);
        self.holders.len() - 1
    }

    pub(super) fn new_condvar(&mut self) -> usize {
        self.sleepers.push(VecDeque::new());
        self.sleepers.len() - 1
    }

    /// Takes a lock if it is free.
    pub(super) fn try_take(&mut self, me: usize, lock: usize) -> bool {
        let free = self.holders[lock].is_none();
        if free {
            self.holders[lock] = Some(me);
            self.record.acquired(self.threads[me].number, lock);
        }
        self.threads[me].wants = (!free).then_some(lock);
        free
    }

    pub(super) fn release(&mut self, lock: usize) {
        self.holders[lock] = None;
        self.unpark_ready();
    }

    pub(super) fn is_held(&self, lock: usize) -> bool {
        self.holders[lock].is_some()
    }

    /// Puts a thread to sleep; a deadline that has passed already lets it time out at once.
    pub(super) fn sleep(&mut self, me: usize, asleep: Asleep) {
        self.threads[me].timed_out = asleep.until() <= self.now;
        if self.threads[me].timed_out {
            return;
        }
        self.threads[me].asleep = Some(asleep);
        if let Asleep::Notified { condvar, .. } = asleep {
            self.sleepers[condvar].push_back(me);
        }
    }

    /// Wakes those who sleep on a condition variable, the longest sleeper first.
    pub(super) fn notify(&mut self, condvar: usize, at_most: usize) {
        for _ in 0..at_most {
            let Some(&sleeper) = self.sleepers[condvar].front() else { break };
            self.wake(sleeper);
        }
        self.unpark_ready();
    }

    /// Marks a thread as ended and wakes those who wait for that.
    pub(super) fn end(&mut self, me: usize) {
        self.threads[me].ended = true;
        self.threads[me].unwinding = Unwinding::No;
        for other in 0..self.threads.len() {
            if self.threads[other].asleep == Some(Asleep::Ended(me)) {
                self.wake(other);
            }
        }
        self.unpark_ready();
    }

    pub(super) fn all_ended(&self) -> bool {
        self.threads.iter().all(|thread| thread.ended)
    }

    /// Ends the sleep of a thread. One that slept on a condition variable needs the lock next.
    fn wake(&mut self, sleeper: usize) {
        if let Some(Asleep::Notified { condvar, lock, .. }) = self.threads[sleeper].asleep.take() {
            self.sleepers[condvar].retain(|&other| other != sleeper);
            self.threads[sleeper].relock = Some(lock);
        }
    }

    /// Forgets what a thread waits for: it unwinds instead.
    pub(super) fn give_up(&mut self, me: usize) {
        self.wake(me);
        self.threads[me].wants = None;
        self.threads[me].relock = None;
    }

    /// Arms a waker and returns the key that disarms it.
    pub(super) fn arm(&mut self, deadline: Instant, waker: Waker) -> (Instant, u64) {
        self.armed += 1;
        let key = (deadline, self.armed);
        self.timers.insert(key, waker);
        key
    }

    pub(super) fn disarm(&mut self, key: (Instant, u64)) -> Option<Waker> {
        self.timers.remove(&key)
    }

    /// Takes the first waker that is due.
    pub(super) fn due(&mut self) -> Option<Waker> {
        let first = self.timers.first_entry()?;
        (first.key().0 <= self.now).then(|| first.remove())
    }

    /// Tells whether a thread cannot move.
    pub(super) fn is_blocked(&self, at: usize) -> bool {
        let thread = &self.threads[at];
        let is_held = |lock| self.is_held(lock);
        let rests = thread.ended || thread.asleep.is_some() || thread.relock.is_some_and(is_held);
        thread.wants.is_some_and(is_held) || (rests && thread.serving == 0)
    }

    /// Finds out whether the running thread unwinds.
    pub(super) fn note_unwinding(&mut self, me: usize) {
        if !std::thread::panicking() {
            self.threads.iter_mut().for_each(|thread| thread.unwinding = Unwinding::No);
        } else if self.threads[me].unwinding == Unwinding::No {
            let others = self.threads.iter().any(|t| t.unwinding == Unwinding::Surely);
            self.threads[me].unwinding =
                if others { Unwinding::Perhaps } else { Unwinding::Surely };
        }
    }

    /// Tells whether a thread is thrown out of its call, since the execution is being brought down.
    pub(super) fn is_thrown(&self, at: usize) -> bool {
        let thread = &self.threads[at];
        self.abort.is_some() && !thread.ended && thread.unwinding == Unwinding::No
    }

    /// Decides what a thread does that came to a pause. `parked` says whether it has been parked
    /// since: if so it has to be its turn, where a schedule is replayed.
    pub(super) fn settle(&mut self, me: usize, parked: bool) -> Next {
        self.running = me;
        loop {
            self.note_unwinding(me);
            if self.is_thrown(me) {
                return Next::Unwind;
            }
            if !self.is_blocked(me) && (!parked || self.has_turn(me)) {
                return Next::Go;
            }
            if self.someone_can_move() {
                self.check_turn();
                if self.is_thrown(me) {
                    return Next::Unwind;
                }
                self.unpark_ready();
                self.threads[me].parked = true;
                return Next::Park;
            }
            match self.advance() {
                Some(Served::Threads) => {}
                Some(Served::Wakers) => return Next::Serve,
                None => self.deadlock(),
            }
        }
    }

    /// As [`settle`](Self::settle), for a thread that has ended; true if wakers are to be served.
    pub(super) fn settle_after_end(&mut self) -> bool {
        while !self.all_ended() {
            if self.someone_can_move() {
                self.check_turn();
                self.unpark_ready();
                return false;
            }
            match self.advance() {
                Some(Served::Threads) => {}
                Some(Served::Wakers) => return true,
                None => self.deadlock(),
            }
        }
        false
    }

    fn someone_can_move(&self) -> bool {
        (0..self.threads.len()).any(|at| !self.is_blocked(at) || self.is_thrown(at))
    }

    /// Lets time jump to the earliest deadline.
    fn advance(&mut self) -> Option<Served> {
        let asleep = self.threads.iter().filter_map(|thread| thread.asleep.map(Asleep::until));
        let armed = self.timers.keys().next().map(|key| key.0);
        let earliest = asleep.chain(armed).min()?;
        if earliest == Instant::NEVER {
            return None;
        }
        self.now = self.now.max(earliest);
        let mut served = Served::Wakers;
        for at in 0..self.threads.len() {
            if self.threads[at].asleep.is_some_and(|asleep| asleep.until() <= self.now) {
                self.wake(at);
                self.threads[at].timed_out = true;
                served = Served::Threads;
            }
        }
        self.unpark_ready();
        Some(served)
    }

    fn deadlock(&mut self) {
        if self.abort.is_some() {
            return self.give_up_guess();
        }
        let panicked = self.threads.iter().find_map(|t| t.panicked.as_ref().filter(|_| !t.joined));
        self.abort(match panicked {
            Some(message) => End::Panicked(message.clone()),
            None => End::Deadlock(self.describe()),
        });
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

    /// Brings the execution down: every thread unwinds at its next call.
    pub(super) fn abort(&mut self, end: End) {
        self.abort.get_or_insert(end);
        for thread in &mut self.threads {
            if thread.parked {
                thread.unpark();
            }
        }
    }

    /// Notes that a thread starts its next step.
    pub(super) fn resume(&mut self, me: usize) {
        self.running = me;
        if self.abort.is_some() {
            return;
        }
        let before = std::mem::replace(&mut self.last, me);
        let aim_is_free = self.threads[before].aim.is_none_or(|lock| !self.is_held(lock));
        let preempted = before != me && !self.is_blocked(before) && aim_is_free;
        self.record.step(self.threads[me].number, preempted);
        self.threads[me].aim = None;
        if self.record.is_too_long() {
            self.abort(End::Endless(self.describe()));
        }
    }

    /// Tells whether the replayed schedule, if there is one, names this thread next.
    fn has_turn(&self, at: usize) -> bool {
        self.abort.is_some() || self.record.allows(self.threads[at].number)
    }

    /// Notices that the replayed schedule names a thread that cannot move.
    pub(super) fn check_turn(&mut self) {
        let mut movable = (0..self.threads.len()).filter(|&at| !self.is_blocked(at));
        if self.abort.is_none() && !movable.any(|at| self.has_turn(at)) {
            self.abort(End::Diverged(self.record.misfit()));
        }
    }

    fn unpark_ready(&mut self) {
        for at in 0..self.threads.len() {
            if self.threads[at].parked && !self.is_blocked(at) && self.has_turn(at) {
                self.threads[at].unpark();
            }
        }
    }

    /// Says what every thread that is left does.
    pub(super) fn describe(&self) -> String {
        let left = (0..self.threads.len()).filter(|&at| !self.threads[at].ended);
        let texts: Vec<_> = left.map(|at| self.describe_thread(at)).collect();
        format!("at {:?}: {}", self.now, texts.join("; "))
    }

    fn describe_thread(&self, at: usize) -> String {
        let thread = &self.threads[at];
        let name = |at: usize| self.threads[at].name.as_str();
        let what = match (thread.wants.or(thread.relock), thread.asleep) {
            (Some(lock), _) if self.is_held(lock) => {
                let holder = self.holders[lock].map_or("nobody", name);
                format!("waits for lock {lock}, held by {holder}")
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

/// What a jump of the clock led to.
enum Served {
    /// Threads that were asleep go on.
    Threads,
    /// Only wakers are due.
    Wakers,
}

impl Thread {
    fn unpark(&mut self) {
        self.parked = false;
        if let Some(handle) = &self.handle {
            handle.unpark();
        }
    }
}
