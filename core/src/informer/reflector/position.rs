//! How far a reflector has seen, and the versions that it therefore asks for (`cache:RE-3`).

use crate::informer::list_watch::{ListOptions, Match, WatchOptions};

use super::config::Config;

/// How many objects a page has by default (`cache:RE-5`).
const PAGE_SIZE: u32 = 500;

/// How far a reflector has seen.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Position {
    /// The newest version that the consumer was given; empty before the first.
    pub(super) last: String,
    /// The server does not know `last` any more, or not yet.
    pub(super) unavailable: bool,
    /// The server has split a list of version `0` into pages.
    pub(super) paginated: bool,
    /// How many objects a page may have, once a larger answer was more than the client reads.
    pub(super) pages: Option<u32>,
}

impl Position {
    /// The consumer was given a version. An empty version leaves the position as it is.
    pub(super) fn moves(&mut self, version: String) {
        if !version.is_empty() {
            self.last = version;
        }
    }

    /// An answer had more bytes than the client reads. From now on lists come by pages, and if one of
    /// those is too large, by smaller ones.
    pub(super) fn was_oversized(&mut self, config: &Config) {
        self.pages = Some(match (self.pages, config.page_size) {
            (Some(size), _) => (size / 4).max(1),
            (None, 0) => PAGE_SIZE,
            (None, size) => size,
        });
    }

    /// Returns the options of a list: any version at first, then none older than the last one seen,
    /// and the newest once the server does not know that one.
    pub(super) fn list(&self, config: &Config) -> ListOptions {
        let version = match (self.unavailable, self.last.as_str()) {
            // A server that answers from its cache sends the whole list.
            _ if self.pages.is_some() => "",
            (true, _) => "",
            (false, "") => "0",
            (false, last) => last,
        };
        let limit = match (self.pages.unwrap_or(config.page_size), version) {
            (0, _) if self.paginated => PAGE_SIZE,
            (0, "" | "0") => PAGE_SIZE,
            (0, _) => 0, // so that the server may answer from its cache
            (size, _) => size,
        };
        ListOptions { resource_version: version.to_owned(), limit, ..ListOptions::default() }
    }

    /// Returns the options of a watch after a list.
    pub(super) fn watch(&self, config: &Config, random: f64) -> WatchOptions {
        WatchOptions {
            resource_version: self.last.clone(),
            timeout: config.watch_timeout(random),
            allow_bookmarks: true,
            ..WatchOptions::default()
        }
    }

    /// Returns the options of a watch that begins with all objects (`cache:WL-2`).
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
