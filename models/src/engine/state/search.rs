//! Breadth-first search.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use super::Model;
use super::liveness::Graph;

/// How far a search may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// States after which it gives up.
    pub states: usize,
    /// Whether to keep the graph of states, for liveness.
    pub keep_graph: bool,
    /// Whether to go on after something wrong was found.
    pub go_on: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: usize::MAX, keep_graph: false, go_on: false }
    }
}

/// A shortest way to something wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample<A> {
    /// What is wrong.
    pub because: String,
    /// The steps that lead there from the beginning.
    pub path: Vec<A>,
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
    /// The first thing that is wrong, by the shortest way.
    pub wrong: Option<Counterexample<M::Action>>,
    /// The states in which nothing can happen any more.
    pub ends: Vec<M::State>,
    /// The graph, if it was to be kept: states in the order of their discovery.
    pub graph: Graph,
}

/// The states discovered so far, and how.
struct Known<M: Model> {
    numbers: HashMap<M::Key, usize>,
    /// Of each state but the first: from which other one it was discovered, and by what.
    from: Vec<Option<(usize, M::Action)>>,
}

impl<M: Model> Known<M> {
    /// Returns the number of a state, and whether it is new.
    fn meet(&mut self, key: M::Key, from: Option<(usize, M::Action)>) -> (usize, bool) {
        let next = self.from.len();
        match self.numbers.entry(key) {
            Entry::Occupied(known) => (*known.get(), false),
            Entry::Vacant(place) => {
                place.insert(next);
                self.from.push(from);
                (next, true)
            }
        }
    }

    fn path_to(&self, mut state: usize) -> Vec<M::Action> {
        let mut path = Vec::new();
        while let Some((before, action)) = &self.from[state] {
            path.push(action.clone());
            state = *before;
        }
        path.reverse();
        path
    }
}

/// Visits every state of a model, nearest first.
pub fn search<M: Model>(model: &M, limits: Limits) -> Space<M> {
    let mut known: Known<M> = Known { numbers: HashMap::new(), from: Vec::new() };
    let mut space = Space {
        states: 0,
        steps: 0,
        exhausted: true,
        wrong: None,
        ends: Vec::new(),
        graph: Graph::default(),
    };
    let initial = model.initial();
    known.meet(model.key(&initial), None);
    let mut frontier = VecDeque::from([(0, initial)]);
    let mut next = Vec::new();
    while let Some((at, state)) = frontier.pop_front() {
        next.clear();
        model.steps(&state, &mut next);
        let is_end = next.is_empty();
        let wrong = model.wrong(&state).or_else(|| model.wrong_at_end(&state).filter(|_| is_end));
        if let (Some(because), None) = (wrong, &space.wrong) {
            space.wrong = Some(Counterexample { because, path: known.path_to(at) });
            if !limits.go_on {
                space.exhausted = false;
                break;
            }
        }
        if is_end {
            space.ends.push(state);
        }
        if known.from.len() > limits.states {
            space.exhausted = false;
            break;
        }
        for (actor, action, state) in next.drain(..) {
            space.steps += 1;
            let (to, is_new) = known.meet(model.key(&state), Some((at, action)));
            if limits.keep_graph {
                space.graph.add(at, actor, to);
            }
            if is_new {
                frontier.push_back((to, state));
            }
        }
    }
    space.states = known.from.len();
    space
}
