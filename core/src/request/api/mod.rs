//! Objects of one type: read, written, watched.

mod meta;
mod options;
mod resource;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cancel::CancelToken;
use crate::informer::Page;
use crate::runtime::Runtime;

use super::build::Request;
use super::client::Client;
use super::collection::{Collection, ListMeta};
use super::error::BuildError;
use super::event::WatchEvent;
use super::failure::RequestError;
use super::json::JsonError;
use super::reply::Reply;
use super::transport::Transport;
use super::verb::Verb;
use super::watch::Watch;

pub use self::meta::ObjectMeta;
pub use self::options::{DeleteParams, ListParams, Patch, Propagation};
pub use self::resource::{ApiResource, Resource};

/// The objects of one kind, of one namespace or of all.
///
/// Objects are sent as they are, with `apiVersion` and `kind` if these are missing. An update
/// replaces the whole object: a type that does not keep all fields should be changed by a patch.
///
/// ```no_run
/// use seatrial_core::request::{Api, ApiResource, ListParams, ObjectMeta, Patch, Resource};
/// use serde::{Deserialize, Serialize};
/// # use seatrial_core::request::{Client, RequestError, Transport};
/// # use seatrial_core::runtime::System;
///
/// #[derive(Serialize, Deserialize)]
/// struct ConfigMap {
///     metadata: ObjectMeta,
/// }
///
/// impl Resource for ConfigMap {
///     fn api_resource() -> ApiResource {
///         ApiResource::namespaced("", "v1", "ConfigMap", "configmaps")
///     }
/// }
///
/// # async fn f<T: Transport>(client: std::sync::Arc<Client<System, T>>) -> Result<(), RequestError> {
/// let maps: Api<_, _, ConfigMap> = Api::namespaced(&client, "default");
/// for map in maps.list(&ListParams::default().labels("app=web")).await?.items {
///     println!("{}", map.metadata.name);
/// }
/// let label = serde_json::json!({ "metadata": { "labels": { "app": "web" } } });
/// maps.patch("settings", &Patch::Merge(label)).await?;
/// # Ok(())
/// # }
/// ```
pub struct Api<R: Runtime, T, O> {
    client: Arc<Client<R, T>>,
    resource: ApiResource,
    namespace: Option<String>,
    token: CancelToken<R>,
    of: PhantomData<fn() -> O>,
}

impl<R: Runtime, T: Transport, O: Resource> Api<R, T, O> {
    /// The objects of all namespaces, or of a kind that has none. An object of a namespace is
    /// written to the namespace in its metadata.
    pub fn all(client: &Arc<Client<R, T>>) -> Self {
        Self::dynamic(client, O::api_resource(), None)
    }

    /// The objects of one namespace.
    pub fn namespaced(client: &Arc<Client<R, T>>, namespace: &str) -> Self {
        Self::dynamic(client, O::api_resource(), Some(namespace))
    }
}

impl<R: Runtime, T: Transport, O: Serialize + DeserializeOwned> Api<R, T, O> {
    /// The objects of a kind that is known only at run time, of one namespace or of all.
    pub fn dynamic(
        client: &Arc<Client<R, T>>,
        resource: ApiResource,
        namespace: Option<&str>,
    ) -> Self {
        let token = CancelToken::new(client.runtime());
        let (client, namespace) = (Arc::clone(client), namespace.map(str::to_owned));
        Self { client, resource, namespace, token, of: PhantomData }
    }

    /// Ends all calls and watches with a token.
    #[must_use]
    pub fn until(mut self, token: &CancelToken<R>) -> Self {
        self.token = token.clone();
        self
    }

    /// Begins a request about the collection, for what has no method here.
    pub fn request(&self, verb: Verb) -> Request {
        let namespaced = self.resource.namespaced;
        let request = self.client.request(verb, &self.resource.path());
        let request = request.resource(&self.resource.plural);
        match &self.namespace {
            Some(namespace) => request.namespace_if_scoped(namespace, namespaced),
            None => request,
        }
    }

    /// Returns a source for an informer of these objects.
    pub fn collection(&self, params: &ListParams) -> Collection<R, T> {
        let request = params.select(self.request(Verb::Get));
        Collection::new(&self.client, request).until(&self.token)
    }

    async fn send(&self, request: Request) -> Result<Reply, RequestError> {
        self.client.send(&request, &self.token).await
    }

    async fn object(&self, request: Request) -> Result<O, RequestError> {
        self.send(request).await?.json()
    }

    /// Reads an object.
    ///
    /// # Errors
    /// As [`Client::send`]; the other methods likewise.
    pub async fn get(&self, name: &str) -> Result<O, RequestError> {
        self.object(self.request(Verb::Get).name(name)).await
    }

    /// Reads the objects, or with a [`limit`](ListParams::limit()) a page of them.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn list(&self, params: &ListParams) -> Result<Page<O>, RequestError> {
        let reply = self.send(params.put(self.request(Verb::Get))).await?;
        let (items, head) = reply.items::<O, ListMeta>().await?;
        Ok(Page::whole(items, head.resource_version).followed_by(head.continue_token))
    }

    /// Reads all objects page by page. The version is that of the first page, which all others have
    /// too.
    ///
    /// # Errors
    /// As [`get`](Self::get). If it takes too long, a page is no longer there
    /// ([`Reason::Expired`](super::Reason::Expired)): list again.
    pub async fn list_all(&self, params: &ListParams) -> Result<Page<O>, RequestError> {
        let mut all = self.list(params).await?;
        while !all.continue_token.is_empty() {
            let page = self.list(&params.clone().page(&all.continue_token)).await?;
            all.items.extend(page.items);
            all.continue_token = page.continue_token;
        }
        Ok(all)
    }

    /// Watches the objects: all changes after a version, or with an empty one also the objects that
    /// exist. A watch ends now and then; an [informer](crate::informer) watches again.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn watch(
        &self,
        params: &ListParams,
        version: &str,
    ) -> Result<Events<R, O>, RequestError> {
        let request = params.select(self.request(Verb::Get).param("watch", "true"));
        let request = match version {
            "" => request,
            version => request.param("resourceVersion", version),
        };
        let watch = self.client.watch(&request, &self.token).await?;
        Ok(Events { watch, of: PhantomData })
    }

    /// Creates an object. Its metadata may have a `generateName` in place of a name.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn create(&self, object: &O) -> Result<O, RequestError> {
        let (body, _, namespace) = self.encode(object)?;
        self.object(self.write(Verb::Post, namespace.as_deref()).body_json(&body)).await
    }

    /// Replaces an object. If it has a version, an object of another version is a conflict.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn update(&self, object: &O) -> Result<O, RequestError> {
        self.replace(object, &[]).await
    }

    /// Replaces the status of an object, and nothing else.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn update_status(&self, object: &O) -> Result<O, RequestError> {
        self.replace(object, &["status"]).await
    }

    async fn replace(&self, object: &O, sub_resource: &[&str]) -> Result<O, RequestError> {
        let (body, name, namespace) = self.encode(object)?;
        let request = self.write(Verb::Put, namespace.as_deref()).name(&name);
        self.object(request.sub_resource(sub_resource).body_json(&body)).await
    }

    /// Changes an object.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn patch(&self, name: &str, patch: &Patch) -> Result<O, RequestError> {
        self.object(patch.put(self.request(Verb::Patch).name(name))).await
    }

    /// Changes the status of an object.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn patch_status(&self, name: &str, patch: &Patch) -> Result<O, RequestError> {
        let request = self.request(Verb::Patch).name(name).sub_resource(&["status"]);
        self.object(patch.put(request)).await
    }

    /// Applies an object: the server sets these fields, notes that `manager` owns them, and removes
    /// those that it owned before. With `force` it takes fields from other managers, which is a
    /// conflict otherwise. The object may have any type, since it has only the fields that are set.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn apply(
        &self,
        object: &impl Serialize,
        manager: &str,
        force: bool,
    ) -> Result<O, RequestError> {
        self.applied(object, &[], manager, force).await
    }

    /// Applies the status of an object.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn apply_status(
        &self,
        object: &impl Serialize,
        manager: &str,
        force: bool,
    ) -> Result<O, RequestError> {
        self.applied(object, &["status"], manager, force).await
    }

    async fn applied(
        &self,
        object: &impl Serialize,
        sub_resource: &[&str],
        manager: &str,
        force: bool,
    ) -> Result<O, RequestError> {
        let (body, name, namespace) = self.encode(object)?;
        let request = self.write(Verb::Patch, namespace.as_deref()).name(&name);
        let request = request.sub_resource(sub_resource).param("fieldManager", manager);
        let request = if force { request.param("force", "true") } else { request };
        let request = request.body_json(&body);
        self.object(request.header("Content-Type", &["application/apply-patch+yaml"])).await
    }

    /// Deletes an object. It may stay for a while, until its finalizers are done.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn delete(&self, name: &str, params: &DeleteParams) -> Result<(), RequestError> {
        let request = params.put(self.request(Verb::Delete).name(name));
        self.send(request).await.map(drop)
    }

    /// Deletes the objects that are selected.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn delete_collection(
        &self,
        params: &DeleteParams,
        selected: &ListParams,
    ) -> Result<(), RequestError> {
        let request = params.put(selected.put(self.request(Verb::Delete)));
        self.send(request).await.map(drop)
    }

    /// Begins a write to the namespace of an object.
    fn write(&self, verb: Verb, namespace: Option<&str>) -> Request {
        let request = self.request(verb);
        match namespace {
            Some(namespace) if self.namespace.is_none() => {
                request.namespace_if_scoped(namespace, self.resource.namespaced)
            }
            _ => request,
        }
    }

    /// Returns an object as it is sent, its name and its namespace.
    fn encode(
        &self,
        object: &impl Serialize,
    ) -> Result<(Value, String, Option<String>), RequestError> {
        let bad = |why| RequestError::Build(BuildError::Encode(JsonError::new(&why, "")));
        let mut value = serde_json::to_value(object).map_err(bad)?;
        if let Value::Object(fields) = &mut value {
            for (field, known) in
                [("apiVersion", self.resource.api_version()), ("kind", self.resource.kind.clone())]
            {
                let field = fields.entry(field).or_insert(Value::Null);
                if field.as_str().is_none_or(str::is_empty) {
                    *field = json!(known); // a type may have the field, and leave it empty
                }
            }
        }
        let text = |field: &str| value["metadata"][field].as_str().map(str::to_owned);
        let (name, namespace) = (text("name").unwrap_or_default(), text("namespace"));
        Ok((value, name, namespace.filter(|it| !it.is_empty())))
    }
}

/// The events of a watch of one type.
pub struct Events<R: Runtime, O> {
    watch: Watch<R>,
    of: PhantomData<fn() -> O>,
}

impl<R: Runtime, O: DeserializeOwned> Events<R, O> {
    /// Waits for the next event; `None` once the watch has ended, for any reason. A future that is
    /// dropped loses no event.
    pub async fn next(&mut self) -> Option<WatchEvent<O>> {
        self.watch.next().await
    }
}

impl<R: Runtime, T, O> Clone for Api<R, T, O> {
    fn clone(&self) -> Self {
        Self {
            client: Arc::clone(&self.client),
            resource: self.resource.clone(),
            namespace: self.namespace.clone(),
            token: self.token.clone(),
            of: PhantomData,
        }
    }
}

impl<R: Runtime, T, O> fmt::Debug for Api<R, T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("resource", &self.resource)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl<R: Runtime, O> fmt::Debug for Events<R, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.watch, f)
    }
}
