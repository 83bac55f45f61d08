//! The reference's recorded traces of the expiration cache, replayed.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::machine::Boxed;
use seatrial_core::runtime::Manual;
use seatrial_core::store::expiring::ExpiringObjects;
use seatrial_core::store::{EnqueueError, ExpiringStore, Intake, KeyError, KeyHasher, TimeToLive};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::events::fixtures::Checked;
use crate::events::fixtures::traced::{Object, key_of, write_end};

/// How the recorded traces of the expiration cache are replayed.
pub(super) fn conformance() -> Conformance {
    Conformance { traces_of: "expiration_cache", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let driven = Driven::new(&trace.config).map_err(TraceError::Unreadable)?;
    trace.replay(|step| driven.step(step).map(Gives::Same))
}

/// A machine driven by the steps of a trace.
struct Driven {
    clock: Manual,
    store: ExpiringStore<String, Object, Manual>,
}

impl Driven {
    fn new(config: &Value) -> Result<Self, String> {
        let time = config["ttl_ms"].as_i64().ok_or("a trace has a time to live")?;
        let time = u64::try_from(time).ok().map(Duration::from_millis);
        let clock = Manual::seeded(7);
        let machine = Checked(ExpiringObjects::new(Arc::new(TimeToLive(time))));
        let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
        let store = ExpiringStore::with_host(&clock, intake, Boxed(Box::new(machine) as _));
        Ok(Self { clock, store })
    }

    fn step(&self, step: &Step) -> Result<Value, String> {
        let args = &step.args.0;
        let object = || Object::read(&args["obj"]);
        let end = |done: Result<(), KeyError>| write_end(done.map_err(EnqueueError::Key));
        Ok(match step.op.as_str() {
            "add" => end(self.store.add(object()?)),
            "update" => end(self.store.update(object()?)),
            "delete" => end(self.store.delete(object()?)),
            "replace" => end(self.store.replace(Object::read_all(&args["objs"])?)),
            "get_by_key" => {
                let object = self.store.get(&step.args.text("key")?.to_owned());
                json!({ "exists": object.is_some(), "obj": object.map(|object| object.write()) })
            }
            "list" => {
                let mut listed = self.store.list();
                listed.sort_by(|one, other| one.key.cmp(&other.key));
                listed.iter().map(|object| json!([object.key, object.version])).collect()
            }
            "list_keys" => {
                let mut keys = self.store.list_keys();
                keys.sort();
                json!(keys)
            }
            "advance" => {
                let time = step.args.integer("ms")?;
                let time = u64::try_from(time).map_err(|error| error.to_string())?;
                self.clock.advance(Duration::from_millis(time));
                Value::Null
            }
            other => return Err(format!("an expiration cache has no call '{other}'")),
        })
    }
}
