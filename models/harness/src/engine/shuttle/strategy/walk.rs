//! A random walk that tells how many traces there are.
//!
//! It walks down the tree of a search with *sleep sets*: where several steps are possible, the ones
//! tried before the chosen one sleep below it until something disturbs them, because a trace that
//! begins with them is found there. In that tree every trace is at the end of exactly one path; the
//! other paths end where all that could happen next sleeps. One over the chance of its path is
//! therefore, on average, the number of traces, if a path that ends asleep counts zero (Knuth,
//! "Estimating the efficiency of backtrack programs", 1975). How likely a sampler makes a trace
//! does not matter: a walk that ends where it was unlikely to come counts for more.
//!
//! A path that ends asleep is wasted, and where threads are busy with different objects nearly all
//! paths are: a step of one object rarely wakes a sleeping step of another. So steps that put those
//! of another object to sleep are chosen less often, and still less where that was often in vain.
//! The chances are known, so the estimate stays right. The execution of a wasted path goes on as a
//! plain random walk.

use std::collections::BTreeMap;

use super::super::kernel::{Footprint, ObjectName};
use super::rng::Rng;
use super::{Chooser, Decision, Kernel, Options, footprint};
use crate::engine::{Choice, End};

pub(super) struct Walk {
    rng: Rng,
    /// The choices that need not come next, and the footprint of each.
    asleep: Vec<(Choice, Footprint)>,
    /// The logarithm of one over the chance of the path.
    stands_for: f64,
    /// The objects that this path let wait for others.
    postponed: Vec<Option<ObjectName>>,
    /// How often each object was let wait for others, and how often it was not in vain.
    postponements: BTreeMap<Option<ObjectName>, (u32, u32)>,
}

/// The chance of an option, before all of them are made to add up.
const WHOLE: u64 = 1 << 32;

/// The logarithm of zero: of what a path counts that ends asleep.
const NOTHING: f64 = f64::NEG_INFINITY;

impl Walk {
    pub(super) fn new(seed: u64, executions: u64) -> Self {
        Self {
            rng: Rng::new(seed, executions),
            asleep: Vec::new(),
            stands_for: 0.0,
            postponed: Vec::new(),
            postponements: BTreeMap::new(),
        }
    }

    fn is_awake(&self, choice: Choice) -> bool {
        self.asleep.iter().all(|(asleep, _)| *asleep != choice)
    }

    /// Puts what was possible before the chosen step to sleep, and wakes what that disturbs.
    fn descend(&mut self, earlier: &[(Choice, Footprint)], chosen: (Choice, Footprint)) {
        self.postponed.extend(first_postponed(earlier, chosen.1));
        self.asleep.extend(earlier);
        self.asleep.retain(|(_, asleep)| !chosen.1.disturbs(*asleep));
    }

    /// Returns how often an option is to be chosen, relative to [`WHOLE`].
    fn weight(&self, awake: &[(Choice, Footprint)], nth: usize) -> u64 {
        let Some(postponed) = first_postponed(&awake[..nth], awake[nth].1) else { return WHOLE };
        let (times, well) = self.postponements.get(&postponed).copied().unwrap_or_default();
        WHOLE * (u64::from(well) + 1) / (u64::from(times) + 1)
    }

    /// Draws one of the options that are awake, and counts how unlikely that was.
    fn draw(&mut self, awake: &[(Choice, Footprint)]) -> usize {
        let weights: Vec<u64> = (0..awake.len()).map(|nth| self.weight(awake, nth)).collect();
        let nth = self.rng.weighted(0..awake.len(), |nth| weights[nth]);
        let all: u64 = weights.iter().sum();
        self.stands_for += (all as f64 / weights[nth] as f64).ln();
        nth
    }
}

/// Returns the object of the first step that is put to sleep by another one which does not disturb
/// it.
fn first_postponed(
    earlier: &[(Choice, Footprint)],
    chosen: Footprint,
) -> Option<Option<ObjectName>> {
    let postponed = earlier.iter().find(|(_, other)| !chosen.disturbs(*other));
    postponed.map(|(_, other)| other.object)
}

impl Chooser for Walk {
    fn begin(&mut self) -> bool {
        self.asleep.clear();
        self.stands_for = 0.0;
        self.postponed.clear();
        self.rng.begin()
    }

    fn thread(&mut self, kernel: &Kernel, options: Options) -> Decision<Choice> {
        if options.threads.is_empty() {
            self.asleep.clear(); // a jump at a standstill disturbs everybody
        }
        let with_footprint = |choice| (choice, footprint(kernel, choice));
        let mut awake: Vec<_> =
            options.all().filter(|&each| self.is_awake(each)).map(with_footprint).collect();
        if awake.is_empty() {
            self.stands_for = NOTHING;
            self.asleep.clear();
            awake.extend(options.all().map(with_footprint));
        }
        awake.sort_by_key(|(_, footprint)| footprint.object); // those of one object side by side
        let nth = self.draw(&awake);
        self.descend(&awake[..nth], awake[nth]);
        Ok(awake[nth].0)
    }

    fn data(&mut self, _kernel: &Kernel, options: u32) -> Decision<u32> {
        self.stands_for += f64::from(options).ln();
        Ok(self.rng.below(u64::from(options)) as u32)
    }

    fn finish(&mut self, _kernel: &Kernel, _end: &End) {
        let was_well = u32::from(self.stands_for != NOTHING);
        for postponed in self.postponed.drain(..) {
            let (times, well) = self.postponements.entry(postponed).or_default();
            *times += 1;
            *well += was_well;
        }
    }

    fn stands_for(&self, kernel: &Kernel) -> Option<f64> {
        // A jump at any time can become impossible in its sleep: the tree is another one then.
        (kernel.config.free_jumps == 0).then_some(self.stands_for)
    }
}
