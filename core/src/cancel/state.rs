//! The rules of one token: whether it has ended, why, and the work that follows.

use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use super::slots::Slots;
use crate::machine::{AT_ONCE, Channel, Cx};
use crate::runtime::Instant;

/// Callers that wait for the end of a token sleep here.
pub const WAITERS: Channel = 0;

/// Names a child of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChildId(usize);

/// Names a hook of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HookId(usize);

/// Why a token ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// The token or one of its ancestors was cancelled.
    Cancelled,
    /// The deadline of the token or of one of its ancestors passed.
    DeadlineExceeded,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancelled => "cancelled",
            Self::DeadlineExceeded => "deadline exceeded",
        })
    }
}

impl std::error::Error for Reason {}

/// A child of a token, with any runtime.
pub trait Below: fmt::Debug + Send + Sync {
    /// Ends only this token, and returns the remaining work.
    fn end(&self) -> Ended;
    /// Makes the token forget its children, which have ended as well.
    fn forget(&self);
}

/// The work that remains when a token has ended.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// Why it ended; `None` if the token has not ended.
    pub reason: Option<Reason>,
    /// Its children, which must end next. They are returned again until the token forgets them,
    /// because another caller that cancels it meanwhile must not return before they have ended.
    pub below: Vec<Arc<dyn Below>>,
    /// Its hooks, to be run. Each is returned only once.
    pub hooks: Vec<Waker>,
}

/// One token of a tree. Its rules know only this token and its children.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The earliest deadline on the path to the root; [`Instant::NEVER`] if there is none.
    deadline: Instant,
    /// Set by a cancellation. A deadline may have passed without being noticed yet.
    ended: Option<Reason>,
    children: Slots<Arc<dyn Below>>,
    hooks: Slots<Waker>,
}

impl Default for Tree {
    fn default() -> Self {
        let (children, hooks) = (Slots::default(), Slots::default());
        Self { deadline: Instant::NEVER, ended: None, children, hooks }
    }
}

impl Tree {
    /// Makes a token without a deadline.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many children the token knows.
    #[must_use]
    pub fn children(&self) -> usize {
        self.children.len()
    }

    /// Gives a new token its deadline, and ends it if its parent has ended.
    pub(super) fn begin(&mut self, deadline: Instant, ended: Option<Reason>) {
        self.deadline = deadline;
        self.ended = self.ended.or(ended);
    }

    /// Returns why it ended; `None` while it has not ended.
    pub(super) fn reason(&self, cx: &mut Cx<'_>) -> Option<Reason> {
        if self.ended.is_none() && self.deadline != Instant::NEVER && self.deadline <= cx.now() {
            return Some(Reason::DeadlineExceeded);
        }
        self.ended
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Adds a child.
    ///
    /// # Errors
    /// The token has ended, for this reason, and so must the child.
    pub(super) fn adopt(
        &mut self,
        child: &Arc<dyn Below>,
        cx: &mut Cx<'_>,
    ) -> Result<ChildId, Reason> {
        match self.reason(cx) {
            None => Ok(ChildId(self.children.add(Arc::clone(child)))),
            Some(reason) => Err(reason),
        }
    }

    /// Removes a child. No other child has its number.
    pub(super) fn leave(&mut self, child: ChildId) -> Option<Arc<dyn Below>> {
        self.children.remove(child.0)
    }

    /// Ends the token, and collects a part of the remaining work: the children after `after`, which
    /// stay, and hooks, which are removed. Returns whether that was the rest.
    pub(super) fn cancel(
        &mut self,
        ended: &mut Ended,
        after: &mut Option<usize>,
        cx: &mut Cx<'_>,
    ) -> bool {
        if self.ended.is_none() {
            self.ended = self.reason(cx).or(Some(Reason::Cancelled));
            cx.wakes.all(WAITERS);
        }
        ended.reason = self.ended;
        for _ in 0..AT_ONCE {
            if let Some((at, child)) = self.children.after(*after) {
                ended.below.push(Arc::clone(child));
                *after = Some(at);
            }
            ended.hooks.extend(self.hooks.pop());
        }
        self.hooks.len() == 0 && self.children.after(*after).is_none()
    }

    /// Forgets a part of the children of a token that has ended.
    pub(super) fn forget(&mut self) -> Vec<Arc<dyn Below>> {
        let most = if self.ended.is_some() { AT_ONCE } else { 0 };
        (0..most).map_while(|_| self.children.pop()).collect()
    }

    /// Adds a hook and takes it out of `hook`.
    ///
    /// # Errors
    /// The token has ended, for this reason.
    pub(super) fn hook(
        &mut self,
        hook: &mut Option<Waker>,
        cx: &mut Cx<'_>,
    ) -> Result<HookId, Reason> {
        if let Some(reason) = self.reason(cx) {
            return Err(reason);
        }
        let waker = hook.take().unwrap_or_else(|| Waker::noop().clone());
        Ok(HookId(self.hooks.add(waker)))
    }

    /// Removes a hook; `None` if it was run.
    pub(super) fn unhook(&mut self, hook: HookId) -> Option<Waker> {
        self.hooks.remove(hook.0)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;

    use super::*;
    use crate::machine::single_step::HandClock;

    #[test]
    fn a_hook_is_not_copied_and_stays_with_the_call_if_the_token_has_ended() {
        struct Nothing;
        impl Wake for Nothing {
            fn wake(self: Arc<Self>) {}
        }
        let (held, clock, mut tree) = (Arc::new(Nothing), HandClock::default(), Tree::new());
        let mut cx = Cx::new(&clock);
        let mut hook = Some(Waker::from(Arc::clone(&held)));
        let left = tree.hook(&mut hook, &mut cx);
        assert!(left.is_ok() && hook.is_none());
        assert_eq!(Arc::strong_count(&held), 2, "ours and the token's");
        let mut ended = Ended::default();
        assert!(tree.cancel(&mut ended, &mut None, &mut cx));
        let mut late = ended.hooks.pop();
        assert!(tree.hook(&mut late, &mut cx).is_err() && late.is_some());
    }

    #[test]
    fn a_reason_is_shown_in_words() {
        assert_eq!(Reason::Cancelled.to_string(), "cancelled");
        assert_eq!(Reason::DeadlineExceeded.to_string(), "deadline exceeded");
    }
}
