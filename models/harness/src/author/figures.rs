//! The metrics that a queue should report, and a check that it reports them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::component::{Component, EventOf, HistoryOf};
use super::ledger::Ledger;
use super::told::Told;
use crate::outcome::Violation;

/// The metrics reported so far, or the ones expected: the counts, and the times of the last step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// How many items wait, by priority if there is one; empty if none wait.
    pub depth: BTreeMap<Option<i32>, i64>,
    /// How many were added.
    pub added: u64,
    /// How many were given a delay.
    pub retried: u64,
    /// How long each item that was handed out had waited.
    pub latency: Vec<Duration>,
    /// How long each item that ended was in processing.
    pub work: Vec<Duration>,
    /// How long the items in processing have been there: the sum, and the longest.
    pub unfinished: Option<(Duration, Duration)>,
}

impl Figures {
    /// Takes in what one step told.
    fn hear(&mut self, told: &[Told]) {
        self.forget_times();
        for figure in told {
            match *figure {
                Told::Depth(priority, change) => *self.depth.entry(priority).or_default() += change,
                Told::Added => self.added += 1,
                Told::Latency(waited) => self.latency.push(waited),
                Told::Work(took) => self.work.push(took),
                Told::Retried => self.retried += 1,
                Told::Unfinished(sum, longest) => self.unfinished = Some((sum, longest)),
            }
        }
        self.depth.retain(|_, depth| *depth != 0);
    }

    /// Begins a step.
    pub fn forget_times(&mut self) {
        self.latency.clear();
        self.work.clear();
        self.unfinished = None;
    }
}

/// A ledger that knows what should be told.
pub trait Books<C: Component>: Ledger<C> {
    /// Begins a step.
    fn begin(&mut self);

    /// Returns what should have been told when an event has been taken in.
    fn due(&self) -> Figures;

    /// Tells whether all that is due has been told when this event is over: some calls ask only,
    /// and leave what came due to the next one.
    fn is_judged(event: &EventOf<C>) -> bool;

    /// How many items one step adds at most because their time has come. One that adds as many may
    /// leave others to the next step, and is not judged.
    const AT_ONCE: usize = usize::MAX;

    /// Compares a part of what was told with what should have been, after every event.
    fn compare<T: PartialEq + std::fmt::Debug>(
        history: &HistoryOf<C>,
        part: impl Fn(&Figures) -> T,
    ) -> Result<(), Violation> {
        if history.events.iter().all(|event| event.told.is_none()) {
            return Ok(()); // nobody measures this machine
        }
        let (mut books, mut told) = (Self::default(), Figures::default());
        for (number, event) in history.events.iter().enumerate() {
            books.begin();
            books.take_in(event);
            let Some(figures) = &event.told else { continue };
            told.hear(figures);
            let added = figures.iter().filter(|figure| **figure == Told::Added).count();
            if added >= Self::AT_ONCE || !Self::is_judged(event) {
                continue;
            }
            let (was, should) = (part(&told), part(&books.due()));
            if was != should {
                return Err(Violation::at(
                    number,
                    format!("told is {was:?}, and {should:?} is so"),
                ));
            }
        }
        Ok(())
    }
}

/// How many wait, and how many were added.
pub fn depth(figures: &Figures) -> (BTreeMap<Option<i32>, i64>, u64) {
    (figures.depth.clone(), figures.added)
}

/// How long what is handed out has waited.
pub fn latency(figures: &Figures) -> Vec<Duration> {
    figures.latency.clone()
}

/// The processing times of items that ended, and of items that have not ended.
pub fn work(figures: &Figures) -> (Vec<Duration>, Option<(Duration, Duration)>) {
    (figures.work.clone(), figures.unfinished)
}

/// Sums up what has been in processing for so long, and finds the longest.
pub fn unfinished(took: impl Iterator<Item = Duration> + Clone) -> (Duration, Duration) {
    (took.clone().sum(), took.max().unwrap_or_default())
}
