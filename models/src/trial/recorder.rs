//! Writes down what a machine does, from inside its lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Instant;

use crate::engine::End;

use super::history::{Event, History, What};

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

    /// Takes the events out; what a leaked thread records later is lost, as it should be.
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
    /// Tells which thread is running.
    pub(crate) thread: Box<dyn Fn() -> u8 + Send>,
}

impl<Op, Ret> Recorded<Op, Ret> {
    fn record(&self, at: Instant, what: What<Op, Ret>) {
        self.log.push(Event { thread: (self.thread)(), at, object: self.object, what });
    }
}

impl<Op: Clone + Send + 'static, Ret: Clone + Send + 'static> Machine for Recorded<Op, Ret> {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        let called = op.clone();
        let outcome = self.machine.step(op, cx);
        let what = What::Step { op: called, outcome: outcome.clone(), wakes: cx.wakes };
        self.record(cx.now(), what);
        self.machine.assert_valid();
        outcome
    }

    fn cancel(&mut self, op: &mut Op, cx: &mut Cx<'_>) {
        self.machine.cancel(op, cx);
        self.record(cx.now(), What::Cancel { op: op.clone() });
        self.machine.assert_valid();
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
            let mut recorded = Recorded { machine, log: log.clone(), object: 0, thread };
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
