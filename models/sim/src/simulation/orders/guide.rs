//! Decides which of the deliveries that wait comes next, and takes note of it.
//!
//! The orders are the paths of a tree. With *sleep sets* (Godefroid, "Partial-order methods for the
//! verification of concurrent systems", 1996) the deliveries before the chosen one sleep below it until
//! something disturbs them, because an order that begins with them is found there. Then every order is at
//! the end of one path, up to deliveries that commute; the other paths end where all that wait sleep.

use std::collections::BTreeMap;

use super::touch::{Delivery, Id, Relation};
use crate::apiserver::Random;
use crate::simulation::plan::{Fault, Plan};

/// How often a delivery may be overtaken. Then it comes next, so that each arrives in the end.
const PATIENCE: u32 = 100;

/// A choice between deliveries.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// What of them may come next.
    pub(crate) awake: Vec<u32>,
    pub(crate) taken: u32,
    /// The deliveries, to see whether another run is the same so far.
    pub(crate) texts: Vec<String>,
}

/// What is chosen after the choices that are given.
#[derive(Clone, Debug)]
enum Tail {
    /// The first one: what waits longest.
    First,
    /// What this process waits for comes before what the next one waits for.
    Ranked(Vec<usize>),
    Chance(Random),
}

/// Chooses, in one run.
#[derive(Clone, Debug)]
pub(crate) struct Guide {
    /// The choices that are given and not made yet, by the number of the delivery; the first one where there is
    /// none.
    given: BTreeMap<u32, u32>,
    /// The number of the last of them.
    fixed: u32,
    tail: Tail,
    relation: Option<Relation>,
    asleep: Vec<Delivery>,
    overtaken: BTreeMap<Id, u32>,
    pub(crate) nodes: Vec<Node>,
    /// All that wait sleep: the order is found elsewhere.
    pub(crate) is_wasted: bool,
    /// A delivery had to come because it was overtaken too often: some orders are not tried.
    pub(crate) is_bounded: bool,
}

impl Guide {
    fn new(given: BTreeMap<u32, u32>, tail: Tail, relation: Option<Relation>) -> Self {
        let fixed = given.keys().last().copied().unwrap_or(0);
        let (asleep, overtaken, nodes) = (Vec::new(), BTreeMap::new(), Vec::new());
        let (is_wasted, is_bounded) = (false, false);
        Self { given, fixed, tail, relation, asleep, overtaken, nodes, is_wasted, is_bounded }
    }

    /// The order of a plan, if it has one.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        plan.faults.iter().find_map(|fault| match fault {
            Fault::Order { taken } => Some(Self::new(taken.clone(), Tail::First, None)),
            _ => None,
        })
    }

    /// This path of the tree, and the first one below it.
    pub(crate) fn path(path: &[u32], relation: Option<Relation>) -> Self {
        Self::new((1..).zip(path.iter().copied()).collect(), Tail::First, relation)
    }

    /// A path by chance.
    pub(crate) fn walk(seed: u64, relation: Option<Relation>) -> Self {
        Self::new(BTreeMap::new(), Tail::Chance(Random::new(seed)), relation)
    }

    /// One process after the other does all that it wants.
    pub(crate) fn ranked(processes: Vec<usize>) -> Self {
        Self::new(BTreeMap::new(), Tail::Ranked(processes), None)
    }

    /// The choices of a plan that were not made: there was no such delivery.
    pub(crate) fn unused(&self) -> BTreeMap<u32, u32> {
        self.given.clone()
    }

    /// The choices so far.
    pub(crate) fn taken(&self) -> Vec<u32> {
        self.nodes.iter().map(|it| it.taken).collect()
    }

    /// Whether the run ended before its time: it would have repeated another one.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_wasted && !matches!(self.tail, Tail::Chance(_))
    }

    /// The plan that makes the same choices.
    pub(crate) fn plan(&self) -> Plan {
        let taken = (1..).zip(self.taken()).filter(|it| it.1 > 0).collect();
        Plan::of(Fault::Order { taken })
    }

    /// One over the chance that a walk takes this path: on average the number of orders (Knuth,
    /// "Estimating the efficiency of backtrack programs", 1975). A path that ends asleep counts zero.
    pub(crate) fn stands_for(&self) -> f64 {
        let chance = self.nodes.iter().map(|it| it.awake.len().max(1) as f64);
        if self.is_wasted { 0.0 } else { chance.product() }
    }

    /// The path after this one; none if it is the last.
    pub(crate) fn next_path(&self) -> Option<Vec<u32>> {
        let next = |node: &Node| node.awake.iter().copied().find(|it| *it > node.taken);
        let depth = self.nodes.iter().rposition(|it| next(it).is_some())?;
        let mut path = self.taken();
        path.truncate(depth);
        path.extend(next(&self.nodes[depth]));
        Some(path)
    }

    /// Whether this run was the same as another one up to the last choice that was given.
    pub(crate) fn follows(&self, other: &Self) -> bool {
        let both = self.nodes.iter().zip(&other.nodes).take(self.fixed as usize);
        self.nodes.len() >= self.fixed as usize && both.into_iter().all(|(a, b)| a.texts == b.texts)
    }

    /// Chooses one of these; none if the run need not go on.
    pub(crate) fn choose(&mut self, all: &[Delivery]) -> Option<usize> {
        let is_late = |it: &Delivery| self.overtaken.get(&it.id).is_some_and(|it| *it >= PATIENCE);
        let is_any_late = all.iter().any(is_late);
        let offered = (0..all.len()).filter(|it| !is_any_late || is_late(&all[*it]));
        let offered: Vec<_> = offered.collect();
        self.is_bounded |= offered.len() < all.len();
        let is_awake = |it: &usize| self.asleep.iter().all(|asleep| asleep.id != all[*it].id);
        let mut awake: Vec<_> = offered.iter().copied().filter(is_awake).collect();
        let number = self.nodes.len() as u32 + 1;
        if awake.is_empty() {
            self.is_wasted = true;
            if !matches!(self.tail, Tail::Chance(_)) {
                return None;
            }
            // The run goes on as a plain one: it is a test all the same.
            self.asleep.clear();
            self.relation = None;
            awake = offered;
        }
        let wanted = self.given.get(&number).map(|it| *it as usize).filter(|it| *it < all.len());
        if wanted.is_some() {
            self.given.remove(&number);
        }
        let taken = match (&mut self.tail, wanted) {
            (_, Some(wanted)) => wanted,
            (Tail::Chance(chance), _) => awake[chance.below(awake.len() as u64) as usize],
            (Tail::Ranked(ranks), _) => {
                let rank = |it: &&usize| ranks.iter().position(|rank| *rank == all[**it].process);
                awake.iter().min_by_key(rank).copied()?
            }
            (Tail::First, _) => *awake.first()?,
        };
        self.descend(all, &awake, taken);
        Some(taken)
    }

    /// Takes note of a choice: what was possible before it sleeps, unless it is disturbed.
    fn descend(&mut self, all: &[Delivery], awake: &[usize], taken: usize) {
        if let Some(commute) = self.relation {
            let earlier = awake.iter().filter(|it| **it < taken).map(|it| all[*it].clone());
            self.asleep.extend(earlier);
            self.asleep.retain(|it| commute(it, &all[taken]));
        }
        self.overtaken.remove(&all[taken].id);
        all[..taken].iter().for_each(|it| *self.overtaken.entry(it.id).or_default() += 1);
        self.nodes.push(Node {
            awake: awake.iter().map(|it| *it as u32).collect(),
            taken: taken as u32,
            texts: all.iter().map(|it| format!("{} {}", it.process, it.text)).collect(),
        });
    }
}
