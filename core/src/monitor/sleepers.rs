//! Who sleeps in a monitor, threads and tasks, and who of them is woken.

use std::mem::take;
use std::sync::Arc;
use std::task::Waker;

use crate::caught::{discard, each};
use crate::machine::{CHANNELS, Channel, Wakes};
use crate::runtime::{Instant, Panic, Runtime};

use super::line::{Line, Place};

/// One who sleeps.
pub(super) enum Sleeper<R: Runtime> {
    /// On a condition variable of its own, so that this very thread can be woken.
    Thread(Arc<R::Condvar>),
    Task(Waker),
}

/// Where a call sleeps: its channel, its kind and its place in that line.
#[derive(Clone, Copy)]
struct Bed {
    on: Channel,
    kind: usize,
    place: Place,
}

const THREADS: usize = 0;
const TASKS: usize = 1;

/// What the monitor knows of a call between its steps. A call that was woken keeps it until it has
/// looked.
pub(super) struct Stay<R: Runtime> {
    bed: Option<Bed>,
    /// The channel whose timer it took, and the number of that timer.
    timer: Option<(Channel, u64)>,
    /// The waker of an earlier sleep: foreign code, so dropped without the lock.
    pub(super) spent: Option<Sleeper<R>>,
}

impl<R: Runtime> Default for Stay<R> {
    fn default() -> Self {
        Self { bed: None, timer: None, spent: None }
    }
}

impl<R: Runtime> Stay<R> {
    pub(super) fn is_asleep(&self) -> bool {
        self.bed.is_some()
    }
}

/// Those who sleep on one channel, in a line for each kind.
struct Room<R: Runtime> {
    lines: [Line<Sleeper<R>>; 2],
    /// When the one who holds the timer wakes, and the number of that timer.
    timer: Option<(u64, Instant)>,
}

/// All who sleep.
pub(super) struct Sleepers<R: Runtime> {
    rooms: [Room<R>; CHANNELS],
    /// How many they are: one load tells the hot path that nobody needs waking.
    count: u32,
    /// Numbers for places and timers. A place with a lower one is older, whatever the kind.
    tickets: u64,
    /// What foreign code panicked with in steps: foreign values, so dropped without the lock.
    left: Vec<Panic>,
}

impl<R: Runtime> Sleepers<R> {
    pub(super) fn new() -> Self {
        let room = || Room { lines: [Line::default(), Line::default()], timer: None };
        Self { rooms: std::array::from_fn(|_| room()), count: 0, tickets: 0, left: Vec::new() }
    }

    /// Tells whether there is something to do once the lock is released.
    #[inline]
    pub(super) fn is_owed(&self, wakes: Wakes) -> bool {
        (wakes.any() && self.count > 0) || !self.left.is_empty()
    }

    /// Keeps what a step left, until the lock is released.
    #[inline]
    pub(super) fn keep(&mut self, left: Vec<Panic>) {
        if !left.is_empty() {
            self.left.extend(left);
        }
    }

    /// Puts a call to sleep. One that was not woken and sleeps on where it did keeps its place.
    pub(super) fn enter(&mut self, on: Channel, who: Sleeper<R>, stay: &mut Stay<R>) {
        if let Some(old) = stay.bed.filter(|bed| bed.on == on).and_then(|bed| self.at(bed)) {
            stay.spent = Some(std::mem::replace(old, who));
            return;
        }
        self.leave(stay);
        self.tickets += 1;
        self.count += 1;
        let kind = if matches!(who, Sleeper::Task(_)) { TASKS } else { THREADS };
        let place = self.rooms[usize::from(on)].lines[kind].join(self.tickets, who);
        stay.bed = Some(Bed { on, kind, place });
    }

    fn at(&mut self, bed: Bed) -> Option<&mut Sleeper<R>> {
        self.rooms[usize::from(bed.on)].lines[bed.kind].at(bed.place)
    }

    /// Tells whether a call was woken and has not looked since.
    pub(super) fn was_woken(&mut self, stay: &Stay<R>) -> bool {
        stay.bed.is_some_and(|bed| self.at(bed).is_none())
    }

    /// Takes a call out of its line. Returns the channel on which it was woken, if it was.
    pub(super) fn leave(&mut self, stay: &mut Stay<R>) -> Option<Channel> {
        let bed = stay.bed.take()?;
        let Some(who) = self.rooms[usize::from(bed.on)].lines[bed.kind].leave(bed.place) else {
            return Some(bed.on);
        };
        self.count -= 1;
        stay.spent = Some(who);
        None
    }

    /// Decides when a call that goes to sleep wakes by itself. Of those who share their time one
    /// holds the timer: the one that knows the earliest.
    pub(super) fn time(
        &mut self,
        on: Channel,
        until: Option<Instant>,
        stay: &mut Stay<R>,
    ) -> Option<Instant> {
        let timer = &mut self.rooms[usize::from(on)].timer;
        let is_mine = stay.timer == timer.map(|(number, _)| (on, number));
        match (until, *timer) {
            (None, Some(_)) if is_mine => *timer = None, // there is nothing to wake for
            (Some(until), Some((_, at))) if !is_mine && at <= until => return None,
            (Some(until), _) => {
                self.tickets += 1;
                *timer = Some((self.tickets, until));
                stay.timer = Some((on, self.tickets));
            }
            (None, _) => {}
        }
        until
    }

    /// Ends what a call holds beside its place. If that was the timer of a channel, returns that:
    /// one other there must look when to wake next.
    pub(super) fn drop_timer(&mut self, stay: &mut Stay<R>) -> Option<Channel> {
        let (on, number) = stay.timer.take()?;
        let timer = &mut self.rooms[usize::from(on)].timer;
        timer.take_if(|(held, _)| *held == number).map(|_| on)
    }

    /// Takes those whom a step named out of their lines, the longest sleepers first. Threads are
    /// notified here; the tasks are the caller's to wake, without the lock.
    #[cold]
    pub(super) fn wake(&mut self, runtime: &R, wakes: Wakes) -> Woken<R> {
        let left = std::mem::take(&mut self.left);
        let mut woken = Woken { some: Vec::new(), all: Vec::new(), left };
        for (on, room) in (0..).zip(&mut self.rooms) {
            let count = wakes.at_least(on);
            if count == Wakes::ALL {
                let tasks = take(&mut room.lines[TASKS]);
                self.count -= tasks.len();
                woken.all.push(tasks);
            }
            let most = if count == Wakes::ALL { u32::MAX } else { count.into() };
            for _ in 0..most {
                let Some(who) = room.pop() else { break };
                self.count -= 1;
                match who {
                    Sleeper::Thread(condvar) => runtime.notify_one(&condvar),
                    Sleeper::Task(waker) => woken.some.push(waker),
                }
            }
        }
        woken
    }
}

#[cfg(test)]
impl<R: Runtime> Sleepers<R> {
    /// Counts the threads and the tasks.
    pub(super) fn counts(&self) -> (u32, u32) {
        let of = |kind: usize| self.rooms.iter().map(|room| room.lines[kind].len()).sum();
        let counts = (of(THREADS), of(TASKS));
        assert_eq!(counts.0 + counts.1, self.count);
        counts
    }
}

impl<R: Runtime> Room<R> {
    /// Takes the longest sleeper out, of whatever kind.
    fn pop(&mut self) -> Option<Sleeper<R>> {
        let [threads, tasks] = &mut self.lines;
        if threads.first() < tasks.first() { threads.pop() } else { tasks.pop() }
    }
}

/// Tasks to wake once the lock is released: a waker is foreign code.
#[must_use = "tasks that are not woken sleep for ever"]
pub(super) struct Woken<R: Runtime> {
    some: Vec<Waker>,
    /// Lines of tasks that are woken as a whole.
    all: Vec<Line<Sleeper<R>>>,
    /// What is only to be dropped there.
    left: Vec<Panic>,
}

impl<R: Runtime> Woken<R> {
    pub(super) fn is_empty(&self) -> bool {
        let nobody = self.some.is_empty() && self.all.iter().all(|line| line.len() == 0);
        nobody && self.left.is_empty()
    }

    /// Wakes them. Call it without the lock.
    ///
    /// What wakers panic with is dropped, after the hook of the process has reported it: the call
    /// that woke them has happened, and what it returned, an item say, belongs to its caller.
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
