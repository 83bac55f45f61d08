//! Faults written down beforehand.

use seatrial_core::elector::{Io, JITTER};

use crate::cluster::Fate;
use crate::cluster::faults::{After, Attempted, Faults};

/// The calls that a rule applies to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calls {
    /// All.
    All,
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

/// One rule: the fate of the calls that a node makes within a span of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The node.
    pub node: u8,
    /// The start of the span.
    pub from: u64,
    /// The end of the span, which is not part of it.
    pub to: u64,
    /// The calls that it applies to.
    pub calls: Calls,
    /// The fate of these calls.
    pub fate: Fate,
    /// Whether the rule applies only to every second of them.
    pub every_second: bool,
}

/// Faults by rules: the first rule that fits a call decides. A call that no rule fits is answered
/// at once.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// The rules.
    pub rules: Vec<Rule>,
    /// How long each node waits between its attempts to acquire, as a fraction of the jitter; zero
    /// for nodes that are not listed.
    pub jitter: Vec<f64>,
    /// The next step of each node after its first run; after a later run it stays down.
    pub after: Vec<(u8, After)>,
    /// How long the work waits between looking whether it may act and acting; zero for no work.
    pub acts_after: u64,
    /// How long the work goes on after its cancellation.
    pub winds_down: u64,
    pub(super) counted: u64,
}

impl Script {
    /// Adds a rule.
    #[must_use]
    pub fn rule(mut self, node: u8, from: u64, to: u64, calls: Calls, fate: Fate) -> Self {
        self.rules.push(Rule { node, from, to, calls, fate, every_second: false });
        self
    }

    /// Lets a node that wants to acquire poll every `gap` nanoseconds, which is at least `retry`.
    #[must_use]
    pub fn polls_every(mut self, node: u8, gap: u64, retry: u64) -> Self {
        let fraction = (gap as f64 / retry as f64 - 1.0) / JITTER;
        let node = usize::from(node);
        if self.jitter.len() <= node {
            self.jitter.resize(node + 1, 0.0);
        }
        self.jitter[node] = fraction;
        self
    }
}

impl Faults for Script {
    fn fate(&mut self, call: &Attempted<'_>) -> Fate {
        let reads = *call.io == Io::Get;
        for rule in &self.rules {
            let kind = match rule.calls {
                Calls::All => true,
                Calls::Reads => reads,
                Calls::Writes => !reads,
            };
            if !kind || rule.node != call.node || !(rule.from..rule.to).contains(&call.at) {
                continue;
            }
            if rule.every_second {
                self.counted += 1;
                if self.counted.is_multiple_of(2) {
                    continue;
                }
            }
            return rule.fate;
        }
        Fate::INSTANT
    }

    fn entropy(&mut self, node: u8, _: u64) -> u64 {
        let fraction = self.jitter.get(usize::from(node)).copied().unwrap_or(0.0);
        (fraction.clamp(0.0, 0.999_999_999) * (1u64 << 53) as f64) as u64 * (1 << 11)
    }

    fn winds_down(&mut self) -> u64 {
        self.winds_down
    }

    fn works(&mut self) -> Option<(u64, u64)> {
        (self.acts_after > 0).then_some((self.acts_after, 0))
    }

    fn after(&mut self, node: u8) -> After {
        let index = self.after.iter().position(|(whose, _)| *whose == node);
        index.map_or(After::Down, |index| self.after.remove(index).1)
    }
}
