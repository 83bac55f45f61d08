//! A record of calls that are more than one critical section each: when a call begins, and when it
//! has ended. Every call must take effect at one moment between its beginning and its end.

use std::fmt::Debug;
use std::marker::PhantomData;

use seatrial_core::machine::{Boxed, Cx, Machine, Step};
use seatrial_core::runtime::{Instant, Runtime};

use crate::trial::{History, What};

/// An entry of the book.
#[derive(Clone, Debug)]
pub enum Entry<C, A> {
    /// Records nothing: asks which code is under trial.
    Which,
    /// A call begins.
    Begins(C),
    /// A call has ended.
    Ended(C, A),
}

impl<C: Debug, A: Debug> Entry<C, A> {
    /// Describes the entry of a program that tries a `part`.
    pub(super) fn describe(&self, part: &str) -> String {
        match self {
            Self::Which => format!("makes a {part}"),
            Self::Begins(call) => format!("{call:?} ..."),
            Self::Ended(call, answer) => format!("... {call:?} -> {answer:?}"),
        }
    }
}

/// The answer of the book.
#[derive(Clone, Debug)]
pub enum Said<M: 'static> {
    /// The mistakes of the code under trial; `None` stands for the code that ships.
    Which(Option<&'static [M]>),
    /// The entry is recorded.
    Noted,
}

/// A book of calls and their answers that knows the mistakes of the code under trial.
#[derive(Debug)]
pub struct Book<C, A, M: 'static> {
    mistakes: Option<&'static [M]>,
    entries: PhantomData<fn(C, A)>,
}

impl<C, A, M> Book<C, A, M> {
    /// Makes an empty book.
    pub(super) const fn of(mistakes: Option<&'static [M]>) -> Self {
        Self { mistakes, entries: PhantomData }
    }
}

impl<C: Send + 'static, A: Send + 'static, M: Sync> Machine for Book<C, A, M> {
    type Op = Entry<C, A>;
    type Ret = Said<M>;

    fn step(&mut self, entry: &mut Entry<C, A>, _: &mut Cx<'_>) -> Step<Said<M>> {
        Step::Done(match entry {
            Entry::Which => Said::Which(self.mistakes),
            Entry::Begins(_) | Entry::Ended(..) => Said::Noted,
        })
    }
}

/// A book of a thread, which is recorded.
type Recorded<C, A, M> = Boxed<Book<C, A, M>>;

/// Asks a book for the mistakes of the code under trial.
pub(super) fn mistakes<C, A, M, R>(
    book: &mut Recorded<C, A, M>,
    runtime: &R,
) -> Option<&'static [M]>
where
    C: Send + 'static,
    A: Send + 'static,
    M: Sync,
    R: Runtime,
{
    match book.0.step(&mut Entry::Which, &mut Cx::new(runtime)) {
        Step::Done(Said::Which(mistakes)) => mistakes,
        _ => None,
    }
}

/// Makes a call, and records its beginning and its end.
pub(super) fn record<C, A, M, R>(
    book: &mut Recorded<C, A, M>,
    runtime: &R,
    call: C,
    answer: impl FnOnce(&C) -> A,
) where
    C: Clone + Send + 'static,
    A: Send + 'static,
    M: Sync,
    R: Runtime,
{
    let mut write_down = |mut entry| {
        let noted = book.0.step(&mut entry, &mut Cx::new(runtime));
        assert!(matches!(noted, Step::Done(_)), "a book waits for nobody");
    };
    write_down(Entry::Begins(call.clone()));
    let answer = answer(&call);
    write_down(Entry::Ended(call, answer));
}

/// A call that has ended.
#[derive(Clone, Debug)]
pub(super) struct Ended<C, A> {
    pub(super) call: C,
    pub(super) answer: A,
    /// The event with which it began, and its time.
    pub(super) from: usize,
    pub(super) began: Instant,
    /// The event with which it ended, and its time.
    pub(super) to: usize,
    pub(super) at: Instant,
}

/// Lists the calls that have ended, in the order of their ends.
pub(super) fn ended<C: Clone, A: Clone, M>(
    history: &History<Entry<C, A>, Said<M>>,
) -> Vec<Ended<C, A>> {
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    for (to, event) in history.events.iter().enumerate() {
        let What::Step { op, .. } = &event.what else { continue };
        match op {
            Entry::Which => {}
            Entry::Begins(_) => begun.push((event.thread, to, event.at)),
            Entry::Ended(call, answer) => {
                let mine = begun.iter().rposition(|(thread, ..)| *thread == event.thread);
                let (_, from, began) = mine.map_or((0, to, event.at), |mine| begun.remove(mine));
                let (call, answer) = (call.clone(), answer.clone());
                ended.push(Ended { call, answer, from, began, to, at: event.at });
            }
        }
    }
    ended
}
