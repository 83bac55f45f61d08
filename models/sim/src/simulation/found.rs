//! The failures of a campaign, each kind once.

use std::collections::BTreeSet;

use super::campaign::Campaign;
use super::check::{Failure, Other};
use super::plan::Plan;

/// How many plans are told of a failure.
const PLANS: usize = 3;
/// How many distinct failures are looked for.
const KINDS: usize = 8;
/// A campaign ends when the runs of failing plans have had this number of events: hot loops are long.
const EVENTS: usize = 500_000;

/// The broken promises and the objects that they are about: what distinguishes a failure.
type Kind = BTreeSet<(&'static str, String)>;

fn kind(failure: &Failure) -> Kind {
    let rules = failure.violations.iter();
    let objects = rules.flat_map(|it| match it.objects.is_empty() {
        true => vec![(it.rule, String::new())],
        false => it.objects.iter().map(|object| (it.rule, object.clone())).collect(),
    });
    objects.collect()
}

/// The failures so far.
#[derive(Debug, Default)]
pub(crate) struct Found {
    all: Vec<(Kind, Failure)>,
    inadmissible: Option<Failure>,
    /// How many plans fail.
    pub(crate) failing: u64,
    events: usize,
}

impl Found {
    /// Enough is known.
    pub(crate) fn is_enough(&self) -> bool {
        self.all.len() >= KINDS || self.events > EVENTS
    }

    /// Takes in a plan that fails, made small if it fails in a new way.
    pub(crate) fn add(&mut self, campaign: &Campaign, failure: Failure) {
        self.failing += 1;
        self.events += failure.events.len();
        if self.is_known(&failure) {
            return;
        }
        let failure = *campaign.smallest(Box::new(failure));
        if failure.inadmissible.is_some() {
            self.inadmissible.get_or_insert(failure);
        } else if !self.is_known(&failure) {
            self.all.push((kind(&failure), failure));
        }
    }

    /// Takes note of the plan if it fails as another one did.
    fn is_known(&mut self, failure: &Failure) -> bool {
        if failure.inadmissible.is_some() {
            return false;
        }
        let kind = kind(failure);
        let Some((_, known)) = self.all.iter_mut().find(|it| it.0 == kind) else { return false };
        let is_new = |plan: &Plan| *plan != known.plan && !known.also.contains(plan);
        if known.also.len() + 1 < PLANS && is_new(&failure.plan) {
            known.also.push(failure.plan.clone());
        }
        true
    }

    /// The first failure, with the others; none if every plan held. One that proves nothing comes last.
    pub(crate) fn failure(self, untried: u64) -> Option<Box<Failure>> {
        let violated = self.all.into_iter().map(|(_, failure)| failure);
        let mut all = violated.chain(self.inadmissible);
        let first = all.next()?;
        let other = |it: Failure| Other {
            plans: std::iter::once(it.plan).chain(it.also).collect(),
            violations: it.violations,
            inadmissible: it.inadmissible,
        };
        Some(Box::new(Failure { others: all.map(other).collect(), untried, ..first }))
    }
}
