//! What trials of stores and queues of objects share: objects, a consumer's store, and objects as
//! recorded traces write them.

mod asleep;
mod at_once;
mod stage;
mod store;
pub(crate) mod traced;
mod tried;
mod wakes;

use std::sync::Arc;

use seatrial_core::delta_fifo::Delta;
use seatrial_core::fifo::EnqueueError;
use seatrial_core::machine::{Cx, Machine, Passed, Step};
use seatrial_core::store::{Cause, LastState, NoMetadata};

pub(crate) use asleep::{Asleep, Bed};
pub(crate) use at_once::{at_once, wait_says};
pub(crate) use stage::{MISSED, PANICS, Stage};
pub use store::Store;
pub(crate) use store::left_by;
pub use tried::{Call, Made, Reply, Tried};
pub(crate) use tried::{Hosted, Shown, alone};
pub(crate) use wakes::{queue_wakes, requeue_wakes, shell_wakes};

/// Why an invariant is stated although the sequential object sees whatever it sees.
pub(crate) const NAMES: &str = "the sequential object says all that can be said of what waits and \
                                what comes; this names what is wrong";

/// Why it is stated that the first list is processed for good.
pub(crate) const TAKEN_BACK: &str = "a yes that is taken back came too early, or the no comes too \
                                     late: `never_synced_early` or `synced_once_processed`; this \
                                     needs no count of the list";

/// A key and a version. Key 0 is refused by [`key_of`], version 13 by [`transform`].
pub type Object = (u8, u8);

/// The key function: the key, but 0 is none.
///
/// # Errors
/// The key is 0.
pub fn key_of(object: &Object) -> Result<u8, Cause> {
    if object.0 == 0 { Err(Arc::new(NoMetadata)) } else { Ok(object.0) }
}

/// The transformer: it adds 100 to the version.
///
/// # Errors
/// The version is 13.
pub fn transform(object: Object) -> Result<Object, Cause> {
    if object.1 == 13 {
        Err(Arc::new(NoMetadata))
    } else {
        Ok((object.0, object.1.wrapping_add(100)))
    }
}

/// Transforms a change once more, as if that had not been done.
pub(crate) fn transformed_again(change: &Delta<u8, Object>) -> Delta<u8, Object> {
    let again = |object: &Object| transform(*object).unwrap_or(*object);
    match change {
        Delta::Added(object) => Delta::Added(again(object)),
        Delta::Updated(object) => Delta::Updated(again(object)),
        Delta::Replaced(object) => Delta::Replaced(again(object)),
        Delta::Sync(object) => Delta::Sync(again(object)),
        Delta::Deleted(LastState::Final(object)) => Delta::Deleted(LastState::Final(again(object))),
        tombstone @ Delta::Deleted(_) => tombstone.clone(),
    }
}

/// Writes objects as pictures of an interleaving show them: `1v2 3v1`.
pub(crate) fn named<'a>(objects: impl IntoIterator<Item = &'a Object>) -> String {
    let all: Vec<_> =
        objects.into_iter().map(|(key, version)| format!("{key}v{version}")).collect();
    if all.is_empty() { "nothing".to_owned() } else { all.join(" ") }
}

/// Writes a last state: `1v2`, or what is known of an object whose deletion nobody saw.
pub(crate) fn named_last(last: &LastState<u8, Object>) -> String {
    match last {
        LastState::Final(object) => named([object]),
        LastState::Tombstone(tombstone) => {
            format!("{} unseen, last {}", tombstone.key, named(&tombstone.object))
        }
    }
}

/// Writes a change: `Updated 1v2`.
pub(crate) fn named_change(change: &Delta<u8, Object>) -> String {
    match change {
        Delta::Deleted(last) => format!("Deleted {}", named_last(last)),
        other => format!("{} {}", other.kind(), named(other.object())),
    }
}

/// Returns how a call ended, in a word.
pub(crate) fn said(result: &Result<(), EnqueueError>) -> &'static str {
    match result {
        Ok(()) => "ok",
        Err(EnqueueError::Key(_)) => "key",
        Err(EnqueueError::Transform(_)) => "transform",
        Err(_) => "another error",
    }
}

/// Returns how a call must end for an object that has a key or not, and that the transformer takes
/// or not.
pub(crate) fn expected(has_key: bool, taken: bool) -> &'static str {
    match (has_key, taken) {
        (false, _) => "key",
        (true, false) => "transform",
        (true, true) => "ok",
    }
}

/// A machine that is checked against its own rules after every step.
#[derive(Debug)]
pub struct Checked<M>(pub M);

impl<M: Machine> Machine for Checked<M> {
    type Op = M::Op;
    type Ret = M::Ret;

    fn step(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) -> Step<M::Ret> {
        let step = self.0.step(op, cx);
        self.0.assert_valid();
        step
    }

    fn cancel(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) {
        self.0.cancel(op, cx);
        self.0.assert_valid();
    }

    fn passes_on(&mut self, what: Passed) -> bool {
        self.0.passes_on(what)
    }
}
