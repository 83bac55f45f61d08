//! The calls on one token, each one critical section per step.

use std::sync::Arc;
use std::task::Waker;

use super::state::{Below, ChildId, Ended, HookId, Reason, Tree, WAITERS};
use crate::machine::{Cx, Operation, Step};
use crate::runtime::Instant;

/// Gives a new token its deadline, and its end if the token above has ended.
#[derive(Clone, Debug)]
pub struct Begin {
    /// The earliest deadline of the token and of those above, [`Instant::NEVER`] for none.
    pub deadline: Instant,
    /// Why the token above has ended.
    pub ended: Option<Reason>,
}

/// Adds a child; says why the token has ended if it has.
#[derive(Clone, Debug)]
pub struct Adopt(pub Arc<dyn Below>);

/// Removes a child that nobody can name any more.
#[derive(Clone, Debug)]
pub struct Leave(pub ChildId);

/// Ends the token. The remaining work is done outside the lock; it is collected in several steps if
/// it is long.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    /// What was collected; filled by the steps.
    pub ended: Ended,
    /// The last child that was collected.
    pub after: Option<usize>,
}

/// Forgets some of the children, who have ended as the token has; none if there are no more.
#[derive(Clone, Debug)]
pub struct Forget;

/// Asks why the token ended.
#[derive(Clone, Debug)]
pub struct Look;

/// Waits until the token has ended, `None` if a point in time comes first.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The point in time, [`Instant::NEVER`] for none.
    pub until: Instant,
}

/// Adds a hook; says why the token has ended if it has.
#[derive(Clone, Debug)]
pub struct Hook(
    /// The hook; taken out when the token keeps it.
    pub Option<Waker>,
);

/// Takes a hook away.
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
