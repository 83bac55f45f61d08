//! The search for an order, by Wing and Gong, with Lowe's memory of what was tried.
//!
//! Beginnings and ends stand in a list, in the order of time. A call that may come next begins before the first end
//! in it; it is taken out of the list together with its end. If none fits, the last one is put back. What follows
//! depends only on the calls that are left and on the state, so nothing is tried from the same two twice.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::{Call, NotLinearizable, Spec};

/// After this many steps, and a few for each call, the search gives up.
const STEPS: usize = 1_000_000;
/// How much of a long order is shown.
const SHOWN: usize = 10;
/// The node before the first one.
const HEAD: usize = 0;

/// Where a search ended that found no order.
pub(super) struct Stuck<'a, S: Spec> {
    /// The longest order that was found, and the state after it.
    order: Vec<&'a Call<S>>,
    state: S,
    /// The calls of which one would have to be next: those that have ended.
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
    /// Digests of what was tried: states may be large.
    tried: HashSet<u128>,
    longest: (Vec<usize>, S),
}

/// A call that was taken out of the list.
struct Taken<S> {
    call: usize,
    latest: Option<usize>,
    /// The calls to be tried in its place.
    rest: Vec<usize>,
    /// The state before it, if there are such calls.
    before: Option<S>,
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
        let mut next = self.candidates();
        for _ in 0..STEPS + 20 * self.calls.len() {
            if self.left == 0 {
                return Ok(self.order.iter().map(|it| self.calls[it.call]).collect());
            }
            match next.pop() {
                Some(call) if self.take(call, &mut next) => next = self.candidates(),
                Some(_) => {}
                None => {
                    self.note_longest();
                    next = self.put_back().ok_or_else(|| self.stuck(true))?;
                }
            }
        }
        self.note_longest();
        Err(self.stuck(false))
    }

    /// Returns the calls that may come next, the first one last: they begin before the first end. Those that change
    /// nothing come first, since most of them only read.
    fn candidates(&self) -> Vec<usize> {
        let mut next: Vec<_> = self.list.first().collect();
        next.reverse();
        if next.len() > 1 {
            let changes = |it: &usize| self.after(*it).is_none_or(|state| state != self.state);
            next.sort_by_cached_key(|call| !changes(call));
        }
        next
    }

    /// Returns the state after a call, if it fits.
    fn after(&self, call: usize) -> Option<S> {
        let mut state = self.state.clone();
        self.calls[call].fits(&mut state).then_some(state)
    }

    /// Takes a call next, in the place of which the rest may be tried later; tells whether it fits and leads to what
    /// was not tried yet.
    fn take(&mut self, call: usize, rest: &mut Vec<usize>) -> bool {
        let Some(state) = self.after(call) else { return false };
        let latest = self.latest.max(Some(call));
        self.list.take(call);
        if !self.tried.insert(digest(&(latest, self.list.beginnings(latest), &state))) {
            self.list.put_back(call);
            return false;
        }
        let before = std::mem::replace(&mut self.state, state);
        let before = (!rest.is_empty()).then_some(before);
        self.order.push(Taken { call, latest: self.latest, rest: std::mem::take(rest), before });
        self.latest = latest;
        self.left -= usize::from(self.calls[call].ended.is_some());
        true
    }

    /// Puts the last call back, and returns those to be tried in its place. The state is right if there are any.
    fn put_back(&mut self) -> Option<Vec<usize>> {
        let Taken { call, latest, rest, before } = self.order.pop()?;
        self.latest = latest;
        if let Some(before) = before {
            self.state = before;
        }
        self.left += usize::from(self.calls[call].ended.is_some());
        self.list.put_back(call);
        Some(rest)
    }

    fn note_longest(&mut self) {
        if self.order.len() > self.longest.0.len() {
            let order = self.order.iter().map(|it| it.call).collect();
            self.longest = (order, self.state.clone());
        }
    }

    fn stuck(&mut self, is_all: bool) -> Stuck<'a, S> {
        while self.put_back().is_some() {}
        let (order, state) = self.longest.clone();
        order.iter().for_each(|call| self.list.take(*call));
        let named = |call| self.calls[call];
        let next = self.list.first().map(named).filter(|call| call.ended.is_some()).collect();
        Stuck { order: order.into_iter().map(named).collect(), state, next, is_all }
    }
}

/// 128 bits that are different for what is different.
fn digest(what: &impl Hash) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, what).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
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
            false => "undecided whether it is linearizable: no order was found in a million steps. Fewer calls at \
                      a time, or `Spec::part`, make the search shorter."
                .to_owned(),
        };
        let mut line = |what: String| text = format!("{text}\n{what}");
        line(format!("The longest order that does has {} calls:", order.len()));
        let from = order.len().saturating_sub(SHOWN);
        if from > 0 {
            line(format!("  ... {from} calls"));
        }
        order[from..].iter().for_each(|call| line(format!("  {call:?}")));
        if is_all {
            line("Then one of these would have to come:".to_owned());
        }
        for call in next.iter().filter(|_| is_all) {
            let right = state.clone().apply(&call.call);
            let is_right = state.clone().accepts(&call.call, Some(&right));
            let place = match is_right && !call.fits(&mut state.clone()) {
                true => format!(", in place of {right:?}"),
                false => String::new(),
            };
            line(format!("  {call:?}{place}"));
        }
        NotLinearizable(text)
    }
}
