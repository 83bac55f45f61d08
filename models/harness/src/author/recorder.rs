//! Writes down what a machine does, from inside its lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use seatrial_core::machine::{Cx, Machine, Passed, Step};
use seatrial_core::runtime::Instant;

use crate::engine::End;

use super::component::{Component, MachineOf, OpOf, RetOf};
use super::history::{Event, History, What};
use super::invariant::judge;
use super::shown;
use super::told::{Told, is_measured, take_told};

/// The events of the execution under way.
#[derive(Debug)]
pub(crate) struct Log<Op, Ret>(Arc<Mutex<Vec<Event<Op, Ret>>>>);

impl<Op, Ret> Clone for Log<Op, Ret> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Op, Ret> Log<Op, Ret> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Vec::with_capacity(32))))
    }

    pub(crate) fn push(&self, event: Event<Op, Ret>) {
        self.events().push(event);
    }

    /// Returns how many events there are so far.
    pub(crate) fn len(&self) -> usize {
        self.events().len()
    }

    /// Takes the events out. Events that a leaked thread records later are lost on purpose.
    pub(crate) fn close(&self, end: End) -> History<Op, Ret> {
        History { events: std::mem::take(&mut *self.events()), end }
    }

    fn events(&self) -> MutexGuard<'_, Vec<Event<Op, Ret>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A machine behind a pointer, known by its calls and results alone.
pub type DynMachine<Op, Ret> = Box<dyn Machine<Op = Op, Ret = Ret>>;

/// A machine that writes down its steps and checks itself after each of them.
pub(crate) struct Recorded<Op, Ret> {
    pub(crate) machine: DynMachine<Op, Ret>,
    pub(crate) log: Log<Op, Ret>,
    pub(crate) object: u8,
    /// Whether it tells figures.
    pub(crate) measured: bool,
    /// Tells which thread is running.
    pub(crate) thread: Box<dyn Fn() -> u8 + Send>,
}

/// Records each step that one thread takes on a machine, and compares the steps with the metrics
/// that the machine reports.
#[derive(Debug)]
pub struct Alone<C: Component>(Log<OpOf<C>, RetOf<C>>);

impl<C: Component> Alone<C> {
    /// Records a machine that was made just now.
    pub fn with(machine: MachineOf<C>) -> (Self, impl Machine<Op = OpOf<C>, Ret = RetOf<C>>) {
        let (log, measured) = (Log::new(), is_measured());
        let thread = Box::new(|| 0);
        (Self(log.clone()), Recorded { machine, log, object: 0, measured, thread })
    }

    /// Sees that all figures told are right.
    ///
    /// # Panics
    /// If one is not.
    pub fn tells_what_is_so(self) {
        const OF_FIGURES: &[&str] = &[
            "depth_is_told",
            "latency_is_told",
            "work_is_told",
            "retries_are_told",
            "retries_count_calls",
        ];
        let history = self.0.close(End::Finished);
        let of_figures = C::invariants();
        let of_figures = of_figures.iter().filter(|one| OF_FIGURES.contains(&one.name));
        if let Some((name, violation)) = judge(of_figures, &history).first() {
            panic!("{name}: {}", violation.because);
        }
    }
}

impl<Op: Send + 'static, Ret: Send + 'static> Recorded<Op, Ret> {
    fn record(&self, at: Instant, what: What<Op, Ret>, told: Option<Vec<Told>>) {
        self.log.push(Event { thread: (self.thread)(), at, object: self.object, what, told });
        shown::note(self.object, || (self.log.len(), self.machine.describe()));
    }
}

impl<Op: Clone + Send + 'static, Ret: Clone + Send + 'static> Machine for Recorded<Op, Ret> {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        let called = op.clone();
        drop(take_told());
        let outcome = self.machine.step(op, cx);
        let what = What::Step { op: called, outcome: outcome.clone(), wakes: cx.wakes };
        let told = self.measured.then(take_told);
        self.record(cx.now(), what, told);
        self.machine.assert_valid();
        outcome
    }

    fn cancel(&mut self, op: &mut Op, cx: &mut Cx<'_>) {
        self.machine.cancel(op, cx);
        self.record(cx.now(), What::Cancel { op: op.clone() }, None);
        self.machine.assert_valid();
    }

    fn passes_on(&mut self, what: Passed) -> bool {
        self.machine.passes_on(what)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use seatrial_core::runtime::Manual;

    use super::*;
    use crate::engine::quietly;

    /// Notices that its state is wrong as soon as anything has happened.
    struct Wrong(bool);

    impl Machine for Wrong {
        type Op = ();
        type Ret = ();

        fn step(&mut self, (): &mut (), _: &mut Cx<'_>) -> Step<()> {
            self.0 = true;
            Step::Done(())
        }

        fn cancel(&mut self, (): &mut (), _: &mut Cx<'_>) {
            self.0 = true;
        }

        fn assert_valid(&self) {
            assert!(!self.0, "the state is wrong");
        }
    }

    #[test]
    fn a_state_that_is_wrong_is_noticed_behind_every_call_and_the_call_is_written_down() {
        let clock = Manual::new();
        for cancels in [false, true] {
            let log = Log::new();
            let (machine, thread) = (Box::new(Wrong(false)), Box::new(|| 0));
            let mut recorded =
                Recorded { machine, log: log.clone(), object: 0, measured: false, thread };
            let call = AssertUnwindSafe(|| {
                let mut cx = Cx::new(&clock);
                if cancels {
                    recorded.cancel(&mut (), &mut cx);
                } else {
                    let _step = recorded.step(&mut (), &mut cx);
                }
            });
            assert!(quietly(|| catch_unwind(call)).is_err(), "cancels: {cancels}");
            assert_eq!(log.close(End::Finished).events.len(), 1);
        }
    }
}
