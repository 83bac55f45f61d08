//! The expiring store's page.
//!
//! `cargo seatrial list expiring_store` prints what is checked, and the mutants that break it.

mod conformance;
mod invariants;
mod mutants;
mod op;
mod plain;
mod scenarios;
pub(crate) mod tests;

use std::time::Duration;

use seatrial_core::machine::{Boxed, Step};
use seatrial_core::store::expiring::{Op as Call, Ret};

use crate::conformance::Conformance;
use crate::events::fixtures::{NAMES, OF_THE_SHELL, Object, named};
use crate::single_step::{AtOnce, Behind};
use crate::stores::fixtures::Plain;
use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
};

pub use op::{Machine, Op, check, check_on, decode};
pub use plain::PlainTimes;

/// How long objects last in every scenario.
const TIME_TO_LIVE: Duration = Duration::from_millis(20);

/// The expiring store, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct ExpiringStore;

type Event = EventOf<ExpiringStore>;
type History = HistoryOf<ExpiringStore>;

impl Component for ExpiringStore {
    type Machine = Machine;

    const NAME: &'static str = "expiring_store";
    const SAYS: &'static str = "the store whose objects expire";

    fn machine() -> MachineOf<Self> {
        Box::new(op::machine(TIME_TO_LIVE))
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    fn never_alone() -> &'static [(&'static str, &'static str)] {
        &[("nothing_alive_is_missed", NAMES), ("one_step_a_call", OF_THE_SHELL)]
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        let ret = match outcome {
            Step::Done(ret) | Step::Held(ret) => ret,
            Step::Wait { .. } => return format!("{op:?} waits"),
        };
        match (op, ret) {
            (Call::Put(put), _) => format!("add {}", named(&put.object)),
            (Call::Delete(delete), _) => format!("delete {}", delete.0.key()),
            (Call::Replace(list), _) => {
                format!("list {}", named(list.0.iter().map(|keyed| &keyed.object)))
            }
            (Call::Get(get), Ret::Get(Ok(object))) => {
                format!("get {} -> {}", get.0.key(), named(object))
            }
            (Call::Get(get), _) => format!("get {} -> expired", get.0.key()),
            (Call::List(_), Ret::List((alive, _))) => format!("list -> {}", named(alive)),
            (_, ret) => format!("{ret:?}"),
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        let tried = move |_| Boxed::<Machine>(Box::new(AtOnce::but(|_| false, Behind(make()))));
        Some(Box::new(move |bytes| check_on(&decode(bytes), tried)))
    }
}

impl Plain for ExpiringStore {
    type Plain = PlainTimes;

    fn plain() -> PlainTimes {
        PlainTimes::default()
    }

    /// Objects that are thrown away are no part of an answer: they only end outside the lock.
    fn settle(ret: &mut Ret<u8, Object>) {
        match ret {
            Ret::Delete(gone) => *gone = None,
            Ret::Replace(gone) => gone.clear(),
            Ret::Get(found) => *found = Ok(found.as_ref().ok().copied().flatten()),
            Ret::List((alive, expired)) => {
                alive.sort_unstable();
                expired.clear();
            }
            Ret::ListKeys(keys) => keys.sort_unstable(),
            Ret::Put(()) => {}
        }
    }
}
