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
    /// How many runs there were: some repeat an order, or stop where another one goes on.
    pub runs: u64,
    /// How many distinct orders were run to the end. Orders that differ only in deliveries that commute are
    /// the same.
    pub distinct: u64,
    /// There is no other order.
    pub is_complete: bool,
    /// How many there are: counted, or estimated.
    pub estimate: f64,
    /// How many runs went another way than the one before them, where chance is not under control.
    pub astray: u64,
    /// The number of the first run that fails.
    pub failed_at: Option<u64>,
}

impl fmt::Display for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (distinct, estimate, runs) = (self.distinct, self.estimate, self.runs);
        let many = |count| if count == 1 { "" } else { "s" };
        match self.is_complete {
            true => write!(f, "{distinct} order{}, complete, ", many(distinct))?,
            false if estimate > 1e6 => write!(f, "{distinct} of about {estimate:.0e} orders, ")?,
            false => write!(f, "{distinct} of about {estimate:.0} orders, ")?,
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

    fn estimate(&self) -> f64 {
        let mean = self.weights.iter().sum::<f64>() / (self.weights.len() as f64).max(1.0);
        mean.max(self.seen.len() as f64)
    }

    fn orders(self, is_complete: bool) -> Orders {
        let distinct = self.seen.len() as u64;
        let estimate = if is_complete { distinct as f64 } else { self.estimate() };
        let Self { runs, astray, .. } = self;
        Orders { runs, distinct, is_complete, estimate, astray, failed_at: None }
    }
}

/// Tries orders in at most this number of runs. A run is given a guide, and gives it back with what was chosen;
/// none if no more is to be tried.
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
    // Of a small tree the walks are not worth their runs.
    let walks = if path.is_some() { WALKS.min(most / 4) } else { 0 };
    let (first, later) = if last.stands_for() > WALKS as f64 { (walks, 0) } else { (0, walks) };
    let walk = |tally: &mut Tally, run: &mut dyn FnMut(Guide) -> Option<Guide>| {
        let number = tally.weights.len() as u64;
        let guide = run(Guide::walk(seed.wrapping_add(number), relation))?;
        tally.note(&guide);
        tally.weights.push(guide.stands_for());
        Some(())
    };
    for _ in 0..first {
        if walk(&mut tally, &mut run).is_none() {
            return tally.orders(false);
        }
    }
    let is_large = tally.estimate() > 2.0 * most as f64;
    while let Some(next) = path.take_if(|_| !is_large && tally.runs + later < most) {
        let Some(guide) = run(Guide::path(&next, relation)) else { return tally.orders(false) };
        tally.note(&guide);
        tally.astray += u64::from(!guide.follows(&last));
        path = guide.next_path();
        last = guide;
    }
    while path.is_some() && tally.runs < most && walk(&mut tally, &mut run).is_some() {}
    let is_complete = path.is_none() && !tally.is_bounded && tally.astray == 0;
    tally.orders(is_complete)
}
