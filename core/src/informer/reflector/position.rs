//! How far a reflector has seen, and what it asks for therefore (`cache:RE-3`).

use crate::informer::list_watch::{ListOptions, Match, WatchOptions};

use super::config::Config;

/// How many objects a page has by default (`cache:RE-5`).
const PAGE_SIZE: u32 = 500;

/// How far a reflector has seen.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Position {
    /// The newest version that the consumer was given; empty before the first.
    pub(super) last: String,
    /// The server does not know that version any more, or not yet.
    pub(super) unavailable: bool,
    /// The server pages lists that it may answer from its cache.
    pub(super) paginated: bool,
}

impl Position {
    /// The consumer was given a version. What has none says nothing of how far that is.
    pub(super) fn moves(&mut self, version: String) {
        if !version.is_empty() {
            self.last = version;
        }
    }

    /// What a list asks for: any version at first, then none that is older than what was seen, and
    /// the newest once that version is of no use.
    pub(super) fn list(&self, config: &Config) -> ListOptions {
        let version = match (self.unavailable, self.last.as_str()) {
            (true, _) => "",
            (false, "") => "0",
            (false, last) => last,
        };
        let limit = match (config.page_size, version) {
            (0, _) if self.paginated => PAGE_SIZE,
            (0, "" | "0") => PAGE_SIZE,
            (0, _) => 0, // so that the server may answer from its cache
            (size, _) => size,
        };
        ListOptions { resource_version: version.to_owned(), limit, ..ListOptions::default() }
    }

    /// What a watch after a list asks for.
    pub(super) fn watch(&self, config: &Config, random: f64) -> WatchOptions {
        WatchOptions {
            resource_version: self.last.clone(),
            timeout: config.watch_timeout(random),
            allow_bookmarks: true,
            ..WatchOptions::default()
        }
    }

    /// What a watch that begins with all objects asks for (`cache:WL-2`).
    pub(super) fn watch_list(&self, config: &Config, random: f64) -> WatchOptions {
        let version = if self.unavailable { "" } else { &self.last };
        WatchOptions {
            resource_version: version.to_owned(),
            resource_version_match: Some(Match::NotOlderThan),
            send_initial_events: true,
            ..self.watch(config, random)
        }
    }
}
