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

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use kube::Resource;
use kube::api::{Api, ListParams, VersionMatch, WatchEvent, WatchParams};
use kube::core::Status;
use seatrial_core::informer::reflector::{self, Failed, Hooks};
use seatrial_core::informer::{
    Awaited, Event, Informer, ListOptions, ListWatch, Match, Page, SourceError, SourceKind, Stream,
    WatchOptions,
};
use seatrial_core::runtime::Tokio;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, Sleep, timeout_at};

use crate::object::Object;

pub use crate::changes::{Changes, changes};

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
    let url = api.resource_url().to_owned();
    let settings = reflector::Config::default()
        .resync(config.resync)
        .page_size(config.page_size)
        .stream_lists(!config.lists_pages);
    let said = url.clone();
    let failed = move |failed: &Failed| {
        let cause = std::error::Error::source(failed).map(ToString::to_string);
        tracing::warn!(url = said, cause, "{failed}, it is tried again");
    };
    let hooks = Hooks { failed: Arc::new(failed), ..Hooks::default() };
    let refused = Arc::new(move |error: &_| tracing::error!(url, "the store refused: {error}"));
    let source = Arc::new(Collection { api, config: config.clone() });
    Informer::with(runtime, source, settings, hooks, refused)
}

/// A collection of a server, as a source for core's informer.
#[derive(Clone)]
pub struct Collection<K> {
    api: Api<K>,
    config: Config,
}

impl<K> Collection<K> {
    /// Makes a source of the objects that match `config`.
    #[must_use]
    pub const fn new(api: Api<K>, config: Config) -> Self {
        Self { api, config }
    }
}

impl<K> ListWatch<Object<K>> for Collection<K>
where
    K: Resource + Clone + DeserializeOwned + fmt::Debug + Send + Sync + 'static,
{
    fn list(&self, options: ListOptions) -> Awaited<'_, Result<Page<Object<K>>, SourceError>> {
        Box::pin(async move {
            let params = ListParams {
                label_selector: self.config.label_selector.clone(),
                field_selector: self.config.field_selector.clone(),
                limit: (options.limit > 0).then_some(options.limit),
                continue_token: stated(options.continue_token),
                version_match: options.resource_version_match.map(|wanted| match wanted {
                    Match::Exact => VersionMatch::Exact,
                    _ => VersionMatch::NotOlderThan,
                }),
                resource_version: stated(options.resource_version),
                ..ListParams::default()
            };
            let list = until(Instant::now() + PATIENCE, self.api.list(&params)).await?;
            let items = list.items.into_iter().map(|object| Object(Arc::new(object))).collect();
            let page = Page::whole(items, list.metadata.resource_version.unwrap_or_default());
            Ok(page.followed_by(list.metadata.continue_.unwrap_or_default()))
        })
    }

    fn watch(
        &self,
        options: WatchOptions,
    ) -> Awaited<'_, Result<Box<dyn Stream<Object<K>>>, SourceError>> {
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
            let events = Box::pin(until(deadline, watch).await?);
            let end = Box::pin(tokio::time::sleep_until(deadline));
            Ok(Box::new(Watch { events, end }) as Box<dyn Stream<Object<K>>>)
        })
    }
}

/// How long a page of a list may take; after that its server counts as lost.
const PATIENCE: Duration = Duration::from_secs(60);

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

fn stated(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// A watch under way.
struct Watch<S> {
    events: Pin<Box<S>>,
    end: Pin<Box<Sleep>>,
}

impl<K, S> Stream<Object<K>> for Watch<S>
where
    K: Send + Sync + 'static,
    S: futures_core::Stream<Item = kube::Result<WatchEvent<K>>> + Send,
{
    fn next(&mut self) -> Awaited<'_, Option<Event<Object<K>>>> {
        Box::pin(poll_fn(|context| {
            if let Poll::Ready(event) = self.events.as_mut().poll_next(context) {
                return Poll::Ready(event.map(told));
            }
            self.end.as_mut().poll(context).map(|()| None)
        }))
    }
}

fn told<K>(event: kube::Result<WatchEvent<K>>) -> Event<Object<K>> {
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

fn source_error(error: kube::Error) -> SourceError {
    let (kind, after) = match &error {
        kube::Error::Api(status) => (kind_of(status), retry_after(status)),
        other => (transport_kind(other), None),
    };
    let error = SourceError::new(kind, error);
    match after {
        Some(delay) => error.after(delay),
        None => error,
    }
}

fn kind_of(status: &Status) -> SourceKind {
    let details = status.details.as_ref();
    let too_large = |it: &kube::core::response::StatusCause| it.reason == "ResourceVersionTooLarge";
    match status.code {
        // The version or the page is too old, whether in an answer or within a watch.
        410 => SourceKind::Expired,
        429 => SourceKind::TooManyRequests,
        504 if details.is_some_and(|it| it.causes.iter().any(too_large)) => SourceKind::TooLarge,
        500 => SourceKind::Internal,
        400 | 422 => SourceKind::Invalid,
        _ => SourceKind::Other,
    }
}

fn retry_after(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds;
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

/// Searches the causes for an IO error.
fn transport_kind(error: &kube::Error) -> SourceKind {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        match error.downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => return SourceKind::Refused,
            Some(io::ErrorKind::UnexpectedEof) => return SourceKind::Eof,
            _ => cause = error.source(),
        }
    }
    SourceKind::Other
}

impl<K> fmt::Debug for Collection<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collection").field("config", &self.config).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_its_server_forgot_ends_in_time() {
        struct Silent;
        impl futures_core::Stream for Silent {
            type Item = kube::Result<WatchEvent<ConfigMap>>;
            fn poll_next(
                self: Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> Poll<Option<Self::Item>> {
                Poll::Pending
            }
        }
        let began = Instant::now();
        let end = Box::pin(tokio::time::sleep(Duration::from_secs(310)));
        let mut watch = Watch { events: Box::pin(Silent), end };
        assert!(watch.next().await.is_none());
        assert_eq!(began.elapsed(), Duration::from_secs(310));
    }

    /// A request into a broken network is never answered.
    #[tokio::test(start_paused = true)]
    async fn a_request_that_nobody_answers_ends_in_time() {
        type Body = kube::client::Body;
        let cut = tower::service_fn(|_: http::Request<Body>| {
            std::future::pending::<Result<http::Response<Body>, std::io::Error>>()
        });
        let api: Api<ConfigMap> = Api::default_namespaced(kube::Client::new(cut, "default"));
        let source = Collection::new(api, Config::default());
        let began = Instant::now();
        let limit = Duration::from_secs(1_000);
        let listed = tokio::time::timeout(limit, source.list(ListOptions::default())).await;
        assert_eq!(listed.expect("it ends").unwrap_err().kind(), SourceKind::Other);
        assert_eq!(began.elapsed().as_secs(), 60);
        let mut options = WatchOptions::default();
        options.timeout = Duration::from_secs(300);
        let began = Instant::now();
        let opened = tokio::time::timeout(limit, source.watch(options)).await;
        assert!(opened.expect("it ends").is_err());
        assert_eq!(began.elapsed().as_secs(), 310);
    }

    #[test]
    fn an_error_means_what_the_server_says() {
        let kind = |code: u16, cause: Option<&str>| {
            let causes: Vec<_> = cause.map(|it| json!({"reason": it})).into_iter().collect();
            let details = json!({"causes": causes, "retryAfterSeconds": 7});
            let status = json!({"code": code, "details": details});
            let status: Status = serde_json::from_value(status).expect("a status");
            let error = source_error(kube::Error::Api(status.boxed()));
            assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
            error.kind()
        };
        assert_eq!(kind(410, None), SourceKind::Expired);
        assert_eq!(kind(429, None), SourceKind::TooManyRequests);
        assert_eq!(kind(500, None), SourceKind::Internal);
        assert_eq!(kind(504, Some("ResourceVersionTooLarge")), SourceKind::TooLarge);
        assert_eq!(kind(504, None), SourceKind::Other);
        assert_eq!(kind(400, None), SourceKind::Invalid);
        assert_eq!(kind(403, None), SourceKind::Other);
    }
}
