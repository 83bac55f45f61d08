//! Small concurrent programs on a tree of tokens, each named by the case that it must reach.

mod ends;
mod loops;
mod parts;
mod told;

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use seatrial_core::cancel::{CancelToken, OnEnd, Op, Tree};
use seatrial_core::machine::Boxed;
use seatrial_core::runtime::{Instant, Runtime};

use super::family::{Family, Token, pair, word};
use super::{Cancel, Event, History};
use crate::trial::{DynScenario, Ledger as _, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Cancel>>> {
    vec![
        Box::new(ends::TwoWaiters),
        Box::new(ends::LeafAmongWaiters),
        Box::new(ends::Grandchild),
        Box::new(ends::ChildWhileCancelled),
        Box::new(ends::TwoCancel),
        Box::new(ends::DroppedWhileCancelled),
        Box::new(told::DeadlineAndCancel),
        Box::new(told::Hooks),
        Box::new(told::HooksComeLast),
        Box::new(told::MovedTask),
        Box::new(told::MovedTurn),
        Box::new(told::TurnAtTheDeadline),
        Box::new(told::Awaited),
        Box::new(told::AskedWhileCancelled),
        Box::new(told::TurnGivenBack),
        Box::new(parts::Pieces),
        Box::new(parts::GrownDelays),
        Box::new(parts::StoppedLimiter),
        Box::new(parts::EndedInTime),
        Box::new(parts::ManyBelow),
        Box::new(parts::DelaysStartOver),
        Box::new(parts::WatchedObjects),
        Box::new(loops::LoopsKeepTime),
        Box::new(loops::LoopIsCancelled),
        Box::new(loops::Throttled),
    ]
}

const MS: Duration = Duration::from_millis(1);

/// A token; it notes the calls on it.
struct Tried<R: Runtime> {
    token: CancelToken<R, Boxed<Tree>>,
    number: Token,
    world: World<R, Cancel>,
}

impl<R: Runtime> Clone for Tried<R> {
    fn clone(&self) -> Self {
        let (token, world) = (self.token.clone(), self.world.clone());
        Self { token, number: self.number, world }
    }
}

impl<R: Runtime> Tried<R> {
    /// Makes the first token.
    fn root(world: &World<R, Cancel>) -> Self {
        Self::root_until(world, Instant::NEVER)
    }

    fn root_until(world: &World<R, Cancel>, deadline: Instant) -> Self {
        let maker = world.clone();
        let token = CancelToken::with_host(world.runtime(), deadline, move || maker.machine());
        Self { token, number: 0, world: world.clone() }
    }

    /// Makes a child. Its number is the number of tokens that were made before it.
    fn child(&self, number: Token) -> Self {
        self.child_until(number, Instant::NEVER)
    }

    fn child_until(&self, number: Token, deadline: Instant) -> Self {
        let token = self.token.child_with_deadline(deadline);
        self.world.note("child", pair(self.number, number));
        Self { token, number, world: self.world.clone() }
    }

    fn cancel(&self) {
        self.world.note("cancels", self.number);
        self.token.cancel();
        self.world.note("cancelled", self.number);
    }

    fn ask(&self) {
        self.world.note("asks", self.number);
        let reason = self.token.reason();
        self.world.note("answers", pair(self.number, word(reason)));
    }

    fn wait(&self) {
        self.world.note("waits", self.number);
        let reason = self.token.wait();
        self.world.note("answers", pair(self.number, word(Some(reason))));
    }

    async fn wait_async(&self) {
        self.world.note("waits", self.number);
        let reason = self.token.wait_async().await;
        self.world.note("answers", pair(self.number, word(Some(reason))));
    }

    fn hook(&self, hook: u64) -> Hooked<R> {
        let waker = Waker::from(Arc::new(Rings { world: self.world.clone(), hook }));
        let left = self.token.on_end(waker);
        self.world.note("hooks", pair(hook, self.number));
        Hooked { hook, left, world: self.world.clone() }
    }

    /// Drops the last copy of the token.
    fn drop_last(self) {
        let Self { token, number, world } = self;
        drop(token);
        world.note("dropped", number);
    }

    /// Starts a thread that uses a copy of the token.
    fn spawn(&self, name: &str, run: impl FnOnce(Self) + Send + 'static) -> R::Join<()> {
        let own = self.clone();
        self.world.spawn(name, move || run(own))
    }
}

/// A registered hook.
struct Hooked<R: Runtime> {
    hook: u64,
    left: OnEnd<R, Boxed<Tree>>,
    world: World<R, Cancel>,
}

impl<R: Runtime> Hooked<R> {
    fn take_back(self) {
        drop(self.left);
        self.world.note("unhooks", self.hook);
    }
}

struct Rings<R: Runtime> {
    world: World<R, Cancel>,
    hook: u64,
}

impl<R: Runtime> Wake for Rings<R> {
    fn wake(self: Arc<Self>) {
        self.world.note("rings", self.hook);
    }
}

/// Tells whether an event meets a condition that also sees the state before it.
fn some(history: &History, wanted: impl Fn(&Family, &Event) -> bool) -> bool {
    Family::some(history, wanted)
}

/// Tells whether this many threads wait when a token is cancelled.
fn waited_for(history: &History, token: Token, waiters: usize) -> bool {
    some(history, |before, event| {
        let ends = matches!(event.what, What::Step { op: Op::Cancel(_), .. });
        ends && Token::from(event.object) == token && before.waits.len() == waiters
    })
}
