//! Selectively uniform random walk: all interleavings of *some* steps are about equally likely.
//!
//! Among a whole execution's interleavings a uniform draw seldom hits the few that matter. So each
//! execution selects one object that several threads use, and only the steps on it count. One
//! thread is **intended** to take the next of these steps. It is drawn in proportion to how many of
//! them each thread has left. Until it has taken its step, no other thread may take one; all other
//! steps are a plain random walk. After "Selectively Uniform Concurrency Testing" (Zhao, Wolff,
//! Mathur, Roychoudhury, ASPLOS 2025).
//!
//! The first execution, a random walk, shows how often each thread uses each object. A thread that
//! has not started yet is counted with its parent.

use std::collections::BTreeMap;

use super::super::kernel::{ObjectName, ThreadName};
use super::counts::{Family, Left};
use super::rng::Rng;
use super::{Chooser, Decision, Kernel, Options};
use crate::engine::{Choice, End};

pub(super) struct Surw {
    rng: Rng,
    /// How often each thread of the first execution used each object.
    uses: BTreeMap<ObjectName, BTreeMap<ThreadName, u64>>,
    family: Family,
    /// The objects to select from, each with the uses of each thread and its descendants, by name.
    objects: Vec<(ObjectName, Vec<u64>)>,
    /// The index in `objects` of the object that this execution has selected.
    selected: Option<usize>,
    left: Left,
    intended: Option<usize>,
}

impl Surw {
    pub(super) fn new(seed: u64, executions: u64) -> Self {
        Self {
            rng: Rng::new(seed, executions),
            uses: BTreeMap::new(),
            family: Family::default(),
            objects: Vec::new(),
            selected: None,
            left: Left::default(),
            intended: None,
        }
    }

    fn is_selected(&self, kernel: &Kernel, choice: Choice) -> bool {
        let Choice::Thread(thread) = choice else { return false };
        let object = kernel.footprint(usize::from(thread)).object;
        object.is_some() && object == self.selected.map(|selected| self.objects[selected].0)
    }

    /// Looks for new threads: their uses were their parent's, and so may be the intention.
    fn meet(&mut self, kernel: &Kernel) {
        let Some(selected) = self.selected else { return };
        let first = self.left.meet(kernel, &self.objects[selected].1);
        for thread in first..kernel.thread_count() {
            let (Some(intended), Some(parent)) = (self.intended, kernel.parent(thread)) else {
                continue;
            };
            let passes = intended == parent && self.left.of(thread) > 0;
            if passes {
                let heirs = [parent, thread];
                let left = &self.left;
                let heir = self.rng.weighted(heirs.into_iter(), |heir| left.of(heir));
                self.intended = Some(heir);
            }
        }
    }

    /// Draws the thread that takes the next selected step.
    fn intend(&mut self, kernel: &Kernel) {
        let threads = 0..kernel.thread_count();
        let has_some = |&thread: &usize| self.left.of(thread) > 0 && !kernel.has_ended(thread);
        let candidates = threads.filter(has_some);
        self.intended = if candidates.clone().next().is_some() {
            let left = &self.left;
            Some(self.rng.weighted(candidates, |thread| left.of(thread)))
        } else {
            None
        };
    }

    /// Tells whether a step does not get in the way of the intended thread.
    fn may(&self, kernel: &Kernel, choice: Choice) -> bool {
        let by = match choice {
            Choice::Thread(thread) => Some(usize::from(thread)),
            _ => None,
        };
        (by.is_some() && by == self.intended) || !self.is_selected(kernel, choice)
    }

    /// Draws among the options that do not get in the way of the intended thread.
    fn draw(&mut self, kernel: &Kernel, options: Options) -> Choice {
        if self.intended.is_none_or(|intended| kernel.has_ended(intended)) {
            self.intend(kernel);
        }
        let count = options.all().filter(|&choice| self.may(kernel, choice)).count() as u64;
        if self.intended.is_some() && count > 0 {
            let nth = self.rng.below(count) as usize;
            let mut free = options.all().filter(|&choice| self.may(kernel, choice));
            return free.nth(nth).expect("fewer than there are");
        }
        // The estimate is wrong, or the intended thread waits for one of the others.
        self.intended = None;
        options.nth(self.rng.below(options.len() as u64) as usize)
    }

    fn note(&mut self, kernel: &Kernel, thread: usize) {
        if self.rng.execution() == 1 {
            if let Some(object) = kernel.footprint(thread).object {
                let uses = self.uses.entry(object).or_default();
                *uses.entry(kernel.name(thread)).or_default() += 1;
            }
        } else if self.is_selected(kernel, Choice::Thread(thread as u8)) {
            self.left.step(thread);
            self.intended = None;
        }
    }
}

impl Chooser for Surw {
    fn begin(&mut self) -> bool {
        if !self.rng.begin() {
            return false;
        }
        self.left.begin();
        self.intended = None;
        let objects = self.objects.len() as u64;
        self.selected = (objects > 0).then(|| self.rng.below(objects) as usize);
        true
    }

    fn thread(&mut self, kernel: &Kernel, options: Options) -> Decision<Choice> {
        self.meet(kernel);
        let chosen = if self.selected.is_some() {
            self.draw(kernel, options)
        } else {
            options.nth(self.rng.below(options.len() as u64) as usize)
        };
        if let Choice::Thread(thread) = chosen {
            self.note(kernel, usize::from(thread));
        }
        Ok(chosen)
    }

    fn data(&mut self, _kernel: &Kernel, options: u32) -> Decision<u32> {
        Ok(self.rng.below(u64::from(options)) as u32)
    }

    fn finish(&mut self, kernel: &Kernel, _end: &End) {
        if self.rng.execution() == 1 {
            self.family.meet(kernel);
            for (object, uses) in std::mem::take(&mut self.uses) {
                if uses.len() > 1 {
                    let own = |name| uses.get(&name).copied().unwrap_or(0);
                    self.objects.push((object, self.family.totals(own)));
                }
            }
        }
    }
}
