//! The state of a reflector and its server, derived from the history.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::informer::SourceKind;
use seatrial_core::runtime::Instant;

use super::follower::{Answer, Call, Happen, Setting};
use super::server::objects_at;
use super::turn::{Asked, Given, Reply, Told, Turned};
use super::{Event, Reflector};
use crate::trial::{self, What};

/// A stream that ends sooner than this is short; without an event it has failed.
const VERY_SHORT: Duration = Duration::from_secs(1);
/// How often a stream of all objects may end before it is complete.
pub(super) const INCOMPLETE: u32 = 3;

/// The state before an event.
#[derive(Clone, Debug)]
pub(super) struct Book {
    pub(super) setting: Setting,
    /// The changes: version, object, and whether the object exists from then on.
    log: Vec<(u64, u8, bool)>,
    pub(super) revision: u64,
    /// The objects of the consumer.
    pub(super) view: BTreeMap<u8, u64>,
    /// The version that the consumer was given last; empty for none.
    pub(super) last: String,
    /// Whether the server does not know the last version.
    pub(super) condemned: bool,
    pub(super) paginated: bool,
    pub(super) turn: Option<Turned>,
    /// The current list: the version and limit of its first page, how many pages came, and whether
    /// the rest is requested in one page.
    pub(super) listing: Option<Listing>,
    pub(super) stream: Stream,
    pub(super) incomplete: u32,
    /// Whether the stream before was short.
    hasty: bool,
    /// Whether this stream was short, too: then a pause comes before the next.
    pub(super) hurries: bool,
    /// The next request, after the sleep if there is one.
    pub(super) after: After,
    /// The times of the first and the last internal error of the server that was retried at once.
    patience: Option<(Instant, Instant)>,
    pub(super) delays: Delays,
    /// When a resync is due.
    pub(super) resync: Option<Instant>,
}

/// A list that is not complete.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) version: String,
    pub(super) limit: u32,
    pub(super) pages: u32,
    pub(super) in_one: bool,
}

/// The stream that was opened last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    since: Instant,
    events: u32,
    /// Whether the stream still sends the objects that existed when it began.
    pub(super) initial: bool,
}

/// The next request other than a sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    Begin,
    WatchList,
    Watch,
    List,
    Page,
    InOne,
    Next,
}

/// The minimum of the next pause, and when the last one began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    pub(super) next: Duration,
    used: Option<Instant>,
}

impl Default for Book {
    fn default() -> Self {
        let (never, next) = (Instant::ZERO, Duration::from_millis(800));
        Self {
            setting: Setting::default(),
            log: Vec::new(),
            revision: 0,
            view: BTreeMap::new(),
            last: String::new(),
            condemned: false,
            paginated: false,
            turn: None,
            listing: None,
            stream: Stream { since: never, events: 0, initial: false },
            incomplete: 0,
            hasty: false,
            hurries: false,
            after: After::Begin,
            patience: None,
            delays: Delays { next, used: None },
            resync: None,
        }
    }
}

impl Book {
    /// The objects of the server at a version.
    pub(super) fn at(&self, revision: u64) -> BTreeMap<u8, u64> {
        objects_at(&self.log, revision)
    }

    /// Whether the first objects come through a stream.
    pub(super) fn streams(&self) -> bool {
        self.setting.says_it_streams && self.setting.config.stream_lists
    }

    pub(super) fn was_very_short(&self, at: Instant) -> bool {
        self.stream.events == 0 && self.was_short(at)
    }

    fn was_short(&self, at: Instant) -> bool {
        at.since(self.stream.since) < VERY_SHORT
    }

    /// The reflector opens another stream: after two short ones, it pauses first.
    fn opens_again(&mut self, at: Instant) -> After {
        let is_short = self.was_short(at);
        self.hurries = std::mem::replace(&mut self.hasty, is_short) && is_short;
        After::Watch
    }

    /// The minimum of a pause that begins now.
    pub(super) fn delay(&self, at: Instant) -> Duration {
        let over = self.delays.used.is_some_and(|used| at.since(used) > Duration::from_secs(120));
        if over { Duration::from_millis(800) } else { self.delays.next }
    }

    fn pause(&mut self, at: Instant) {
        let delay = self.delay(at);
        let next = (delay * 2).min(Duration::from_secs(30));
        self.delays = Delays { next, used: Some(at) };
    }

    /// Whether an internal error of the server must be retried at once.
    pub(super) fn has_patience(&self, at: Instant) -> bool {
        let limit = self.setting.config.retry_internal;
        let first = self.patience.filter(|(_, last)| at.since(*last) < Duration::from_secs(60));
        !limit.is_zero() && at.since(first.map_or(at, |(first, _)| first)) <= limit
    }

    fn loses_patience(&mut self, at: Instant) {
        let first = self.patience.filter(|(_, last)| at.since(*last) < Duration::from_secs(60));
        let first = first.map_or(at, |(first, _)| first);
        self.patience = self.has_patience(at).then_some((first, at));
    }

    fn arm(&mut self, at: Instant) {
        let period = self.setting.config.resync;
        self.resync = (!period.is_zero()).then(|| at + period.max(Duration::from_secs(1)));
    }

    fn happen(&mut self, happen: Happen, revision: u64) {
        let changed = revision > self.revision;
        match happen {
            Happen::Write(key) if changed => self.log.push((revision, key, true)),
            Happen::Remove(key) if changed => self.log.push((revision, key, false)),
            _ => {}
        }
        self.revision = revision;
    }

    fn begin(&mut self, setting: &Setting) {
        self.setting = setting.clone();
        self.log = (0..setting.objects).map(|key| (10 + u64::from(key), key, true)).collect();
        self.revision = 10 + u64::from(setting.objects);
        self.after = if self.streams() { After::WatchList } else { After::List };
    }

    fn turn(&mut self, turn: &Turned, at: Instant) {
        self.asked(turn);
        if let Some(given) = turn.given.as_ref().filter(|_| !turn.refused) {
            given.change(&mut self.view);
            match *given {
                Given::All(_, version) => {
                    self.last = version.to_string();
                    self.arm(at);
                }
                Given::Exists(..) | Given::Gone(..) | Given::Bookmark(_) => {
                    if !turn.named.is_empty() {
                        self.last.clone_from(&turn.named);
                    }
                }
                Given::Resync => self.arm(at),
            }
        }
        self.replied(turn, at);
        self.turn = Some(turn.clone());
    }

    fn asked(&mut self, turn: &Turned) {
        match &turn.asked {
            Asked::List { version, limit, goes_on: false } => {
                let in_one = self.after == After::InOne;
                let pages = self.listing.as_ref().filter(|_| in_one).map_or(0, |it| it.pages);
                let (version, limit) = (version.clone(), *limit);
                self.listing = Some(Listing { version, limit, pages, in_one });
            }
            Asked::Watch { initial, .. } => {
                self.stream = Stream { since: turn.since, events: 0, initial: *initial };
            }
            Asked::Sleep { .. } => self.pause(turn.since),
            _ => {}
        }
    }

    /// Finds the next request after a reply; `must_pause` says whether a pause comes first.
    fn replied(&mut self, turn: &Turned, at: Instant) {
        use SourceKind::{Expired, Internal, Invalid, Refused, TooLarge, TooManyRequests};
        let useless = |kind| matches!(kind, Expired | TooLarge);
        let begins = self.listing.as_ref().is_some_and(|it| it.pages == 0);
        self.hurries = false;
        self.after = match (&turn.asked, &turn.reply) {
            (_, Reply::Page(true)) if !self.listing.as_ref().is_some_and(|it| it.in_one) => {
                self.listing.iter_mut().for_each(|it| it.pages += 1);
                After::Page
            }
            (_, Reply::Stuck) => After::Begin,
            (_, Reply::Page(_)) => {
                let listing = self.listing.take();
                let paged = |it: &Listing| it.version == "0" && (it.pages > 0 || it.in_one);
                self.paginated |= listing.as_ref().is_some_and(paged);
                self.condemned = false;
                if turn.refused { After::Begin } else { After::Watch }
            }
            (Asked::List { .. }, Reply::Failed(Expired, _)) if self.can_be_in_one() => After::InOne,
            (Asked::List { .. }, Reply::Failed(kind, _))
                if (useless(*kind) || *kind == Invalid && begins) && !self.condemned =>
            {
                self.condemned = true;
                After::List
            }
            (Asked::List { .. }, Reply::Failed(..)) => After::Begin,
            (_, Reply::Failed(Refused | TooManyRequests, _)) if self.stream.initial => {
                After::WatchList
            }
            (_, Reply::Failed(kind, _)) if self.stream.initial => {
                let again = useless(*kind) && !self.condemned;
                self.condemned |= again;
                if again { After::WatchList } else { After::List }
            }
            (Asked::Watch { .. }, Reply::Failed(Refused, _))
            | (_, Reply::Failed(TooManyRequests, _)) => After::Watch,
            (Asked::Next { .. }, Reply::Failed(Internal, _)) => {
                let again = self.has_patience(at);
                self.loses_patience(at);
                if again { self.opens_again(at) } else { After::Begin }
            }
            (_, Reply::Failed(..)) => After::Begin,
            (_, Reply::Ended) if self.stream.initial => {
                self.incomplete += 1;
                let lists = self.was_very_short(at) || self.incomplete >= INCOMPLETE;
                if lists { After::List } else { After::WatchList }
            }
            (_, Reply::Ended) if self.was_very_short(at) => After::Begin,
            (_, Reply::Ended) => self.opens_again(at),
            (_, Reply::Told(Told::Nonsense)) => After::Next,
            (_, Reply::Told(told)) => self.told(told, turn.refused),
            (_, Reply::Opened | Reply::ResyncDue) => After::Next,
            (_, Reply::Slept) => match self.after {
                After::Begin => {
                    self.incomplete = 0;
                    if self.streams() { After::WatchList } else { After::List }
                }
                after => after,
            },
        };
        if !matches!(self.after, After::Page | After::InOne) {
            self.listing = None;
        }
    }

    fn told(&mut self, told: &Told, refused: bool) -> After {
        self.stream.events += 1;
        if !self.stream.initial || !matches!(told, Told::Bookmark(_, true)) {
            return After::Next;
        }
        (self.stream.initial, self.incomplete, self.condemned) = (false, 0, false);
        if refused { After::List } else { After::Next }
    }

    fn can_be_in_one(&self) -> bool {
        self.listing.as_ref().is_some_and(|it| it.pages > 0 && !it.in_one)
    }
}

impl trial::Ledger<Reflector> for Book {
    fn apply(&mut self, event: &Event) {
        let What::Step { op, .. } = &event.what else { return };
        match (op, event.returned()) {
            (Call::Begin(begin), Some(_)) => self.begin(&begin.0),
            (Call::Happen(happen), Some((_, Answer::Happen(revision)))) => {
                self.happen(*happen, *revision);
            }
            (_, Some((_, Answer::Turn(Some(turn))))) => self.turn(turn, event.at),
            _ => {}
        }
    }
}
