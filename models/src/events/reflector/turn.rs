//! The request of a turn, its reply, and the event for the consumer, as data.

use std::collections::BTreeMap;

use seatrial_core::informer::reflector::{Delivery, Got, ReflectorError, Want};
use seatrial_core::informer::{Event, Match, SourceError, SourceKind};
use seatrial_core::runtime::Instant;
use seatrial_core::store::Described as _;

use super::server::{Object, number};

/// The request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// A list, or a page of it.
    List {
        /// The version.
        version: String,
        /// The largest number of objects.
        limit: u32,
        /// Whether it continues after a page.
        goes_on: bool,
    },
    /// A stream.
    Watch {
        /// The version.
        version: String,
        /// Whether it begins with all objects.
        initial: bool,
        /// Whether it allows bookmarks, and, if it begins with all objects, any newer version.
        rightly: bool,
        /// The number of seconds after which it ends.
        timeout: u64,
    },
    /// The next event.
    Next {
        /// When a resync is due.
        resync: Option<Instant>,
    },
    /// A sleep until a time.
    Sleep {
        /// Its end.
        until: Instant,
        /// The failure that the error handler is told.
        failed: Option<Why>,
    },
}

/// The failure that an error handler is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// A list failed.
    List,
    /// A stream could not be opened.
    Watch,
    /// The consumer refused a list.
    Replace,
}

/// The reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// A page, and whether there are more.
    Page(bool),
    /// A page that is followed by itself.
    Stuck,
    /// A stream is open.
    Opened,
    /// The request failed, and the server asks for a pause of this number of seconds.
    Failed(SourceKind, u64),
    /// An event.
    Told(Told),
    /// The stream has ended.
    Ended,
    /// A resync is due.
    ResyncDue,
    /// The sleep is over.
    Slept,
}

/// An event of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// An object exists, in this version.
    Exists(u8, u64),
    /// An object is gone, since this version.
    Gone(u8, u64),
    /// Everything up to this version was sent; if true, also all objects that existed at the
    /// beginning.
    Bookmark(u64, bool),
    /// Any other event.
    Nonsense,
}

/// The event that the consumer was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Given {
    /// All objects, at a version.
    All(BTreeMap<u8, u64>, u64),
    /// An object.
    Exists(u8, u64),
    /// A deletion.
    Gone(u8, u64),
    /// A bookmark.
    Bookmark(u64),
    /// All objects again.
    Resync,
}

/// A turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turned {
    /// The request.
    pub asked: Asked,
    /// When the request was made.
    pub since: Instant,
    /// The random bits of the request.
    pub chance: u64,
    /// The reply.
    pub reply: Reply,
    /// The version that the reply names; empty if none.
    pub named: String,
    /// Whether the rules reported that the consumer does not get the event.
    pub skipped: bool,
    /// The event that the consumer was given for the reply.
    pub given: Option<Given>,
    /// Whether the consumer refused it.
    pub refused: bool,
    /// The newest version that the reflector claims to have given.
    pub last: String,
}

pub(super) fn asked(want: &Want<Object>) -> Asked {
    match want {
        Want::List(options) => Asked::List {
            version: options.resource_version.clone(),
            limit: options.limit,
            goes_on: !options.continue_token.is_empty(),
        },
        Want::Watch(options) => {
            let initial = options.send_initial_events;
            let not_older = options.resource_version_match == Some(Match::NotOlderThan);
            let rightly = options.allow_bookmarks && not_older == initial;
            let (version, timeout) = (options.resource_version.clone(), options.timeout.as_secs());
            Asked::Watch { version, initial, rightly, timeout }
        }
        Want::Next { resync } => Asked::Next { resync: *resync },
        Want::Sleep { until, failed } => {
            let why = failed.as_ref().map(|failed| match failed {
                ReflectorError::List(_) => Why::List,
                ReflectorError::Watch(_) => Why::Watch,
                _ => Why::Replace,
            });
            Asked::Sleep { until: *until, failed: why }
        }
        _ => unreachable!("what is delivered is no question"),
    }
}

fn failed(error: &SourceError) -> Reply {
    Reply::Failed(error.kind(), error.retry_after().unwrap_or_default().as_secs())
}

/// The version that an event names.
pub(super) fn named(got: &Got<Object>) -> String {
    let Got::Event(Some(event)) = got else { return String::new() };
    match event {
        Event::Added(object) | Event::Modified(object) | Event::Deleted(object) => {
            object.metadata().map(|it| it.resource_version.to_owned()).unwrap_or_default()
        }
        Event::Bookmark { resource_version, .. } => resource_version.clone(),
        _ => String::new(),
    }
}

/// Whether a page is followed by itself.
fn is_stuck(want: &Want<Object>, token: &str) -> bool {
    matches!(want, Want::List(asked) if asked.continue_token == token && !token.is_empty())
}

pub(super) fn reply(want: &Want<Object>, got: &Got<Object>) -> Reply {
    match got {
        Got::Listed(Ok(page)) if is_stuck(want, &page.continue_token) => Reply::Stuck,
        Got::Listed(Ok(page)) => Reply::Page(!page.continue_token.is_empty()),
        Got::Listed(Err(error)) | Got::Opened(Err(error)) => failed(error),
        Got::Opened(Ok(())) => Reply::Opened,
        Got::Event(None) => Reply::Ended,
        Got::Event(Some(event)) => match event {
            Event::Added(object) | Event::Modified(object) if is_named(object) => {
                Reply::Told(Told::Exists(object.key, object.version))
            }
            Event::Deleted(object) => Reply::Told(Told::Gone(object.key, object.version)),
            Event::Bookmark { resource_version, ends_initial } => {
                Reply::Told(Told::Bookmark(number(resource_version), *ends_initial))
            }
            Event::Error(error) => failed(error),
            _ => Reply::Told(Told::Nonsense),
        },
        Got::ResyncDue => Reply::ResyncDue,
        _ => Reply::Slept,
    }
}

pub(super) fn is_named(object: &Object) -> bool {
    object.metadata().is_some()
}

pub(super) fn give(delivery: Delivery<Object>) -> Given {
    match delivery {
        Delivery::Replace(objects, version) => {
            let objects = objects.iter().map(|object| (object.key, object.version)).collect();
            Given::All(objects, number(&version))
        }
        Delivery::Add(object) | Delivery::Update(object) => {
            Given::Exists(object.key, object.version)
        }
        Delivery::Delete(object) => Given::Gone(object.key, object.version),
        Delivery::Bookmark(version) => Given::Bookmark(number(&version)),
        _ => Given::Resync,
    }
}

impl Given {
    /// Applies the event to a consumer's objects.
    pub(crate) fn change(&self, view: &mut BTreeMap<u8, u64>) {
        match self {
            Self::All(objects, _) => view.clone_from(objects),
            Self::Exists(key, version) => drop(view.insert(*key, *version)),
            Self::Gone(key, _) => drop(view.remove(key)),
            Self::Bookmark(_) | Self::Resync => {}
        }
    }
}
