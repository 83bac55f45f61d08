//! The source of an informer: lists and watches through a client of kube.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use kube::Resource;
use kube::api::{Api, ListParams, VersionMatch, WatchEvent, WatchParams};
use seatrial_core::informer::{
    BoxFuture, Event, ListOptions, ListWatch, Match, OpenWatch, Page, SourceError, SourceKind,
    WatchOptions,
};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, Sleep, timeout_at};

use super::errors::{LastError, source_error};
use super::{Config, list};
use crate::object::Object;

/// A collection of a server, as a source for core's informer.
#[derive(Clone)]
pub struct Collection<K> {
    api: Api<K>,
    config: Config,
    last_error: LastError,
}

impl<K> Collection<K> {
    /// Makes a source of the objects that match `config`.
    #[must_use]
    pub fn new(api: Api<K>, config: Config) -> Self {
        Self { api, config, last_error: LastError::default() }
    }

    pub(super) fn url(&self) -> &str
    where
        K: Resource,
    {
        self.api.resource_url()
    }

    pub(super) const fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the place where the last error is kept.
    pub(crate) fn last_error(&self) -> LastError {
        self.last_error.clone()
    }
}

impl<K> ListWatch<Object<K>> for Collection<K>
where
    K: Resource + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
{
    fn list(&self, options: ListOptions) -> BoxFuture<'_, Result<Page<Object<K>>, SourceError>> {
        Box::pin(async move {
            let params = ListParams {
                label_selector: self.config.label_selector.clone(),
                field_selector: self.config.field_selector.clone(),
                limit: (options.limit > 0).then_some(options.limit),
                continue_token: non_empty(options.continue_token),
                version_match: options.resource_version_match.map(|wanted| match wanted {
                    Match::Exact => VersionMatch::Exact,
                    _ => VersionMatch::NotOlderThan,
                }),
                resource_version: non_empty(options.resource_version),
                ..ListParams::default()
            };
            let list = self.last_error.note(list::read(&self.api, &params).await)?;
            let items = list.items.into_iter().map(|object| Object(Arc::new(object))).collect();
            let page = Page::whole(items, list.metadata.resource_version.unwrap_or_default());
            Ok(page.followed_by(list.metadata.continue_.unwrap_or_default()))
        })
    }

    fn watch(
        &self,
        options: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Object<K>>>, SourceError>> {
        Box::pin(async move {
            let seconds = u32::try_from(options.timeout.as_secs()).unwrap_or(u32::MAX);
            let params = WatchParams {
                label_selector: self.config.label_selector.clone(),
                field_selector: self.config.field_selector.clone(),
                timeout: (seconds > 0).then_some(seconds),
                bookmarks: options.allow_bookmarks || options.send_initial_events,
                send_initial_events: options.send_initial_events,
            };
            // The server ends a watch in time. If it does not, the connection to it is lost.
            let deadline = Instant::now() + options.timeout + LATE;
            let watch = self.api.watch(&params, &options.resource_version);
            let events = self.last_error.note(until(deadline, watch).await)?;
            let (events, end) = (Box::pin(events), Box::pin(tokio::time::sleep_until(deadline)));
            Ok(Box::new(Watch { events, end }) as Box<dyn OpenWatch<Object<K>>>)
        })
    }
}

/// How late the end of a watch may be.
const LATE: Duration = Duration::from_secs(10);

/// Awaits an answer until a deadline. A client sets no limit itself, and a broken network reports
/// nothing.
async fn until<T>(
    deadline: Instant,
    answer: impl Future<Output = kube::Result<T>>,
) -> Result<T, SourceError> {
    match timeout_at(deadline, answer).await {
        Ok(answer) => answer.map_err(source_error),
        Err(late) => Err(SourceError::new(SourceKind::Other, late)),
    }
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// A watch under way.
pub(super) struct Watch<S> {
    pub(super) events: Pin<Box<S>>,
    pub(super) end: Pin<Box<Sleep>>,
}

impl<K, S> OpenWatch<Object<K>> for Watch<S>
where
    K: Send + Sync + 'static,
    S: futures_core::Stream<Item = kube::Result<WatchEvent<K>>> + Send,
{
    fn next(&mut self) -> BoxFuture<'_, Option<Event<Object<K>>>> {
        Box::pin(poll_fn(|context| {
            if let Poll::Ready(event) = self.events.as_mut().poll_next(context) {
                return Poll::Ready(event.map(to_event));
            }
            self.end.as_mut().poll(context).map(|()| None)
        }))
    }
}

fn to_event<K>(event: kube::Result<WatchEvent<K>>) -> Event<Object<K>> {
    let shared = |object| Object(Arc::new(object));
    match event {
        Ok(WatchEvent::Added(object)) => Event::Added(shared(object)),
        Ok(WatchEvent::Modified(object)) => Event::Modified(shared(object)),
        Ok(WatchEvent::Deleted(object)) => Event::Deleted(shared(object)),
        Ok(WatchEvent::Bookmark(mark)) => {
            let marked = mark.metadata.annotations.get("k8s.io/initial-events-end");
            Event::Bookmark {
                resource_version: mark.metadata.resource_version,
                ends_initial: marked.is_some_and(|value| value == "true"),
            }
        }
        Ok(WatchEvent::Error(status)) => Event::Error(source_error(kube::Error::Api(status))),
        Err(error) => Event::Error(source_error(error)),
    }
}

impl<K> fmt::Debug for Collection<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collection").field("config", &self.config).finish_non_exhaustive()
    }
}
