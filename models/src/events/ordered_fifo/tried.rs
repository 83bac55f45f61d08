//! The queue under trial: how a scenario makes it, and what it shows of its state.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use seatrial_core::fifo::SlowHook;
use seatrial_core::machine::Boxed;
use seatrial_core::ordered_fifo::{Event, Mode, OrderedFifo, OrderedQueue};
use seatrial_core::store::Intake;

use super::{EventList, Machine as Rules, MachineOp, OrderedFifo as Page, Setup};
use crate::engine::AnyRuntime;
use crate::events::fixtures::{self, Hosted, Made, Object, Shown, transform};
use crate::trial::MachineOf;

/// An event of the queue.
pub(super) type Happened = Event<u8, Object>;
/// The consumer's store.
pub(super) type Store = fixtures::Store<u8, Object>;
/// The queue that scenarios use: the shell that ships around a machine under trial.
pub(super) type Queue = OrderedFifo<u8, Object, Store, AnyRuntime, Hosted<Page>>;

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
#[derive(Clone, Debug)]
pub struct Config {
    /// The consumer's store, in plain mode.
    pub(super) known: Option<Store>,
    /// The other options.
    pub(super) setup: Setup,
}

impl Config {
    /// One event per object; the queue reads the consumer's store.
    pub(super) fn plain(known: Store) -> Self {
        Self { known: Some(known), ..Self::atomic() }
    }

    /// One event per list, the lock held while it is processed.
    pub(super) fn atomic() -> Self {
        let setup = Setup {
            atomic: true,
            unlock: false,
            emit_bookmarks: false,
            transform: false,
            batch_size: NonZeroUsize::new(3).expect("three is not zero"),
        };
        Self { known: None, setup }
    }

    /// The configuration of informers: one event per list, processed with the lock released.
    pub(super) fn informer() -> Self {
        let mut config = Self::atomic();
        config.setup.unlock = true;
        config
    }

    /// With at most this many events in a batch.
    pub(super) fn batches_of(mut self, size: usize) -> Self {
        self.setup.batch_size = NonZeroUsize::new(size).expect("a batch has one event at least");
        self
    }

    /// With bookmarks as events.
    pub(super) fn with_bookmarks(mut self) -> Self {
        self.setup.emit_bookmarks = true;
        self
    }

    /// With a transformer.
    pub(super) fn transformed(mut self) -> Self {
        self.setup.transform = true;
        self
    }

    /// Tells whether the lock must be released with this many events left in the queue.
    pub(super) fn unlocks(&self, left: usize) -> bool {
        self.known.is_none()
            && self.setup.unlock
            && left < self.setup.batch_size.get().saturating_mul(2)
    }

    fn mode(&self) -> Mode<Store> {
        match &self.known {
            Some(known) => Mode::Plain { known: known.clone() },
            None => Mode::Atomic {
                unlock_while_processing: self.setup.unlock,
                emit_bookmarks: self.setup.emit_bookmarks,
            },
        }
    }

    fn intake(&self) -> Intake<u8, Object> {
        let intake = self.setup.intake();
        if self.setup.transform { intake.with_transform(transform) } else { intake }
    }
}

/// The visible state of a queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// The events that wait, oldest first.
    pub(super) events: Vec<Happened>,
    /// The consumer's objects, if the queue knows them.
    pub(super) known: Option<BTreeMap<u8, Object>>,
}

impl State {
    fn of(events: Vec<Happened>, config: &Config) -> Self {
        Self { events, known: config.known.as_ref().map(|store| store.objects().clone()) }
    }
}

impl Shown<Page> for Rules {
    fn shown(&self, config: &Config) -> State {
        State::of(self.iter().collect(), config)
    }
}

impl Shown<Page> for EventList {
    fn shown(&self, config: &Config) -> State {
        State::of(self.events(), config)
    }
}

/// The machine that ships.
pub(super) fn ships(config: &Config) -> Rules {
    OrderedQueue::new(config.intake(), config.mode(), config.setup.batch_size.get())
}

/// Makes a queue out of a machine under trial.
pub(super) fn queue(
    runtime: &AnyRuntime,
    machine: Boxed<Tried>,
    config: Config,
    on_slow: Option<SlowHook>,
) -> Queue {
    let (intake, atomic) = (config.intake(), config.known.is_none());
    OrderedFifo::with_host(runtime, intake, atomic, on_slow, Hosted::made(runtime, machine, config))
}

/// Makes a queue of a lone caller out of a machine under trial, over the caller's store.
pub(super) fn alone(machine: MachineOf<Page>, setup: Setup, known: Option<Store>) -> Boxed<Rules> {
    let may_wait = |op: &MachineOp| {
        matches!(op, MachineOp::Pop(_) | MachineOp::PopBatch(_) | MachineOp::WaitForSync(_))
    };
    fixtures::alone(machine, Config { known, setup }, may_wait)
}
