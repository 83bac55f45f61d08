//! Cancellation tokens (`election:ENV-5`).
//!
//! Tokens form a tree: cancelling one cancels all that descend from it and none above it. A token
//! may carry a deadline, which holds for its descendants too. Once a token has ended it stays so,
//! for the reason that came first: *cancelled*, or *deadline exceeded*.
//!
//! ```
//! use seatrial_core::cancel::{CancelToken, Reason};
//! use seatrial_core::runtime::{Ambient, System};
//! use std::time::Duration;
//!
//! let system = System::new();
//! let run = CancelToken::new(&system);
//! let call = run.child_with_deadline(system.now() + Duration::from_secs(10));
//!
//! call.cancel();
//! assert!(!run.is_cancelled(), "a child does not touch its parent");
//!
//! run.cancel();
//! assert_eq!(run.wait(), Reason::Cancelled);
//! ```
//!
//! All tokens of a tree lie under one lock, so a cancellation is seen by all of them at once. A
//! thread that sleeps elsewhere, in a monitor of its own, leaves a [`Waker`] with
//! [`CancelToken::on_end`] that wakes it there.
//!
//! Left out: values that travel with a token, and causes beyond the two reasons.

mod operations;
mod state;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use crate::machine::Host;
use crate::monitor::Monitor;
use crate::runtime::{Instant, Runtime, System};

pub use operations::{Cancel, Child, Hook, Look, Op, Ret, Unhook, Wait};
pub use state::{HookId, Reason, TokenId, Tree, WAITERS};

/// A token. Copies name the same token; when the last one is dropped, the token is not cancelled
/// but nobody can cancel it any more, except from above.
///
/// `R` is the runtime, `H` what the lock holds: the rules themselves, unless a harness puts a
/// recorded or mutated machine there.
pub struct CancelToken<R: Runtime = System, H: Host<Tree> = Tree> {
    tree: Arc<Monitor<Tree, R, H>>,
    id: TokenId,
    /// The earliest deadline on the way to the root, which never changes.
    deadline: Instant,
    /// Tells the tree that somebody can name the token.
    holder: Arc<()>,
}

impl<R: Runtime> CancelToken<R> {
    /// Makes the first token of a tree.
    pub fn new(runtime: &R) -> Self {
        Self::with_deadline(runtime, Instant::NEVER)
    }

    /// As [`new`](Self::new), with a deadline.
    pub fn with_deadline(runtime: &R, deadline: Instant) -> Self {
        Self::with_host(runtime, deadline, Tree::new(deadline))
    }
}

impl<R: Runtime, H: Host<Tree>> CancelToken<R, H> {
    /// Makes the first token of a given tree.
    ///
    /// # For harnesses
    /// The tree must have been made with the same deadline, which nobody checks: the token would
    /// end at the tree's deadline and report its own.
    pub fn with_host(runtime: &R, deadline: Instant, host: H) -> Self {
        let tree = Arc::new(Monitor::new(runtime, host));
        Self { tree, id: TokenId::ROOT, deadline, holder: Arc::default() }
    }

    /// Makes a child, which ends with this token at the latest.
    #[must_use = "a token that is dropped at once cannot be cancelled"]
    pub fn child(&self) -> Self {
        self.child_with_deadline(Instant::NEVER)
    }

    /// As [`child`](Self::child), with a deadline of its own.
    #[must_use = "a token that is dropped at once cannot be cancelled"]
    pub fn child_with_deadline(&self, deadline: Instant) -> Self {
        let tree = Arc::clone(&self.tree);
        let holder = Arc::new(());
        let id = tree.call(Child { of: self.id, deadline, holder: Arc::downgrade(&holder) });
        let deadline = deadline.min(self.deadline);
        Self { tree, id, deadline, holder }
    }

    /// Ends this token and all that descend from it. Sleepers wake and hooks run before it returns.
    /// A token that has ended already keeps its reason.
    pub fn cancel(&self) {
        for hook in self.tree.call(Cancel(self.id)) {
            hook.wake();
        }
    }

    /// Tells whether the token has ended, for either reason.
    pub fn is_cancelled(&self) -> bool {
        self.reason().is_some()
    }

    /// Returns why the token ended, `None` as long as it has not.
    pub fn reason(&self) -> Option<Reason> {
        self.tree.call(Look(self.id))
    }

    /// Returns the earliest deadline of this token and of those above it.
    pub fn deadline(&self) -> Option<Instant> {
        Some(self.deadline).filter(|deadline| *deadline != Instant::NEVER)
    }

    /// Waits until the token has ended.
    pub fn wait(&self) -> Reason {
        let ended = self.tree.call(Wait { token: self.id, until: Instant::NEVER });
        ended.expect("a wait without limit ends with the token")
    }

    /// As [`wait`](Self::wait), for tasks: to drop the future is to stop waiting.
    pub async fn wait_async(&self) -> Reason {
        let ended = self.tree.call_async(Wait { token: self.id, until: Instant::NEVER }).await;
        ended.expect("a wait without limit ends with the token")
    }

    /// Waits until the token has ended or `until` has come; true if the token has ended, also if
    /// both happen at once.
    pub fn wait_until(&self, until: Instant) -> bool {
        self.tree.call(Wait { token: self.id, until }).is_some()
    }

    /// Wakes `waker` when the token ends: on the thread that cancels it, before
    /// [`cancel`](Self::cancel) returns, or on one of the runtime's at the deadline. If the token
    /// has ended already it is woken at once, on this thread.
    ///
    /// It may be woken more than once, as wakers may. Dropping the result takes the waker back; a
    /// cancellation that is under way at that moment may still wake it.
    #[must_use = "dropping it takes the waker back"]
    pub fn on_end(&self, waker: Waker) -> OnEnd<R, H> {
        let tree = &self.tree;
        let hook = tree.call(Hook { token: self.id, waker: waker.clone() });
        let at_deadline = match (hook, self.deadline()) {
            (Some(_), Some(deadline)) => Some(tree.runtime().wake_at(deadline, waker)),
            (Some(_), None) => None,
            (None, _) => {
                waker.wake();
                None
            }
        };
        OnEnd { token: self.clone(), hook, at_deadline }
    }

    /// Returns the runtime that the token lives on.
    pub fn runtime(&self) -> &R {
        self.tree.runtime()
    }
}

impl<R: Runtime, H: Host<Tree>> Clone for CancelToken<R, H> {
    fn clone(&self) -> Self {
        let (tree, holder) = (Arc::clone(&self.tree), Arc::clone(&self.holder));
        Self { tree, id: self.id, deadline: self.deadline, holder }
    }
}

impl<R: Runtime, H: Host<Tree>> fmt::Debug for CancelToken<R, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelToken").field(&self.id).finish()
    }
}

/// A waker left with a token ([`CancelToken::on_end`]); dropping it takes the waker back.
pub struct OnEnd<R: Runtime = System, H: Host<Tree> = Tree> {
    token: CancelToken<R, H>,
    hook: Option<HookId>,
    at_deadline: Option<R::Timer>,
}

impl<R: Runtime, H: Host<Tree>> Drop for OnEnd<R, H> {
    fn drop(&mut self) {
        drop(self.at_deadline.take());
        if let Some(hook) = self.hook {
            let waker = self.token.tree.call(Unhook { token: self.token.id, hook });
            drop(waker); // outside the lock: dropping a waker runs foreign code
        }
    }
}

impl<R: Runtime, H: Host<Tree>> fmt::Debug for OnEnd<R, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnEnd").field(&self.token.id).finish()
    }
}
