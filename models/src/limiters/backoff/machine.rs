//! A keyed back-off as a machine: every call is one critical section.

use std::time::Duration;

use seatrial_core::limiter::{BackoffTable, Item};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Instant;

use crate::single_step::hash;

/// A call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// An event of a key happened at that time.
    Next(u8, Instant),
    /// How long does the key back off?
    Get(u8),
    /// Does the key still back off, counted from that event until now?
    Since(u8, Instant),
    /// Does the key still back off, counted from its last update until that event?
    SinceUpdate(u8, Instant),
    /// Forget the key.
    Reset(u8),
    /// Forget the keys that would start over.
    CollectGarbage,
}

/// An answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// This long.
    Delay(Duration),
    /// Whether the key backs off.
    BacksOff(bool),
    /// How many keys were forgotten.
    Forgotten(u8),
}

/// The table that ships.
pub struct Ships {
    table: BackoffTable<u8>,
    jitter: f64,
}

impl Ships {
    pub(super) fn new(initial: Duration, max: Duration, jitter: f64) -> Self {
        Self { table: BackoffTable::new(initial, max).with_jitter(jitter), jitter }
    }
}

impl std::fmt::Debug for Ships {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ships")
    }
}

/// Draws a number between zero and one.
pub(super) fn drawn(cx: &Cx<'_>) -> f64 {
    (cx.entropy() >> 11) as f64 / (1_u64 << 53) as f64
}

impl Machine for Ships {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, cx: &mut Cx<'_>) -> Step<Said> {
        let item = |key: &'static u8| Item::new(key, hash(key));
        let known = |key: u8| item(&KEYS[usize::from(key)]);
        let now = cx.now();
        Step::Done(match *call {
            Call::Next(key, event) => {
                let draw = || {
                    assert!(self.jitter > 0.0, "without jitter nothing is drawn");
                    drawn(cx)
                };
                Said::Delay(self.table.next(known(key), event, now, draw))
            }
            Call::Get(key) => Said::Delay(self.table.get(known(key))),
            Call::Since(key, event) => {
                Said::BacksOff(self.table.is_in_backoff_since(known(key), event, now))
            }
            Call::SinceUpdate(key, event) => {
                Said::BacksOff(self.table.is_in_backoff_since_update(known(key), event))
            }
            Call::Reset(key) => Said::Forgotten(u8::from(self.table.reset(known(key)).is_some())),
            Call::CollectGarbage => Said::Forgotten(self.table.collect_garbage(now).len() as u8),
        })
    }
}

const KEYS: [u8; 4] = [0, 1, 2, 3];
