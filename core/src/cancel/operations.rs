//! The calls on a tree of tokens, each one critical section per step.

use std::sync::Weak;
use std::task::Waker;

use super::state::{HookId, Reason, TokenId, Tree, WAITERS};
use crate::machine::{Cx, Operation, Step};
use crate::runtime::Instant;

/// Makes a child.
#[derive(Clone, Debug)]
pub struct Child {
    /// Its parent.
    pub of: TokenId,
    /// Its own deadline, [`Instant::NEVER`] for none; an earlier one of its parent's holds.
    pub deadline: Instant,
    /// Alive as long as somebody can name the child.
    pub holder: Weak<()>,
}

/// Cancels a token and its descendants; the hooks are to be run outside the lock.
#[derive(Clone, Debug)]
pub struct Cancel(pub TokenId);

/// Asks why a token ended.
#[derive(Clone, Debug)]
pub struct Look(pub TokenId);

/// Waits until a token has ended, `None` if a point in time comes first.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The token.
    pub token: TokenId,
    /// The point in time, [`Instant::NEVER`] for none.
    pub until: Instant,
}

/// Adds a hook, `None` if the token has ended already.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The token.
    pub token: TokenId,
    /// What to wake at its end.
    pub waker: Waker,
}

/// Takes a hook away.
#[derive(Clone, Debug)]
pub struct Unhook {
    /// The token.
    pub token: TokenId,
    /// The hook.
    pub hook: HookId,
}

crate::operations! {
    [] Tree: Op, Ret {
        Child(Child) -> TokenId,
        Cancel(Cancel) -> Vec<Waker>,
        Look(Look) -> Option<Reason>,
        Wait(Wait) -> Option<Reason>,
        Hook(Hook) -> Option<HookId>,
        Unhook(Unhook) -> Option<Waker>,
    } valid = Tree::check
}

impl Operation<Tree> for Child {
    fn step(&mut self, tree: &mut Tree, cx: &mut Cx<'_>) -> Step<TokenId> {
        Step::Done(tree.add_child(self.of, self.deadline, self.holder.clone(), cx))
    }
}

impl Operation<Tree> for Cancel {
    fn step(&mut self, tree: &mut Tree, cx: &mut Cx<'_>) -> Step<Vec<Waker>> {
        Step::Done(tree.cancel(self.0, cx))
    }
}

impl Operation<Tree> for Look {
    fn step(&mut self, tree: &mut Tree, cx: &mut Cx<'_>) -> Step<Option<Reason>> {
        Step::Done(tree.reason(self.0, cx))
    }
}

impl Operation<Tree> for Wait {
    fn step(&mut self, tree: &mut Tree, cx: &mut Cx<'_>) -> Step<Option<Reason>> {
        let reason = tree.reason(self.token, cx);
        if reason.is_some() {
            return Step::Done(reason);
        }
        let until = tree.deadline(self.token).min(self.until);
        if until == Instant::NEVER {
            Step::Wait { on: WAITERS, until: None }
        } else if until <= cx.now() {
            Step::Done(None)
        } else {
            Step::Wait { on: WAITERS, until: Some(until) }
        }
    }
}

impl Operation<Tree> for Hook {
    fn step(&mut self, tree: &mut Tree, cx: &mut Cx<'_>) -> Step<Option<HookId>> {
        Step::Done(match tree.reason(self.token, cx) {
            None => tree.add_hook(self.token, self.waker.clone()),
            Some(_) => None,
        })
    }
}

impl Operation<Tree> for Unhook {
    fn step(&mut self, tree: &mut Tree, _: &mut Cx<'_>) -> Step<Option<Waker>> {
        Step::Done(tree.remove_hook(self.token, self.hook))
    }
}
