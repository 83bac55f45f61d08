//! The calls of a cluster that are on their way.

use seatrial_core::elector::{Io, StoreError, Stored};

use super::faults::Fate;

/// One call on its way.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) process: u16,
    /// What is asked; `None` once it has arrived.
    pub(super) io: Option<Io>,
    pub(super) fate: Fate,
    pub(super) answer: Option<Result<Stored, StoreError>>,
}

/// All calls. Numbers are given once and for ever, but only what is on its way keeps its contents:
/// a run makes thousands of calls, and hardly more than one of each process at a time.
#[derive(Debug, Default)]
pub(super) struct Calls {
    owners: Vec<u16>,
    on_their_way: Vec<(u32, Call)>,
}

impl Calls {
    /// Takes note of a call and numbers it.
    pub(super) fn add(&mut self, call: Call) -> u32 {
        let number = self.owners.len() as u32;
        self.owners.push(call.process);
        self.on_their_way.push((number, call));
        number
    }

    /// Returns whose call it is or was.
    pub(super) fn owner(&self, call: u32) -> u16 {
        self.owners[call as usize]
    }

    /// Returns a call that is on its way.
    pub(super) fn get_mut(&mut self, call: u32) -> Option<&mut Call> {
        self.on_their_way.iter_mut().rev().find(|(number, _)| *number == call).map(|(_, call)| call)
    }

    /// Its caller waits for it no longer. A request that is yet to arrive stays on its way.
    pub(super) fn leave(&mut self, call: u32) {
        let arrives = |call: &Call| call.io.is_some() && call.fate.request.is_some();
        self.on_their_way.retain(|(number, it)| *number != call || arrives(it));
    }

    pub(super) fn clear(&mut self) {
        self.owners.clear();
        self.on_their_way.clear();
    }
}
