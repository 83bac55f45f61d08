//! The list of what is tried: explicit, so that nothing is forgotten in silence.

use crate::backoff::Backoff;
use crate::canary::Canary;
use crate::candidate::Candidate;
use crate::delaying_queue::DelayingQueue;
use crate::delta_fifo::DeltaFifo;
use crate::elector::Elector;
use crate::expiring_store::ExpiringStore;
use crate::fifo::Fifo;
use crate::heap::Heap;
use crate::indexed_store::IndexedStore;
use crate::limited_queue::LimitedQueue;
use crate::limiter::Limiter;
use crate::ordered_fifo::OrderedFifo;
use crate::pool::Pool;
use crate::priority_queue::PriorityQueue;
use crate::queue::Queue;
use crate::token_bucket::Bucket;
use crate::toy::{Toy, ToyBugs};
use crate::trial::{Subject, subject};

/// Components under trial. A crate of your own makes one for its own scenarios.
#[derive(Clone, Copy)]
pub struct Catalogue {
    /// The name of the program in messages: `seatrial` for this crate's own.
    pub program: &'static str,
    /// The components.
    pub subjects: &'static [&'static dyn Subject],
}

/// This crate's own components.
pub const CATALOGUE: Catalogue = Catalogue {
    program: "seatrial",
    subjects: &[
        subject::<Queue>(),
        subject::<DeltaFifo>(),
        subject::<DelayingQueue>(),
        subject::<Fifo>(),
        subject::<LimitedQueue>(),
        subject::<Pool>(),
        subject::<PriorityQueue>(),
        subject::<Limiter>(),
        subject::<Bucket>(),
        subject::<Backoff>(),
        subject::<OrderedFifo>(),
        subject::<Heap>(),
        subject::<ExpiringStore>(),
        subject::<IndexedStore>(),
        subject::<Elector>(),
        subject::<Candidate>(),
        subject::<Toy>(),
        subject::<ToyBugs>(),
        subject::<Canary>(),
    ],
};

impl Catalogue {
    /// Returns the component of that name.
    pub fn subject(&self, name: &str) -> Option<&'static dyn Subject> {
        self.subjects.iter().copied().find(|subject| subject.name() == name)
    }

    /// Returns the pairs of component and scenario that a pattern names. A pattern is a part of
    /// `component/scenario`; without patterns all are meant.
    pub fn scenarios(&self, patterns: &[String]) -> Vec<(&'static dyn Subject, &'static str)> {
        let mut found = Vec::new();
        for subject in self.subjects {
            for scenario in subject.scenarios() {
                let path = format!("{}/{}", subject.name(), scenario.name);
                if patterns.is_empty() || patterns.iter().any(|pattern| path.contains(pattern)) {
                    found.push((*subject, scenario.name));
                }
            }
        }
        found
    }
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.subjects.iter().map(|subject| subject.name())).finish()
    }
}
