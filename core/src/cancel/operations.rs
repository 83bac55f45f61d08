//! The calls on one token. Each step of a call is one critical section.

use std::sync::Arc;
use std::task::Waker;

use super::state::{Below, ChildId, Ended, HookId, Reason, Tree, WAITERS};
use crate::machine::{Cx, Operation, Step};
use crate::runtime::Instant;

/// Gives a new token its deadline, and ends it if its parent has ended.
#[derive(Clone, Debug)]
pub struct Begin {
    /// The earliest deadline of the token and its ancestors; [`Instant::NEVER`] for none.
    pub deadline: Instant,
    /// Why the parent has ended.
    pub ended: Option<Reason>,
}

/// Adds a child; returns why the token has ended, if it has.
#[derive(Clone, Debug)]
pub struct Adopt(pub Arc<dyn Below>);

/// Removes a child that has no copies or children any more.
#[derive(Clone, Debug)]
pub struct Leave(pub ChildId);

/// Ends the token. The remaining work is done outside the lock; if there is much, it is collected
/// in several steps.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    /// The collected work; filled by the steps.
    pub ended: Ended,
    /// The last child that was collected.
    pub after: Option<usize>,
}

/// Removes and returns some children of a token that has ended, after they have ended too; none if
/// there are no more.
#[derive(Clone, Debug)]
pub struct Forget;

/// Asks why the token ended.
#[derive(Clone, Debug)]
pub struct Look;

/// Waits until the token has ended; `None` if a point in time comes first.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The point in time; [`Instant::NEVER`] for none.
    pub until: Instant,
}

/// Adds a hook; returns why the token has ended, if it has.
#[derive(Clone, Debug)]
pub struct Hook(
    /// The hook; taken out when the token keeps it.
    pub Option<Waker>,
);

/// Removes a hook.
#[derive(Clone, Debug)]
pub struct Unhook(pub HookId);

crate::operations! {
    [] Tree: Op, Ret {
        Begin(Begin) -> (),
        Adopt(Adopt) -> Result<ChildId, Reason>,
        Leave(Leave) -> Option<Arc<dyn Below>>,
        Cancel(Cancel) -> Ended,
        Forget(Forget) -> Vec<Arc<dyn Below>>,
        Look(Look) -> Option<Reason>,
        Wait(Wait) -> Option<Reason>,
        Hook(Hook) -> Result<HookId, Reason>,
        Unhook(Unhook) -> Option<Waker>,
    }
}

impl Operation<Tree> for Begin {
    fn step(&mut self, tree: &mut Tree, _: &mut Cx<'_>) -> Step<()> {
        tree.begin(self.deadline, self.ended);
        Step::Done(())
    }
}

impl Operation<Tree> for Adopt {
    fn step(&mut self, tree: &mut Tree, cx: &mut Cx<'_>) -> Step<Result<ChildId, Reason>> {
        Step::Done(tree.adopt(&self.0, cx))
    }
}

impl Operation<Tree> for Leave {
    fn step(&mut self, tree: &mut Tree, _: &mut Cx<'_>) -> Step<Option<Arc<dyn Below>>> {
        Step::Done(tree.leave(self.0))
    }
}

impl Operation<Tree> for Cancel {
    fn step(&mut self, tree: &mut Tree, cx: &mut Cx<'_>) -> Step<Ended> {
        if tree.cancel(&mut self.ended, &mut self.after, cx) {
            return Step::Done(std::mem::take(&mut self.ended));
        }
        Step::again(WAITERS)
    }
}

impl Operation<Tree> for Forget {
    fn step(&mut self, tree: &mut Tree, _: &mut Cx<'_>) -> Step<Vec<Arc<dyn Below>>> {
        Step::Done(tree.forget())
    }
}

impl Operation<Tree> for Look {
    fn step(&mut self, tree: &mut Tree, cx: &mut Cx<'_>) -> Step<Option<Reason>> {
        Step::Done(tree.reason(cx))
    }
}

impl Operation<Tree> for Wait {
    fn step(&mut self, tree: &mut Tree, cx: &mut Cx<'_>) -> Step<Option<Reason>> {
        let reason = tree.reason(cx);
        if reason.is_some() {
            return Step::Done(reason);
        }
        let until = tree.deadline().min(self.until);
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
    fn step(&mut self, tree: &mut Tree, cx: &mut Cx<'_>) -> Step<Result<HookId, Reason>> {
        Step::Done(tree.hook(&mut self.0, cx))
    }
}

impl Operation<Tree> for Unhook {
    fn step(&mut self, tree: &mut Tree, _: &mut Cx<'_>) -> Step<Option<Waker>> {
        Step::Done(tree.unhook(self.0))
    }
}
