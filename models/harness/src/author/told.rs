//! The metrics that a machine under trial reports, step by step.
//!
//! The library is called under the machine's lock, on the thread that runs the step, and no engine
//! switches threads there. So all that was reported since a step began was reported by that step.

use std::cell::RefCell;
use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Instant;

thread_local! {
    static TOLD: RefCell<Vec<Told>> = const { RefCell::new(Vec::new()) };
}

/// One figure, as it was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// This number of items more wait, under the label of a priority if there is one.
    Depth(Option<i32>, i64),
    /// An item was added.
    Added,
    /// An item was handed out, so long after it was added.
    Latency(Duration),
    /// An item is done, so long after it was handed out.
    Work(Duration),
    /// An item was given a delay.
    Retried,
    /// How long what is in processing has been there, summed up and at most.
    Unfinished(Duration, Duration),
}

/// Reported when a listener is made: a change of zero.
pub const SOMEBODY_LISTENS: Told = Told::Depth(None, 0);

/// Remembers a figure until it is taken.
pub fn tell(figure: Told) {
    TOLD.with_borrow_mut(|told| told.push(figure));
}

/// Takes the figures that this thread has reported since they were last taken.
pub fn take_told() -> Vec<Told> {
    TOLD.take()
}

/// Tells whether the machine that was made just now, on this thread, is measured.
pub fn is_measured() -> bool {
    take_told().contains(&SOMEBODY_LISTENS)
}

/// A step, and the metrics that it reported.
#[derive(Debug)]
pub struct Telling<'a, M: Machine> {
    /// The call, as it was before the step.
    pub op: &'a M::Op,
    /// How the step ended.
    pub outcome: &'a Step<M::Ret>,
    /// The machine as the step left it.
    pub machine: &'a M,
    /// The time of the step.
    pub at: Instant,
    /// The metrics that the step reported.
    pub told: &'a mut Vec<Told>,
    /// Values that an edit keeps for a later step.
    pub notes: &'a mut Notes,
}

/// Values that are kept between two steps.
#[derive(Debug, Default)]
pub struct Notes {
    /// Moments, by item.
    pub moments: std::collections::BTreeMap<u8, Instant>,
    /// A number.
    pub count: usize,
    /// Metrics to report later.
    pub late: Vec<Told>,
}

/// A measured machine that reports wrong metrics: a mutant of the metrics.
#[derive(Debug)]
pub struct Mistold<M: Machine> {
    machine: M,
    edit: fn(&mut Telling<'_, M>),
    notes: Notes,
}

impl<M: Machine> Mistold<M> {
    /// Puts an edit between a machine and the metrics that it reports.
    pub fn new(machine: M, edit: fn(&mut Telling<'_, M>)) -> Self {
        Self { machine, edit, notes: Notes::default() }
    }
}

impl<M: Machine<Op: Clone>> Machine for Mistold<M> {
    type Op = M::Op;
    type Ret = M::Ret;

    fn step(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) -> Step<M::Ret> {
        let called = op.clone();
        let outcome = self.machine.step(op, cx);
        let mut told = take_told();
        (self.edit)(&mut Telling {
            op: &called,
            outcome: &outcome,
            machine: &self.machine,
            at: cx.now(),
            told: &mut told,
            notes: &mut self.notes,
        });
        TOLD.set(told);
        outcome
    }

    fn cancel(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) {
        self.machine.cancel(op, cx);
    }

    fn assert_valid(&self) {
        self.machine.assert_valid();
    }

    fn describe(&self) -> Option<String> {
        self.machine.describe()
    }
}
