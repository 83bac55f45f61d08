//! A server of one collection, as data: its history, and the trouble that its callers meet (`cache`
//! section 23).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::informer::{Event, ListOptions, Page, SourceError, SourceKind, WatchOptions};
use seatrial_core::store::{Described, Metadata};

/// An object: a name and a version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thing {
    /// Its name, as a number.
    pub key: u8,
    /// Its version; a deletion has one, too.
    pub version: u64,
    text: String,
    /// Whether it has metadata.
    named: bool,
}

/// The object as the reflector handles it.
pub type Object = Arc<Thing>;

/// How many keys there are.
pub(crate) const KEYS: u8 = 4;

const NAMES: [&str; KEYS as usize] = ["a", "b", "c", "d"];

impl Thing {
    /// Makes an object.
    #[must_use]
    pub fn object(key: u8, version: u64) -> Object {
        Self::of(key, version, version.to_string())
    }

    /// Makes an object whose version is sent as the given text.
    fn of(key: u8, version: u64, text: String) -> Object {
        Arc::new(Self { key, version, text, named: true })
    }
}

impl Described for Thing {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let name = NAMES[usize::from(self.key) % NAMES.len()];
        let resource_version = self.text.as_str();
        self.named.then_some(Metadata { namespace: "", name, uid: "", resource_version })
    }
}

/// Trouble, which happens once: the next call that it applies to meets it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Trouble {
    /// A request or a stream fails with this kind of error, and the server asks for a pause of this
    /// number of seconds.
    Fails(SourceKind, u8),
    /// A stream fails with this kind of error.
    Breaks(SourceKind),
    /// The next page of a list is gone.
    PageExpires,
    /// A request takes two seconds.
    IsSlow,
    /// A stream ends.
    Ends,
    /// The next change that a stream sends has no version.
    Versionless,
    /// The next change that a stream sends has a version that is no number.
    Garbled,
    /// A page of a list is followed by itself.
    PageRepeats,
    /// A stream sends something other than an object.
    Foreign,
    /// A stream sends an object without metadata.
    Unnamed,
    /// A stream sends a bookmark; its version is older than the stream's position by this number.
    Bookmark(u8),
    /// Among the first objects of a stream comes a bookmark that does not end them.
    FalseEnd,
    /// A list that may have any version has an old one.
    Lags,
    /// The consumer refuses a list.
    ListIsRefused,
}

/// The calls and events that trouble can apply to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum At<'a> {
    List(&'a ListOptions),
    Watch,
    Stream {
        initial: bool,
    },
    /// A change that a stream sends.
    Change,
    Consumer,
}

impl Trouble {
    fn meets(self, at: At<'_>) -> bool {
        match (self, at) {
            (Self::Fails(..), At::List(_) | At::Watch | At::Stream { .. })
            | (Self::IsSlow, At::List(_) | At::Watch)
            | (Self::Breaks(_) | Self::Ends | Self::Foreign, At::Stream { .. })
            | (Self::Unnamed | Self::Bookmark(_), At::Stream { initial: false })
            | (Self::FalseEnd, At::Stream { initial: true })
            | (Self::Versionless | Self::Garbled, At::Change)
            | (Self::ListIsRefused, At::Consumer) => true,
            (Self::PageExpires | Self::PageRepeats, At::List(options)) => {
                !options.continue_token.is_empty()
            }
            (Self::Lags, At::List(options)) => options.resource_version == "0",
            _ => false,
        }
    }
}

/// A stream that is open.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The initial objects that are still to come; none if the stream began without them.
    initial: VecDeque<Object>,
    /// Whether the end of the initial objects is still to come.
    ends_initial: bool,
    /// The version of the last change that was sent.
    at: u64,
    /// Whether the stream begins with an error.
    expired: bool,
}

/// All changes of the collection ever, and how many of them the server forgot.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// The changes: version, object, and whether the object exists from then on.
    log: Vec<(u64, u8, bool)>,
    first: u64,
    pub(super) revision: u64,
    compacted: u64,
    /// Whether it can begin streams with all objects, on request.
    streams: bool,
    /// Whether a stream tells what changed since it began before it tells the end of its first objects.
    ends_late: bool,
    troubles: VecDeque<Trouble>,
}

pub(super) fn error(kind: SourceKind) -> SourceError {
    SourceError::new(kind, format!("{kind:?}"))
}

/// Reads a version as a server does: zero for an empty text.
fn understood(version: &str) -> Result<u64, SourceError> {
    if version.is_empty() {
        return Ok(0);
    }
    version.parse().map_err(|_| error(SourceKind::Invalid))
}

/// Reads a version; zero if it is no number.
pub(super) fn number(version: &str) -> u64 {
    version.parse().unwrap_or(0)
}

/// Returns the objects at a version, with the versions of their last changes. The log has all
/// changes: version, object, and whether the object exists from then on.
pub(super) fn objects_at(log: &[(u64, u8, bool)], revision: u64) -> BTreeMap<u8, u64> {
    let mut objects = BTreeMap::new();
    for &(at, key, exists) in log.iter().filter(|(at, ..)| *at <= revision) {
        if exists {
            objects.insert(key, at)
        } else {
            objects.remove(&key)
        };
    }
    objects
}

impl Server {
    /// A server with this number of objects.
    pub(super) fn new(objects: u8, streams: bool, ends_late: bool) -> Self {
        let log = (0..objects).map(|key| (10 + u64::from(key), key, true)).collect();
        let first = 10 + u64::from(objects);
        let troubles = VecDeque::new();
        Self { log, first, revision: first, compacted: 0, streams, ends_late, troubles }
    }

    /// Returns the objects at a version, with the versions of their last changes.
    pub(super) fn at(&self, revision: u64) -> BTreeMap<u8, u64> {
        objects_at(&self.log, revision)
    }

    /// Changes an object; returns the version. Deleting an object that does not exist changes
    /// nothing.
    pub(super) fn change(&mut self, key: u8, exists: bool) -> u64 {
        if exists || self.at(self.revision).contains_key(&key) {
            self.revision += 1;
            self.log.push((self.revision, key, exists));
        }
        self.revision
    }

    /// Forgets all changes up to now.
    pub(super) fn compact(&mut self) {
        self.compacted = self.revision;
    }

    pub(super) fn meet(&mut self, trouble: Trouble) {
        self.troubles.push_back(trouble);
    }

    /// Takes the next trouble that applies to a call.
    pub(super) fn trouble(&mut self, at: At<'_>) -> Option<Trouble> {
        let next = self.troubles.iter().position(|trouble| trouble.meets(at))?;
        self.troubles.remove(next)
    }

    /// Takes one trouble that is exactly `wanted`, if it applies.
    pub(super) fn has(&mut self, wanted: Trouble, at: At<'_>) -> bool {
        let next = self.troubles.iter().position(|it| *it == wanted && it.meets(at));
        next.and_then(|next| self.troubles.remove(next)).is_some()
    }

    /// Whether trouble waits for a stream that is being read.
    pub(super) fn is_in_trouble(&self) -> bool {
        self.troubles.iter().any(|trouble| trouble.meets(At::Stream { initial: false }))
    }

    /// Whether a stream has sent all changes.
    pub(super) fn has_told(&self, open: &Open) -> bool {
        let told = self.log.iter().all(|(at, ..)| *at <= open.at);
        told && open.initial.is_empty() && !open.ends_initial && !open.expired
    }

    fn failure(&mut self, at: At<'_>) -> Option<SourceError> {
        let fails =
            |it: &Trouble| it.meets(at) && matches!(it, Trouble::Fails(..) | Trouble::PageExpires);
        let next = self.troubles.iter().position(fails)?;
        Some(match self.troubles.remove(next)? {
            Trouble::Fails(kind, 0) => error(kind),
            Trouble::Fails(kind, after) => error(kind).after(Duration::from_secs(after.into())),
            _ => error(SourceKind::Expired),
        })
    }

    pub(super) fn list(&mut self, options: &ListOptions) -> Result<Page<Object>, SourceError> {
        if let Some(error) = self.failure(At::List(options)) {
            return Err(error);
        }
        let lags = self.has(Trouble::Lags, At::List(options));
        let (revision, start) = match options.continue_token.split_once(' ') {
            Some((revision, start)) => (number(revision), number(start) as u8),
            None if lags => (self.first, 0),
            None => (self.revision, 0),
        };
        if understood(&options.resource_version)? > self.revision {
            return Err(error(SourceKind::TooLarge));
        }
        let all = self.at(revision);
        let mut items = all.range(start..);
        let limit = if options.limit == 0 { usize::MAX } else { options.limit as usize };
        let page = items.by_ref().take(limit).map(|(key, at)| Thing::object(*key, *at)).collect();
        let page = Page::whole(page, revision.to_string());
        if self.has(Trouble::PageRepeats, At::List(options)) {
            return Ok(page.followed_by(options.continue_token.clone()));
        }
        Ok(match items.next() {
            Some((next, _)) => page.followed_by(format!("{revision} {next}")),
            None => page,
        })
    }

    pub(super) fn watch(&mut self, options: &WatchOptions) -> Result<Open, SourceError> {
        if let Some(error) = self.failure(At::Watch) {
            return Err(error);
        }
        if options.send_initial_events && !self.streams {
            return Err(error(SourceKind::Other));
        }
        let version = options.resource_version.as_str();
        if understood(version)? > self.revision {
            return Err(error(SourceKind::TooLarge));
        }
        if options.send_initial_events || matches!(version, "" | "0") {
            let all = self.at(self.revision);
            let initial = all.iter().map(|(key, at)| Thing::object(*key, *at)).collect();
            let ends_initial = options.send_initial_events;
            let at = self.revision;
            return Ok(Open { initial, ends_initial, at, expired: false });
        }
        let (initial, at) = (VecDeque::new(), number(version));
        let expired = at < self.compacted;
        Ok(Open { initial, ends_initial: false, at, expired })
    }

    /// The next event of a stream; `None` if there is none yet.
    pub(super) fn next(&mut self, open: &mut Open) -> Option<Option<Event<Object>>> {
        if std::mem::take(&mut open.expired) {
            return Some(Some(Event::Error(error(SourceKind::Expired))));
        }
        let initial = open.ends_initial;
        if let Some(trouble) = self.trouble(At::Stream { initial }) {
            return Some(self.told(trouble, open));
        }
        if let Some(object) = open.initial.pop_front() {
            return Some(Some(Event::Added(object)));
        }
        let is_behind = self.revision > open.at;
        if open.ends_initial && !(self.ends_late && is_behind) {
            open.ends_initial = false;
            let resource_version = open.at.to_string();
            return Some(Some(Event::Bookmark { resource_version, ends_initial: true }));
        }
        let &(at, key, exists) = self.log.iter().find(|(at, ..)| *at > open.at)?;
        let existed = self.at(open.at).contains_key(&key);
        open.at = at;
        let object = Thing::of(key, at, self.text(at));
        Some(Some(match (exists, existed) {
            (false, _) => Event::Deleted(object),
            (true, true) => Event::Modified(object),
            (true, false) => Event::Added(object),
        }))
    }

    /// The text in which the version of a change is sent.
    fn text(&mut self, at: u64) -> String {
        if self.has(Trouble::Versionless, At::Change) {
            return String::new();
        }
        let garbled = self.has(Trouble::Garbled, At::Change);
        if garbled { "garbage".to_owned() } else { at.to_string() }
    }

    fn told(&self, trouble: Trouble, open: &Open) -> Option<Event<Object>> {
        let bookmark =
            |at: u64| Event::Bookmark { resource_version: at.to_string(), ends_initial: false };
        match trouble {
            Trouble::Fails(kind, 0) | Trouble::Breaks(kind) => Some(Event::Error(error(kind))),
            Trouble::Fails(kind, after) => {
                let after = Duration::from_secs(after.into());
                Some(Event::Error(error(kind).after(after)))
            }
            Trouble::Foreign => Some(Event::Foreign("a table".to_owned())),
            Trouble::Unnamed => {
                let text = (open.at + 100).to_string();
                let object = Thing { key: 0, version: open.at + 100, text, named: false };
                Some(Event::Modified(Arc::new(object)))
            }
            Trouble::Bookmark(late) => {
                let at = open.at.saturating_sub(late.into());
                Some(bookmark(at.max(self.first).max(self.compacted).min(open.at)))
            }
            Trouble::FalseEnd => Some(bookmark(open.at)),
            _ => None,
        }
    }
}
