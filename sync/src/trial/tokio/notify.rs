//! tokio's notifications.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::super::lock::{Label, Locked};

/// How one was notified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    Alone,
    WithAll,
}

#[derive(Default, Debug)]
struct State {
    /// Whether one that comes next need not wait.
    has_permit: bool,
    /// How often all were notified.
    rounds: u64,
    line: VecDeque<(u64, Option<Waker>)>,
    notified: BTreeMap<u64, How>,
    next: u64,
}

impl State {
    fn notify_one(&mut self) -> Option<Waker> {
        let Some((id, waker)) = self.line.pop_front() else {
            self.has_permit = true;
            return None;
        };
        self.notified.insert(id, How::Alone);
        waker
    }
}

/// `tokio::sync::Notify`.
#[derive(Debug)]
pub struct Notify {
    label: Label,
    state: Locked<State>,
}

impl Notify {
    /// Makes one that was not notified.
    #[must_use]
    pub fn new() -> Self {
        Self { label: Label::new(), state: Locked::new(State::default()) }
    }

    /// Returns a future that ends with a notification. [`notify_waiters`](Self::notify_waiters) counts from now on,
    /// [`notify_one`](Self::notify_one) from the first poll.
    pub fn notified(&self) -> Notified<'_> {
        let rounds = self.state.lock().rounds;
        Notified { of: self, rounds, id: None, is_over: false }
    }

    /// Notifies the first that waits; if none does, the next that comes.
    pub fn notify_one(&self) {
        self.label.note("notifies one of");
        let woken = self.state.lock().notify_one();
        if let Some(waker) = woken {
            waker.wake();
        }
    }

    /// Notifies all that wait.
    pub fn notify_waiters(&self) {
        self.label.note("notifies all of");
        let mut state = self.state.lock();
        state.rounds += 1;
        let woken = std::mem::take(&mut state.line);
        state.notified.extend(woken.iter().map(|(id, _)| (*id, How::WithAll)));
        drop(state);
        woken.into_iter().filter_map(|(_, waker)| waker).for_each(Waker::wake);
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

/// `tokio::sync::futures::Notified`.
#[derive(Debug)]
pub struct Notified<'a> {
    of: &'a Notify,
    /// How often all had been notified when it was made.
    rounds: u64,
    /// Its number in the line.
    id: Option<u64>,
    is_over: bool,
}

impl Notified<'_> {
    /// Stands in the line without being polled; true if it was notified already.
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        self.go_on(None)
    }

    fn go_on(&mut self, waker: Option<Waker>) -> bool {
        if self.is_over {
            return true;
        }
        let mut state = self.of.state.lock();
        let mut former = None;
        self.is_over = match self.id {
            Some(id) if state.notified.remove(&id).is_some() => true,
            Some(id) => {
                let mine = state.line.iter_mut().find(|(known, _)| *known == id);
                if let (Some((_, known)), true) = (mine, waker.is_some()) {
                    former = std::mem::replace(known, waker);
                }
                false
            }
            None if state.rounds != self.rounds => true,
            None if state.has_permit => {
                state.has_permit = false;
                true
            }
            None => {
                let id = state.next;
                state.next += 1;
                state.line.push_back((id, waker));
                self.id = Some(id);
                false
            }
        };
        drop(state);
        drop(former); // outside of the lock: dropping a waker runs foreign code
        if self.is_over {
            self.id = None;
            self.of.label.note("is notified by");
        }
        self.is_over
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.go_on(Some(context.waker().clone())) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let mut state = self.of.state.lock();
        let place = state.line.iter().position(|(known, _)| *known == id);
        let former = place.and_then(|place| state.line.remove(place));
        // What it was given and did not see is for another one.
        let passed_on = state.notified.remove(&id) == Some(How::Alone);
        let woken = if passed_on { state.notify_one() } else { None };
        drop(state);
        drop(former);
        if let Some(waker) = woken {
            waker.wake();
        }
    }
}
