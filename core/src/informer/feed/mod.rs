//! Subscriptions: the changes of a store, one by one, for one reader.

mod operations;
mod state;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};

pub use state::FeedError;

for_harness! {
    use operations::{
        Carried, Complete, End, Finish, HasSynced, Len, Next, Op, Push, Ret, WaitForSync,
    };
    use state::{Feed, Told, READERS, SYNC};
}

/// A feed under its lock, shared by its reader and the informer that fills it.
pub(super) type Shared<C, R> = Arc<Monitor<Feed<C>, R>>;

/// The changes of an informer's store for one reader, beginning with the objects that were there
/// when it subscribed. No change is missed or told twice (`cache:SI-33`).
///
/// Asking for the next change confirms that the reader has handled the one before. Dropping the
/// subscription ends it.
pub struct Subscription<C: Carried, R: Runtime = System> {
    feed: Shared<C, R>,
    /// Whether the last change belongs to the first list and is not confirmed yet.
    owes: bool,
}

impl<C: Carried, R: Runtime> Subscription<C, R> {
    pub(super) fn new(feed: Shared<C, R>) -> Self {
        Self { feed, owes: false }
    }

    /// Sleeps until there is a change, and takes it.
    ///
    /// # Errors
    /// No more changes come; the error says why.
    #[expect(clippy::should_implement_trait, reason = "an end has a reason, an iterator has none")]
    pub fn next(&mut self) -> Result<C, FeedError> {
        self.finish();
        let told = self.feed.call(Next)?;
        self.owes = told.initial;
        Ok(told.change)
    }

    /// As [`next`](Self::next), for tasks. A future that is dropped takes nothing.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub async fn next_async(&mut self) -> Result<C, FeedError> {
        self.finish();
        let told = self.feed.call_async(Next).await?;
        self.owes = told.initial;
        Ok(told.change)
    }

    /// Confirms that the last change was handled, before the next is asked for.
    pub fn finish(&mut self) {
        if std::mem::take(&mut self.owes) {
            self.feed.call(Finish);
        }
    }

    /// Counts the changes that wait for the reader.
    pub fn waiting(&self) -> usize {
        self.feed.call(Len)
    }

    pub(super) fn shared(&self) -> &Shared<C, R> {
        &self.feed
    }

    /// Gives up the confirmation of the last change. If that change belongs to the first list, the
    /// list is never seen to its end (`cache:PL-16`).
    pub(super) fn disown(&mut self) {
        self.owes = false;
    }

    /// Returns a handle that tells, from anywhere, how far the reader is.
    pub fn progress(&self) -> Progress<C, R> {
        Progress(Arc::clone(&self.feed))
    }
}

/// Ends the subscription: waiting changes are dropped, and the first list is never complete.
impl<C: Carried, R: Runtime> Drop for Subscription<C, R> {
    fn drop(&mut self) {
        drop(self.feed.call(End));
    }
}

impl<C: Carried, R: Runtime> fmt::Debug for Subscription<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subscription")
    }
}

/// Tells how far the reader of a subscription is.
pub struct Progress<C: Carried, R: Runtime = System>(Shared<C, R>);

impl<C: Carried, R: Runtime> Progress<C, R> {
    /// Tells whether the reader has handled all objects that were there in the beginning
    /// (`cache:PL-20`).
    pub fn has_synced(&self) -> bool {
        self.0.call(HasSynced)
    }

    /// Sleeps until [`has_synced`](Self::has_synced); false if the subscription ended before.
    pub fn wait_for_sync(&self) -> bool {
        self.0.call(WaitForSync)
    }

    /// As [`wait_for_sync`](Self::wait_for_sync), for tasks.
    pub async fn wait_for_sync_async(&self) -> bool {
        self.0.call_async(WaitForSync).await
    }
}

impl<C: Carried, R: Runtime> Clone for Progress<C, R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<C: Carried, R: Runtime> fmt::Debug for Progress<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}
