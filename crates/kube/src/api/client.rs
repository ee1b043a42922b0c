//! A typed client for objects of one kind, as the API server keeps them.
//!
//! An answer is read as plain JSON first, and typed in one place. The types of Kubernetes are
//! large: each form that they are read from costs compile time and bytes of the binary. An answer
//! has a longest length, which the client library would not keep. Only watches have none: they are
//! streams of events without an end.

use std::marker::PhantomData;

use futures::{Stream, StreamExt};
use hopbench_model::printable::excerpt;
use http::Request as HttpRequest;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::serde::Serialize;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::api::{
    DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::client::Body;
use kube::core::request::Error;
use kube::core::{Request, Status};
use kube::{Client, Resource};
use serde::de::Error as _;
use serde_json::Value;

use crate::api::body::{MOST_BYTES, too_long};

/// As many letters are kept of an error that is not the API server's.
const MOST_SAID: usize = 300;

/// A request, or the reason why it cannot be built.
type BuiltRequest = Result<HttpRequest<Vec<u8>>, Error>;

/// The objects of one kind, in one namespace or in all of the cluster.
pub(crate) struct Api<K> {
    client: Client,
    namespace: Option<String>,
    request: Request,
    kind: PhantomData<fn() -> K>,
}

impl<K: Resource<DynamicType = ()>> Api<K> {
    /// Those of the whole cluster.
    pub(crate) fn all(client: Client) -> Self {
        Self {
            client,
            namespace: None,
            request: Request::new(K::url_path(&(), None)),
            kind: PhantomData,
        }
    }

    /// Those of a namespace.
    pub(crate) fn namespaced(client: Client, namespace: &str) -> Self
    where
        K: Resource<Scope = NamespaceResourceScope>,
    {
        let request = Request::new(K::url_path(&(), Some(namespace)));
        Self { client, namespace: Some(namespace.to_owned()), request, kind: PhantomData }
    }
}

impl Api<Value> {
    /// Objects of a kind that the cluster may not have: `resource` of a group and version, in a
    /// namespace.
    pub(crate) fn others(client: Client, version: &str, namespace: &str, resource: &str) -> Self {
        let url = format!("{}/namespaces/{namespace}/{resource}", root(version));
        let namespace = Some(namespace.to_owned());
        Self { client, namespace, request: Request::new(url), kind: PhantomData }
    }

    /// The same of all namespaces, or of a kind that is in none.
    pub(crate) fn everywhere(client: Client, version: &str, resource: &str) -> Self {
        let request = Request::new(format!("{}/{resource}", root(version)));
        Self { client, namespace: None, request, kind: PhantomData }
    }
}

impl<K: DeserializeOwned> Api<K> {
    pub(crate) async fn get(&self, name: &str) -> kube::Result<K> {
        typed(ask(&self.client, self.request.get(name, &GetParams::default())).await?)
    }

    /// The same; an object that is not there is no error.
    pub(crate) async fn get_opt(&self, name: &str) -> kube::Result<Option<K>> {
        match self.get(name).await {
            Ok(object) => Ok(Some(object)),
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All that fit, read page by page.
    pub(crate) async fn list(&self, params: ListParams) -> kube::Result<Vec<K>> {
        Ok(self.list_with_version(params).await?.0)
    }

    /// The same, with the version of the cluster's state that they show.
    pub(crate) async fn list_with_version(
        &self,
        params: ListParams,
    ) -> kube::Result<(Vec<K>, String)> {
        let (items, version) = pages(&self.client, &self.request, params).await?;
        Ok((items.into_iter().map(typed).collect::<kube::Result<_>>()?, version))
    }

    pub(crate) async fn create(&self, params: &PostParams, object: &K) -> kube::Result<K>
    where
        K: Serialize,
    {
        let object = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
        let bytes = serde_json::to_vec(&object).map_err(kube::Error::SerdeError)?;
        typed(ask(&self.client, self.request.create(params, bytes)).await?)
    }

    pub(crate) async fn patch<P: Serialize>(
        &self,
        name: &str,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> kube::Result<K> {
        typed(ask(&self.client, self.request.patch(name, params, patch)).await?)
    }

    /// The changes after `version`, until the server ends the stream.
    pub(crate) async fn watch(
        &self,
        params: &WatchParams,
        version: &str,
    ) -> kube::Result<impl Stream<Item = kube::Result<WatchEvent<K>>> + use<K>> {
        let request = self.request.watch(params, version).map_err(kube::Error::BuildRequest)?;
        let events = self.client.request_events::<Value>(request).await?;
        Ok(events.map(|event| {
            Ok(match event? {
                WatchEvent::Added(object) => WatchEvent::Added(typed(object)?),
                WatchEvent::Modified(object) => WatchEvent::Modified(typed(object)?),
                WatchEvent::Deleted(object) => WatchEvent::Deleted(typed(object)?),
                WatchEvent::Bookmark(mark) => WatchEvent::Bookmark(mark),
                WatchEvent::Error(status) => WatchEvent::Error(status),
            })
        }))
    }
}

impl<K> Api<K> {
    /// Asks for the end of an object; it may take a while to go.
    pub(crate) async fn delete(&self, name: &str, params: &DeleteParams) -> kube::Result<()> {
        told(&self.client, self.request.delete(name, params)).await.map(drop)
    }

    /// The same for all that fit.
    pub(crate) async fn delete_collection(
        &self,
        params: &DeleteParams,
        which: &ListParams,
    ) -> kube::Result<()> {
        told(&self.client, self.request.delete_collection(params, which)).await.map(drop)
    }
}

impl Api<Pod> {
    /// The client for streams into these pods, and for their logs.
    pub(crate) fn streams(&self) -> kube::Api<Pod> {
        match &self.namespace {
            Some(namespace) => kube::Api::namespaced(self.client.clone(), namespace),
            None => kube::Api::all(self.client.clone()),
        }
    }
}

impl<K> Clone for Api<K> {
    fn clone(&self) -> Self {
        let (client, namespace, request) =
            (self.client.clone(), self.namespace.clone(), self.request.clone());
        Self { client, namespace, request, kind: PhantomData }
    }
}

/// The resources of a group and version, as the API server lists them.
pub(crate) async fn resources(client: &Client, version: &str) -> kube::Result<Value> {
    let request = HttpRequest::get(root(version)).body(Vec::new());
    ask(client, request.map_err(Error::BuildRequest)).await
}

/// Where the API server has a group and version, or a version of the core.
fn root(version: &str) -> String {
    format!("/{}/{version}", if version.contains('/') { "apis" } else { "api" })
}

/// The text of an answer, of at most [`MOST_BYTES`].
async fn told(client: &Client, request: BuiltRequest) -> kube::Result<String> {
    let request = request.map_err(kube::Error::BuildRequest)?;
    let answer = client.send(request.map(Body::from)).await?;
    let code = answer.status();
    let bytes =
        Limited::new(answer.into_body(), MOST_BYTES).collect().await.map_err(unread)?.to_bytes();
    let text = String::from_utf8(bytes.to_vec()).map_err(kube::Error::FromUtf8)?;
    if !code.is_client_error() && !code.is_server_error() {
        return Ok(text);
    }
    let status: Status = serde_json::from_str(&text).unwrap_or_else(|_| {
        // Something before the API server answered.
        Status::failure(&excerpt(text.trim(), MOST_SAID), "Not an answer of the API server")
            .with_code(code.as_u16())
    });
    Err(kube::Error::Api(status.boxed()))
}

/// The error for a body that broke, or that is too long. Another attempt does not help with the
/// latter.
fn unread(error: Box<dyn std::error::Error + Send + Sync>) -> kube::Error {
    if error.is::<LengthLimitError>() {
        return kube::Error::SerdeError(serde_json::Error::custom(too_long()));
    }
    error.downcast().map_or_else(kube::Error::Service, |error| *error)
}

async fn ask(client: &Client, request: BuiltRequest) -> kube::Result<Value> {
    serde_json::from_str(&told(client, request).await?).map_err(kube::Error::SerdeError)
}

fn typed<K: DeserializeOwned>(value: Value) -> kube::Result<K> {
    serde_json::from_value(value).map_err(kube::Error::SerdeError)
}

async fn pages(
    client: &Client,
    request: &Request,
    params: ListParams,
) -> kube::Result<(Vec<Value>, String)> {
    let mut params = params.limit(500);
    let mut all = Vec::new();
    loop {
        let (items, version, next) = page(ask(client, request.list(&params)).await?);
        all.extend(items);
        match next {
            Some(token) => params.continue_token = Some(token),
            None => return Ok((all, version)),
        }
    }
}

/// The items of a list, its version, and where it goes on.
fn page(mut list: Value) -> (Vec<Value>, String, Option<String>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (version, next) =
        (text(&list["metadata"]["resourceVersion"]), text(&list["metadata"]["continue"]));
    // A list of nothing may be `null`.
    let items = match list["items"].take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    (items, version, Some(next).filter(|next| !next.is_empty()))
}

#[cfg(test)]
mod tests;
