//! `objects:`, further objects that each run makes in its namespace.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::document::json::json;
use crate::document::node::{Kind, Node, quoted};
use crate::document::problem::Problems;

const LIST: &str = "a list of objects as in a manifest: apiVersion, kind and metadata with a name";
const NO_NAMESPACE: &str = "no namespace: objects of a scenario are made in that of its run";
const NO_RIGHTS: &str = "objects that give nobody rights";
/// Whose objects give rights.
const RIGHTS: &str = "rbac.authorization.k8s.io/";

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
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let name = text(&object["metadata"]["name"]);
        let mut wrong =
            |found: String, expected: &str| problems.add(item.at, &path, found, expected);
        if let Some(absent) = [("apiVersion", &version), ("kind", &kind), ("metadata.name", &name)]
            .into_iter()
            .find_map(|(key, text)| text.is_empty().then_some(key))
        {
            wrong(format!("no `{absent}`"), LIST);
        } else if object["metadata"].get("namespace").is_some() {
            wrong("`metadata.namespace`".to_owned(), NO_NAMESPACE);
        } else if version.starts_with(RIGHTS) {
            wrong(format!("a {kind}"), NO_RIGHTS);
        } else if !seen.insert((version, kind.clone(), name.clone())) {
            wrong(format!("{kind} {} a second time", quoted(&name)), "each object once");
        } else {
            out.push(object);
        }
    }
    out
}
