//! `objects:`, further objects that each run makes in its namespace.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::document::json::json;
use crate::document::node::{Kind, Node, quoted};
use crate::document::problem::Problems;

const LIST: &str = "a list of objects as in a manifest: apiVersion, kind and metadata with a name";
/// What `metadata` may say: the rest is the run's, or would keep the object from going with it.
pub(crate) const METADATA_KEYS: [&str; 3] = ["name", "labels", "annotations"];
/// The ends of groups whose objects give rights.
const RIGHTS: &str = "authorization.k8s.io";
const MORE_RIGHTS: &str = "authorization.openshift.io";
/// Groups of objects that run pods.
const WORKLOADS: [&str; 2] = ["apps", "batch"];

/// Objects, which Kubernetes understands and we do not.
pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Vec<Value> {
    let Kind::List(list) = &node.kind else {
        problems.add(node.at, path, node.shown(), LIST);
        return Vec::new();
    };
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for (number, item) in list.iter().enumerate() {
        let path = format!("{path}[{number}]");
        let object = json(item, &path, problems);
        match wrong(&object) {
            Some((found, expected)) => problems.add(item.at, &path, found, expected),
            None if !seen.insert(identity(&object)) => {
                let [_, kind, name] = identity(&object);
                let found = format!("{kind} {} a second time", quoted(&name));
                problems.add(item.at, &path, found, "each object once");
            }
            None => out.push(object),
        }
    }
    out
}

/// Version, kind and name.
fn identity(object: &Value) -> [String; 3] {
    [&object["apiVersion"], &object["kind"], &object["metadata"]["name"]]
        .map(|value| value.as_str().unwrap_or_default().to_owned())
}

/// The problem of an object, and what was expected.
fn wrong(object: &Value) -> Option<(String, &'static str)> {
    let [version, kind, name] = identity(object);
    let absent = [("apiVersion", &version), ("kind", &kind), ("metadata.name", &name)]
        .into_iter()
        .find(|(_, text)| text.is_empty());
    if let Some((key, _)) = absent {
        return Some((format!("no `{key}`"), LIST));
    }
    let metadata = object["metadata"].as_object()?;
    if let Some(key) = metadata.keys().find(|key| !METADATA_KEYS.contains(&key.as_str())) {
        let expected = "only name, labels and annotations in metadata: the object is made in the \
                        namespace of its run, and goes with it";
        return Some((format!("`metadata.{key}`"), expected));
    }
    if METADATA_KEYS[1..].iter().any(|key| metadata.get(*key).is_some_and(|map| !map.is_object())) {
        return Some(("labels or annotations that are no mapping".to_owned(), LIST));
    }
    let group = version.split_once('/').map_or("", |(group, _)| group);
    if group.ends_with(RIGHTS) || group == MORE_RIGHTS {
        return Some((format!("a {kind} of {group}"), "objects that give nobody rights"));
    }
    if group.is_empty() && kind == "Secret" {
        let expected = "no Secret: its value would stand in the results. Make it beforehand in a \
                        namespace, and run with `--namespace`";
        return Some(("a Secret".to_owned(), expected));
    }
    if WORKLOADS.contains(&group) || group.is_empty() && kind == "Pod" {
        let expected = "objects that run no pods; for servers there is `servers:`";
        return Some((format!("a {kind}"), expected));
    }
    // Such names have the run's own objects.
    if name == "run" || name.starts_with("path") || name.starts_with("gateway") {
        let expected = "another name: those of the run's own objects are `run`, and begin with \
                        `path` or `gateway`";
        return Some((format!("{kind} {}", quoted(&name)), expected));
    }
    None
}
