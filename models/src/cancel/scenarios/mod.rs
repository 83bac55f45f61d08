//! Small concurrent programs on a tree of tokens, each named by the case that it must reach.

mod ends;
mod loops;
mod parts;
mod told;

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use seatrial_core::cancel::{CancelToken, OnEnd, Op};
use seatrial_core::runtime::Instant;

use super::family::{Family, Token, pair, word};
use super::{Cancel, Event, History};
use crate::engine::AnyRuntime;
use crate::trial::{Join, Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<Cancel>> {
    vec![
        ends::two_waiters(),
        ends::leaf_among_waiters(),
        ends::grandchild(),
        ends::child_while_cancelled(),
        ends::two_cancel(),
        ends::dropped_while_cancelled(),
        told::deadline_and_cancel(),
        told::hooks(),
        told::hooks_come_last(),
        told::moved_task(),
        told::moved_turn(),
        told::turn_at_the_deadline(),
        told::awaited(),
        told::asked_while_cancelled(),
        told::turn_given_back(),
        parts::pieces(),
        parts::grown_delays(),
        parts::stopped_limiter(),
        parts::ended_in_time(),
        parts::many_below(),
        parts::delays_start_over(),
        parts::watched_objects(),
        loops::loops_keep_time(),
        loops::loop_is_cancelled(),
        loops::throttled(),
    ]
}

const MS: Duration = Duration::from_millis(1);

/// A token; it notes the calls on it.
#[derive(Clone)]
struct Tried {
    token: CancelToken<AnyRuntime>,
    number: Token,
    world: World<Cancel>,
}

impl Tried {
    /// Makes the first token.
    fn root(world: &World<Cancel>) -> Self {
        Self::root_until(world, Instant::NEVER)
    }

    fn root_until(world: &World<Cancel>, deadline: Instant) -> Self {
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

    fn hook(&self, hook: u64) -> Hooked {
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
    fn spawn(&self, name: &str, run: impl FnOnce(Self) + Send + 'static) -> Join<()> {
        let own = self.clone();
        self.world.spawn(name, move || run(own))
    }
}

/// A registered hook.
struct Hooked {
    hook: u64,
    left: OnEnd<AnyRuntime>,
    world: World<Cancel>,
}

impl Hooked {
    fn take_back(self) {
        drop(self.left);
        self.world.note("unhooks", self.hook);
    }
}

struct Rings {
    world: World<Cancel>,
    hook: u64,
}

impl Wake for Rings {
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
