//! Breadth-first search.

use std::collections::VecDeque;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::liveness::Graph;
use super::numbered::{Numbered, Row};
use super::{Bytes, Model, Steps, Wrong};
use crate::engine::NEVER_PANICS;
use crate::engine::{panic_text, quietly};
use crate::interrupt;

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
    /// The broken invariant.
    pub wrong: Wrong,
    /// The steps that lead there from the beginning.
    pub path: Vec<A>,
    /// How many states were known when it was found.
    pub states: usize,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Space<M: Model> {
    /// Distinct states.
    pub states: usize,
    /// Steps between them.
    pub steps: usize,
    /// Whether all states were visited.
    pub exhausted: bool,
    /// The broken invariants, each with the shortest way to it; the nearest first.
    pub wrong: Vec<Counterexample<M::Action>>,
    /// Whether a state was visited that the model is meant to reach.
    pub reached: bool,
    /// The states in which nothing can happen any more.
    pub ends: Vec<M::State>,
    /// The graph, if it was to be kept: states in the order of their discovery.
    pub graph: Graph,
    /// For each state but the first: the state from which it was discovered, and by which action.
    from: Vec<(u32, Option<M::Action>)>,
}

impl<M: Model> Space<M> {
    fn new() -> Self {
        Self {
            states: 0,
            steps: 0,
            exhausted: false,
            wrong: Vec::new(),
            reached: false,
            ends: Vec::new(),
            graph: Graph::default(),
            from: vec![(0, None)],
        }
    }

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

/// How many states are expanded before what they lead to is looked up: the memory answers many
/// questions in the time of one, if they are put at once.
const GROUP: usize = 4;

/// Visits every state of a model, nearest first.
pub fn search<M: Model>(model: &M, limits: Limits) -> Space<M> {
    quietly(|| Search::new(model, limits).run())
}

/// A search under way.
struct Search<'m, M: Model> {
    model: &'m M,
    limits: Limits,
    space: Space<M>,
    known: Numbered,
    /// The states that are known and not visited.
    frontier: VecDeque<Box<M::State>>,
    /// States that were expanded.
    group: Vec<Expanded<M>>,
    /// The steps from these states.
    steps: Steps<M>,
    /// The states that the steps lead to, in the form in which they are looked up.
    row: Row,
    /// How many states were visited.
    visited: usize,
}

/// A state, how many steps lead on from it, and what is wrong with it.
struct Expanded<M: Model> {
    state: Box<M::State>,
    steps: usize,
    wrong: Option<Wrong>,
}

impl<'m, M: Model> Search<'m, M> {
    fn new(model: &'m M, limits: Limits) -> Self {
        let (initial, mut known, mut row) = (model.initial(), Numbered::new(), Row::default());
        row.push(|bytes| model.view(&initial, bytes));
        known.meet(&row, 0);
        Self {
            model,
            limits,
            space: Space::new(),
            known,
            frontier: VecDeque::from([Box::new(initial)]),
            group: Vec::new(),
            steps: Steps::new(),
            row,
            visited: 0,
        }
    }

    fn run(mut self) -> Space<M> {
        self.space.exhausted = loop {
            self.expand();
            if self.group.is_empty() {
                break true;
            }
            if self.visit().is_break() {
                break false;
            }
        };
        self.space.states = self.known.len();
        self.space
    }

    /// Finds the steps from the next states.
    fn expand(&mut self) {
        for state in self.frontier.drain(..GROUP.min(self.frontier.len())) {
            let wrong = expand(self.model, &state, &mut self.steps);
            self.group.push(Expanded { state, steps: self.steps.len(), wrong });
        }
        self.row.clear();
        for (_, _, state) in &self.steps.taken {
            self.row.push(|bytes| self.model.view(state, bytes));
        }
        // Here the memory is asked for all that is wanted next.
        let touched = self.frontier.iter().take(GROUP).map(|state| self.model.touch(state));
        black_box(touched.fold(0, usize::wrapping_add));
        self.known.look_ahead(&mut self.row);
    }

    /// Visits the states that were expanded, one after the other.
    fn visit(&mut self) -> ControlFlow<()> {
        let Self { model, limits, space, known, frontier, group, steps, row, visited } = self;
        let mut taken = steps.taken.drain(..).enumerate();
        for Expanded { state, steps: count, wrong } in group.drain(..) {
            let at = *visited;
            space.reached = space.reached || model.reaches(&state);
            let goes_on = space.note(at, wrong, limits) && space.from.len() <= limits.states;
            if !goes_on || at.is_multiple_of(PATIENCE) && is_over(limits) {
                return ControlFlow::Break(());
            }
            if count == 0 {
                space.ends.push(*state);
            } else {
                steps.spare.push(state);
            }
            for (nth, (actor, action, state)) in taken.by_ref().take(count) {
                space.steps += 1;
                let (to, is_new) = known.meet(row, nth);
                if limits.keep_graph {
                    space.graph.add(at, actor, to);
                }
                if is_new {
                    space.from.push((at as u32, Some(action)));
                    frontier.push_back(state);
                } else {
                    steps.spare.push(state);
                }
            }
            *visited += 1;
        }
        ControlFlow::Continue(())
    }
}

/// Finds the steps from a state and what is wrong with it. If something panics, no step leads on.
fn expand<M: Model>(model: &M, state: &M::State, into: &mut Steps<M>) -> Option<Wrong> {
    into.begin();
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
