//! A queue under trial: the machine that ships or a broken one, made by its scenario, and showing
//! its state after every step.
//!
//! A scenario chooses the consumer's store and the options; so making the queue is the first call
//! on it. Its state is written down with the result of every call, inside the critical section:
//! invariants look at every moment at which the lock is free (`cache:INV-3`), not only at what
//! calls return.

use std::fmt;
use std::sync::Arc;

use seatrial_core::machine::{Boxed, Cx, Host, Machine, Operation, Passed, Step};
use seatrial_core::runtime::Runtime;

use crate::by_hand::{AtOnce, HandClock};
use crate::trial::{DynMachine, Edited, Forgetful, Retold};

/// A queue that its scenario makes.
pub trait Made: fmt::Debug + Clone + Send + Sync + 'static {
    /// The rules that ship.
    type Rules: Machine<Op: Clone + fmt::Debug, Ret: Clone + fmt::Debug>;
    /// How it is made.
    type Config: Clone + fmt::Debug + Send + 'static;
    /// What it shows of itself.
    type State: fmt::Debug + Send + Sync + 'static;
}

/// The calls on a queue's rules.
pub(crate) type RuleOp<Q> = <<Q as Made>::Rules as Machine>::Op;
/// The results of those calls.
pub(crate) type RuleRet<Q> = <<Q as Made>::Rules as Machine>::Ret;

/// A call on the queue under trial.
#[derive(Clone, Debug)]
pub enum Call<Q: Made> {
    /// Makes it; the first call, and the only one of its kind.
    Make(Q::Config),
    /// Everything else.
    Queue(RuleOp<Q>),
}

/// What a call returned, and the state that it left.
#[derive(Clone, Debug)]
pub struct Reply<Q: Made> {
    /// `None` of the call that makes the queue.
    pub(crate) ret: Option<RuleRet<Q>>,
    /// The state.
    pub(crate) state: Arc<Q::State>,
}

/// A machine that shows its state.
pub(crate) trait Shown<Q: Made>: Machine<Op = RuleOp<Q>, Ret = RuleRet<Q>> {
    fn shown(&self, config: &Q::Config) -> Q::State;
}

impl<Q: Made, M: Shown<Q>> Shown<Q> for Edited<M> {
    fn shown(&self, config: &Q::Config) -> Q::State {
        self.machine.shown(config)
    }
}

impl<Q: Made, M: Shown<Q>> Shown<Q> for Forgetful<M> {
    fn shown(&self, config: &Q::Config) -> Q::State {
        self.machine.shown(config)
    }
}

impl<Q: Made, M: Shown<Q>> Shown<Q> for Retold<M> {
    fn shown(&self, config: &Q::Config) -> Q::State {
        self.machine.shown(config)
    }
}

/// Makes the machine for a queue that is made so.
type Maker<Q> = Box<dyn Fn(&<Q as Made>::Config) -> Box<dyn Shown<Q>> + Send>;

/// A queue that is yet to be made, or was.
pub struct Tried<Q: Made> {
    make: Maker<Q>,
    made: Option<(Box<dyn Shown<Q>>, Q::Config)>,
}

impl<Q: Made> Tried<Q> {
    pub(crate) fn by(
        make: impl Fn(&Q::Config) -> Box<dyn Shown<Q>> + Send + 'static,
    ) -> DynMachine<Call<Q>, Reply<Q>> {
        Box::new(Self { make: Box::new(make), made: None })
    }

    fn machine(&mut self) -> &mut dyn Shown<Q> {
        &mut *self.made.as_mut().expect("the first call makes the queue").0
    }

    fn state(&self) -> Q::State {
        let (machine, config) = self.made.as_ref().expect("the first call makes the queue");
        machine.shown(config)
    }
}

impl<Q: Made> Machine for Tried<Q> {
    type Op = Call<Q>;
    type Ret = Reply<Q>;

    fn step(&mut self, call: &mut Call<Q>, cx: &mut Cx<'_>) -> Step<Reply<Q>> {
        let step = match call {
            Call::Make(config) => {
                self.made = Some(((self.make)(config), config.clone()));
                Step::Done(None)
            }
            Call::Queue(op) => self.machine().step(op, cx).map(Some),
        };
        step.map(|ret| Reply { ret, state: Arc::new(self.state()) })
    }

    fn cancel(&mut self, call: &mut Call<Q>, cx: &mut Cx<'_>) {
        if let Call::Queue(op) = call {
            self.machine().cancel(op, cx);
        }
    }

    fn passes_on(&mut self, what: Passed) -> bool {
        self.machine().passes_on(what)
    }

    fn assert_valid(&self) {
        if let Some((machine, _)) = &self.made {
            machine.assert_valid();
        }
    }
}

impl<Q: Made> fmt::Debug for Tried<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tried").field("made", &self.made.is_some()).finish_non_exhaustive()
    }
}

/// What the shell that ships holds under its lock in a trial.
#[derive(Debug)]
pub(crate) struct Hosted<Q: Made>(Boxed<Tried<Q>>);

impl<Q: Made> Hosted<Q> {
    /// Makes a queue out of a machine under trial.
    pub(crate) fn made<R: Runtime>(
        runtime: &R,
        mut machine: Boxed<Tried<Q>>,
        config: Q::Config,
    ) -> Self {
        let made = machine.0.step(&mut Call::Make(config), &mut Cx::new(runtime));
        assert!(matches!(made, Step::Done(_)), "making a queue waits for nobody");
        Self(machine)
    }
}

impl<Q: Made> Host<Q::Rules> for Hosted<Q> {
    fn run<O: Operation<Q::Rules>>(&mut self, op: &mut O, cx: &mut Cx<'_>) -> Step<O::Ret> {
        let mut call = Call::Queue(op.clone().embed());
        let step = self.0.0.step(&mut call, cx);
        if let Call::Queue(data) = call {
            *op = O::project(data);
        }
        step.map(|reply| O::result(reply.ret.expect("a call on a queue returns something")))
    }

    fn give_up<O: Operation<Q::Rules>>(&mut self, op: &mut O, cx: &mut Cx<'_>) {
        self.0.0.cancel(&mut Call::Queue(op.clone().embed()), cx);
    }

    fn passes_on(&mut self, what: Passed) -> bool {
        self.0.0.passes_on(what)
    }
}

/// Stands in for the machine that ships where a lone caller makes the calls.
struct Alone<Q: Made>(DynMachine<Call<Q>, Reply<Q>>);

impl<Q: Made> Machine for Alone<Q> {
    type Op = RuleOp<Q>;
    type Ret = RuleRet<Q>;

    fn step(&mut self, op: &mut RuleOp<Q>, cx: &mut Cx<'_>) -> Step<RuleRet<Q>> {
        let mut call = Call::Queue(op.clone());
        let step = self.0.step(&mut call, cx);
        if let Call::Queue(changed) = call {
            *op = changed;
        }
        step.map(|reply| reply.ret.expect("a call on a queue returns something"))
    }

    fn cancel(&mut self, op: &mut RuleOp<Q>, cx: &mut Cx<'_>) {
        self.0.cancel(&mut Call::Queue(op.clone()), cx);
    }

    fn assert_valid(&self) {
        self.0.assert_valid();
    }
}

/// Makes a queue of a lone caller out of a machine under trial, where only some calls may wait.
pub(crate) fn alone<Q: Made>(
    mut machine: DynMachine<Call<Q>, Reply<Q>>,
    config: Q::Config,
    may_wait: fn(&RuleOp<Q>) -> bool,
) -> Boxed<Q::Rules> {
    let made = machine.step(&mut Call::Make(config), &mut Cx::new(&HandClock::default()));
    assert!(matches!(made, Step::Done(_)), "making a queue waits for nobody");
    Boxed(Box::new(AtOnce::but(may_wait, Alone::<Q>(machine))))
}
