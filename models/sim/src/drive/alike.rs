//! Plans that fail in the same way, of which one leads a finding: the same one in each campaign, whichever
//! failed first.

use super::report::{Finding, Kind};
use crate::simulation::{Plan, Violation};

/// How many more plans are told of a failure.
const ALSO: usize = 2;

/// A failure.
#[derive(Debug)]
pub(super) struct Alike {
    /// What distinguishes it.
    pub(super) kind: Kind,
    /// The plan that failed first, with its number; none while it is seen again.
    pub(super) sure: Option<(u64, Finding)>,
    /// Those that failed like it: a few, those that lead first.
    others: Vec<(u64, Finding)>,
}

impl Alike {
    pub(super) fn new(kind: Kind, sure: Option<(u64, Finding)>) -> Self {
        Self { kind, sure, others: Vec::new() }
    }

    /// Enters a plan that fails in this way.
    pub(super) fn add(&mut self, number: u64, finding: Finding) {
        self.others.push((number, finding));
        self.others.sort_by_key(rank);
        self.others.truncate(ALSO + 1);
    }

    /// The plans that would lead it in the place of the first one, if their failures are sure.
    pub(super) fn better(&self) -> impl Iterator<Item = &(u64, Finding)> {
        let sure = self.sure.as_ref().map(rank);
        self.others.iter().take_while(move |it| Some(rank(it)) < sure)
    }

    /// More plans that fail so than those two.
    pub(super) fn also(&self, leads: u64, smallest: &Plan) -> Vec<Plan> {
        let mut all: Vec<_> = self.others.iter().chain(&self.sure).collect();
        all.sort_by_key(|it| rank(it));
        let others = all.into_iter().filter(|it| it.0 != leads && it.1.plan != *smallest);
        others.map(|it| it.1.plan.clone()).take(ALSO).collect()
    }
}

/// Few faults lead, and then a low number.
fn rank((number, finding): &(u64, Finding)) -> (usize, u64) {
    (finding.plan.faults.len(), *number)
}

/// What distinguishes a failure.
pub(super) fn kind(violations: &[Violation]) -> Kind {
    let of = |it: &Violation| match it.objects.is_empty() {
        true => vec![(it.rule, String::new())],
        false => it.objects.iter().map(|object| (it.rule, object.clone())).collect(),
    };
    violations.iter().flat_map(of).collect()
}
