//! Requests to an API server, in the words in which it asks for rights itself.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use http::{Method, Request};
use kube::client::{Body, ClientBuilder};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tower::util::MapRequestLayer;

/// Group, resource with its subresource, and verb.
pub(crate) type Asked = BTreeSet<(String, String, String)>;

/// A client that notes what it asks for. To be called inside a runtime.
pub(crate) async fn noting(kubeconfig: Kubeconfig, notes: Arc<Mutex<Asked>>) -> Client {
    let config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let note = move |request: Request<Body>| {
        notes.lock().unwrap().extend(right(
            request.method(),
            request.uri().path(),
            request.uri().query().unwrap_or(""),
        ));
        request
    };
    ClientBuilder::try_from(config).unwrap().with_layer(&MapRequestLayer::new(note)).build()
}

/// The right that a request takes; `None`: everybody has it.
fn right(method: &Method, path: &str, query: &str) -> Option<(String, String, String)> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (group, mut rest) = match parts.as_slice() {
        ["api", _, rest @ ..] => ("", rest),
        ["apis", "authorization.k8s.io", ..] => return None,
        ["apis", group, _, rest @ ..] => (*group, rest),
        _ => return None,
    };
    if let ["namespaces", _, inner @ ..] = rest
        && !inner.is_empty()
    {
        rest = inner;
    }
    let (resource, is_one) = match rest {
        [resource] => ((*resource).to_owned(), false),
        [resource, _] => ((*resource).to_owned(), true),
        [resource, _, subresource, ..] => (format!("{resource}/{subresource}"), true),
        [] => return None,
    };
    let verb = match (method, is_one) {
        (&Method::GET, _) if query.contains("watch=true") => "watch",
        (&Method::GET, false) => "list",
        (&Method::GET, true) => "get",
        (&Method::POST, _) => "create",
        (&Method::PATCH, _) => "patch",
        (&Method::PUT, _) => "update",
        (&Method::DELETE, true) => "delete",
        (&Method::DELETE, false) => "deletecollection",
        (other, _) => panic!("{other} {path}"),
    };
    Some((group.to_owned(), resource, verb.to_owned()))
}

#[test]
fn requests_take_rights() {
    let of = |method, path, query| {
        right(&method, path, query).map(|(g, r, v)| format!("{v} {r} of `{g}`"))
    };
    assert_eq!(of(Method::GET, "/api/v1/namespaces/x", "").unwrap(), "get namespaces of ``");
    assert_eq!(
        of(Method::GET, "/api/v1/namespaces/x/pods", "&watch=true").unwrap(),
        "watch pods of ``"
    );
    assert_eq!(
        of(Method::GET, "/api/v1/nodes/n1/proxy/metrics/cadvisor", "").unwrap(),
        "get nodes/proxy of ``"
    );
    assert_eq!(
        of(Method::DELETE, "/api/v1/namespaces/x/pods", "").unwrap(),
        "deletecollection pods of ``"
    );
    assert_eq!(
        of(Method::GET, "/apis/apps/v1/deployments", "").unwrap(),
        "list deployments of `apps`"
    );
    assert_eq!(of(Method::GET, "/version", ""), None);
}
