//! A naive shell, only for tasks, with the mistakes that are easily made in it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use seatrial_core::machine::{Channel, Cx, Operation, Step, Wakes};
use seatrial_core::runtime::{GuardOf, Runtime};

use super::gate::{GIVERS, Gate, TAKERS};
use crate::engine::AnyRuntime;
use crate::shared::{Lock, Mistake};

/// Rules behind a lock, and the tasks that sleep.
pub(super) struct Reference {
    runtime: AnyRuntime,
    inside: Lock<Inside>,
    mistake: Mistake,
}

struct Inside {
    gate: Gate,
    /// The sleepers of each channel with their tickets, which increase.
    lines: [VecDeque<(u64, Waker)>; 2],
    tickets: u64,
}

const CHANNELS: [Channel; 2] = [TAKERS, GIVERS];

impl Inside {
    /// Removes a call from its line; false if it was not there.
    fn leave(&mut self, (on, ticket): Place) -> bool {
        let line = &mut self.lines[usize::from(on)];
        let before = line.len();
        line.retain(|(other, _)| *other != ticket);
        line.len() < before
    }

    /// Puts a call to sleep, in its place or at the end of the line.
    fn enter(&mut self, on: Channel, waker: Waker, place: &mut Option<Place>, keeps: bool) {
        let line = &mut self.lines[usize::from(on)];
        let mine = place.and_then(|mine| line.iter_mut().find(|it| (on, it.0) == mine));
        match mine.filter(|_| keeps) {
            Some((_, old)) => *old = waker,
            None => {
                if let Some(mine) = place.take() {
                    self.leave(mine);
                }
                self.tickets += 1;
                *place = Some((on, self.tickets));
                self.lines[usize::from(on)].push_back((self.tickets, waker));
            }
        }
    }
}

/// A channel and the ticket of a sleeper there.
type Place = (Channel, u64);

impl Reference {
    pub(super) fn new(runtime: &AnyRuntime, mistake: Mistake) -> Self {
        let inside = Inside { gate: Gate::default(), lines: Default::default(), tickets: 0 };
        Self { inside: runtime.mutex(inside), runtime: runtime.clone(), mistake }
    }

    pub(super) fn call<O: Operation<Gate>>(&self, op: O) -> O::Ret {
        self.runtime.block_on(self.call_async(op))
    }

    pub(super) fn call_async<O: Operation<Gate>>(&self, op: O) -> Call<'_, O> {
        Call { shell: self, op, place: None }
    }

    /// Makes a call in two halves; other calls may come between them.
    pub(super) fn around<A: Operation<Gate>, B: Operation<Gate>>(
        &self,
        first: A,
        abandon: B,
        body: impl FnOnce(A::Ret) -> Option<B>,
    ) {
        let Some(second) = body(self.call(first)) else { return };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(self.call(second)))) {
            if self.mistake != "second_half_is_lost" {
                self.call(abandon);
            }
            resume_unwind(panic);
        }
    }

    /// Returns the number of sleepers for which memory is reserved.
    pub(super) fn seats(&self) -> usize {
        self.runtime.lock(&self.inside).lines.iter().map(VecDeque::capacity).sum()
    }

    /// Unlocks, and wakes the sleepers that have slept longest.
    fn unlock(&self, mut inside: GuardOf<'_, AnyRuntime, Inside>, wakes: Wakes) {
        let mut woken = Vec::new();
        for (on, line) in CHANNELS.into_iter().zip(&mut inside.lines) {
            let count = usize::from(wakes.get(on)).min(line.len());
            if self.mistake == "newest_is_woken" {
                woken.extend((0..count).filter_map(|_| line.pop_back()));
            } else {
                woken.extend(line.drain(..count));
            }
            if self.mistake != "memory_stays" {
                line.shrink_to_fit();
            }
        }
        drop(inside);
        let mut first = None;
        for (_, waker) in woken {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                first.get_or_insert(panic);
                if self.mistake == "waker_stops_those_behind_it" {
                    break;
                }
            }
        }
        if let Some(panic) = first
            && self.mistake == "waker_panics_into_the_caller"
        {
            resume_unwind(panic);
        }
    }
}

/// A call that sleeps without a thread.
pub(super) struct Call<'a, O: Operation<Gate>> {
    shell: &'a Reference,
    op: O,
    /// Its place in the line; a woken call keeps it until its next poll.
    place: Option<Place>,
}

/// Nothing in it is ever pinned.
impl<O: Operation<Gate>> Unpin for Call<'_, O> {}

impl<O: Operation<Gate>> Future for Call<'_, O> {
    type Output = O::Ret;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<O::Ret> {
        let Self { shell, op, place } = self.get_mut();
        let waker = context.waker().clone();
        let mut inside = shell.runtime.lock(&shell.inside);
        let mut cx = Cx::new(&shell.runtime);
        let stepped = catch_unwind(AssertUnwindSafe(|| op.step(&mut inside.gate, &mut cx)));
        let mut wakes = cx.wakes;
        let (stepped, slept) = match stepped {
            Ok(Step::Wait { on, .. }) => {
                inside.enter(on, waker, place, shell.mistake != "poll_goes_to_the_end");
                let lost = shell.mistake == "wait_loses_wakes";
                shell.unlock(inside, if lost { Wakes::default() } else { wakes });
                return Poll::Pending;
            }
            Ok(Step::Done(ret) | Step::Held(ret)) => (Ok(ret), place.take()),
            Err(panic) => (Err(panic), place.take()),
        };
        let woken_on = slept.and_then(|mine| (!inside.leave(mine)).then_some(mine.0));
        match stepped {
            Ok(ret) => {
                shell.unlock(inside, wakes);
                Poll::Ready(ret)
            }
            Err(panic) => {
                if shell.mistake == "panic_loses_wakes" {
                    wakes = Wakes::default();
                }
                if let Some(on) = woken_on.filter(|_| shell.mistake != "panic_swallows_a_wake_up") {
                    wakes.one(on);
                }
                shell.unlock(inside, wakes);
                resume_unwind(panic);
            }
        }
    }
}

/// Gives up the call, and passes its wake-up on to another.
impl<O: Operation<Gate>> Drop for Call<'_, O> {
    fn drop(&mut self) {
        let Some(mine) = self.place.take() else { return };
        let mut inside = self.shell.runtime.lock(&self.shell.inside);
        let mut wakes = Wakes::default();
        if !inside.leave(mine) {
            wakes.one(mine.0);
        }
        self.shell.unlock(inside, wakes);
    }
}
