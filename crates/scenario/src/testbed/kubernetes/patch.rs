//! `patch:`, changes to the pods' template.

use crate::document::json::json;
use crate::document::node::{Kind, Node};
use crate::document::problem::Problems;

/// A strategic merge patch, which Kubernetes understands and we do not.
pub(super) fn patch(node: &Node, path: &str, problems: &mut Problems) -> Option<serde_json::Value> {
    if let Kind::Map(_) = node.kind {
        return Some(json(node, path, problems));
    }
    problems.add(
        node.at,
        path,
        node.shown(),
        "a patch of the pods' template, like {spec: {priorityClassName: high}}",
    );
    None
}
