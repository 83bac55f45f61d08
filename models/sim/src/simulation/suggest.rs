//! The default plan: which faults to try, from what the reference did.

use std::collections::{BTreeMap, BTreeSet};

use super::network::is_undone;
use super::plan::{Fault, Plan};
use super::run::Run;
use super::trace::{Asked, What};
use crate::apiserver::Random;

/// How late the garbage collector is, and how long a webhook is down, in seconds: the user's next step comes before.
const LATE: u32 = 60;
/// How many pairs of crashes, and calls of a webhook, are tried at most.
const PAIRS: usize = 100;

/// The faults that a plan can be made of.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    crashes: Vec<Fault>,
    stale: Vec<Fault>,
    unobserved: Vec<Fault>,
    uncollected: Vec<Fault>,
    down: Vec<Fault>,
    /// Refused writes, lost answers, watches that are cut or silent: only by chance.
    others: Vec<Fault>,
    /// Crashes of two processes.
    pairs: Vec<Plan>,
}

impl Choices {
    /// The faults that can strike in a run without faults so far.
    pub(crate) fn of(reference: &Run) -> Self {
        Self::lasting(reference, LATE)
    }

    /// The same, with webhooks that are down for this number of seconds.
    pub(crate) fn lasting(reference: &Run, down: u32) -> Self {
        let mut choices = Self::default();
        for (process, request) in asked(reference).filter(|it| it.1.write > 0) {
            let write = request.write;
            if request.has_changed {
                choices.crashes.push(Fault::Crash { write }.of(process));
            }
            let status = if request.method == "PUT" { 409 } else { 500 };
            choices.others.push(Fault::Lost { write }.of(process));
            choices.others.push(Fault::Refused { write, status }.of(process));
        }
        choices.stale = stale(reference);
        choices.unobserved = unobserved(reference);
        let late = |change: &u32| Fault::Uncollected { change: *change, seconds: LATE };
        choices.uncollected = reference.garbage.iter().map(late).collect();
        // Where a request may do without a webhook, what the webhook would have done stays undone.
        let failing = reference.calls.iter().filter(|it| !reference.ignored.contains(it.0));
        for (webhook, &calls) in failing {
            let every = (calls as usize).div_ceil(PAIRS).max(1);
            for call in (1..=calls).step_by(every) {
                let webhook = || webhook.clone();
                let slow = |seconds| Fault::WebhookSlow { webhook: webhook(), call, seconds };
                choices.down.push(Fault::WebhookDown { webhook: webhook(), call, seconds: down });
                choices.others.extend([slow(5), slow(45)]);
            }
        }
        let watched = watched(reference);
        for (change, written) in (1..).zip(&reference.changes) {
            for (process, _) in watched.iter().filter(|it| *it.1 == *written.resource) {
                let resource = written.resource.to_string();
                let silent = Fault::Silent { resource: resource.clone(), change, seconds: 20 };
                choices.others.push(Fault::Cut { resource, change }.of(process));
                choices.others.push(silent.of(process));
            }
        }
        choices.pairs = choices.pairs();
        choices
    }

    /// Two processes that die, each after a write of its own: the pairs of writes, or some of them.
    fn pairs(&self) -> Vec<Plan> {
        let mut pairs = Vec::new();
        for (index, one) in self.crashes.iter().enumerate() {
            let others =
                self.crashes[index + 1..].iter().filter(|it| it.parts().0 != one.parts().0);
            pairs.extend(others.map(|other| Plan { faults: vec![one.clone(), other.clone()] }));
        }
        let every = pairs.len().div_ceil(PAIRS).max(1);
        pairs.into_iter().step_by(every).collect()
    }

    /// Each fault alone, every one of them; then pairs of two processes; then some together by chance.
    pub(crate) fn plans(&self, random: u64, seed: u64) -> impl Iterator<Item = Plan> + '_ {
        let alone = self.tried_alone().into_iter().flatten().cloned().map(Plan::of);
        let alone = alone.chain(self.pairs.iter().cloned());
        alone.chain((0..random).map(move |number| self.by_chance(seed.wrapping_add(number))))
    }

    /// How many plans are not by chance.
    pub(crate) fn alone(&self) -> u64 {
        let alone: usize = self.tried_alone().into_iter().map(Vec::len).sum();
        (alone + self.pairs.len()) as u64
    }

    fn tried_alone(&self) -> [&Vec<Fault>; 5] {
        [&self.crashes, &self.stale, &self.unobserved, &self.uncollected, &self.down]
    }

    /// A plan of one to three faults on a network of changing speed.
    fn by_chance(&self, seed: u64) -> Plan {
        let mut chance = Random::new(seed);
        let kinds = self.tried_alone().into_iter().chain([&self.others]);
        let kinds: Vec<_> = kinds.filter(|it| !it.is_empty()).collect();
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
}

/// The requests of a run, each with the name of its process.
fn asked(run: &Run) -> impl Iterator<Item = (&str, &Asked)> {
    run.trace.iter().filter_map(|entry| match &entry.what {
        What::Asked { request } => Some((&*entry.process, request)),
        _ => None,
    })
}

/// What each process watches.
fn watched(run: &Run) -> BTreeSet<(&str, &str)> {
    let watches = asked(run).filter(|(_, it)| it.is_watch);
    watches.map(|(process, it)| (process, it.resource.as_str())).collect()
}

/// A restart after each step, the last ones first, with each older view of what is listed. A list
/// that wants the newest version gets it from every replica: there only the watch may lag.
fn stale(run: &Run) -> Vec<Fault> {
    let mut lists: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for (process, request) in
        asked(run).filter(|(_, it)| it.is_list() && (!it.is_watch || it.takes_any))
    {
        *lists.entry((process, &request.resource)).or_default() |= request.takes_any;
    }
    let mut faults = Vec::new();
    for (step, seen) in steps(run).into_iter().enumerate().rev() {
        for (&(process, resource), &takes_any) in &lists {
            let mut fault = |change: usize| {
                let (step, change) = (step as u32, change as u32);
                let stale = Fault::Stale { resource: resource.to_owned(), change, step };
                faults.push(stale.of(process));
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
        let is_undone_later = later.any(|it| {
            it.resource == change.resource && it.key == change.key && is_undone(before, it)
        });
        for (process, resource) in watched.iter().filter(|it| *it.1 == *change.resource) {
            if is_undone_later {
                let (resource, change) = ((*resource).to_owned(), index as u32 + 1);
                faults.push(Fault::Unobserved { resource, change }.of(process));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_tried_alone_however_many_there_are() {
        let crash = |write| Fault::Crash { write };
        let gone = |change| Fault::Unobserved { resource: "pods".to_owned(), change };
        let stale = |step| Fault::Stale { resource: "pods".to_owned(), change: 1, step };
        let choices = Choices {
            crashes: (1..=1_000).map(crash).collect(),
            stale: (0..2_000).map(stale).collect(),
            unobserved: (1..=700).map(gone).collect(),
            others: vec![Fault::Lost { write: 1 }],
            ..Choices::default()
        };
        let plans: Vec<_> = choices.plans(25, 7).collect();
        assert_eq!((choices.alone(), plans.len()), (3_700, 3_725));
        let alone = (1..=1_000).map(crash).chain((0..2_000).map(stale)).chain((1..=700).map(gone));
        for (plan, fault) in plans.iter().zip(alone) {
            assert_eq!(plan.faults, [fault]);
        }
        let seeds: BTreeSet<_> = plans[3_700..].iter().map(Plan::seed).collect();
        assert_eq!(seeds, (7..32).collect(), "each by a chance of its own");
    }
}
