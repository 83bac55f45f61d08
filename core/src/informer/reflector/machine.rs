//! The rules of a reflector: its next step, and how it takes the answer.

use std::time::Duration;

use crate::informer::list_watch::{Event, SourceError, SourceKind};
use crate::polling::{Delays as _, ExponentialDelays};
use crate::runtime::{Ambient, Instant};
use crate::store::{Cause, Described, Handle};

use super::config::Config;
use super::initial::Gathered;
use super::list::Listing;
use super::position::Position;
use super::stream::{Patience, Seen};
use super::want::{Delivery, Got, ReflectorError, Skipped, Want};

/// The longest pause that a server may ask for. Otherwise one wrong header would blind a controller
/// for hours.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// A shorter resync period would leave time for nothing else (`cache:SI-24`).
const LEAST_RESYNC: Duration = Duration::from_secs(1);

/// The step that is under way.
#[derive(Clone, Debug)]
pub(super) enum Stage<O> {
    /// None: it will begin anew.
    Fresh,
    /// Asked for a stream that begins with all objects.
    OpeningList(Seen),
    /// Reading that stream.
    ReadingList(Seen, Gathered<O>),
    /// Giving the objects of the stream to the consumer; the stream stays open.
    TakingStream(Seen, String),
    /// Asked for a list.
    Listing(Listing<O>),
    /// Giving the list to the consumer.
    TakingList(String),
    /// Asked for a stream.
    Opening(Seen),
    /// Waiting for the next event.
    Watching(Seen),
    /// Giving an event to the consumer; its version counts afterwards.
    Telling(Seen, Told<O>),
    /// Showing the consumer everything again.
    Resyncing(Seen),
    /// Sleeping; the value is the step after that.
    Pausing(After),
}

/// An event for the consumer, and whether its version counts.
#[derive(Clone, Debug)]
pub(super) enum Told<O> {
    Object(O, bool),
    Bookmark(String),
}

/// The step after a sleep.
#[derive(Clone, Copy, Debug)]
pub(super) enum After {
    Begin,
    WatchList,
    Watch,
}

/// Keeps a consumer in step with a collection (`cache` section 12): the rules alone, without clock,
/// thread or connection.
///
/// It takes the result of its last want and returns the next one. Its driver may stop at any time.
#[derive(Clone, Debug)]
pub struct Reflector<O> {
    pub(super) config: Config,
    pub(super) position: Position,
    streams: bool,
    backoff: ExponentialDelays,
    patience: Patience,
    pub(super) incomplete: u32,
    /// The last stream was short.
    hasty: bool,
    pub(super) skipped: Option<Skipped>,
    resync: Option<Instant>,
    pub(super) stage: Stage<O>,
}

impl<O: Handle + Described> Reflector<O> {
    /// Makes a reflector that has seen nothing. `streams` tells whether the source can begin a
    /// watch with the existing objects.
    pub fn new(config: Config, streams: bool, backoff: ExponentialDelays) -> Self {
        Self {
            streams: streams && config.stream_lists,
            config,
            position: Position::default(),
            backoff,
            patience: Patience::default(),
            incomplete: 0,
            hasty: false,
            skipped: None,
            resync: None,
            stage: Stage::Fresh,
        }
    }

    /// Returns the newest version that the consumer was given; empty before the first.
    pub fn last_resource_version(&self) -> &str {
        &self.position.last
    }

    /// Returns the part of the last answer that the consumer does not get or refused, to report it.
    pub fn take_skipped(&mut self) -> Option<Skipped> {
        self.skipped.take()
    }

    /// Tells whether it reads a stream that has not told all objects yet.
    pub(super) fn gathers(&self) -> bool {
        matches!(self.stage, Stage::ReadingList(..))
    }

    /// Returns all objects of a stream and their version, if `want` gives them to the consumer.
    pub(super) fn gathered<'a>(&self, want: &'a Want<O>) -> Option<(&'a [O], &'a str)> {
        match (&self.stage, want) {
            (Stage::TakingStream(..), Want::Deliver(Delivery::Replace(objects, version))) => {
                Some((objects, version))
            }
            _ => None,
        }
    }

    /// Returns the first step.
    pub fn begin(&mut self, ambient: &dyn Ambient) -> Want<O> {
        self.resync = None;
        self.incomplete = 0;
        if self.streams { self.open_list(ambient) } else { self.list() }
    }

    /// Takes an answer and returns the next step.
    ///
    /// # Panics
    /// The answer does not fit the last step.
    pub fn next(&mut self, got: Got<O>, ambient: &dyn Ambient) -> Want<O> {
        match (std::mem::replace(&mut self.stage, Stage::Fresh), got) {
            (Stage::OpeningList(seen), Got::Opened(result)) => match result {
                Ok(()) => self.read_list(seen, Gathered::new()),
                Err(error) => self.no_stream_of_all(&error, ambient),
            },
            (Stage::ReadingList(seen, gathered), Got::Event(event)) => {
                self.gather(seen, gathered, event, ambient)
            }
            (Stage::TakingStream(seen, version), Got::Delivered(result)) => match result {
                Ok(()) => {
                    self.position.moves(version);
                    self.arm(ambient);
                    self.watch_on(seen)
                }
                Err(_) => self.list(), // `cache:WL-8`: the stream ends, the list decides
            },
            (Stage::Listing(listing), Got::Listed(Ok(page))) => self.page(listing, page, ambient),
            (Stage::Listing(listing), Got::Listed(Err(error))) => {
                self.no_page(listing, error, ambient)
            }
            (Stage::TakingList(version), Got::Delivered(result)) => match result {
                Ok(()) => {
                    self.position.moves(version);
                    self.arm(ambient);
                    self.open(ambient)
                }
                Err(cause) => {
                    self.pause(After::Begin, Some(ReflectorError::Replace(cause)), None, ambient)
                }
            },
            (Stage::Opening(seen), Got::Opened(result)) => match result {
                Ok(()) => self.watch_on(seen),
                Err(error) => self.no_stream(error, ambient),
            },
            (Stage::Watching(seen), Got::Event(event)) => self.event(seen, event, ambient),
            (Stage::Watching(seen), Got::ResyncDue) => {
                self.stage = Stage::Resyncing(seen);
                Want::Deliver(Delivery::Resync)
            }
            (Stage::Telling(seen, told), Got::Delivered(result)) => {
                self.delivered(told, result);
                self.watch_on(seen)
            }
            (Stage::Resyncing(seen), Got::Delivered(result)) => {
                self.arm(ambient);
                match result {
                    Ok(()) => self.watch_on(seen),
                    Err(_) => self.pause(After::Begin, None, None, ambient),
                }
            }
            (Stage::Pausing(after), Got::Slept) => match after {
                After::Begin => self.begin(ambient),
                After::WatchList => self.open_list(ambient),
                After::Watch => self.open(ambient),
            },
            (stage, got) => panic!("a reflector that is {stage:?} wanted no {got:?}"),
        }
    }

    /// Restarts the resync timer; called after every list (`cache:RE-33` to `RE-35`).
    fn arm(&mut self, ambient: &dyn Ambient) {
        let period = self.config.resync;
        self.resync = (!period.is_zero()).then(|| ambient.now() + period.max(LEAST_RESYNC));
    }

    pub(super) fn pause(
        &mut self,
        after: After,
        failed: Option<ReflectorError>,
        least: Option<Duration>,
        ambient: &dyn Ambient,
    ) -> Want<O> {
        let delay = self.backoff.next(ambient).max(least.unwrap_or_default().min(LONGEST_PAUSE));
        self.stage = Stage::Pausing(after);
        Want::Sleep { until: ambient.now() + delay, failed }
    }

    fn open(&mut self, ambient: &dyn Ambient) -> Want<O> {
        let options = self.position.watch(&self.config, ambient.uniform());
        self.stage = Stage::Opening(Seen::new(ambient.now(), &options.resource_version));
        Want::Watch(options)
    }

    fn no_stream(&mut self, error: SourceError, ambient: &dyn Ambient) -> Want<O> {
        let after = error.retry_after();
        match error.kind() {
            SourceKind::Refused | SourceKind::TooManyRequests => {
                self.pause(After::Watch, None, after, ambient)
            }
            _ => self.pause(After::Begin, Some(ReflectorError::Watch(error)), after, ambient),
        }
    }

    fn watch_on(&mut self, seen: Seen) -> Want<O> {
        self.stage = Stage::Watching(seen);
        Want::Next { resync: self.resync }
    }

    fn event(&mut self, mut seen: Seen, event: Option<Event<O>>, ambient: &dyn Ambient) -> Want<O> {
        let Some(event) = event else {
            return if seen.was_very_short(ambient.now()) {
                self.pause(After::Begin, None, None, ambient)
            } else {
                self.open_again(&seen, None, ambient)
            };
        };
        self.skipped = of_no_use(&event);
        if self.skipped.is_some() {
            return self.watch_on(seen);
        }
        let (delivery, object) = match event {
            Event::Error(error) => return self.broken(&seen, &error, ambient),
            Event::Foreign(_) => return self.watch_on(seen),
            Event::Bookmark { resource_version, .. } => {
                seen.event(false);
                self.stage = Stage::Telling(seen, Told::Bookmark(resource_version.clone()));
                return Want::Deliver(Delivery::Bookmark(resource_version));
            }
            Event::Added(object) => (Delivery::Add(object.clone()), object),
            Event::Modified(object) => (Delivery::Update(object.clone()), object),
            Event::Deleted(object) => (Delivery::Delete(object.clone()), object),
        };
        let counts = seen.event(matches!(delivery, Delivery::Add(_)));
        self.stage = Stage::Telling(seen, Told::Object(object, counts));
        Want::Deliver(delivery)
    }

    /// The consumer has taken or refused an event: its version counts either way (`cache:RE-25`).
    fn delivered(&mut self, told: Told<O>, result: Result<(), Cause>) {
        match told {
            Told::Bookmark(version) => self.position.moves(version),
            Told::Object(object, counts) => {
                let resource_version = version(&object);
                if let Err(cause) = result {
                    let (key, resource_version) =
                        (object.key().unwrap_or_default(), resource_version.clone());
                    self.skipped = Some(Skipped::Refused { key, resource_version, cause });
                }
                if counts {
                    self.position.moves(resource_version);
                }
            }
        }
    }

    /// Opens another stream after one that ended: at once the first time (`cache:RE-19`), and after
    /// a pause if short streams follow each other. Otherwise a server that ends every stream would
    /// be asked without end.
    fn open_again(
        &mut self,
        seen: &Seen,
        after: Option<Duration>,
        ambient: &dyn Ambient,
    ) -> Want<O> {
        let is_short = seen.was_short(ambient.now());
        if std::mem::replace(&mut self.hasty, is_short) && is_short {
            self.pause(After::Watch, None, after, ambient)
        } else {
            self.open(ambient)
        }
    }

    /// A stream failed after it had been opened (`cache:RE-19`).
    fn broken(&mut self, seen: &Seen, error: &SourceError, ambient: &dyn Ambient) -> Want<O> {
        let after = error.retry_after();
        let limit = self.config.retry_internal;
        match error.kind() {
            SourceKind::TooManyRequests => self.pause(After::Watch, None, after, ambient),
            SourceKind::Internal if self.patience.lasts(ambient.now(), limit) => {
                self.open_again(seen, after, ambient)
            }
            _ => self.pause(After::Begin, None, after, ambient),
        }
    }
}

/// Returns the reason to skip an event that makes no sense.
pub(super) fn of_no_use<O: Described>(event: &Event<O>) -> Option<Skipped> {
    match event {
        Event::Foreign(what) => Some(Skipped::Foreign(what.clone())),
        Event::Bookmark { resource_version, ends_initial: false }
            if resource_version.is_empty() =>
        {
            Some(Skipped::Foreign("a bookmark without a version".to_owned()))
        }
        Event::Added(object) | Event::Modified(object) | Event::Deleted(object)
            if object.metadata().is_none() =>
        {
            Some(Skipped::NoMetadata)
        }
        _ => None,
    }
}

fn version<O: Described>(object: &O) -> String {
    object.metadata().map(|metadata| metadata.resource_version.to_owned()).unwrap_or_default()
}
