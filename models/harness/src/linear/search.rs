//! The search for an order, by Wing and Gong, with Lowe's memory of what was tried.
//!
//! Beginnings and ends stand in a list, in the order of time. A call that may come next begins before the first end
//! in it; it is taken out of the list together with its end. If none fits, the last one is put back. What follows
//! depends only on the calls that are left and on the state, so nothing is tried from the same two twice.
//! A call that fits and leaves the state as it is comes first, and nothing else is tried in its place.

use std::collections::HashSet;

use super::{Call, NotLinearizable, Spec};

/// After this many steps the search gives up.
const STEPS: u64 = 1_000_000;
/// How much of a long order is shown.
const SHOWN: usize = 10;
/// The node before the first one.
const HEAD: usize = 0;

/// Where a search ended that found no order.
pub(super) struct Stuck<'a, S: Spec> {
    /// The longest order that was found, and the state after it.
    order: Vec<&'a Call<S>>,
    state: S,
    /// The calls of which one would have to be next.
    next: Vec<&'a Call<S>>,
    /// Whether all was tried.
    is_all: bool,
}

struct Search<'a, S: Spec> {
    calls: Vec<&'a Call<S>>,
    list: List,
    state: S,
    order: Vec<Taken<S>>,
    /// Of the calls that were taken out, the one that began last.
    latest: Option<usize>,
    /// How many calls are left that have ended.
    left: usize,
    tried: HashSet<(Option<usize>, Vec<usize>, S)>,
    longest: (Vec<usize>, S),
}

/// A call that was taken out of the list.
struct Taken<S> {
    call: usize,
    /// Whether no other call need be tried in its place.
    is_alone: bool,
    /// The state and the latest call before it.
    before: S,
    latest: Option<usize>,
}

/// Beginnings and ends in the order of time; the node of each is its place, so it can come back there.
struct List {
    /// The call of a node, if it is a beginning.
    begins: Vec<Option<usize>>,
    before: Vec<usize>,
    after: Vec<usize>,
    /// The nodes of each call.
    nodes: Vec<(usize, Option<usize>)>,
}

/// Looks for an order that explains the answers.
pub(super) fn search<'a, S: Spec>(
    begins: &S,
    mut calls: Vec<&'a Call<S>>,
) -> Result<Vec<&'a Call<S>>, Stuck<'a, S>> {
    calls.sort_by_key(|call| call.began);
    let left = calls.iter().filter(|call| call.ended.is_some()).count();
    let mut search = Search {
        list: List::new(&calls),
        calls,
        state: begins.clone(),
        order: Vec::new(),
        latest: None,
        left,
        tried: HashSet::new(),
        longest: (Vec::new(), begins.clone()),
    };
    search.run()
}

impl<'a, S: Spec> Search<'a, S> {
    fn run(&mut self) -> Result<Vec<&'a Call<S>>, Stuck<'a, S>> {
        let (mut at, mut is_new) = (self.list.after[HEAD], true);
        for _ in 0..STEPS {
            if self.left == 0 {
                return Ok(self.order.iter().map(|it| self.calls[it.call]).collect());
            }
            let alone = if is_new { self.changes_nothing() } else { None };
            let next = alone.or(self.list.begins[at]);
            is_new = next.is_some_and(|call| self.take(call, alone.is_some()));
            if is_new {
                at = self.list.after[HEAD];
            } else if next.is_some() && alone.is_none() {
                at = self.list.after[at];
            } else {
                // A call has ended before all that are behind it begin, and does not fit.
                let Some(last) = self.go_back() else { return Err(self.stuck(true)) };
                at = self.list.after[self.list.nodes[last].0];
            }
        }
        Err(self.stuck(false))
    }

    /// Returns a call that fits and changes nothing: if any order leads on, one that begins with it does. (One that
    /// never ended may be needed later, where it changes something.)
    fn changes_nothing(&self) -> Option<usize> {
        let mut ended = self.list.first().filter(|call| self.calls[*call].ended.is_some());
        ended.find(|call| self.after(*call).is_some_and(|state| state == self.state))
    }

    /// Returns the state after a call, if it fits.
    fn after(&self, call: usize) -> Option<S> {
        let Call { call, ended, .. } = self.calls[call];
        let mut state = self.state.clone();
        state.accepts(call, ended.as_ref().map(|(_, answer)| answer)).then_some(state)
    }

    /// Puts calls back up to one in whose place another may come.
    fn go_back(&mut self) -> Option<usize> {
        loop {
            let Taken { call, is_alone, .. } = self.put_back()?;
            if !is_alone {
                return Some(call);
            }
        }
    }

    /// Takes a call next; tells whether it fits and leads to what was not tried yet.
    fn take(&mut self, call: usize, is_alone: bool) -> bool {
        let Some(state) = self.after(call) else { return false };
        let before = std::mem::replace(&mut self.state, state);
        self.order.push(Taken { call, is_alone, before, latest: self.latest });
        self.latest = self.latest.max(Some(call));
        self.left -= usize::from(self.calls[call].ended.is_some());
        self.list.take(call);
        let skipped = self.list.beginnings(self.latest);
        if !self.tried.insert((self.latest, skipped, self.state.clone())) {
            self.put_back();
            return false;
        }
        if self.order.len() > self.longest.0.len() {
            let order = self.order.iter().map(|it| it.call).collect();
            self.longest = (order, self.state.clone());
        }
        true
    }

    /// Puts the last call back.
    fn put_back(&mut self) -> Option<Taken<S>> {
        let mut last = self.order.pop()?;
        std::mem::swap(&mut self.state, &mut last.before);
        self.latest = last.latest;
        self.left += usize::from(self.calls[last.call].ended.is_some());
        self.list.put_back(last.call);
        Some(last)
    }

    fn stuck(&mut self, is_all: bool) -> Stuck<'a, S> {
        while self.put_back().is_some() {}
        let (order, state) = self.longest.clone();
        order.iter().for_each(|call| self.list.take(*call));
        let named = |call| self.calls[call];
        let next = self.list.first().map(named).collect();
        Stuck { order: order.into_iter().map(named).collect(), state, next, is_all }
    }
}

impl List {
    fn new<S: Spec>(calls: &[&Call<S>]) -> Self {
        let mut times = Vec::with_capacity(2 * calls.len());
        for (index, call) in calls.iter().enumerate() {
            times.push((call.began, index, true));
            times.extend(call.ended.iter().map(|(ended, _)| (*ended, index, false)));
        }
        times.sort_unstable();
        let mut nodes = vec![(HEAD, None); calls.len()];
        let mut begins = vec![None];
        for (node, (_, call, is_beginning)) in (1..).zip(times) {
            begins.push(is_beginning.then_some(call));
            match is_beginning {
                true => nodes[call].0 = node,
                false => nodes[call].1 = Some(node),
            }
        }
        begins.push(None); // behind the last one
        let before = (0..begins.len()).map(|node| node.saturating_sub(1)).collect();
        let after = (1..=begins.len()).collect();
        Self { begins, before, after, nodes }
    }

    fn take(&mut self, call: usize) {
        let (begins, ends) = self.nodes[call];
        for node in [Some(begins), ends].into_iter().flatten() {
            let (before, after) = (self.before[node], self.after[node]);
            (self.after[before], self.before[after]) = (after, before);
        }
    }

    /// Undoes the last take that was not undone.
    fn put_back(&mut self, call: usize) {
        let (begins, ends) = self.nodes[call];
        for node in [ends, Some(begins)].into_iter().flatten() {
            let (before, after) = (self.before[node], self.after[node]);
            (self.after[before], self.before[after]) = (node, node);
        }
    }

    /// Returns the calls in the list that began before this one.
    fn beginnings(&self, call: Option<usize>) -> Vec<usize> {
        let end = call.map_or(HEAD, |call| self.nodes[call].0);
        self.walk().take_while(|node| *node < end).filter_map(|node| self.begins[node]).collect()
    }

    /// Returns the calls that began before the first end.
    fn first(&self) -> impl Iterator<Item = usize> {
        self.walk().map_while(|node| self.begins[node])
    }

    fn walk(&self) -> impl Iterator<Item = usize> {
        let last = self.begins.len() - 1;
        std::iter::successors(Some(self.after[HEAD]), |node| Some(self.after[*node]))
            .take_while(move |node| *node != last)
    }
}

impl<S: Spec> Stuck<'_, S> {
    pub(super) fn told(self) -> NotLinearizable {
        let Self { order, state, next, is_all } = self;
        let mut text = match is_all {
            true => "not linearizable: no order of the calls explains their answers.".to_owned(),
            false => format!(
                "undecided whether it is linearizable: no order was found in {STEPS} steps. Fewer calls at a time, \
                 or `Spec::part`, make the search shorter."
            ),
        };
        let mut line = |what: String| text = format!("{text}\n{what}");
        line(format!("The longest order that does has {} calls:", order.len()));
        let from = order.len().saturating_sub(SHOWN);
        if from > 0 {
            line(format!("  ... {from} calls"));
        }
        order[from..].iter().for_each(|call| line(format!("  {call:?}")));
        line("Then one of these would have to come:".to_owned());
        for call in &next {
            let right = state.clone().apply(&call.call);
            let fits = call.ended.as_ref().is_none_or(|(_, answer)| *answer == right);
            let right = if fits { String::new() } else { format!(", in place of {right:?}") };
            line(format!("  {call:?}{right}"));
        }
        NotLinearizable(text)
    }
}
