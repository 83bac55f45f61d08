//! Random plans: what is written, what goes wrong, and when.

use std::time::Duration;

use seatrial_sim::apiserver::{Fault, Point, Trouble};

/// How many objects there may be.
pub(crate) const KEYS: u64 = 6;

/// Random numbers of a seed (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn millis(&mut self, end: u64) -> Duration {
        Duration::from_millis(self.below(end))
    }
}

/// Something that happens.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// An object is made, or changed.
    Put(u64),
    /// An object is deleted, if it is there.
    Delete(u64),
    /// Something is to go wrong.
    Strike(Fault),
    /// Something goes wrong at once, with the watches or the storage.
    Now(Trouble),
    /// Nothing: time passes.
    Nothing,
}

/// What is tried.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// How many objects a page has; zero lets the reflector choose.
    pub(crate) page: u32,
    /// Whether the first objects may come by a stream.
    pub(crate) streams: bool,
    /// How often what has not changed is shown again; zero for never.
    pub(crate) resync: Duration,
    /// One reconcile in this number fails, as long as things happen.
    pub(crate) fails: u64,
    /// What happens, each after a pause.
    pub(crate) acts: Vec<(Duration, Act)>,
}

impl Plan {
    pub(crate) fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let page = if dice.one_in(2) { 0 } else { 1 + dice.below(3) as u32 };
        let streams = !dice.one_in(3);
        let resync = if dice.one_in(4) { Duration::from_secs(5) } else { Duration::ZERO };
        let fails = 2 + dice.below(6);
        let mut acts = Vec::new();
        for _ in 0..4 + dice.below(28) {
            let (pause, act) = (pause(&mut dice), act(&mut dice));
            // An open watch asks for nothing: what waits for a request would hardly strike.
            let breaks = matches!(act, Act::Strike(_)) && !dice.one_in(4);
            acts.push((pause, act));
            acts.extend(breaks.then_some((Duration::ZERO, Act::Now(Trouble::CutWatches))));
        }
        Self { seed, page, streams, resync, fails, acts }
    }
}

/// Much happens at once, and some of it late.
fn pause(dice: &mut Dice) -> Duration {
    match dice.below(8) {
        0..=2 => Duration::ZERO,
        3 | 4 => dice.millis(50),
        5 | 6 => dice.millis(4_000),
        _ => dice.millis(60_000),
    }
}

fn act(dice: &mut Dice) -> Act {
    match dice.below(16) {
        0..=7 => Act::Put(dice.below(KEYS)),
        8..=10 => Act::Delete(dice.below(KEYS)),
        11..=13 => Act::Strike(fault(dice)),
        14 => Act::Now(at_once(dice)),
        _ => Act::Nothing,
    }
}

fn fault(dice: &mut Dice) -> Fault {
    let (after, times) = (dice.below(3) as u32, 1 + dice.below(3) as u32);
    Fault { at: Point::of("GET", "configmaps"), after, times, what: trouble(dice) }
}

fn trouble(dice: &mut Dice) -> Trouble {
    match dice.below(10) {
        0 => Trouble::Refuse { status: 410, retry_after: None },
        1 => Trouble::Refuse { status: 429, retry_after: Some(1 + dice.below(3) as u32) },
        2 => Trouble::Refuse { status: 429, retry_after: None },
        3 => Trouble::Refuse { status: [500, 503, 504][dice.below(3) as usize], retry_after: None },
        4 => Trouble::LoseRequest,
        5 => Trouble::LoseAnswer,
        6 => Trouble::Delay(dice.millis(20_000)),
        7 => Trouble::Stale(1 + dice.below(6)),
        8 => Trouble::Lag { by: 1 + dice.below(6), time: dice.millis(30_000) },
        _ => at_once(dice),
    }
}

fn at_once(dice: &mut Dice) -> Trouble {
    match dice.below(4) {
        0 => Trouble::CutWatches,
        1 => Trouble::SilenceWatches(dice.millis(20_000)),
        2 => Trouble::Compact,
        _ => Trouble::Restart,
    }
}

/// A link of the chain that is broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Break {
    /// None.
    Nothing,
    /// The reader tells the queue of no deletion.
    DeletionsAreNotQueued,
    /// It tells of one change in this number.
    SomeChangesAreLost,
    /// A reconcile that failed is not tried again.
    FailuresAreForgotten,
    /// The network loses some events of a watch.
    EventsAreLost,
    /// The reader is not told of the end.
    TheReaderStays,
}

impl Break {
    pub(crate) const ALL: &[Self] = &[
        Self::DeletionsAreNotQueued,
        Self::SomeChangesAreLost,
        Self::FailuresAreForgotten,
        Self::EventsAreLost,
        Self::TheReaderStays,
    ];
}
