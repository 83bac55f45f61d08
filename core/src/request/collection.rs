//! The objects of one resource, for an informer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cancel::CancelToken;
use crate::informer::{
    self, Event, ListOptions, ListWatch, Match, Page, SourceError, SourceKind, WatchOptions,
};
use crate::runtime::Runtime;

use super::build::Request;
use super::client::Client;
use super::event::WatchEvent;
use super::failure::RequestError;
use super::status::{Reason, Status};
use super::transport::{Transport, TransportKind};
use super::watch::Watch;

/// The annotation of the bookmark that follows the existing objects (`cache:WL-1`).
const ENDS_INITIAL: &str = "k8s.io/initial-events-end";
/// The server's message for a version that it does not have yet (`cache:RE-7`).
const TOO_LARGE: &str = "Too large resource version";

/// The objects of one resource: a source for an [`Informer`](crate::informer::Informer). Objects
/// are decoded as `O` and returned in an `Arc`.
///
/// ```
/// # use std::sync::Arc;
/// # use seatrial_core::informer::{Informer, ListWatch};
/// # use seatrial_core::request::{Client, Collection, Transport, Verb};
/// # use seatrial_core::runtime::System;
/// # use seatrial_core::store::Described;
/// # fn follow<T, Pod>(system: &System, client: Arc<Client<System, T>>) -> Informer<Arc<Pod>>
/// # where
/// #     T: Transport,
/// #     Pod: Described + serde::de::DeserializeOwned + std::fmt::Debug + Send + Sync + 'static,
/// # {
/// let pods = client.request(Verb::Get, "/api/v1").namespace("default").resource("pods");
/// let pods = Collection::new(&client, pods.param("labelSelector", "app=web"));
/// Informer::new(system, Arc::new(pods))
/// # }
/// ```
pub struct Collection<R: Runtime, T> {
    client: Arc<Client<R, T>>,
    request: Request,
    token: CancelToken<R>,
}

impl<R: Runtime, T: Transport> Collection<R, T> {
    /// Makes a collection from the request that lists the objects: GET, without a name. The request
    /// may have selectors; versions, pages and timeouts are added to it.
    pub fn new(client: &Arc<Client<R, T>>, request: Request) -> Self {
        let token = CancelToken::new(client.runtime());
        Self { client: Arc::clone(client), request, token }
    }

    /// Ends all calls and watches with a token.
    pub(super) fn until(mut self, token: &CancelToken<R>) -> Self {
        self.token = token.clone();
        self
    }

    async fn page<O: DeserializeOwned>(
        &self,
        options: ListOptions,
    ) -> Result<Page<Arc<O>>, SourceError> {
        let request = versioned(
            self.request.clone(),
            &options.resource_version,
            options.resource_version_match,
        );
        let request = match options.limit {
            0 => request,
            limit => request.param("limit", &limit.to_string()),
        };
        let request = with(request, "continue", &options.continue_token);
        let reply = self.client.send(&request, &self.token).await.map_err(failure)?;
        let (items, head) = reply.items::<O, ListMeta>().await.map_err(failure)?;
        let items = items.into_iter().map(Arc::new).collect();
        let page = Page::whole(items, head.resource_version);
        Ok(page.followed_by(head.continue_token))
    }

    async fn events(&self, options: WatchOptions) -> Result<Events<R>, SourceError> {
        let request = versioned(
            self.request.clone().param("watch", "true"),
            &options.resource_version,
            options.resource_version_match,
        );
        let seconds = options.timeout.as_secs();
        let seconds = if seconds > 0 { seconds.to_string() } else { String::new() };
        let yes = |wanted: bool| if wanted { "true" } else { "" };
        let request = with(request, "timeoutSeconds", &seconds);
        let request = with(request, "allowWatchBookmarks", yes(options.allow_bookmarks));
        let request = with(request, "sendInitialEvents", yes(options.send_initial_events));
        self.client.watch(&request, &self.token).await.map(Events).map_err(failure)
    }
}

impl<R, T, O> ListWatch<Arc<O>> for Collection<R, T>
where
    R: Runtime,
    T: Transport,
    O: DeserializeOwned + Send + Sync + 'static,
{
    fn list(
        &self,
        options: ListOptions,
    ) -> informer::BoxFuture<'_, Result<Page<Arc<O>>, SourceError>> {
        Box::pin(self.page(options))
    }

    fn watch(
        &self,
        options: WatchOptions,
    ) -> informer::BoxFuture<'_, Result<Box<dyn informer::OpenWatch<Arc<O>>>, SourceError>> {
        Box::pin(async {
            let events = self.events(options).await?;
            Ok(Box::new(events) as Box<dyn informer::OpenWatch<Arc<O>>>)
        })
    }
}

/// Adds a parameter unless its value is empty.
pub(super) fn with(request: Request, name: &str, value: &str) -> Request {
    if value.is_empty() { request } else { request.param(name, value) }
}

pub(super) fn versioned(request: Request, version: &str, how: Option<Match>) -> Request {
    let how = match how {
        None => "",
        Some(Match::Exact) => "Exact",
        Some(Match::NotOlderThan) => "NotOlderThan",
    };
    with(with(request, "resourceVersion", version), "resourceVersionMatch", how)
}

/// The metadata of a list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListMeta {
    pub(super) resource_version: String,
    #[serde(default, rename = "continue")]
    pub(super) continue_token: String,
}

/// The events of a watch.
struct Events<R: Runtime>(Watch<R>);

impl<R, O> informer::OpenWatch<Arc<O>> for Events<R>
where
    R: Runtime,
    O: DeserializeOwned + Send + Sync + 'static,
{
    fn next(&mut self) -> informer::BoxFuture<'_, Option<Event<Arc<O>>>> {
        Box::pin(async {
            Some(match self.0.next::<O>().await? {
                WatchEvent::Added(object) => Event::Added(Arc::new(object)),
                WatchEvent::Modified(object) => Event::Modified(Arc::new(object)),
                WatchEvent::Deleted(object) => Event::Deleted(Arc::new(object)),
                WatchEvent::Bookmark(object) => bookmark(&object),
                WatchEvent::Error(status) => Event::Error(refused(*status)),
            })
        })
    }
}

fn bookmark<O>(object: &Value) -> Event<O> {
    let metadata = &object["metadata"];
    match metadata["resourceVersion"].as_str().filter(|version| !version.is_empty()) {
        None => Event::Foreign("a bookmark without a version".to_owned()),
        Some(version) => Event::Bookmark {
            resource_version: version.to_owned(),
            ends_initial: metadata["annotations"][ENDS_INITIAL] == "true",
        },
    }
}

/// Translates a failure for an informer.
fn failure(error: RequestError) -> SourceError {
    let kind = match error {
        RequestError::Status(status) => return refused(*status),
        RequestError::Transport { ref last, .. } => match last.kind() {
            TransportKind::Refused => SourceKind::Refused,
            TransportKind::Eof | TransportKind::Reset | TransportKind::Unprocessed => {
                SourceKind::Eof
            }
            _ => SourceKind::Other,
        },
        RequestError::Incomplete(_) => SourceKind::Eof,
        RequestError::TooLarge(_) => SourceKind::Oversized,
        _ => SourceKind::Other,
    };
    SourceError::new(kind, error)
}

/// Translates a refusal of the server for an informer (`cache:RE-7`, `RE-8`).
fn refused(status: Status) -> SourceError {
    let kind = if status.is(&Reason::Expired) || status.is(&Reason::Gone) {
        SourceKind::Expired
    } else if is_too_large(&status) {
        SourceKind::TooLarge
    } else if status.is(&Reason::TooManyRequests) {
        SourceKind::TooManyRequests
    } else if status.is(&Reason::InternalError) {
        SourceKind::Internal
    } else if status.is(&Reason::BadRequest) || status.is(&Reason::Invalid) {
        SourceKind::Invalid
    } else {
        SourceKind::Other
    };
    let delay = status.details.retry_after_seconds;
    let error = SourceError::new(kind, RequestError::Status(Box::new(status)));
    if delay > 0 { error.after(Duration::from_secs(delay.into())) } else { error }
}

fn is_too_large(status: &Status) -> bool {
    let causes = &status.details.causes;
    let timed_out = status.is(&Reason::Timeout);
    causes.iter().any(|cause| cause.reason == "ResourceVersionTooLarge")
        || timed_out && causes.iter().any(|cause| cause.message == TOO_LARGE)
        || timed_out && status.message.contains(TOO_LARGE)
}

impl<R: Runtime, T> fmt::Debug for Collection<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collection").field("request", &self.request).finish_non_exhaustive()
    }
}
