//! Reading a list, however long it takes, as long as bytes come.

use std::time::Duration;

use http_body_util::BodyExt as _;
use kube::api::{Api, ListParams, ObjectList};
use kube::client::Body;
use kube::core::{Request, Status};
use kube::{Error, Resource};
use seatrial_core::informer::{SourceError, SourceKind};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::errors::{source_error, undecodable};

/// How long a server may be silent while it is asked for a list; after that it counts as lost. A
/// client sets no limit itself, and a broken network reports nothing.
const SILENCE: Duration = Duration::from_secs(60);

/// Reads a page of a list. `Api::list` cannot tell a long list from a server that is silent.
pub(super) async fn read<K>(api: &Api<K>, params: &ListParams) -> Result<ObjectList<K>, SourceError>
where
    K: Resource + Clone + DeserializeOwned,
{
    let request = Request::new(api.resource_url());
    let request =
        if K::metadata_api() { request.list_metadata(params) } else { request.list(params) };
    let mut request =
        request.map_err(|error| source_error(Error::BuildRequest(error)))?.map(Body::from);
    request.extensions_mut().insert("list"); // the name of the client's span
    let sent = heard(api.clone().into_client().send(request)).await?;
    let (head, mut body) = sent.map_err(source_error)?.into_parts();
    let mut bytes = Vec::new();
    while let Some(frame) = heard(body.frame()).await? {
        let frame = frame.map_err(source_error)?;
        bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
    }
    if head.status.is_client_error() || head.status.is_server_error() {
        return Err(source_error(Error::Api(refusal(head.status.as_u16(), &bytes).boxed())));
    }
    serde_json::from_slice(&bytes).map_err(|error| undecodable(&error))
}

/// Awaits the next sign of the server.
async fn heard<T>(sign: impl Future<Output = T>) -> Result<T, SourceError> {
    let silent = || SourceError::new(SourceKind::Other, format!("silence for {SILENCE:?}"));
    timeout(SILENCE, sign).await.map_err(|_| silent())
}

/// Reads the status of an error. What a proxy answers is none.
fn refusal(code: u16, bytes: &[u8]) -> Status {
    serde_json::from_slice(bytes).unwrap_or_else(|_| {
        Status::failure("the answer is no status", "Failed to parse error data").with_code(code)
    })
}
