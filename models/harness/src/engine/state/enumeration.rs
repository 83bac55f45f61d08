//! An enumeration that is independent of the search; the search is compared with it.

use std::collections::HashSet;

use super::{Bytes, Limits, Model, Steps, search, view};

/// Every path of a model, one by one, nothing forgotten and nothing remembered.
struct Enumeration {
    views: HashSet<Bytes>,
    ends: usize,
    /// The length of a shortest path to something wrong.
    wrong: Option<usize>,
}

fn enumerate<M: Model>(model: &M) -> Enumeration {
    let mut all = Enumeration { views: HashSet::new(), ends: 0, wrong: None };
    walk(model, &model.initial(), 0, &mut all);
    all
}

fn walk<M: Model>(model: &M, state: &M::State, length: usize, all: &mut Enumeration) {
    all.views.insert(view(model, state));
    let mut steps = Steps::new();
    model.steps(state, &mut steps);
    let steps = steps.into_vec();
    if model.wrong(state, steps.is_empty()).is_some() {
        all.wrong = Some(all.wrong.map_or(length, |shortest| shortest.min(length)));
    }
    all.ends += usize::from(steps.is_empty());
    steps.iter().for_each(|(_, _, next)| walk(model, next, length + 1, all));
}

/// Asserts that search and enumeration agree on a model; returns how many states it has.
///
/// # Panics
/// If they differ.
pub fn agrees_with_the_enumeration<M: Model>(model: &M) -> usize {
    let all = enumerate(model);
    let space = search(model, Limits { go_on: true, ..Limits::default() });
    assert!(space.exhausted);
    assert_eq!(space.states, all.views.len());
    assert_eq!(space.wrong.first().map(|found| found.path.len()), all.wrong);
    assert_eq!(space.ends.is_empty(), all.ends == 0);
    space.states
}
