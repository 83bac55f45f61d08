//! Cancellation tokens (`election:ENV-5`).
//!
//! Tokens form a tree: cancelling a token cancels all its descendants and none of its ancestors. A
//! token may have a deadline, which also holds for its descendants. A token that has ended stays
//! so, with the reason that came first: *cancelled*, or *deadline exceeded*.
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
//! Every token has its own lock, and knows its children. Making a child, dropping one, and
//! cancelling a token without children take the same time however large the tree is, and wake only
//! the callers that wait for that token. Asking whether a token has ended takes no lock.
//! [`CancelToken::cancel`] goes down the tree: while it runs, some descendants have ended and
//! others have not.
//!
//! A thread that sleeps elsewhere, in its own monitor, registers a [`Waker`] with
//! [`CancelToken::on_end`], which wakes it there.
//!
//! Left out: values that travel with a token, and causes beyond the two reasons.

mod node;
mod operations;
mod slots;
mod state;
pub(crate) mod until;

#[cfg(test)]
mod tests;

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::caught::{drop_caught, wake_all};
use crate::machine::Hosted;
use crate::runtime::{Instant, Runtime, System};
use node::{Make, Node, Up};

pub use state::Reason;

for_harness! {
    use operations::{Adopt, Begin, Cancel, Forget, Hook, Leave, Look, Op, Ret, Unhook, Wait};
    use state::{Below, ChildId, Ended, HookId, Tree, WAITERS};
}

/// A token. Copies name the same token. When the last copy is dropped, the token is not cancelled,
/// and from then on it can end only with an ancestor.
///
/// `R` is the runtime.
pub struct CancelToken<R: Runtime = System> {
    node: Arc<Node<R>>,
    /// Its place among its parent's children; `None` if it has no parent.
    place: Option<ChildId>,
}

impl<R: Runtime> CancelToken<R> {
    /// Makes the root of a tree of tokens.
    pub fn new(runtime: &R) -> Self {
        Self::with_deadline(runtime, Instant::NEVER)
    }

    /// As [`new`](Self::new), with a deadline.
    pub fn with_deadline(runtime: &R, deadline: Instant) -> Self {
        Self::with_host(runtime, deadline, Tree::new)
    }

    /// Makes the root of a tree whose rules come from `make`, which is called for each token.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host<H: Into<Hosted<Tree>>>(
        runtime: &R,
        deadline: Instant,
        make: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self {
        let make: Make = Arc::new(move || make().into());
        let node = Arc::new(Node::new(runtime, make, deadline, None));
        node.begin(None);
        Self { node, place: None }
    }

    /// Makes a child, which ends with this token at the latest.
    #[must_use = "a token that is dropped at once cannot be cancelled"]
    pub fn child(&self) -> Self {
        self.child_with_deadline(Instant::NEVER)
    }

    /// As [`child`](Self::child), with its own deadline.
    #[must_use = "a token that is dropped at once cannot be cancelled"]
    pub fn child_with_deadline(&self, deadline: Instant) -> Self {
        let parent = &self.node;
        let deadline = deadline.min(parent.deadline);
        let up = Up::new(self);
        let node =
            Arc::new(Node::new(self.runtime(), Arc::clone(&parent.make), deadline, Some(up)));
        let adopted = parent.monitor.call(Adopt(Arc::<Node<R>>::clone(&node)));
        node.begin(parent.learn(adopted.err()));
        Self { node, place: adopted.ok() }
    }

    /// Ends this token and all its descendants. Sleepers wake and hooks run before it returns. A
    /// token that has already ended keeps its reason.
    ///
    /// Hooks run one after the other, once all tokens have ended. If two threads cancel at once,
    /// each runs some of the hooks, and may return while the other still runs its own.
    ///
    /// # Panics
    /// If a hook panics; all other hooks have run before.
    pub fn cancel(&self) {
        let mut hooks = Vec::new();
        let mut parents = Vec::new();
        let mut next: Vec<Arc<dyn Below>> = vec![Arc::<Node<R>>::clone(&self.node)];
        while let Some(node) = next.pop() {
            let ended = node.end();
            hooks.extend(ended.hooks);
            if !ended.below.is_empty() {
                next.extend(ended.below);
                parents.push(node);
            }
        }
        parents.iter().for_each(|parent| parent.forget());
        wake_all(hooks);
    }

    /// Tells whether the token has ended, for either reason. It takes the lock only if it is the
    /// first call to notice that the deadline has passed.
    pub fn is_cancelled(&self) -> bool {
        self.reason().is_some()
    }

    /// Returns why the token ended; `None` while it has not ended.
    pub fn reason(&self) -> Option<Reason> {
        self.node.reason()
    }

    /// As [`is_cancelled`](Self::is_cancelled), for work that must not begin once `cancel` has returned: a number
    /// that is read without the lock may still be the old one.
    pub(crate) fn has_ended(&self) -> bool {
        self.node.look().is_some()
    }

    /// Returns the earliest deadline of this token and its ancestors.
    pub fn deadline(&self) -> Option<Instant> {
        Some(self.node.deadline).filter(|deadline| *deadline != Instant::NEVER)
    }

    /// Waits until the token has ended.
    pub fn wait(&self) -> Reason {
        let ended = self.node.wait(Instant::NEVER);
        ended.expect("a wait without limit ends with the token")
    }

    /// As [`wait`](Self::wait), for tasks. Dropping the future stops the wait.
    pub async fn wait_async(&self) -> Reason {
        let mut hook: Option<(OnEnd<R>, Waker)> = None;
        poll_fn(|context| {
            if let Some(reason) = self.reason() {
                hook = None;
                return Poll::Ready(reason);
            }
            let waker = context.waker();
            if !hook.as_ref().is_some_and(|(_, left)| left.will_wake(waker)) {
                drop_caught(hook.replace((self.on_end(waker.clone()), waker.clone())));
            }
            Poll::Pending
        })
        .await
    }

    /// Waits until the token has ended or `until` has come. True if the token has ended, even if
    /// both happen at once.
    pub fn wait_until(&self, until: Instant) -> bool {
        self.node.wait(until).is_some()
    }

    /// Wakes `waker` when the token ends: on the thread that cancels it, before
    /// [`cancel`](Self::cancel) returns, or at the deadline on a thread of the runtime. If the
    /// token has already ended, it is woken at once, on this thread.
    ///
    /// As usual for wakers, it may be woken more than once. Dropping the result removes the waker;
    /// a cancellation that is under way at that moment may still wake it.
    #[must_use = "dropping it takes the waker back"]
    pub fn on_end(&self, waker: Waker) -> OnEnd<R> {
        let hook = self.node.monitor.call(Hook(Some(waker.clone())));
        let hook = match hook {
            Ok(hook) => Some(hook),
            Err(reason) => {
                self.node.learn(Some(reason));
                None
            }
        };
        let at_deadline = match (hook, self.deadline()) {
            (Some(_), Some(deadline)) => Some(self.runtime().wake_at(deadline, waker)),
            (Some(_), None) => None,
            (None, _) => {
                waker.wake();
                None
            }
        };
        OnEnd { token: self.clone(), hook, at_deadline }
    }

    /// Returns the runtime of the token.
    pub fn runtime(&self) -> &R {
        self.node.monitor.runtime()
    }
}

impl<R: Runtime> Clone for CancelToken<R> {
    fn clone(&self) -> Self {
        self.node.hold();
        Self { node: Arc::clone(&self.node), place: self.place }
    }
}

impl<R: Runtime> Drop for CancelToken<R> {
    fn drop(&mut self) {
        self.node.release(self.place);
    }
}

impl<R: Runtime> fmt::Debug for CancelToken<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ended, deadline) = (self.node.known(), self.deadline());
        f.debug_struct("CancelToken").field("ended", &ended).field("deadline", &deadline).finish()
    }
}

/// A waker that waits for a token ([`CancelToken::on_end`]); dropping it removes the waker.
pub struct OnEnd<R: Runtime = System> {
    token: CancelToken<R>,
    hook: Option<HookId>,
    at_deadline: Option<R::Timer>,
}

impl<R: Runtime> Drop for OnEnd<R> {
    fn drop(&mut self) {
        drop(self.at_deadline.take());
        if let Some(hook) = self.hook {
            let waker = self.token.node.monitor.call(Unhook(hook));
            drop_caught(waker); // outside the lock: dropping a waker runs foreign code
        }
    }
}

impl<R: Runtime> fmt::Debug for OnEnd<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnEnd").field(&self.token).finish()
    }
}
