//! What the writers saw last, and what the consumer will have: both must be the same.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_core::delta_fifo::{Op, Ret};

use super::{Change, Led, Over};
use crate::events::fixtures::{Object, apply, left_by};

/// What the writers saw, and what was handed out.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The objects that the writers saw last (`cache:INV-3`).
    pub(super) seen: BTreeMap<u8, Object>,
    /// The objects of a consumer that applies every entry that it is handed.
    pub(super) handed: BTreeMap<u8, Object>,
    /// Keys whose entries the consumer did not apply although it could.
    pub(super) forgone: BTreeSet<u8>,
    /// Keys whose entries are being processed, each with the thread that processes it.
    in_process: Vec<(u8, u8)>,
}

impl View {
    /// The view of a consumer that has these objects.
    pub(super) fn of(known: &BTreeMap<u8, Object>) -> Self {
        Self { seen: known.clone(), handed: known.clone(), ..Self::default() }
    }

    pub(super) fn see(&mut self, over: &Over<'_>) {
        match (over.op, over.ret) {
            (Op::Put(put), _) => {
                if let (Some(key), Some(Ok(object))) = (&put.key, &put.object) {
                    self.seen.insert(*key.key(), *object);
                }
            }
            (Op::Delete(delete), _) => {
                if let (Some(key), Some(Ok(_))) = (&delete.key, &delete.last) {
                    self.seen.remove(key.key());
                }
            }
            (Op::Replace(list), _) => {
                if list.refused.is_none() {
                    self.seen.clear();
                }
                let objects = list.objects.iter().map(|keyed| (*keyed.key.key(), keyed.object));
                self.seen.extend(objects);
            }
            (Op::Pop(_), Ret::Pop(Some(popped))) => {
                apply(&mut self.handed, &popped.key, &popped.deltas);
                self.in_process.push((over.thread, popped.key));
            }
            (Op::Processed(_), _) => {
                let mine = self.in_process.iter().position(|(thread, _)| *thread == over.thread);
                let Some((_, key)) = mine.map(|at| self.in_process.remove(at)) else { return };
                if over.state.known.get(&key) == self.handed.get(&key) {
                    self.forgone.remove(&key);
                } else {
                    self.forgone.insert(key);
                }
            }
            _ => {}
        }
    }
}

/// Returns the pending changes of an object, oldest first.
pub(super) fn deltas(pending: &[(u8, Vec<Change>)], key: u8) -> &[Change] {
    pending.iter().find(|(pending, _)| *pending == key).map_or(&[], |(_, deltas)| deltas)
}

/// Returns the object that the consumer will have once everything is applied to its store: from the
/// pending changes, else from its store or from what it was handed.
fn outcome(now: &Led, key: u8) -> Option<Object> {
    if let Some(newest) = deltas(&now.state.waiting, key).last() {
        return left_by(newest).copied();
    }
    let View { in_process, forgone, handed, .. } = &now.view;
    let applied = !in_process.iter().any(|(_, other)| *other == key) && !forgone.contains(&key);
    if applied { now.state.known.get(&key) } else { handed.get(&key) }.copied()
}

/// A queue that does not know its consumer's objects drops deletions of objects that it has handed
/// out; that is its rule (`cache:DF-9`). It promises nothing here.
pub(super) fn nothing_is_lost(now: &Led) -> Result<(), String> {
    if now.config.known.is_none() {
        return Ok(());
    }
    let pending = now.state.waiting.iter().map(|(key, _)| key);
    let stored = now.state.known.keys().chain(now.view.handed.keys());
    for key in now.view.seen.keys().chain(pending).chain(stored) {
        let (saw, outcome) = (now.view.seen.get(key).copied(), outcome(now, *key));
        if saw != outcome {
            return Err(format!(
                "of object {key} the consumer will have {outcome:?} where the writers saw {saw:?}"
            ));
        }
    }
    Ok(())
}
