//! One execution: the bookkeeping of [`Books`] and the calls into loom that follow from it.
//!
//! A *point* is where loom may run another thread: before a lock is tried, and where a thread
//! parks. The code between two points is one step. Every lock has a loom mutex of its own that is
//! taken and released on the spot just before the lock is tried: it tells loom that two such steps
//! depend on each other, and it is never held across foreign code, so no panic can poison it.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

use seatrial_core::runtime::{Instant, Panic};

use super::answers::Answers;
use super::books::{Asleep, Books, Next, Unwinding, Wanted};
use super::record::{Record, mix};
use crate::engine::{End, origin, panic_text};

/// The payload of the panic that brings a thread down with its execution.
pub(in crate::engine) struct Down;

/// The loom mutex that marks a point.
pub(super) type Point = ::loom::sync::Mutex<()>;

/// How often a thread may be made to unwind before it is assumed to catch every panic.
const MAX_THROWN: u32 = 1_000;

/// One execution.
#[derive(Debug)]
pub(super) struct Session {
    books: Mutex<Books>,
    answers: Arc<Mutex<Answers>>,
    /// The point at which a timer that is dropped meets a timer that fires.
    timers: OnceLock<Point>,
    /// The point at which a thread that reads the time, arms a deadline or disarms one meets the
    /// thread that lets the clock jump, if there is one.
    clock: Option<Point>,
}

/// Locks bookkeeping. A panic of checked code never leaves it half done, so poison means nothing.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns what a panic said; `None` if the thread was only brought down.
pub(super) fn message(payload: &(dyn Any + Send)) -> Option<String> {
    (!payload.is::<Down>()).then(|| panic_text(payload))
}

impl Session {
    pub(super) fn new(record: Record, answers: Arc<Mutex<Answers>>, clock_is_shared: bool) -> Self {
        let clock = clock_is_shared.then(|| Point::new(()));
        Self { books: Mutex::new(Books::new(record)), answers, timers: OnceLock::new(), clock }
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        lock(&self.books)
    }

    /// Begins a call of the running thread, which is returned.
    pub(super) fn enter(&self) -> usize {
        let mut books = self.books();
        let me = books.running;
        books.note_unwinding(me);
        if books.is_thrown(me) {
            drop(books);
            self.unwind(me);
        }
        me
    }

    /// Leaves the running thread by unwinding.
    fn unwind(&self, me: usize) -> ! {
        let mut books = self.books();
        books.give_up(me);
        books.threads[me].unwinding = Unwinding::Surely;
        books.threads[me].thrown += 1;
        if books.threads[me].thrown > MAX_THROWN {
            eprintln!("{} catches every panic and goes on for ever", books.threads[me].name);
            std::process::abort();
        }
        drop(books);
        panic::resume_unwind(Box::new(Down));
    }

    /// Lets loom run other threads, before a step on the object that `point` represents.
    fn pass(&self, me: usize, point: &Point) {
        let books = self.books();
        if books.abort.is_some() {
            return; // only destructors are left to run, in any order
        }
        let replay = books.record.is_replay();
        drop(books);
        if replay {
            return self.await_turn(me);
        }
        drop(point.lock());
        self.resumed(me);
    }

    /// Waits until the replayed schedule names this thread.
    pub(super) fn await_turn(&self, me: usize) {
        while !self.park_until_turn(me) {}
        self.resumed(me);
    }

    /// Hands the turn to the thread that the replayed schedule names; true if it is this one.
    fn park_until_turn(&self, me: usize) -> bool {
        let next = self.books().settle(me, true);
        match next {
            Next::Go => return true,
            Next::Unwind => self.unwind(me),
            Next::Park => ::loom::thread::park(),
            Next::Serve => unreachable!("a thread that is called to serve was blocked"),
        }
        false
    }

    pub(super) fn resumed(&self, me: usize) {
        let mut books = self.books();
        books.resume(me);
        if books.is_thrown(me) {
            drop(books);
            self.unwind(me);
        }
    }

    /// Waits as long as the running thread is blocked.
    fn pause(&self, me: usize) {
        let mut parked = false;
        loop {
            let next = self.books().settle(me, parked);
            match next {
                Next::Go => break,
                Next::Park => {
                    parked = true;
                    ::loom::thread::park();
                }
                Next::Serve => self.serve(me),
                Next::Unwind => self.unwind(me),
            }
        }
        if parked {
            self.resumed(me);
        }
    }

    /// Runs the wakers that are due.
    fn serve(&self, me: usize) {
        let served = panic::catch_unwind(AssertUnwindSafe(|| self.wake_due(me)));
        self.books().served(me);
        if let Err(payload) = served {
            panic::resume_unwind(payload);
        }
    }

    fn wake_due(&self, me: usize) {
        let point = self.timers.get().expect("a waker was armed");
        loop {
            self.pass(me, point);
            let due = self.books().due();
            let Some(waker) = due else { break };
            waker.wake();
        }
    }

    pub(super) fn acquire(&self, wanted: Wanted, point: &Point) {
        let me = self.enter();
        let has_share = self.books().has_share(me, wanted.lock);
        assert!(
            !(wanted.shared && has_share),
            "a thread reads under a lock a second time: it may wait for ever"
        );
        self.take(me, wanted, point);
    }

    fn take(&self, me: usize, wanted: Wanted, point: &Point) {
        loop {
            self.books().threads[me].aim = Some(wanted);
            self.pass(me, point);
            if self.books().try_take(me, wanted) {
                return self.fence();
            }
            self.pause(me);
        }
    }

    pub(super) fn release(&self, lock: usize) {
        self.fence();
        self.books().release(lock);
    }

    /// Gives up the running thread's share of a lock.
    pub(super) fn release_share(&self, lock: usize) {
        self.fence();
        self.books().release_share(lock);
    }

    /// Sleeps on a condition variable whose lock was just released, and takes the lock again; true
    /// if the deadline ended the sleep.
    pub(super) fn wait(&self, condvar: usize, lock: usize, point: &Point, until: Instant) -> bool {
        let me = self.enter_released(lock);
        self.sleep(me, Asleep::Notified { condvar, lock, until });
        let timed_out = self.books().threads[me].timed_out;
        self.take(me, Wanted::whole(lock), point);
        timed_out
    }

    /// Lets the clock jump before or after what the running thread does with it, where it can jump
    /// at any time.
    fn meet_clock(&self, me: usize) {
        if let Some(clock) = &self.clock {
            self.pass(me, clock);
        }
    }

    /// Lets the clock jump to the earliest deadline, if one is armed.
    pub(super) fn tick(&self) {
        let me = self.enter();
        self.meet_clock(me);
        self.books().jump_early(me);
        self.pause(me); // if it is called to run wakers
    }

    /// Begins a call that has a lock to give back first.
    fn enter_released(&self, lock: usize) -> usize {
        self.release(lock);
        self.enter()
    }

    pub(super) fn sleep_until(&self, until: Instant) {
        let me = self.enter();
        self.meet_clock(me);
        self.sleep(me, Asleep::Until(until));
    }

    fn sleep(&self, me: usize, asleep: Asleep) {
        let mut books = self.books();
        assert!(!books.is_serving(me), "a waker that is woken by the clock may not sleep");
        books.sleep(me, asleep);
        drop(books);
        self.pause(me);
        self.books().awake(me);
    }

    pub(super) fn notify(&self, condvar: usize, at_most: usize) {
        let me = self.enter();
        if self.books().has_deadlines(condvar) {
            self.meet_clock(me);
        }
        self.books().notify(me, condvar, at_most);
    }

    pub(super) fn arm(&self, deadline: Instant, waker: Waker) -> (Instant, u64) {
        let me = self.enter();
        self.meet_clock(me);
        self.timers.get_or_init(|| Point::new(()));
        self.books().arm(deadline, waker)
    }

    /// Disarms a waker. Called from destructors, so it throws nothing.
    pub(super) fn disarm(&self, key: (Instant, u64)) {
        let mut books = self.books();
        let (me, over) = (books.running, books.abort.is_some() || books.all_ended());
        books.note_unwinding(me);
        drop(books);
        if !over {
            let point = self.timers.get().expect("a waker was armed");
            self.pass(me, point);
            self.meet_clock(me);
        }
        let waker = self.books().disarm(key);
        drop(waker); // outside the bookkeeping: dropping a waker runs foreign code
    }

    pub(super) fn now(&self) -> Instant {
        if self.clock.is_some() {
            let me = self.enter();
            self.meet_clock(me);
        }
        let now = self.books().now();
        self.enter(); // unless it was read too often
        now
    }

    pub(super) fn choose(&self, options: u32) -> u32 {
        let me = self.enter();
        let mut books = self.books();
        let (thread, nth) = (books.threads[me].number, books.threads[me].questions);
        books.threads[me].questions += 1;
        let answer = match books.record.prescribed_answer(options) {
            None => lock(&self.answers).answer(thread, nth, options),
            Some(Some(answer)) => answer,
            Some(None) => {
                books.diverge();
                0
            }
        };
        books.record.answered(thread, nth, answer);
        answer
    }

    /// Returns the next random number of the running thread, the same in every execution.
    pub(super) fn entropy(&self) -> u64 {
        let mut books = self.books();
        let me = books.running;
        let thread = &mut books.threads[me];
        thread.draws += 1;
        mix(u64::from(thread.number) << 32 | u64::from(thread.draws))
    }

    /// Waits for a thread to end.
    pub(super) fn join(&self, other: usize) {
        let me = self.enter();
        let ended = self.books().threads[other].ended;
        if !ended {
            self.sleep(me, Asleep::Ended(other));
        }
        self.books().threads[other].joined = true;
        self.fence();
    }

    /// Registers a thread; it cannot run before its handle is [given](Self::spawned).
    pub(super) fn spawn(&self, name: &str) -> usize {
        let me = self.enter();
        let mut books = self.books();
        assert!(
            books.threads.len() < super::MAX_LOOM_THREADS,
            "loom runs {} threads at most, main included",
            super::MAX_LOOM_THREADS
        );
        books.spawn(me, name)
    }

    pub(super) fn spawned(&self, at: usize, handle: ::loom::thread::Thread) {
        self.books().threads[at].handle = Some(handle);
    }

    /// Runs the body of a thread, from its first step to its last.
    pub(super) fn run<T>(&self, me: usize, body: impl FnOnce() -> T) -> Result<T, Panic> {
        panic::catch_unwind(AssertUnwindSafe(|| {
            if me == 0 {
                // Whatever a replay says, the program begins; the next call sees if it fits.
                let mut books = self.books();
                books.check_turn();
                books.resume(me);
            } else {
                let replay = self.books().record.is_replay();
                if replay {
                    self.await_turn(me);
                } else {
                    self.resumed(me);
                }
            }
            body()
        }))
    }

    /// Ends a thread, and hands on to the others. `panicked` is the message of its panic, if it
    /// panicked.
    pub(super) fn end(&self, me: usize, panicked: Option<String>) {
        self.fence();
        let mut books = self.books();
        if let Some(message) = panicked {
            origin::ended(&books.threads[me].name, &message);
            let message = format!("{}: {message}", books.threads[me].name);
            if me == 0 {
                books.cut_short(End::Panicked(message.clone()));
            }
            books.threads[me].panicked = Some(message);
        }
        books.end(me);
        while books.settle_after_end(me) {
            drop(books);
            let served = panic::catch_unwind(AssertUnwindSafe(|| self.serve(me)));
            books = self.books();
            if let Some(message) = served.err().and_then(|payload| message(&*payload)) {
                books.cut_short(End::Panicked(format!("a waker: {message}")));
            }
        }
    }

    /// Tells how the execution ended, after all its threads have.
    pub(super) fn outcome(&self) -> End {
        let books = self.books();
        if let Some(end) = &books.abort {
            return end.clone();
        }
        if books.record.is_short() {
            return End::Diverged(books.record.misfit());
        }
        let panicked = books.threads.iter().find(|t| t.panicked.is_some() && !t.joined);
        match panicked.and_then(|thread| thread.panicked.clone()) {
            Some(message) => End::Panicked(message),
            None => End::Finished,
        }
    }
}
