//! How objects are listed and watched (`cache:LW-1` to `LW-7`).

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::store::Cause;

/// A future that may live on another thread; boxed, so that a source of objects is a trait object.
pub type Awaited<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A collection of objects that can be listed and watched: two calls, whatever is behind them.
///
/// To drop a future is to give the call up.
pub trait ListWatch<O>: Send + Sync + 'static {
    /// Reads the collection, or a page of it.
    fn list(&self, options: ListOptions) -> Awaited<'_, Result<Page<O>, SourceError>>;

    /// Opens a stream of changes.
    fn watch(&self, options: WatchOptions) -> Awaited<'_, Result<Box<dyn Stream<O>>, SourceError>>;

    /// Tells whether a watch can begin with the objects that are there already
    /// (`cache:WL-1`). A source that cannot is never asked to.
    fn streams_lists(&self) -> bool {
        true
    }
}

impl<O, L: ListWatch<O> + ?Sized> ListWatch<O> for Arc<L> {
    fn list(&self, options: ListOptions) -> Awaited<'_, Result<Page<O>, SourceError>> {
        (**self).list(options)
    }

    fn watch(&self, options: WatchOptions) -> Awaited<'_, Result<Box<dyn Stream<O>>, SourceError>> {
        (**self).watch(options)
    }

    fn streams_lists(&self) -> bool {
        (**self).streams_lists()
    }
}

/// Changes as they come in. To drop it ends it (`cache:LW-2` to `LW-4`).
pub trait Stream<O>: Send {
    /// Waits for the next event; `None` once the stream has ended. To drop the future loses
    /// nothing.
    fn next(&mut self) -> Awaited<'_, Option<Event<O>>>;
}

/// Which versions an answer may have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Match {
    /// The version that is named, or a newer one.
    NotOlderThan,
    /// The version that is named and no other.
    Exact,
}

/// What a list is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// The version: empty for the newest, `0` for any that its cache has.
    pub resource_version: String,
    /// How the version is meant, if the server's own way is not enough.
    pub resource_version_match: Option<Match>,
    /// How many objects a page may have; zero for all.
    pub limit: u32,
    /// Where the next page begins: what the page before said.
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
    /// Where the next page begins; empty if this is the last.
    pub continue_token: String,
}

impl<O> Page<O> {
    /// A whole list.
    pub fn whole(items: Vec<O>, resource_version: impl Into<String>) -> Self {
        let (resource_version, continue_token) = (resource_version.into(), String::new());
        Self { items, resource_version, continue_token }
    }

    /// Says where the next page begins.
    #[must_use]
    pub fn followed_by(mut self, continue_token: impl Into<String>) -> Self {
        self.continue_token = continue_token.into();
        self
    }
}

/// What a watch is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct WatchOptions {
    /// The version after which changes are told; empty for all objects first.
    pub resource_version: String,
    /// How the version is meant.
    pub resource_version_match: Option<Match>,
    /// After how long the server ends the stream.
    pub timeout: Duration,
    /// Whether bookmarks are told.
    pub allow_bookmarks: bool,
    /// Whether the objects that are there come first, ended by a bookmark of their own.
    pub send_initial_events: bool,
}

/// What a stream tells.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<O> {
    /// An object is new.
    Added(O),
    /// An object was changed.
    Modified(O),
    /// An object is gone: its last state.
    Deleted(O),
    /// Everything up to a version was told.
    Bookmark {
        /// The version.
        resource_version: String,
        /// Whether it ends the objects that were there already.
        ends_initial: bool,
    },
    /// Something that is no object of the kind that was asked for. It is passed over
    /// (`cache:RE-23`).
    Foreign(String),
    /// The stream has failed; nothing comes after it.
    Error(SourceError),
}

/// What a failure of a source means for who asked (`cache:RE-7`, `RE-8`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SourceKind {
    /// The version or the page is too old.
    Expired,
    /// The version is newer than the server's.
    TooLarge,
    /// The request makes no sense to the server: perhaps the version that it names is none.
    Invalid,
    /// Nobody listens.
    Refused,
    /// The server has too much to do.
    TooManyRequests,
    /// The server is broken.
    Internal,
    /// The stream ended where more should have come.
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
    /// Makes one of its cause.
    pub fn new(
        kind: SourceKind,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, retry_after: None, cause: Arc::from(cause.into()) }
    }

    /// Says for how long the server wants to be left alone.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Returns what it means.
    #[must_use]
    pub const fn kind(&self) -> SourceKind {
        self.kind
    }

    /// Returns for how long the server wants to be left alone, if it said so.
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
        self.cause.source() // its text is ours
    }
}
