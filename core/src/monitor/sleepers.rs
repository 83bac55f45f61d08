//! The sleepers of a monitor, threads and tasks, and which of them are woken.

use std::mem::take;
use std::sync::Arc;
use std::task::Waker;

use crate::caught::{discard, each};
use crate::machine::{CHANNELS, Channel, Wakes};
use crate::runtime::{Instant, Panic, Runtime};

use super::line::{Line, Place};

/// A sleeper.
pub(super) enum Sleeper<R: Runtime> {
    /// On its own condition variable, so that exactly this thread can be woken.
    Thread(Arc<R::Condvar>),
    Task(Waker),
}

/// The place where a call sleeps: its channel, and its place in the line of its kind.
#[derive(Clone, Copy)]
struct Position {
    on: Channel,
    place: Place,
}

/// The two kinds of sleepers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Thread,
    Task,
}

const KINDS: [Kind; 2] = [Kind::Thread, Kind::Task];

/// The monitor's notes about a call between its steps. A call that was woken keeps them until it
/// has looked.
pub(super) struct WaitState<R: Runtime> {
    kind: Kind,
    position: Option<Position>,
    /// The channel whose timer it took or was given, and the number of that timer.
    timer: Option<(Channel, u64)>,
    /// The waker of an earlier sleep: foreign code, so it is dropped outside the lock.
    pub(super) spent: Option<Sleeper<R>>,
}

impl<R: Runtime> WaitState<R> {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, position: None, timer: None, spent: None }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.position.is_some()
    }
}

/// The sleepers of one channel, in one line for each kind.
struct WaitQueue<R: Runtime> {
    lines: [Line<Sleeper<R>>; 2],
    /// The timer of each kind: its number, and when its holder wakes. A holder that was woken to
    /// find its next deadline holds it until [`Instant::NEVER`].
    timers: [Option<(u64, Instant)>; 2],
}

/// All sleepers.
pub(super) struct Sleepers<R: Runtime> {
    queues: [WaitQueue<R>; CHANNELS],
    /// The number of sleepers: one load tells the hot path that nobody needs waking.
    count: u32,
    /// Numbers for places and timers. A place with a lower number is older, whatever its kind.
    tickets: u64,
    /// The queues and kinds in which one more sleeper must find the next deadline, as bits.
    must_look: u8,
    /// Payloads of panics in steps: foreign values, so they are dropped outside the lock.
    left: Vec<Panic>,
}

impl<R: Runtime> Sleepers<R> {
    pub(super) fn new() -> Self {
        let queues = std::array::from_fn(|_| WaitQueue {
            lines: [Line::default(), Line::default()],
            timers: [None; 2],
        });
        Self { queues, count: 0, tickets: 0, must_look: 0, left: Vec::new() }
    }

    /// Tells whether there is something to do once the lock is released.
    #[inline]
    pub(super) fn is_owed(&self, wakes: Wakes) -> bool {
        ((wakes.any() || self.must_look != 0) && self.count > 0) || !self.left.is_empty()
    }

    /// Keeps payloads from a step until the lock is released.
    #[inline]
    pub(super) fn keep(&mut self, left: Vec<Panic>) {
        if !left.is_empty() {
            self.left.extend(left);
        }
    }

    /// Puts a call to sleep. A call that was not woken and sleeps again on the same channel keeps
    /// its place.
    pub(super) fn enter(&mut self, on: Channel, who: Sleeper<R>, wait: &mut WaitState<R>) {
        let position = wait.position.filter(|position| position.on == on);
        if let Some(old) = position.and_then(|position| self.line(on, wait.kind).at(position.place))
        {
            wait.spent = Some(std::mem::replace(old, who));
            return;
        }
        self.leave(wait);
        self.tickets += 1;
        self.count += 1;
        let ticket = self.tickets;
        let place = self.line(on, wait.kind).join(ticket, who);
        wait.position = Some(Position { on, place });
    }

    fn line(&mut self, on: Channel, kind: Kind) -> &mut Line<Sleeper<R>> {
        &mut self.queues[usize::from(on)].lines[kind as usize]
    }

    fn timer(&mut self, on: Channel, kind: Kind) -> &mut Option<(u64, Instant)> {
        &mut self.queues[usize::from(on)].timers[kind as usize]
    }

    /// Tells whether a call was woken and has not looked since. If it was given the timer, it
    /// learns of it here.
    pub(super) fn was_woken(&mut self, wait: &mut WaitState<R>) -> bool {
        let Some(position) = wait.position else { return false };
        if self.line(position.on, wait.kind).at(position.place).is_some() {
            return false;
        }
        let ticket = position.place.ticket();
        if self.timer(position.on, wait.kind).is_some_and(|(number, _)| number == ticket) {
            wait.timer = Some((position.on, ticket));
        }
        true
    }

    /// Removes a call from its line. Returns the channel on which it was woken, if it was.
    pub(super) fn leave(&mut self, wait: &mut WaitState<R>) -> Option<Channel> {
        let position = wait.position.take()?;
        let Some(who) = self.line(position.on, wait.kind).leave(position.place) else {
            return Some(position.on);
        };
        self.count -= 1;
        wait.spent = Some(who);
        None
    }

    /// Decides when a sleeping call wakes by itself. Of the calls of one kind that share a deadline
    /// only one holds the timer: the one that knows the earliest time.
    pub(super) fn time(
        &mut self,
        on: Channel,
        until: Option<Instant>,
        wait: &mut WaitState<R>,
    ) -> Option<Instant> {
        let next = self.tickets + 1;
        let timer = self.timer(on, wait.kind);
        let is_mine = wait.timer == timer.map(|(number, _)| (on, number));
        match (until, *timer) {
            (None, Some(_)) if is_mine => *timer = None, // there is nothing to wake for
            (Some(until), Some((_, at))) if !is_mine && at <= until => return None,
            (Some(until), _) => {
                *timer = Some((next, until));
                wait.timer = Some((on, next));
                self.tickets = next;
            }
            (None, _) => {}
        }
        until
    }

    /// Gives up the timer of a call. Returns the channel of that timer.
    pub(super) fn drop_timer(&mut self, wait: &mut WaitState<R>) -> Option<Channel> {
        let (on, number) = wait.timer.take()?;
        self.timer(on, wait.kind).take_if(|(held, _)| *held == number).map(|_| on)
    }

    /// Gives the timer of a kind to the longest sleeper of that kind, at the next wake-up.
    pub(super) fn give_timer(&mut self, on: Channel, kind: Kind) {
        if self.line(on, kind).len() > 0 {
            self.must_look |= bit(on, kind);
        }
    }

    /// Takes the sleepers that a step named out of their lines, the longest sleepers first. Threads
    /// are notified here; the caller wakes the tasks, outside the lock.
    #[cold]
    pub(super) fn wake(&mut self, runtime: &R, wakes: Wakes) -> Woken<R> {
        let must_look = take(&mut self.must_look);
        let mut woken = Woken { some: Vec::new(), all: Vec::new(), left: take(&mut self.left) };
        for (on, queue) in (0..).zip(&mut self.queues) {
            let count = wakes.counted(on);
            if count == Wakes::ALL {
                let tasks = take(&mut queue.lines[Kind::Task as usize]);
                self.count -= tasks.len();
                woken.all.push(tasks);
            }
            let most = if count == Wakes::ALL { u32::MAX } else { count.into() };
            let mut notify = |who| {
                self.count -= 1;
                match who {
                    Sleeper::Thread(condvar) => runtime.notify_one(&condvar),
                    Sleeper::Task(waker) => woken.some.push(waker),
                }
            };
            (0..most).map_while(|_| queue.pop()).for_each(&mut notify);
            for kind in KINDS {
                if wakes.is_earlier(on) || must_look & bit(on, kind) != 0 {
                    queue.pop_as_holder(kind).into_iter().for_each(&mut notify);
                }
            }
        }
        woken
    }
}

fn bit(on: Channel, kind: Kind) -> u8 {
    const { assert!(CHANNELS * KINDS.len() <= u8::BITS as usize) };
    1 << (usize::from(on) * KINDS.len() + kind as usize)
}

#[cfg(feature = "harness")]
impl<R: Runtime> Sleepers<R> {
    /// Returns the capacity, as a number of sleepers.
    pub(super) fn seats(&self) -> usize {
        self.queues.iter().flat_map(|queue| &queue.lines).map(Line::seats).sum()
    }
}

#[cfg(test)]
impl<R: Runtime> Sleepers<R> {
    /// Counts the threads and the tasks.
    pub(super) fn counts(&self) -> (u32, u32) {
        let of = |kind| self.queues.iter().map(|queue| queue.lines[kind as usize].len()).sum();
        let counts = (of(Kind::Thread), of(Kind::Task));
        assert_eq!(counts.0 + counts.1, self.count);
        counts
    }
}

impl<R: Runtime> WaitQueue<R> {
    /// Takes out the longest sleeper, of either kind.
    fn pop(&mut self) -> Option<Sleeper<R>> {
        let [threads, tasks] = &mut self.lines;
        if threads.first() < tasks.first() { threads.pop() } else { tasks.pop() }
    }

    /// Takes out the longest sleeper of a kind and gives it the timer of that kind. It holds the
    /// timer until it has found the next deadline.
    fn pop_as_holder(&mut self, kind: Kind) -> Option<Sleeper<R>> {
        let line = &mut self.lines[kind as usize];
        let ticket = line.first();
        let who = line.pop()?;
        self.timers[kind as usize] = Some((ticket, Instant::NEVER));
        Some(who)
    }
}

/// Tasks to wake once the lock is released, because a waker is foreign code.
#[must_use = "tasks that are not woken sleep for ever"]
pub(super) struct Woken<R: Runtime> {
    some: Vec<Waker>,
    /// Whole lines of tasks to wake.
    all: Vec<Line<Sleeper<R>>>,
    /// Payloads that only have to be dropped there.
    left: Vec<Panic>,
}

impl<R: Runtime> Woken<R> {
    pub(super) fn is_empty(&self) -> bool {
        let nobody = self.some.is_empty() && self.all.iter().all(|line| line.len() == 0);
        nobody && self.left.is_empty()
    }

    /// Wakes the tasks. Call it without the lock.
    ///
    /// Panics of wakers are dropped, after the panic hook of the process has reported them. The
    /// call that woke them has succeeded, and its result, such as an item, belongs to its caller.
    pub(super) fn wake(self) {
        let lines =
            self.all.into_iter().flat_map(|mut line| std::iter::from_fn(move || line.pop()));
        let wakers = lines.filter_map(|who| match who {
            Sleeper::Task(waker) => Some(waker),
            Sleeper::Thread(_) => None,
        });
        if let Some(panic) = each(self.some.into_iter().chain(wakers), Waker::wake) {
            discard(panic);
        }
        self.left.into_iter().for_each(discard);
    }
}
