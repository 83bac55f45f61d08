//! The shell that is tried, and calls on it that note their actions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use seatrial_core::machine::{Boxed, Cx, Operation, Step};
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::Runtime;

use super::gate::{Decide, Gate, Hand, Put, Shut, Take, TakeHeld};
use super::reference::Reference;
use super::{Shell, Which};
use crate::engine::AnyRuntime;
use crate::trial::{Join, World};

/// The shell that ships, or a broken one.
#[allow(clippy::large_enum_variant, reason = "there is one for each execution")]
enum Tried {
    Ships(Monitor<Gate, AnyRuntime>),
    Broken(Reference),
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

impl Tried {
    fn call<O: Operation<Gate>>(&self, op: O) -> O::Ret {
        match self {
            Self::Ships(monitor) => monitor.call(op),
            Self::Broken(reference) => reference.call(op),
        }
    }

    fn around<A: Operation<Gate>, B: Operation<Gate>>(
        &self,
        first: A,
        abandon: B,
        body: impl FnOnce(A::Ret) -> Option<B>,
    ) {
        match self {
            Self::Ships(monitor) => monitor.around(first, abandon, |ret| (body(ret), ())),
            Self::Broken(reference) => reference.around(first, abandon, body),
        }
    }

    fn call_async<O: Operation<Gate>>(&self, op: O) -> BoxFuture<'_, O::Ret> {
        match self {
            Self::Ships(monitor) => Box::pin(monitor.call_async(op)),
            Self::Broken(reference) => Box::pin(reference.call_async(op)),
        }
    }
}

/// The stage of every scenario.
#[derive(Clone)]
pub(super) struct Stage {
    world: World<Shell>,
    tried: Arc<Tried>,
}

const TAKES: Take = Take { panics: false };

impl Stage {
    pub(super) fn new(world: &World<Shell>) -> Self {
        let (runtime, Boxed(mut asked)) = (world.runtime(), world.machine());
        let tried = match asked.step(&mut Which, &mut Cx::new(runtime)) {
            Step::Done(Some(mistake)) => Tried::Broken(Reference::new(runtime, mistake)),
            _ => Tried::Ships(Monitor::new(runtime, Gate::default())),
        };
        Self { world: world.clone(), tried: Arc::new(tried) }
    }

    fn on(&self, name: &str, calls: impl FnOnce(&Self) + Send + 'static) -> Join<()> {
        let stage = self.clone();
        self.world.spawn(name, move || calls(&stage))
    }

    /// Puts items in.
    pub(super) fn put(&self, count: u32) {
        self.world.note("puts", count.into());
        self.unhurt(Put { count, panics: false });
    }

    /// Puts items in, in a step that then panics.
    pub(super) fn put_and_panic(&self, count: u32) {
        self.world.note("puts", count.into());
        let put = Put { count, panics: true };
        let panicked = catch_unwind(AssertUnwindSafe(|| self.tried.call(put))).is_err();
        self.world.note(if panicked { "panicked" } else { "hurt" }, 0);
    }

    /// Takes an item if there is one, and panics where it is decided about.
    pub(super) fn take_and_panic(&self) {
        let mut took = false;
        let back = Decide { back: true, panics: false };
        let decide = |an_item| {
            took = an_item;
            an_item.then_some(Decide { back: false, panics: true })
        };
        let around = || self.tried.around(TakeHeld, back, decide);
        let panicked = catch_unwind(AssertUnwindSafe(around)).is_err();
        if took {
            self.world.note(if panicked { "panicked" } else { "hurt" }, 0);
        }
    }

    /// Hands an item over, and waits until it is taken.
    pub(super) fn hand(&self) {
        self.world.note("puts", 1);
        self.world.note("hands", 0);
        self.tried.call(Hand::default());
        self.world.note("handed", 0);
    }

    pub(super) fn shut(&self) {
        self.world.note("shuts", 0);
        self.unhurt(Shut);
    }

    /// Makes a call that must not panic.
    fn unhurt(&self, op: impl Operation<Gate>) {
        if catch_unwind(AssertUnwindSafe(|| drop(self.tried.call(op)))).is_err() {
            self.world.note("hurt", 0);
        }
    }

    /// Takes an item on a thread.
    pub(super) fn thread(&self, number: u64) -> Join<()> {
        self.on("thread", move |stage| {
            stage.world.note("takes", number);
            stage.took(number, stage.tried.call(TAKES));
        })
    }

    /// Takes an item as a task.
    pub(super) fn task(&self, number: u64) -> Join<()> {
        self.on("task", move |stage| {
            stage.world.note("takes", number);
            let took = stage.world.runtime().block_on(stage.tried.call_async(TAKES));
            stage.took(number, took);
        })
    }

    /// Tries to take an item as a task, and panics if it finds one.
    pub(super) fn breaking_task(&self, number: u64) -> Join<()> {
        self.on("breaking", move |stage| {
            stage.world.note("takes", number);
            let taking = stage.tried.call_async(Take { panics: true });
            let runtime = stage.world.runtime();
            let took = catch_unwind(AssertUnwindSafe(|| runtime.block_on(taking)));
            if took.is_err() {
                stage.world.note("panicked", number);
            }
            stage.took(number, false);
        })
    }

    fn took(&self, number: u64, an_item: bool) {
        self.world.note(if an_item { "took" } else { "ended" }, number);
    }

    /// Begins to take an item, as a task that is polled by hand.
    pub(super) fn single_step(&self, number: u64, panics: bool) -> PolledTask<'_> {
        let bell = Bell { world: self.world.clone(), number, panics };
        let (call, waker) = (self.tried.call_async(TAKES), Waker::from(Arc::new(bell)));
        self.world.note("asks", number);
        let mut task = PolledTask { stage: self, call: Some(call), waker, number };
        task.poll();
        task
    }

    /// Notes the number of sleepers for which memory is reserved.
    pub(super) fn count_seats(&self) {
        let seats = match &*self.tried {
            Tried::Ships(monitor) => monitor.seats(),
            Tried::Broken(reference) => reference.seats(),
        };
        self.world.note("seats", seats as u64);
    }

    /// Waits for the threads.
    pub(super) fn join(&self, threads: impl IntoIterator<Item = Join<()>>) {
        threads.into_iter().for_each(|thread| self.world.join(thread));
    }
}

/// The waker of a task that is polled by hand.
struct Bell {
    world: World<Shell>,
    number: u64,
    panics: bool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.world.note("rings", self.number);
        assert!(!self.panics, "a waker breaks");
    }
}

/// A task that is polled by hand.
pub(super) struct PolledTask<'a> {
    stage: &'a Stage,
    /// `None` once it is over.
    call: Option<BoxFuture<'a, bool>>,
    waker: Waker,
    number: u64,
}

impl PolledTask<'_> {
    /// Polls the task, if it is not over.
    pub(super) fn poll(&mut self) {
        let Some(call) = &mut self.call else { return };
        self.stage.world.note("polls", self.number);
        if let Poll::Ready(took) = call.as_mut().poll(&mut Context::from_waker(&self.waker)) {
            self.call = None;
            self.stage.took(self.number, took);
        }
    }

    /// Gives up the call.
    pub(super) fn give_up(self) {
        self.stage.took(self.number, false); // before: the next call may get its place
        drop(self.call);
    }
}
