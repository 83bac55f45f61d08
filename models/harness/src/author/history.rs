//! The events of one execution, in order.
//!
//! Every event is recorded inside the critical section that it describes (see `recorder`). Events
//! recorded around a call would stick to the neighbouring step, and the time between two of them
//! would shrink to nothing. A checker that looks for overlapping calls would then see none.

use seatrial_core::machine::{Step, Wakes};
use seatrial_core::runtime::Instant;

use crate::engine::End;

use super::told::Told;

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Event<Op, Ret> {
    /// The thread that did it; 0 is the main thread.
    pub thread: u8,
    /// The time, by the clock of the runtime.
    pub at: Instant,
    /// The number of the scenario's machine, in the order in which the machines were made.
    pub object: u8,
    /// The kind of event.
    pub what: What<Op, Ret>,
    /// The metrics that the machine reported in this event; `None` if it is not measured.
    pub told: Option<Vec<Told>>,
}

/// The kinds of events.
#[derive(Clone, Debug)]
pub enum What<Op, Ret> {
    /// A call on the machine ran one step.
    Step {
        /// The call, as it was before the step.
        op: Op,
        /// The outcome of the step.
        outcome: Step<Ret>,
        /// The channels that it woke.
        wakes: Wakes,
    },
    /// A waiting call was given up.
    Cancel {
        /// The call.
        op: Op,
    },
    /// The scenario says something about itself.
    Note {
        /// The text of the note.
        label: &'static str,
        /// The item or the amount that the note is about.
        value: u64,
    },
    /// No thread can move except the one that records this. A thread that sleeps now sleeps for
    /// ever unless something new happens.
    Quiet,
}

impl<Op, Ret> Event<Op, Ret> {
    /// Returns the call of which the event is a step.
    pub fn call(&self) -> Option<&Op> {
        match &self.what {
            What::Step { op, .. } => Some(op),
            _ => None,
        }
    }

    /// Returns the call and its result, if the event ended a call.
    pub fn returned(&self) -> Option<(&Op, &Ret)> {
        match &self.what {
            What::Step { op, outcome: Step::Done(ret) | Step::Held(ret), .. } => Some((op, ret)),
            _ => None,
        }
    }

    /// Makes another step of the same moment: one of several steps that this one contains.
    pub fn instead(&self, op: Op, outcome: Step<Ret>) -> Self {
        let Self { thread, at, object, .. } = *self;
        let what = What::Step { op, outcome, wakes: Wakes::default() };
        Self { thread, at, object, what, told: None }
    }

    /// Returns the value of a note with this label.
    pub fn noted(&self, wanted: &str) -> Option<u64> {
        match self.what {
            What::Note { label, value } if label == wanted => Some(value),
            _ => None,
        }
    }
}

/// One execution: its events and its end.
#[derive(Clone, Debug)]
pub struct History<Op, Ret> {
    /// The events, in the order in which they took effect.
    pub events: Vec<Event<Op, Ret>>,
    /// How the execution ended.
    pub end: End,
}

impl<Op, Ret> History<Op, Ret> {
    /// Returns the values of all notes with this label, in order.
    pub fn notes<'a>(&'a self, label: &'a str) -> impl Iterator<Item = u64> + 'a {
        self.events.iter().filter_map(move |event| event.noted(label))
    }

    /// Tells whether the execution came to its planned end.
    pub fn finished(&self) -> bool {
        self.end == End::Finished
    }
}
