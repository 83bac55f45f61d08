//! The reference's recorded traces of the keyed back-off, replayed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use seatrial_core::limiter::{BackoffTable, Item};
use seatrial_core::runtime::Instant;
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::single_step::hash;
use crate::token_bucket::whole;

/// Replays the traces of `backoff`.
pub const fn conformance() -> Conformance {
    Conformance { traces_of: "backoff", carried: TRACES, replay, faithful: None }
}

/// The position of the traces' time zero, so that events may be before it.
const START: i64 = 1 << 60;

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let millis = |name| whole(&trace.config, name).map(Duration::from_millis);
    let make = || Ok(BackoffTable::new(millis("initial_ms")?, millis("max_ms")?));
    let mut driven = Driven {
        table: make().map_err(TraceError::Unreadable)?,
        now: instant(0),
        keys: trace.steps.iter().flat_map(keys_of).collect(),
    };
    trace.replay(|step| driven.step(step).map(Gives::Same))
}

/// Returns the keys that a step names. A collection of garbage names every key of its trace, even
/// keys that no call mentions.
fn keys_of(step: &Step) -> impl Iterator<Item = &str> {
    let shown = step.out.get("backoff_ns").and_then(Value::as_object);
    let shown = shown.into_iter().flat_map(|left| left.keys().map(String::as_str));
    step.args.text("id").ok().into_iter().chain(shown)
}

/// The table, driven by the steps of a trace.
struct Driven<'t> {
    table: BackoffTable<String>,
    now: Instant,
    /// Every key of the trace; a collection of garbage shows the remaining delay of each.
    keys: BTreeSet<&'t str>,
}

impl Driven<'_> {
    fn get(&self, key: &str) -> u64 {
        let key = key.to_owned();
        let delay = self.table.get(Item::new(&key, hash(&key)));
        u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX)
    }

    fn step(&mut self, step: &Step) -> Result<Value, String> {
        match step.op.as_str() {
            "advance" => {
                let by = Duration::from_millis(whole(&step.args.0, "ms")?);
                self.now = self.now + by;
                return Ok(Value::Null);
            }
            "gc" => {
                self.table.collect_garbage(self.now);
                let left: BTreeMap<_, _> =
                    self.keys.iter().map(|key| (*key, self.get(key))).collect();
                return Ok(json!({ "backoff_ns": left }));
            }
            _ => {}
        }
        let key = step.args.text("id")?.to_owned();
        let (item, now) = (Item::new(&key, hash(&key)), self.now);
        let event = || step.args.integer("event_ms").map(instant);
        match step.op.as_str() {
            "next" => {
                self.table.next(item, event()?, now, || 0.0);
                Ok(json!({ "backoff_ns": self.get(&key) }))
            }
            "get" => Ok(json!(self.get(&key))),
            "is_in_backoff_since" => Ok(json!(self.table.is_in_backoff_since(item, event()?, now))),
            "is_in_backoff_since_update" => {
                Ok(json!(self.table.is_in_backoff_since_update(item, event()?)))
            }
            "reset" | "delete_entry" => {
                self.table.reset(item);
                Ok(Value::Null)
            }
            other => Err(format!("a keyed back-off has no call '{other}'")),
        }
    }
}

fn instant(millis: i64) -> Instant {
    let nanos = START.saturating_add(millis.saturating_mul(1_000_000));
    Instant::from_nanos(u64::try_from(nanos).unwrap_or(0))
}
