//! The way to a state as decisions, and the steps on it.
//!
//! A caller's letter lets it run one critical section, or wakes it for no reason where it sleeps;
//! an answer behind it says whom that wakes, where there is a choice. A dot is a jump of the clock.

use seatrial_core::machine::Step;
use seatrial_core::runtime::Instant;

use super::callers::{Act, Callers};
use super::{Explored, Model, State, Steps, view};
use crate::engine::{Choice, Schedule};

/// One step of a way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// The event.
    pub act: Act,
    /// The time.
    pub at: Instant,
    /// The step in words; empty for a jump of the clock.
    pub text: String,
    /// Whether the caller went to sleep.
    pub sleeps: bool,
    /// Whether it keeps the lock until its next step.
    pub keeps_lock: bool,
}

impl<W: Explored> Callers<W> {
    /// Returns the decisions that lead along a path.
    #[must_use]
    pub fn route(&self, path: &[Act]) -> Schedule {
        let (mut state, mut choices) = (self.initial(), Vec::new());
        for act in path {
            let first = match act {
                Act::Step { caller, .. } | Act::Spurious { caller } => Choice::Thread(*caller),
                Act::Jump => Choice::Clock,
            };
            let mut ways = self.ways(&state, first);
            let way = ways.iter().position(|(same, _)| same == act).expect("a path can be gone");
            choices.push(first);
            if ways.len() > 1 {
                choices.push(Choice::Data(way as u32));
            }
            state = ways.swap_remove(way).1;
        }
        Schedule { choices }
    }

    /// Returns the state that a path leads to; `None` if it cannot be gone.
    fn at(&self, path: &[Act]) -> Option<State<W>> {
        path.iter().try_fold(self.initial(), |state, act| {
            let mut steps = Steps::new();
            self.steps(&state, &mut steps);
            steps.into_vec().into_iter().find(|(_, same, _)| same == act).map(|(_, _, next)| next)
        })
    }

    /// Returns the step that leads from the end of one path to where another one ends, if one does.
    #[must_use]
    pub fn step_to(&self, path: &[Act], other: &[Act]) -> Option<Act> {
        let target = view(self, &self.at(other)?);
        let mut steps = Steps::new();
        self.steps(&self.at(path)?, &mut steps);
        let leads_there =
            |(_, act, next): (usize, Act, State<W>)| (view(self, &next) == target).then_some(act);
        steps.into_vec().into_iter().find_map(leads_there)
    }

    /// Returns the steps that a decision can mean.
    fn ways(&self, state: &State<W>, first: Choice) -> Vec<(Act, State<W>)> {
        let mut steps = Steps::new();
        self.steps(state, &mut steps);
        let means = |act: &Act| match *act {
            Act::Step { caller, .. } | Act::Spurious { caller } => first == Choice::Thread(caller),
            Act::Jump => first == Choice::Clock,
        };
        steps
            .into_vec()
            .into_iter()
            .map(|(_, act, next)| (act, next))
            .filter(|(act, _)| means(act))
            .collect()
    }

    /// Goes the way of some decisions and returns the states on it, the first included; `None` if
    /// it cannot be gone.
    #[must_use]
    pub fn follow(&self, schedule: &Schedule) -> Option<(Vec<Told>, Vec<State<W>>)> {
        let (mut told, mut states) = (Vec::new(), vec![self.initial()]);
        let mut choices = schedule.choices.iter().copied().peekable();
        while let Some(first) = choices.next() {
            let state = states.last()?;
            let mut ways = self.ways(state, first);
            let way = match choices.peek() {
                Some(Choice::Data(way)) if ways.len() > 1 => {
                    let way = *way as usize;
                    choices.next();
                    way
                }
                _ if ways.len() == 1 => 0,
                _ => return None,
            };
            if way >= ways.len() {
                return None;
            }
            let (act, next) = ways.swap_remove(way);
            told.push(self.tell(state, act, next.now()));
            states.push(next);
        }
        Some((told, states))
    }

    /// Tells a step from a state.
    fn tell(&self, state: &State<W>, act: Act, at: Instant) -> Told {
        let mut told = Told { act, at, text: String::new(), sleeps: false, keeps_lock: false };
        match act {
            Act::Jump => {}
            Act::Spurious { .. } => told.text.push_str("wakes for no reason"),
            Act::Step { caller, .. } => {
                let caller = usize::from(caller);
                let op = self.pending(state, caller).expect("it has just made a call");
                self.step(&mut state.clone(), caller, |outcome| {
                    told.text = self.subject.describe(&op, outcome);
                    told.sleeps = matches!(outcome, Step::Wait { .. });
                    told.keeps_lock = matches!(outcome, Step::Held(_));
                });
            }
        }
        told
    }
}
