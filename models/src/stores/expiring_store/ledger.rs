//! Follows a history call by call: the stored objects, and the times at which they were stored.

use seatrial_core::machine::Step;
use seatrial_core::runtime::Instant;
use seatrial_core::store::expiring::{Op, Ret};

use super::{Event, ExpiringStore, Spec, TIME_TO_LIVE};
use crate::events::fixtures::Object;
use crate::trial::{self, What};

/// The note of a thread that is about to make a call; its value is a [`Called`].
pub(super) const CALLS: &str = "calls";

/// The kind of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Called {
    Put,
    Delete,
    Replace,
    Get,
    List,
    ListKeys,
}

impl Called {
    /// Returns the kind of call that a step belongs to.
    pub(super) fn by(op: &Op<u8, Object>) -> Self {
        match op {
            Op::Put(_) => Self::Put,
            Op::Delete(_) => Self::Delete,
            Op::Replace(_) => Self::Replace,
            Op::Get(_) => Self::Get,
            Op::List(_) => Self::List,
            Op::ListKeys(_) => Self::ListKeys,
        }
    }
}

/// The state before an event, derived from the history.
#[derive(Clone, Debug)]
pub(super) struct ExpiringLedger {
    /// The sequential object, given the same calls.
    pub(super) spec: Spec,
}

impl Default for ExpiringLedger {
    fn default() -> Self {
        Self { spec: Spec::lasting(TIME_TO_LIVE) }
    }
}

impl trial::Ledger<ExpiringStore> for ExpiringLedger {
    fn apply(&mut self, event: &Event) {
        let What::Step { op, outcome: Step::Done(ret) | Step::Held(ret), .. } = &event.what else {
            return;
        };
        match (op, ret) {
            (Op::Put(put), _) => {
                if let Some(object) = put.object {
                    self.spec.put(object, event.at);
                }
            }
            (Op::Delete(delete), _) => drop(self.spec.items.remove(delete.0.key())),
            (Op::Replace(list), _) => {
                let list: Vec<_> = list.0.iter().map(|keyed| keyed.object).collect();
                self.spec.replace(&list, event.at);
            }
            (Op::Get(get), _) => drop(self.spec.get(*get.0.key(), event.at)),
            (Op::List(_), _) => drop(self.spec.list(event.at)),
            (Op::ListKeys(_), _) => {}
        }
    }
}

/// Returns the objects that a call read, and when it read them.
pub(super) fn read(event: &Event) -> Option<(Vec<Object>, Instant)> {
    let objects = match event.returned()?.1 {
        Ret::Get(Ok(object)) => object.iter().copied().collect(),
        Ret::Get(Err(_)) => vec![],
        Ret::List((alive, _)) => {
            let mut alive = alive.clone();
            alive.sort_unstable();
            alive
        }
        _ => return None,
    };
    Some((objects, event.at))
}
