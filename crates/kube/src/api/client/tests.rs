//! Tests of the client, with answers of an API server.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use futures::TryStreamExt;
use http::{Request as HttpRequest, Response};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::client::Body;
use serde_json::json;

use super::*;

/// A client whose server gives these answers, one after the other, and the questions that it was
/// asked.
fn client(answers: Vec<(u16, String)>) -> (Client, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (noted, answers) = (Arc::clone(&asked), Arc::new(Mutex::new(answers.into_iter())));
    let service = tower::service_fn(move |request: HttpRequest<Body>| {
        noted.lock().unwrap().push(format!("{} {}", request.method(), request.uri()));
        let (status, text) = answers.lock().unwrap().next().unwrap();
        async move {
            let answer =
                Response::builder().status(status).body(Body::from(text.into_bytes())).unwrap();
            Ok::<_, Infallible>(answer)
        }
    });
    (Client::new(service, "default"), asked)
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name, "resourceVersion": "9"}, "data": {"of": name}})
}

fn not_found() -> (u16, String) {
    let status = json!({
        "kind": "Status", "status": "Failure", "message": "gone", "reason": "NotFound", "code": 404,
    });
    (404, status.to_string())
}

#[tokio::test]
async fn pages_are_read_to_the_last_and_a_list_of_null_is_empty() {
    let first = json!({
        "metadata": {"resourceVersion": "7", "continue": "more"}, "items": [map("a"), map("b")],
    });
    let last = json!({"metadata": {"resourceVersion": "7", "continue": ""}, "items": [map("c")]});
    let none = json!({"metadata": {"resourceVersion": "8"}, "items": null});
    let (client, asked) = client([first, last, none].map(|list| (200, list.to_string())).into());
    let api: Api<ConfigMap> = Api::namespaced(client, "ns");
    let which = ListParams::default().labels("run=1");
    let (maps, version) = api.list_with_version(which.clone()).await.unwrap();
    assert_eq!(maps.iter().map(ConfigMap::name_any).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(maps[2].data.as_ref().unwrap()["of"], "c");
    assert_eq!(version, "7");
    assert!(api.list(which).await.unwrap().is_empty());
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 3);
    assert!(
        asked.iter().all(|asked| asked.starts_with("GET /api/v1/namespaces/ns/configmaps?")),
        "{asked:?}"
    );
    assert!(asked.iter().all(|asked| asked.contains("labelSelector=run%3D1")), "{asked:?}");
    assert!(asked[1].contains("continue=more") && !asked[2].contains("continue"), "{asked:?}");
}

#[tokio::test]
async fn what_is_not_there_is_none_and_other_objects_are_refused() {
    let odd = json!({"metadata": {"name": "a"}, "data": "text"});
    let (client, _) =
        client(vec![not_found(), not_found(), (200, odd.to_string()), (200, map("a").to_string())]);
    let api: Api<ConfigMap> = Api::namespaced(client, "ns");
    assert!(api.get_opt("a").await.unwrap().is_none());
    assert!(matches!(api.get("a").await, Err(kube::Error::Api(status)) if status.code == 404));
    assert!(matches!(api.get("a").await, Err(kube::Error::SerdeError(_))));
    assert_eq!(api.get_opt("a").await.unwrap().unwrap().name_any(), "a");
}

#[tokio::test]
async fn an_answer_has_a_longest_length_and_other_servers_words_are_cut() {
    let (client, _) = client(vec![
        (200, " ".repeat(MOST_BYTES + 1)),
        (502, "<html>".repeat(1000)),
        (200, "{".into()),
    ]);
    let api: Api<ConfigMap> = Api::namespaced(client, "ns");
    let error = api.list(ListParams::default()).await.unwrap_err();
    assert!(
        matches!(error, kube::Error::SerdeError(_))
            && error.to_string().contains("longer than 64 MiB"),
        "{error}"
    );
    let Err(kube::Error::Api(status)) = api.get("a").await else {
        panic!("an answer of a gateway")
    };
    assert_eq!((status.code, status.message.starts_with("<html>")), (502, true));
    assert!(status.message.len() < 400, "{}", status.message.len());
    assert!(matches!(api.get("a").await, Err(kube::Error::SerdeError(_))));
}

#[tokio::test]
async fn a_watch_gives_typed_objects_marks_and_errors() {
    let mark =
        json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": "12"}});
    let gone = json!({
        "kind": "Status", "status": "Failure", "message": "too old", "reason": "Expired",
        "code": 410,
    });
    let lines = [("ADDED", map("a")), ("DELETED", map("b")), ("BOOKMARK", mark), ("ERROR", gone)];
    let text: String = lines
        .map(|(kind, object)| format!("{}\n", json!({"type": kind, "object": object})))
        .concat();
    let (client, asked) = client(vec![(200, text)]);
    let api: Api<ConfigMap> = Api::all(client);
    let events = api.watch(&WatchParams::default().timeout(60), "11").await.unwrap();
    let events: Vec<_> = events.try_collect().await.unwrap();
    let [
        WatchEvent::Added(a),
        WatchEvent::Deleted(b),
        WatchEvent::Bookmark(mark),
        WatchEvent::Error(error),
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((a.name_any(), b.name_any()), ("a".to_owned(), "b".to_owned()));
    assert_eq!((mark.metadata.resource_version.as_str(), error.code), ("12", 410));
    let asked = asked.lock().unwrap();
    assert!(
        asked[0].contains("resourceVersion=11") && asked[0].contains("timeoutSeconds=60"),
        "{asked:?}"
    );
}
