//! Liveness: is there a way to go on for ever without getting there, although nobody who can move
//! all the time is kept from moving for ever?
//!
//! Such a way ends in a cycle of states that are not *there* yet. All its states lie in one
//! strongly connected part of the graph without those that are there; and if such a part has a fair
//! cycle, then the cycle through all its states and steps is one. A cycle is fair if every actor either
//! takes a step in it or cannot move in one of its states. So looking at each part once is exact:
//! where paths meet nothing is forgotten, and a cycle is found from wherever it is entered.

/// States by number, and the steps between them.
#[derive(Clone, Default, Debug)]
pub struct Graph {
    /// Of each state: who can go where.
    steps: Vec<Vec<(usize, usize)>>,
}

impl Graph {
    /// Adds a step of an actor.
    pub fn add(&mut self, from: usize, actor: usize, to: usize) {
        let states = from.max(to) + 1;
        if self.steps.len() < states {
            self.steps.resize_with(states, Vec::new);
        }
        self.steps[from].push((actor, to));
    }

    /// Returns the strongly connected parts of the states that are wanted (Tarjan, without
    /// recursion).
    fn parts(&self, wanted: &dyn Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let mut tarjan = Tarjan { index: vec![None; self.steps.len()], ..Tarjan::default() };
        tarjan.low.resize(self.steps.len(), 0);
        tarjan.is_open.resize(self.steps.len(), false);
        for root in 0..self.steps.len() {
            if wanted(root) && tarjan.index[root].is_none() {
                tarjan.visit(root, &self.steps, wanted);
            }
        }
        tarjan.parts
    }
}

#[derive(Default)]
struct Tarjan {
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    visited: usize,
    parts: Vec<Vec<usize>>,
}

impl Tarjan {
    fn enter(&mut self, state: usize) {
        self.index[state] = Some(self.visited);
        self.low[state] = self.visited;
        self.visited += 1;
        self.open.push(state);
        self.is_open[state] = true;
    }

    fn visit(
        &mut self,
        root: usize,
        steps: &[Vec<(usize, usize)>],
        wanted: &dyn Fn(usize) -> bool,
    ) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((state, next)) = path.last_mut() {
            let state = *state;
            let Some(&(_, to)) = steps[state].get(*next) else {
                path.pop();
                self.close(state);
                if let Some(&(before, _)) = path.last() {
                    self.low[before] = self.low[before].min(self.low[state]);
                }
                continue;
            };
            *next += 1;
            if !wanted(to) {
                continue;
            }
            match self.index[to] {
                None => {
                    self.enter(to);
                    path.push((to, 0));
                }
                Some(index) if self.is_open[to] => self.low[state] = self.low[state].min(index),
                Some(_) => {}
            }
        }
    }

    /// Ends a state; if it is the first of its part, the part is complete.
    fn close(&mut self, state: usize) {
        if Some(self.low[state]) != self.index[state] {
            return;
        }
        let first = self.open.iter().rposition(|&open| open == state).expect("it is open");
        let part = self.open.split_off(first);
        part.iter().for_each(|&state| self.is_open[state] = false);
        self.parts.push(part);
    }
}

/// Finds states in which `actors` actors can go round for ever, fairly, without ever being `there`.
pub fn fair_cycle(
    graph: &Graph,
    actors: usize,
    there: &dyn Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let parts = graph.parts(&|state| !there(state));
    parts.into_iter().find(|part| {
        let is_inside = |state: usize| part.contains(&state);
        let has_cycle =
            part.iter().any(|&from| graph.steps[from].iter().any(|&(_, to)| is_inside(to)));
        has_cycle && (0..actors).all(|actor| is_treated_fairly(graph, part, actor))
    })
}

/// Tells whether an actor takes a step within the part, or cannot move somewhere in it.
fn is_treated_fairly(graph: &Graph, part: &[usize], actor: usize) -> bool {
    part.iter().any(|&state| {
        let mut own = graph.steps[state].iter().filter(|(mover, _)| *mover == actor).peekable();
        own.peek().is_none() || own.any(|(_, to)| part.contains(to))
    })
}
