//! How objects are listed and watched (`cache:LW-1` to `LW-7`).

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::store::Cause;

/// A boxed future that may move to another thread; boxed, so that a source can be a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A collection of objects that can be listed and watched, whatever is behind it.
///
/// Dropping a future gives up the call.
pub trait ListWatch<O>: Send + Sync + 'static {
    /// Reads the collection, or a page of it.
    fn list(&self, options: ListOptions) -> BoxFuture<'_, Result<Page<O>, SourceError>>;

    /// Opens a stream of changes.
    fn watch(
        &self,
        options: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<O>>, SourceError>>;

    /// Tells whether a watch can begin with the objects that already exist (`cache:WL-1`). If not,
    /// it is never asked to.
    fn streams_lists(&self) -> bool {
        true
    }
}

impl<O, L: ListWatch<O> + ?Sized> ListWatch<O> for Arc<L> {
    fn list(&self, options: ListOptions) -> BoxFuture<'_, Result<Page<O>, SourceError>> {
        (**self).list(options)
    }

    fn watch(
        &self,
        options: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<O>>, SourceError>> {
        (**self).watch(options)
    }

    fn streams_lists(&self) -> bool {
        (**self).streams_lists()
    }
}

/// Changes as they arrive. Dropping it ends it (`cache:LW-2` to `LW-4`).
pub trait OpenWatch<O>: Send {
    /// Waits for the next event; `None` once the stream has ended. Dropping the future loses no
    /// event.
    fn next(&mut self) -> BoxFuture<'_, Option<Event<O>>>;
}

/// The versions that an answer may have, compared with the version that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Match {
    /// That version or a newer one.
    NotOlderThan,
    /// Exactly that version.
    Exact,
}

/// The options of a list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// The version: empty for the newest, `0` for any version in the server's cache.
    pub resource_version: String,
    /// How to match the version; `None` for the server's default.
    pub resource_version_match: Option<Match>,
    /// How many objects a page may have; zero for all.
    pub limit: u32,
    /// The token of the page, from the previous page.
    pub continue_token: String,
}

/// A list, or a page of it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Page<O> {
    /// The objects.
    pub items: Vec<O>,
    /// The version of the list.
    pub resource_version: String,
    /// The token of the next page; empty if this is the last.
    pub continue_token: String,
}

impl<O> Page<O> {
    /// A whole list.
    pub fn whole(items: Vec<O>, resource_version: impl Into<String>) -> Self {
        let (resource_version, continue_token) = (resource_version.into(), String::new());
        Self { items, resource_version, continue_token }
    }

    /// Sets where the next page begins.
    #[must_use]
    pub fn followed_by(mut self, continue_token: impl Into<String>) -> Self {
        self.continue_token = continue_token.into();
        self
    }
}

/// The options of a watch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct WatchOptions {
    /// Only changes after this version are told; empty to be told all objects first.
    pub resource_version: String,
    /// How to match the version.
    pub resource_version_match: Option<Match>,
    /// The server ends the stream after this time.
    pub timeout: Duration,
    /// Whether the server may send bookmarks.
    pub allow_bookmarks: bool,
    /// Whether the objects that exist come first, followed by a bookmark of their own.
    pub send_initial_events: bool,
}

/// An event of a stream.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<O> {
    /// An object is new.
    Added(O),
    /// An object was changed.
    Modified(O),
    /// An object is gone: its last state.
    Deleted(O),
    /// All changes up to a version were told.
    Bookmark {
        /// The version.
        resource_version: String,
        /// Whether it marks the end of the objects that existed already.
        ends_initial: bool,
    },
    /// Something that is not an object of the kind asked for. It is skipped (`cache:RE-23`).
    Foreign(String),
    /// The stream has failed; nothing comes after this.
    Error(SourceError),
}

/// The meaning of a failure for the caller (`cache:RE-7`, `RE-8`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SourceKind {
    /// The version or the page has expired.
    Expired,
    /// The version is newer than the server's.
    TooLarge,
    /// The answer is larger than the client reads: ask for smaller pages.
    Oversized,
    /// The server does not understand the request: perhaps the version is not valid.
    Invalid,
    /// The connection was refused.
    Refused,
    /// The server is overloaded.
    TooManyRequests,
    /// The server is broken.
    Internal,
    /// The connection ended before the stream was complete.
    Eof,
    /// Anything else.
    Other,
}

/// Why a list or a watch failed.
#[derive(Clone)]
pub struct SourceError {
    kind: SourceKind,
    retry_after: Option<Duration>,
    cause: Cause,
}

impl SourceError {
    /// Makes an error from its cause.
    pub fn new(
        kind: SourceKind,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, retry_after: None, cause: Arc::from(cause.into()) }
    }

    /// Sets how long to wait before the next request, as the server said.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Returns the meaning of the failure.
    #[must_use]
    pub const fn kind(&self) -> SourceKind {
        self.kind
    }

    /// Returns how long to wait before the next request, if the server said so.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the cause.
    #[must_use]
    pub const fn cause(&self) -> &Cause {
        &self.cause
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.cause, f)
    }
}

impl fmt::Debug for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceError({:?}: {})", self.kind, self.cause)
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.source() // `Display` already shows the cause itself
    }
}
