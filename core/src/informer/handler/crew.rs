//! The threads of an informer's handlers.

use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::caught::discard;
use crate::runtime::Runtime;

/// All handlers of an informer.
pub(in crate::informer) struct Crew<R: Runtime> {
    /// Ends when the informer stops.
    life: CancelToken<R>,
    is_over: bool,
    members: Vec<Member<R>>,
}

/// One handler.
pub(super) struct Member<R: Runtime> {
    /// Ends when the handler is removed, or the informer stops.
    pub(super) life: CancelToken<R>,
    /// Ends when its thread ends.
    pub(super) ended: CancelToken<R>,
    thread: Arc<R::Mutex<Option<R::Join<()>>>>,
}

impl<R: Runtime> Crew<R> {
    pub(in crate::informer) fn new(runtime: &R) -> Self {
        Self { life: CancelToken::new(runtime), is_over: false, members: Vec::new() }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Adds a handler; `spawn` starts its thread.
    pub(super) fn join(
        &mut self,
        runtime: &R,
        spawn: impl FnOnce(CancelToken<R>, Ended<R>) -> R::Join<()>,
    ) -> Member<R> {
        self.members.retain(|member| !member.ended.is_cancelled());
        let (life, ended) = (self.life.child(), CancelToken::new(runtime));
        let thread = spawn(life.clone(), Ended(ended.clone()));
        let member = Member { life, ended, thread: Arc::new(runtime.mutex(Some(thread))) };
        self.members.push(member.clone());
        member
    }

    /// Refuses new members. Returns the token that is the parent of all members' tokens.
    pub(super) fn end(&mut self) -> CancelToken<R> {
        self.is_over = true;
        self.life.clone()
    }

    /// Takes all members out.
    pub(super) fn leave(&mut self) -> Vec<Member<R>> {
        std::mem::take(&mut self.members)
    }
}

impl<R: Runtime> Member<R> {
    pub(super) fn runtime(&self) -> &R {
        self.ended.runtime()
    }

    /// Waits until its thread has ended, and joins it unless another caller has.
    pub(super) async fn join(&self, runtime: &R) {
        self.ended.wait_async().await;
        let thread = runtime.lock(&self.thread).take();
        if let Some(thread) = thread
            && let Err(panic) = runtime.join(thread)
        {
            discard(panic); // foreign code is caught inside, so this comes from dropping it
        }
    }
}

impl<R: Runtime> Clone for Member<R> {
    fn clone(&self) -> Self {
        let (life, ended) = (self.life.clone(), self.ended.clone());
        Self { life, ended, thread: Arc::clone(&self.thread) }
    }
}

/// Says that a thread has ended, however it ends.
pub(super) struct Ended<R: Runtime>(CancelToken<R>);

impl<R: Runtime> Drop for Ended<R> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
