//! The queue under trial: how a scenario makes it, and what it shows of its state.

use std::collections::BTreeMap;

use seatrial_core::delta_fifo::{Delta, DeltaFifo, DeltaQueue};
use seatrial_core::fifo::SlowHook;
use seatrial_core::machine::Boxed;
use seatrial_core::store::{Intake, KeyHasher};

use super::{DeltaFifo as Page, Machine as Rules, MachineOp, Setup};
use crate::engine::AnyRuntime;
use crate::events::fixtures::{self, Hosted, Made, Object, Shown, key_of, transform};
use crate::trial::MachineOf;

/// A change of an object.
pub(super) type Change = Delta<u8, Object>;
/// The consumer's store.
pub(super) type Store = fixtures::Store<u8, Object>;
/// The queue that scenarios use: the shell that ships around a machine under trial.
pub(super) type Queue = DeltaFifo<u8, Object, Store, AnyRuntime, Hosted<Page>>;

/// The machine under trial.
pub type Tried = fixtures::Tried<Page>;
/// A call on it.
pub type Call = fixtures::Call<Page>;
/// The result of a call, and the state after it.
pub type Reply = fixtures::Reply<Page>;
/// A call that ended a step with a result.
pub(super) type Over<'a> = fixtures::Over<'a, Page>;

impl Made for Page {
    type Rules = Rules;
    type Config = Config;
    type State = State;
}

/// How a queue is made.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The consumer's store, if the queue knows it.
    pub(super) known: Option<Store>,
    /// Whether lists are told apart from resyncs.
    pub(super) emit_replaced: bool,
    /// Whether there is a transformer.
    pub(super) transform: bool,
}

impl Config {
    /// The configuration that informers use.
    pub(super) fn informer(known: Store) -> Self {
        Self { known: Some(known), emit_replaced: true, transform: false }
    }

    /// Combines the pending changes and the consumer's objects.
    pub(super) fn state(&self, pending: Vec<(u8, Vec<Change>)>) -> State {
        let known = self.known.as_ref().map(|store| store.objects().clone());
        State { pending, known: known.unwrap_or_default() }
    }
}

/// The visible state of a queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// The pending changes, in the order of delivery.
    pub(super) pending: Vec<(u8, Vec<Change>)>,
    /// The consumer's objects, if the queue knows them.
    pub(super) known: BTreeMap<u8, Object>,
}

impl State {
    /// Returns the pending changes of an object, oldest first.
    pub(super) fn deltas(&self, key: u8) -> &[Change] {
        let found = self.pending.iter().find(|(pending, _)| *pending == key);
        found.map_or(&[], |(_, deltas)| deltas)
    }

    /// Tells whether an object has pending changes.
    pub(super) fn is_pending(&self, key: u8) -> bool {
        self.pending.iter().any(|(pending, _)| *pending == key)
    }
}

impl Shown<Page> for Rules {
    fn shown(&self, config: &Config) -> State {
        config.state(self.iter().map(|(key, deltas)| (*key, deltas.to_vec())).collect())
    }
}

/// The machine that ships.
pub(super) fn ships(config: &Config) -> Rules {
    DeltaQueue::new(KeyHasher::fixed(7), config.known.clone(), config.emit_replaced)
}

/// Makes a queue out of a machine under trial.
pub(super) fn queue(
    runtime: &AnyRuntime,
    machine: Boxed<Tried>,
    config: Config,
    on_slow: Option<SlowHook>,
) -> Queue {
    let mut intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
    if config.transform {
        intake = intake.with_transform(transform);
    }
    DeltaFifo::with_host(runtime, intake, on_slow, Hosted::made(runtime, machine, config))
}

/// Makes a queue of a lone caller out of a machine under trial, over the caller's store.
pub(super) fn alone(machine: MachineOf<Page>, setup: Setup, known: Option<Store>) -> Boxed<Rules> {
    let Setup { emit_replaced, transform, .. } = setup;
    let may_wait = |op: &MachineOp| matches!(op, MachineOp::Pop(_) | MachineOp::WaitForSync(_));
    fixtures::alone(machine, Config { known, emit_replaced, transform }, may_wait)
}
