//! The queue under trial: the machine that ships or a broken one, made by its scenario, and
//! showing after every step what is pending and what the consumer has.
//!
//! A scenario chooses the store and the options; so making the queue is the first call on it. What
//! the store knows and what is pending is written down with the result of every call, inside the
//! critical section: invariants look at every moment at which the lock is free (`cache:INV-3`),
//! not only at what calls return.

use std::collections::BTreeMap;
use std::sync::Arc;

use seatrial_core::delta_fifo::{Delta, DeltaFifo, DeltaQueue};
use seatrial_core::fifo::Intake;
use seatrial_core::machine::{Boxed, Cx, Host, Machine, Operation, Step};
use seatrial_core::runtime::Runtime;
use seatrial_core::store::KeyHasher;

use super::{Machine as Rules, MachineOp, MachineRet, Setup};
use crate::by_hand::{HandClock, NeverWaits};
use crate::objects::{self, Edited, Object, key_of, transform};
use crate::trial::MachineOf;

/// A change of an object.
pub(super) type Change = Delta<u8, Object>;
/// The consumer's store.
pub(super) type Store = objects::Store<u8, Object>;
/// The queue that scenarios use: the shell that ships around a machine under trial.
pub(super) type Queue<R> = DeltaFifo<u8, Object, Store, R, Hosted>;

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
    /// Chooses what informers choose.
    pub(super) fn informer(known: Store) -> Self {
        Self { known: Some(known), emit_replaced: true, transform: false }
    }
}

/// A call on the queue under trial.
#[derive(Clone, Debug)]
pub enum Call {
    /// Makes it; the first call, and the only one of its kind.
    Make(Config),
    /// Everything else.
    Queue(MachineOp),
}

/// What a call returned, and the state that it left.
#[derive(Clone, Debug)]
pub struct Reply {
    /// `None` of the call that makes the queue.
    pub(super) ret: Option<MachineRet>,
    /// The state.
    pub(super) state: Arc<State>,
}

/// What a queue shows of itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// The pending changes, in the order of delivery.
    pub(super) pending: Vec<(u8, Vec<Change>)>,
    /// What the consumer has, if the queue knows.
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

/// A machine that shows what is pending.
pub(super) trait Shown: Machine<Op = MachineOp, Ret = MachineRet> {
    fn pending(&self) -> Vec<(u8, Vec<Change>)>;
}

impl Shown for Rules {
    fn pending(&self) -> Vec<(u8, Vec<Change>)> {
        self.iter().map(|(key, deltas)| (*key, deltas.to_vec())).collect()
    }
}

impl<M: Shown> Shown for Edited<M> {
    fn pending(&self) -> Vec<(u8, Vec<Change>)> {
        self.machine.pending()
    }
}

/// A queue that is yet to be made, or was.
pub struct Tried {
    make: fn(&Config) -> Box<dyn Shown>,
    made: Option<(Box<dyn Shown>, Option<Store>)>,
}

/// The machine that ships.
pub(super) fn ships(config: &Config) -> Rules {
    DeltaQueue::new(KeyHasher::fixed(7), config.known.clone(), config.emit_replaced)
}

impl Tried {
    pub(super) fn by(make: fn(&Config) -> Box<dyn Shown>) -> MachineOf<super::DeltaFifo> {
        Box::new(Self { make, made: None })
    }

    fn machine(&mut self) -> &mut dyn Shown {
        &mut *self.made.as_mut().expect("the first call makes the queue").0
    }

    fn state(&self) -> State {
        let (machine, store) = self.made.as_ref().expect("the first call makes the queue");
        let known = store.as_ref().map(|store| store.objects().clone());
        State { pending: machine.pending(), known: known.unwrap_or_default() }
    }
}

impl Machine for Tried {
    type Op = Call;
    type Ret = Reply;

    fn step(&mut self, call: &mut Call, cx: &mut Cx<'_>) -> Step<Reply> {
        let step = match call {
            Call::Make(config) => {
                self.made = Some(((self.make)(config), config.known.clone()));
                Step::Done(None)
            }
            Call::Queue(op) => self.machine().step(op, cx).map(Some),
        };
        step.map(|ret| Reply { ret, state: Arc::new(self.state()) })
    }

    fn cancel(&mut self, call: &mut Call, cx: &mut Cx<'_>) {
        if let Call::Queue(op) = call {
            self.machine().cancel(op, cx);
        }
    }

    fn assert_valid(&self) {
        if let Some((machine, _)) = &self.made {
            machine.assert_valid();
        }
    }
}

impl std::fmt::Debug for Tried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tried").field("made", &self.made.is_some()).finish_non_exhaustive()
    }
}

/// What the shell that ships holds under its lock in a trial.
#[derive(Debug)]
pub(super) struct Hosted(Boxed<Tried>);

impl Host<Rules> for Hosted {
    fn run<O: Operation<Rules>>(&mut self, op: &mut O, cx: &mut Cx<'_>) -> Step<O::Ret> {
        let mut call = Call::Queue(op.clone().embed());
        let step = self.0.0.step(&mut call, cx);
        if let Call::Queue(data) = call {
            *op = O::project(data);
        }
        step.map(|reply| O::result(reply.ret.expect("a call on a queue returns something")))
    }

    fn give_up<O: Operation<Rules>>(&mut self, op: &mut O, cx: &mut Cx<'_>) {
        self.0.0.cancel(&mut Call::Queue(op.clone().embed()), cx);
    }
}

/// Stands in for the machine that ships where a lone caller makes the calls.
struct Alone(MachineOf<super::DeltaFifo>);

impl Machine for Alone {
    type Op = MachineOp;
    type Ret = MachineRet;

    fn step(&mut self, op: &mut MachineOp, cx: &mut Cx<'_>) -> Step<MachineRet> {
        let mut call = Call::Queue(op.clone());
        let step = self.0.step(&mut call, cx);
        if let Call::Queue(changed) = call {
            *op = changed;
        }
        step.map(|reply| reply.ret.expect("a call on a queue returns something"))
    }

    fn assert_valid(&self) {
        self.0.assert_valid();
    }
}

/// Makes a queue of a lone caller out of a machine under trial, over the caller's store.
pub(super) fn alone(
    mut machine: MachineOf<super::DeltaFifo>,
    setup: Setup,
    known: Option<Store>,
) -> Boxed<Rules> {
    let Setup { emit_replaced, transform, .. } = setup;
    let config = Config { known, emit_replaced, transform };
    let made = machine.step(&mut Call::Make(config), &mut Cx::new(&HandClock::default()));
    assert!(matches!(made, Step::Done(_)), "making a queue waits for nobody");
    Boxed(Box::new(NeverWaits(Alone(machine))))
}

/// Makes a queue out of a machine under trial.
pub(super) fn queue<R: Runtime>(
    runtime: &R,
    mut machine: Boxed<Tried>,
    config: Config,
) -> Queue<R> {
    let mut intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
    if config.transform {
        intake = intake.with_transform(transform);
    }
    let made = machine.0.step(&mut Call::Make(config), &mut Cx::new(runtime));
    assert!(matches!(made, Step::Done(_)), "making a queue waits for nobody");
    DeltaFifo::with_host(runtime, intake, None, Hosted(machine))
}
