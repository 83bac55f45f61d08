//! A source for core's informer: lists and watches a collection through a client of kube.
//!
//! ```no_run
//! # async fn follow(client: kube::Client) -> Result<(), seatrial_core::informer::AlreadyRun> {
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::Api;
//! use seatrial_core::cancel::CancelToken;
//! use seatrial_core::runtime::Tokio;
//! use seatrial_kube::watcher::{Config, informer};
//!
//! let api: Api<ConfigMap> = Api::default_namespaced(client);
//! let runtime = Tokio::current();
//! let maps = informer(&runtime, api, &Config::default().labels("app=web"));
//! let mut changes = maps.subscribe(); // any number of them, at any time
//! let print = async {
//!     while let Ok(change) = changes.next_async().await {
//!         println!("{change:?}, and {} in the store", maps.store().len());
//!     }
//! };
//! let token = CancelToken::new(&runtime);
//! tokio::join!(maps.run_async(&token), print).0
//! # }
//! ```

mod changes;
mod collection;
mod errors;
mod list;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kube::{Api, Resource};
use seatrial_core::informer::Informer;
use seatrial_core::informer::reflector::{self, Hooks, ReflectorError};
use seatrial_core::runtime::Tokio;
use serde::de::DeserializeOwned;

use crate::object::Object;

pub use changes::{Changes, changes};
pub use collection::Collection;
pub(crate) use errors::LastError;

/// The objects to follow, and how to follow them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Config {
    /// A selector by labels.
    pub label_selector: Option<String>,
    /// A selector by fields.
    pub field_selector: Option<String>,
    /// How many objects a page of a list has; zero for the default.
    pub page_size: u32,
    /// How often everything is shown again; zero for never.
    pub resync: Duration,
    /// Whether to list page by page even if the server could stream the objects.
    pub lists_pages: bool,
}

impl Config {
    /// Follows only objects whose labels match.
    #[must_use]
    pub fn labels(mut self, selector: &str) -> Self {
        self.label_selector = Some(selector.to_owned());
        self
    }

    /// Follows only objects whose fields match.
    #[must_use]
    pub fn fields(mut self, selector: &str) -> Self {
        self.field_selector = Some(selector.to_owned());
        self
    }

    /// Sets how many objects a page has.
    #[must_use]
    pub fn page_size(mut self, size: u32) -> Self {
        self.page_size = size;
        self
    }

    /// Shows everything again after every period.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = period;
        self
    }

    /// Lists page by page instead of by a stream.
    #[must_use]
    pub fn list_watch(mut self) -> Self {
        self.lists_pages = true;
        self
    }
}

/// Makes an informer: a store with indices that follows a collection, with any number of
/// subscriptions to its changes. A list or watch that fails is tried again, later each time, and
/// logged as a warning.
pub fn informer<K>(runtime: &Tokio, api: Api<K>, config: &Config) -> Informer<Object<K>, Tokio>
where
    K: Resource + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
{
    follow(runtime, Collection::new(api, config.clone()))
}

/// Makes an informer of a source.
pub(crate) fn follow<K>(runtime: &Tokio, source: Collection<K>) -> Informer<Object<K>, Tokio>
where
    K: Resource + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
{
    let (url, config) = (source.url().to_owned(), source.config());
    let settings = reflector::Config::default()
        .resync(config.resync)
        .page_size(config.page_size)
        .stream_lists(!config.lists_pages);
    let said = url.clone();
    let failed = move |failed: &ReflectorError| {
        let cause = std::error::Error::source(failed).map(ToString::to_string);
        tracing::warn!(url = said, cause, "{failed}, it is tried again");
    };
    let hooks = Hooks { failed: Arc::new(failed), ..Hooks::default() };
    let refused = Arc::new(move |error: &_| tracing::error!(url, "the store refused: {error}"));
    Informer::with(runtime, Arc::new(source), settings, hooks, refused)
}
