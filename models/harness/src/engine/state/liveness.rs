//! Liveness: is there a fair way to go on for ever without reaching the goal? A way is fair if no
//! actor that can always move is kept from moving for ever.
//!
//! Such a way ends in a cycle of states outside the goal. All its states lie in one strongly
//! connected part of the graph without the goal; and if such a part has a fair cycle, then the
//! cycle through all its states and steps is one. A cycle is fair if every actor either takes a
//! step in it or cannot move in one of its states. So it is exact to look at each part once: the
//! search forgets nothing where paths meet, and it finds a cycle whichever state it enters the
//! cycle by.

/// States by number, and the steps between them.
#[derive(Clone, Default, Debug)]
pub struct Graph {
    /// The index in `steps` at which the steps of each state begin.
    first: Vec<u32>,
    /// The steps: the actor, and the state that it leads to.
    steps: Vec<(u8, u32)>,
    /// The states that a step leads to or from lie below.
    states: usize,
}

impl Graph {
    /// Adds a step of an actor. Steps come in the order of the states that they begin in.
    ///
    /// # Panics
    /// If they do not.
    pub fn add(&mut self, from: usize, actor: usize, to: usize) {
        assert!(from + 1 >= self.first.len(), "steps come in the order of their states");
        let begin = u32::try_from(self.steps.len()).expect("steps are counted in 32 bits");
        while self.first.len() <= from {
            self.first.push(begin);
        }
        self.steps.push((u8::try_from(actor).expect("actors are few"), to as u32));
        self.states = self.states.max(from.max(to) + 1);
    }

    /// Returns who can go where from a state.
    pub fn from(&self, state: usize) -> impl Iterator<Item = (usize, usize)> {
        let begin = self.first.get(state).map_or(self.steps.len(), |&begin| begin as usize);
        let end = self.first.get(state + 1).map_or(self.steps.len(), |&end| end as usize);
        self.steps[begin..end].iter().map(|&(actor, to)| (usize::from(actor), to as usize))
    }

    fn nth(&self, state: usize, nth: usize) -> Option<usize> {
        self.from(state).nth(nth).map(|(_, to)| to)
    }

    /// Returns the strongly connected parts of the states that are wanted (Tarjan, without
    /// recursion).
    fn parts(&self, wanted: &dyn Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let mut tarjan = Tarjan { index: vec![None; self.states], ..Tarjan::default() };
        tarjan.low.resize(self.states, 0);
        tarjan.is_open.resize(self.states, false);
        for root in 0..self.states {
            if wanted(root) && tarjan.index[root].is_none() {
                tarjan.visit(root, self, wanted);
            }
        }
        tarjan.parts
    }

    /// Returns the states of a shortest way from a state of a part back to it, without the first.
    #[must_use]
    pub fn round(&self, part: &[usize], state: usize) -> Vec<usize> {
        let mut before = std::collections::HashMap::new();
        let mut frontier = std::collections::VecDeque::from([state]);
        while let Some(at) = frontier.pop_front() {
            for (_, to) in self.from(at).filter(|(_, to)| part.contains(to)) {
                if before.contains_key(&to) {
                    continue;
                }
                before.insert(to, at);
                if to != state {
                    frontier.push_back(to);
                    continue;
                }
                let mut round = vec![state];
                let mut back = at;
                while back != state {
                    round.push(back);
                    back = before[&back];
                }
                round.reverse();
                return round;
            }
        }
        Vec::new()
    }
}

#[derive(Default)]
struct Tarjan {
    index: Vec<Option<u32>>,
    low: Vec<u32>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    visited: u32,
    /// The parts that have a cycle.
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

    fn visit(&mut self, root: usize, graph: &Graph, wanted: &dyn Fn(usize) -> bool) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((state, next)) = path.last_mut() {
            let state = *state;
            let Some(to) = graph.nth(state, *next) else {
                path.pop();
                self.close(state, graph);
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

    /// Ends a state; if it is the first of its part, the part is complete. One state alone is a
    /// part with a cycle only if a step leads from it to itself.
    fn close(&mut self, state: usize, graph: &Graph) {
        if Some(self.low[state]) != self.index[state] {
            return;
        }
        let first = self.open.iter().rposition(|&open| open == state).expect("it is open");
        let part = self.open.split_off(first);
        part.iter().for_each(|&state| self.is_open[state] = false);
        if part.len() > 1 || graph.from(state).any(|(_, to)| to == state) {
            self.parts.push(part);
        }
    }
}

/// Finds states in which `actors` actors can go round for ever, fairly, without ever being `there`:
/// in ascending order.
pub fn fair_cycle(
    graph: &Graph,
    actors: usize,
    there: &dyn Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let parts = graph.parts(&|state| !there(state));
    parts.into_iter().find_map(|mut part| {
        part.sort_unstable();
        let is_fair = (0..actors).all(|actor| is_treated_fairly(graph, &part, actor));
        is_fair.then_some(part)
    })
}

/// Tells whether an actor takes a step within the part, or cannot move somewhere in it.
fn is_treated_fairly(graph: &Graph, part: &[usize], actor: usize) -> bool {
    part.iter().any(|&state| {
        let mut own = graph.from(state).filter(|(mover, _)| *mover == actor).peekable();
        own.peek().is_none() || own.any(|(_, to)| part.binary_search(&to).is_ok())
    })
}
