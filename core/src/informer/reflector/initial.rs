//! The first objects by a stream: a watch that begins with all existing objects (`cache` section
//! 13).

use std::collections::BTreeMap;

use crate::informer::list_watch::{Event, SourceError, SourceKind};
use crate::runtime::Ambient;
use crate::store::{Described, Handle};

use super::machine::{After, Reflector, Stage, of_no_use};
use super::stream::Seen;
use super::want::{Delivery, Want};

/// How often a stream may end before all objects came; after that they are listed instead
/// (`cache:WL-13`).
const INCOMPLETE: u32 = 3;

/// Objects of a stream by their keys, until all have come.
pub(super) type Gathered<O> = BTreeMap<String, O>;

impl<O: Handle + Described> Reflector<O> {
    pub(super) fn open_list(&mut self, ambient: &dyn Ambient) -> Want<O> {
        let options = self.position.watch_list(&self.config, ambient.uniform());
        self.stage = Stage::OpeningList(Seen::new(ambient.now(), ""));
        Want::Watch(options)
    }

    pub(super) fn read_list(&mut self, seen: Seen, gathered: Gathered<O>) -> Want<O> {
        self.stage = Stage::ReadingList(seen, gathered);
        Want::Next { resync: None }
    }

    /// A stream that should begin with all objects could not be opened, or broke before they came.
    pub(super) fn no_stream_of_all(
        &mut self,
        error: &SourceError,
        ambient: &dyn Ambient,
    ) -> Want<O> {
        match error.kind() {
            SourceKind::Refused | SourceKind::TooManyRequests => {
                self.pause(After::WatchList, None, error.retry_after(), ambient)
            }
            SourceKind::Expired | SourceKind::TooLarge if !self.position.unavailable => {
                self.position.unavailable = true;
                self.open_list(ambient)
            }
            _ => self.list(),
        }
    }

    pub(super) fn gather(
        &mut self,
        mut seen: Seen,
        mut gathered: Gathered<O>,
        event: Option<Event<O>>,
        ambient: &dyn Ambient,
    ) -> Want<O> {
        let Some(event) = event else {
            self.incomplete += 1;
            if seen.was_very_short(ambient.now()) || self.incomplete >= INCOMPLETE {
                return self.list();
            }
            return self.pause(After::WatchList, None, None, ambient);
        };
        self.skipped = of_no_use(&event);
        if self.skipped.is_some() {
            return self.read_list(seen, gathered);
        }
        match event {
            Event::Error(error) => return self.no_stream_of_all(&error, ambient),
            Event::Bookmark { resource_version, ends_initial: true } => {
                seen.event(false);
                self.position.unavailable = false;
                self.incomplete = 0;
                self.stage = Stage::TakingStream(seen, resource_version.clone());
                let objects = gathered.into_values().collect();
                return Want::Deliver(Delivery::Replace(objects, resource_version));
            }
            Event::Foreign(_) => return self.read_list(seen, gathered),
            Event::Bookmark { .. } => {}
            Event::Added(object) | Event::Modified(object) => {
                let Ok(key) = object.key() else { return self.read_list(seen, gathered) };
                gathered.insert(key, object);
            }
            Event::Deleted(object) => {
                let Ok(key) = object.key() else { return self.read_list(seen, gathered) };
                gathered.remove(&key);
            }
        }
        seen.event(true);
        self.read_list(seen, gathered)
    }
}
