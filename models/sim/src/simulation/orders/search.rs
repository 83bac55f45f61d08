//! The search in the tree of orders: all of them if they are few, and otherwise some by chance.

use std::collections::BTreeSet;
use std::fmt;

use super::guide::Guide;
use super::touch::Relation;

/// How many walks estimate the number of orders before the search begins.
const WALKS: u64 = 16;

/// The orders that were tried.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Orders {
    /// How many runs there were: some repeat an order, or stop where another one goes on, and up to sixteen only
    /// estimate how many there are.
    pub runs: u64,
    /// How many distinct orders were run to the end. Orders that differ only in deliveries that commute are
    /// the same.
    pub distinct: u64,
    /// There is no other order.
    pub is_complete: bool,
    /// How many there are: counted, or estimated; none if nothing is known.
    pub estimate: Option<f64>,
    /// How many runs went another way than the one before them, where chance is not under control.
    pub astray: u64,
    /// The number of the first run that fails.
    pub failed_at: Option<u64>,
}

impl fmt::Display for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (distinct, estimate, runs) = (self.distinct, self.estimate, self.runs);
        let many = |count| if count == 1 { "" } else { "s" };
        match estimate {
            _ if self.is_complete => write!(f, "{distinct} order{}, complete, ", many(distinct))?,
            None => write!(f, "{distinct} order{} of an unknown number, ", many(distinct))?,
            Some(all) if all > 1e6 => write!(f, "{distinct} of about {all:.0e} orders, ")?,
            Some(all) => write!(f, "{distinct} of about {all:.0} orders, ")?,
        }
        write!(f, "in {runs} run{}", many(runs))?;
        match self.astray {
            0 => Ok(()),
            astray => write!(f, ", and {astray} runs went another way"),
        }
    }
}

/// What was seen so far.
#[derive(Default)]
struct Tally {
    seen: BTreeSet<Vec<u32>>,
    weights: Vec<f64>,
    runs: u64,
    is_bounded: bool,
    astray: u64,
}

impl Tally {
    fn note(&mut self, guide: &Guide) {
        self.runs += 1;
        self.is_bounded |= guide.is_bounded;
        if !guide.is_wasted {
            self.seen.insert(guide.taken());
        }
    }

    /// None if no walk has come to an end that is not found elsewhere.
    fn estimate(&self) -> Option<f64> {
        let mean = self.weights.iter().sum::<f64>() / (self.weights.len() as f64).max(1.0);
        (mean > 0.0).then(|| mean.max(self.seen.len() as f64))
    }

    fn orders(self, is_complete: bool) -> Orders {
        let distinct = self.seen.len() as u64;
        let estimate = if is_complete { Some(distinct as f64) } else { self.estimate() };
        let Self { runs, astray, .. } = self;
        Orders { runs, distinct, is_complete, estimate, astray, failed_at: None }
    }
}

/// Tries orders in at most this number of runs, not counting the walks that only estimate. A run is given a
/// guide, and gives it back with what was chosen; none if no more is to be tried.
pub(crate) fn search(
    most: u64,
    seed: u64,
    relation: Option<Relation>,
    mut run: impl FnMut(Guide) -> Option<Guide>,
) -> Orders {
    let mut tally = Tally::default();
    let Some(mut last) = run(Guide::path(&[], relation)) else { return tally.orders(false) };
    tally.note(&last);
    let mut path = last.next_path();
    // What seems to be a small tree may be searched without walks.
    let is_small = path.is_none() || last.stands_for() <= WALKS as f64;
    let walks = WALKS.min(most / 4);
    let walk = |tally: &mut Tally, run: &mut dyn FnMut(Guide) -> Option<Guide>| {
        let number = tally.weights.len() as u64;
        let guide = run(Guide::walk(seed.wrapping_add(number), relation))?;
        tally.note(&guide);
        tally.weights.push(guide.stands_for());
        Some(())
    };
    for _ in 0..if is_small { 0 } else { walks } {
        if walk(&mut tally, &mut run).is_none() {
            return tally.orders(false);
        }
    }
    let is_large = tally.estimate().is_some_and(|it| it > 2.0 * most as f64);
    let bound = most + tally.weights.len() as u64;
    while let Some(next) = path.take_if(|_| !is_large && tally.runs < bound) {
        let Some(guide) = run(Guide::path(&next, relation)) else { return tally.orders(false) };
        tally.note(&guide);
        tally.astray += u64::from(!guide.follows(&last));
        path = guide.next_path();
        last = guide;
    }
    let bound = if is_small { tally.runs + walks } else { most };
    while path.is_some() && tally.runs < bound && walk(&mut tally, &mut run).is_some() {}
    let is_complete = path.is_none() && !tally.is_bounded && tally.astray == 0;
    tally.orders(is_complete)
}
