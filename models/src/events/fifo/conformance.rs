//! The reference's recorded traces of the FIFO, replayed.

use seatrial_core::fifo::{Fifo, FifoQueue};
use seatrial_core::machine::Boxed;
use seatrial_core::runtime::System;
use seatrial_core::store::{Intake, KeyHasher};
use serde_json::{Value, json};

use super::{MapAndList, REFERENCE};
use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::events::fixtures::traced::{Object, common_call, key_of, must_not_block};
use crate::events::fixtures::{Checked, Mistakes};

type Machine = FifoQueue<String, Object>;

/// How the recorded traces of the FIFO are replayed.
pub(super) fn conformance() -> Conformance {
    Conformance {
        traces_of: "fifo",
        carried: TRACES,
        replay: replay_ours,
        faithful: Some(replay_faithful),
    }
}

/// Replays on the machine that ships. It departs from the reference in one case (FF-13): the
/// reference looks at the latch when `pop` returns, so an object behind a stale last place of the
/// first list still counts as initial. In all other steps, and afterwards, the two agree. Whether
/// there is such a case, the plain queue without that mistake tells.
fn replay_ours(trace: &Trace) -> Result<Replayed, TraceError> {
    let ours = Driven::new(|machine| Boxed(Box::new(Checked(machine))));
    let (right, faithful) = (plain(&[]), plain(REFERENCE));
    let mut step = |step: &Step| {
        let (gives, right) = (ours.step(step)?, right.step(step)?);
        let reference = faithful.step(step)?;
        let mut early = gives.clone();
        if gives["initial"] == json!(false) {
            early["initial"] = json!(true);
        }
        Ok(match gives == right && early == reference && gives != reference {
            true => Gives::Departs { rule: "cache:FF-13", reference },
            false => Gives::Same(gives),
        })
    };
    let replayed = trace.replay(&mut step)?;
    if replayed.departure.is_some() {
        let behind = trace.steps.get(replayed.steps + 1..).unwrap_or_default().to_vec();
        Trace { steps: behind, ..trace.clone() }.replay(&mut step)?;
    }
    Ok(replayed)
}

fn replay_faithful(trace: &Trace) -> Result<Replayed, TraceError> {
    let faithful = plain(REFERENCE);
    trace.replay(|step| faithful.step(step).map(Gives::Same))
}

fn plain(mistakes: Mistakes) -> Driven {
    Driven::new(|_| Boxed(Box::new(MapAndList::with(mistakes))))
}

/// A machine driven by the steps of a trace.
struct Driven {
    queue: Fifo<String, Object, System>,
}

impl Driven {
    fn new(host: impl FnOnce(Machine) -> Boxed<Machine>) -> Self {
        let hasher = KeyHasher::fixed(7);
        let host = host(FifoQueue::new(hasher.clone()));
        let intake = Intake::with_hasher(hasher, key_of);
        Self { queue: Fifo::with_host(&System::new(), intake, None, host) }
    }

    fn step(&self, step: &Step) -> Result<Value, String> {
        let args = &step.args.0;
        Ok(match step.op.as_str() {
            "pop" => self.pop(args["fail"] == true)?,
            "get_by_key" => {
                let object = self.queue.get(&step.args.text("key")?.to_owned());
                json!({ "exists": object.is_some(), "obj": object.map(|object| object.write()) })
            }
            "list_keys" => {
                let mut keys: Vec<_> = self.queue.list().into_iter().map(|(key, _)| key).collect();
                keys.sort();
                json!(keys)
            }
            other => {
                let done = common_call(&self.queue, step, Object::read, false)?;
                done.ok_or_else(|| format!("a FIFO has no call '{other}'"))?
            }
        })
    }

    fn pop(&self, fail: bool) -> Result<Value, String> {
        must_not_block(&self.queue)?;
        Ok(match self.queue.pop(|_| ()) {
            Err(_) => json!({ "obj": null, "initial": null, "err": "closed" }),
            Ok((popped, ())) => {
                let error = fail.then_some("boom");
                json!({ "obj": popped.object.write(), "initial": popped.initial, "err": error })
            }
        })
    }
}
