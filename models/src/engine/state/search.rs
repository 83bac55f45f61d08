//! Breadth-first search.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::liveness::Graph;
use super::numbered::{Numbered, Row};
use super::{Bytes, Model, Steps, Wrong};
use crate::engine::{panic_text, quietly};
use crate::interrupt;
use crate::trial::NEVER_PANICS;

/// How far a search may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// States after which it gives up.
    pub states: usize,
    /// When it gives up.
    pub until: Option<Instant>,
    /// Whether to keep the graph of states, for liveness.
    pub keep_graph: bool,
    /// Whether to go on after something wrong was found: then the first breach of every invariant
    /// is found, else the first one of all.
    pub go_on: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: usize::MAX, until: None, keep_graph: false, go_on: false }
    }
}

/// A shortest way to something wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample<A> {
    /// What is wrong.
    pub wrong: Wrong,
    /// The steps that lead there from the beginning.
    pub path: Vec<A>,
    /// How many states were known when it was found.
    pub states: usize,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Space<M: Model> {
    /// Distinct states.
    pub states: usize,
    /// Steps between them.
    pub steps: usize,
    /// Whether all states were visited.
    pub exhausted: bool,
    /// What is wrong, by the shortest way: one for each invariant that is broken, the nearest first.
    pub wrong: Vec<Counterexample<M::Action>>,
    /// Whether a state was visited that the model is made to reach.
    pub reached: bool,
    /// The states in which nothing can happen any more.
    pub ends: Vec<M::State>,
    /// The graph, if it was to be kept: states in the order of their discovery.
    pub graph: Graph,
    /// Of each state but the first: from which other one it was discovered, and by what.
    from: Vec<(u32, Option<M::Action>)>,
}

impl<M: Model> Space<M> {
    /// Returns the steps by which a state was discovered.
    #[must_use]
    pub fn path_to(&self, mut state: usize) -> Vec<M::Action> {
        let mut path = Vec::new();
        while let (before, Some(action)) = &self.from[state] {
            path.push(action.clone());
            state = *before as usize;
        }
        path.reverse();
        path
    }

    /// Notes what is wrong with a state unless the same was wrong nearer; tells whether to go on.
    fn note(&mut self, at: usize, wrong: Option<Wrong>, limits: &Limits) -> bool {
        let Some(wrong) = wrong else { return true };
        if self.wrong.iter().all(|known| known.wrong.invariant != wrong.invariant) {
            let (path, states) = (self.path_to(at), self.from.len());
            self.wrong.push(Counterexample { wrong, path, states });
        }
        limits.go_on
    }
}

/// How many states are visited between two looks at the clock.
const PATIENCE: usize = 4_096;

/// Visits every state of a model, nearest first.
pub fn search<M: Model>(model: &M, limits: Limits) -> Space<M> {
    quietly(|| search_loudly(model, &limits))
}

fn search_loudly<M: Model>(model: &M, limits: &Limits) -> Space<M> {
    let mut known = Numbered::new();
    let mut space = Space {
        states: 0,
        steps: 0,
        exhausted: false,
        wrong: Vec::new(),
        reached: false,
        ends: Vec::new(),
        graph: Graph::default(),
        from: vec![(0, None)],
    };
    let initial = model.initial();
    let mut row = Row::default();
    row.push(|bytes| model.view(&initial, bytes));
    known.meet(&row, 0);
    let mut frontier = VecDeque::from([Box::new(initial)]);
    let mut next = Steps::new();
    let mut at = 0;
    space.exhausted = loop {
        let Some(state) = frontier.pop_front() else { break true };
        let wrong = expand(model, &state, &mut next);
        space.reached = space.reached || model.reaches(&state);
        if !space.note(at, wrong, limits) || space.from.len() > limits.states {
            break false;
        }
        if at.is_multiple_of(PATIENCE) && is_over(limits) {
            break false;
        }
        if next.is_empty() {
            space.ends.push(*state);
        } else {
            next.give_back(state);
        }
        row.clear();
        next.iter().for_each(|(_, _, state)| row.push(|bytes| model.view(state, bytes)));
        known.look_ahead(&mut row);
        let mut nth = 0..;
        next.settle(|actor, action, state| {
            space.steps += 1;
            let (to, is_new) = known.meet(&row, nth.next()?);
            if limits.keep_graph {
                space.graph.add(at, actor, to);
            }
            if !is_new {
                return Some(state);
            }
            space.from.push((at as u32, Some(action)));
            frontier.push_back(state);
            None
        });
        at += 1;
    };
    space.states = known.len();
    space
}

/// Finds the steps from a state and what is wrong with it. Where something panics, no step leads
/// on.
fn expand<M: Model>(
    model: &M,
    state: &M::State,
    into: &mut Steps<M>,
) -> Option<Wrong> {
    let looked = catch_unwind(AssertUnwindSafe(|| {
        model.steps(state, into);
        model.wrong(state, into.is_empty())
    }));
    looked.unwrap_or_else(|panic| {
        into.clear();
        Some(Wrong::new(NEVER_PANICS, panic_text(&*panic)))
    })
}

/// Says what is wrong with one state, which may not be the first.
pub fn wrong_in<M: Model>(model: &M, state: &M::State) -> Option<Wrong> {
    quietly(|| expand(model, state, &mut Steps::new()))
}

/// Returns the form in which a state is compared.
pub fn view<M: Model>(model: &M, state: &M::State) -> Bytes {
    let mut bytes = Bytes::default();
    model.view(state, &mut bytes);
    bytes
}

fn is_over(limits: &Limits) -> bool {
    limits.until.is_some_and(|until| Instant::now() >= until) || interrupt::asked()
}
