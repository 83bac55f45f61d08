//! The default plan: which faults to try, from what the reference did.

use std::collections::{BTreeMap, BTreeSet};

use super::network::is_undone;
use super::plan::{Fault, Plan};
use super::run::Run;
use super::trace::{Asked, What};
use crate::apiserver::Random;

/// The most plans of one kind.
const MOST: usize = 200;

/// What a plan can be made of.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    crashes: Vec<Fault>,
    stale: Vec<Fault>,
    unobserved: Vec<Fault>,
    /// Refused writes, lost answers, watches that are cut or silent: only by chance.
    others: Vec<Fault>,
}

impl Choices {
    /// What there is to go wrong in a run without faults.
    pub(crate) fn of(reference: &Run) -> Self {
        let mut choices = Self::default();
        for request in asked(reference).filter(|it| it.write > 0) {
            let write = request.write;
            if request.has_changed {
                choices.crashes.push(Fault::Crash { write });
            }
            let status = if request.method == "PUT" { 409 } else { 500 };
            choices.others.push(Fault::Lost { write });
            choices.others.push(Fault::Refused { write, status });
        }
        choices.stale = stale(reference);
        choices.unobserved = unobserved(reference);
        let watched = watched(reference);
        for (number, change) in (1..).zip(&reference.changes) {
            let resource = change.resource.to_string();
            if watched.contains(resource.as_str()) {
                choices.others.push(Fault::Cut { resource: resource.clone(), change: number });
                choices.others.push(Fault::Silent { resource, change: number, seconds: 20 });
            }
        }
        choices
    }

    /// Each fault alone, then some together by chance.
    pub(crate) fn plans(&self, random: u32, seed: u64) -> Vec<Plan> {
        let alone = [&self.crashes, &self.stale, &self.unobserved];
        let alone = alone.iter().flat_map(|faults| faults.iter().take(MOST));
        let mut plans: Vec<_> = alone.cloned().map(Plan::of).collect();
        for number in 0..u64::from(random) {
            plans.push(self.by_chance(seed.wrapping_add(number)));
        }
        plans
    }

    /// A plan of one to three faults on a network of changing speed.
    fn by_chance(&self, seed: u64) -> Plan {
        let mut chance = Random::new(seed);
        let kinds = [&self.crashes, &self.stale, &self.unobserved, &self.others];
        let kinds: Vec<_> = kinds.into_iter().filter(|it| !it.is_empty()).collect();
        let mut faults = vec![Fault::Jitter { seed }];
        for _ in 0..1 + chance.below(3) {
            let Some(kind) = kinds.get(chance.below(kinds.len() as u64) as usize) else { break };
            let fault = &kind[chance.below(kind.len() as u64) as usize];
            if !faults.contains(fault) {
                faults.push(fault.clone());
            }
        }
        Plan { faults }
    }

    /// How many faults there are of each kind that is tried alone.
    pub(crate) fn counts(&self) -> [usize; 3] {
        [&self.crashes, &self.stale, &self.unobserved].map(|it| it.len().min(MOST))
    }
}

fn asked(run: &Run) -> impl Iterator<Item = &Asked> {
    run.trace.iter().filter_map(|entry| match &entry.what {
        What::Asked { request } => Some(request),
        _ => None,
    })
}

fn watched(run: &Run) -> BTreeSet<&str> {
    asked(run).filter(|it| it.is_watch).map(|it| it.resource.as_str()).collect()
}

/// A restart after each step, the last ones first, with each older view of what is listed. A list
/// that wants the newest version gets it from every replica: there only the watch may lag.
fn stale(run: &Run) -> Vec<Fault> {
    let mut lists: BTreeMap<&str, bool> = BTreeMap::new();
    for request in asked(run).filter(|it| it.is_list() && (!it.is_watch || it.takes_any)) {
        *lists.entry(&request.resource).or_default() |= request.takes_any;
    }
    let mut faults = Vec::new();
    for (step, seen) in steps(run).into_iter().enumerate().rev() {
        for (&resource, &takes_any) in &lists {
            let mut fault = |change: usize| {
                let (step, change) = (step as u32, change as u32);
                faults.push(Fault::Stale { resource: resource.to_owned(), change, step });
            };
            if takes_any {
                let of = (1..=seen).rev().filter(|it| *run.changes[it - 1].resource == *resource);
                of.for_each(&mut fault);
            } else {
                fault(seen + 1);
            }
        }
    }
    faults
}

/// The number of changes after each number of steps.
fn steps(run: &Run) -> Vec<usize> {
    let (mut steps, mut changes) = (Vec::new(), 0);
    for entry in &run.trace {
        match entry.what {
            What::Step { .. } => steps.push(changes),
            What::Changed { .. } => changes += 1,
            _ => {}
        }
    }
    steps.push(changes);
    steps
}

/// Each change of what is watched that is undone later.
fn unobserved(run: &Run) -> Vec<Fault> {
    let watched = watched(run);
    let mut faults = Vec::new();
    for (index, change) in run.changes.iter().enumerate() {
        let before = change.old.as_deref();
        let mut later = run.changes[index + 1..].iter();
        let is_undone_later = watched.contains(&*change.resource)
            && later.any(|it| {
                it.resource == change.resource && it.key == change.key && is_undone(before, it)
            });
        if is_undone_later {
            let resource = change.resource.to_string();
            faults.push(Fault::Unobserved { resource, change: index as u32 + 1 });
        }
    }
    faults
}
