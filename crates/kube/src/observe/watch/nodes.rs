//! Changes of nodes: whether they are well and take pods.
//!
//! The images that they pull are seen in events. The list of a node's images also grows by images
//! that no pod here uses.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;

use super::change::{About, Change};
use super::follow::WatchedObject;

/// The watched state of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NodeState {
    name: String,
    /// Status of each condition, with what is said of it.
    conditions: BTreeMap<String, (String, String)>,
    closed: bool,
    allocatable: BTreeMap<String, String>,
}

impl WatchedObject for NodeState {
    type Object = Node;

    fn of(node: &Node) -> Self {
        let status = node.status.clone().unwrap_or_default();
        let conditions = status.conditions.into_iter().flatten();
        Self {
            name: node.name_any(),
            conditions: conditions
                .map(|c| (c.type_, (c.status, c.message.or(c.reason).unwrap_or_default())))
                .collect(),
            closed: node.spec.as_ref().and_then(|spec| spec.unschedulable).unwrap_or_default(),
            allocatable: status
                .allocatable
                .into_iter()
                .flatten()
                // Memory and storage are read anew now and then; CPUs change when the machine does.
                .filter(|(what, _)| what == "cpu")
                .map(|(what, amount)| (what, amount.0))
                .collect(),
        }
    }

    fn compare(before: Option<&Self>, after: Option<&Self>) -> Vec<Change> {
        let Some(node) = after.or(before) else { return Vec::new() };
        let texts = match (before, after) {
            (Some(before), Some(after)) => before.differences(after),
            (None, _) => vec!["was added".to_owned()],
            (_, None) => vec!["was removed".to_owned()],
        };
        let about = About::Node(node.name.clone());
        texts
            .into_iter()
            .map(|text| Change::new(about.clone(), format!("node {} {text}", node.name)))
            .collect()
    }
}

impl NodeState {
    fn differences(&self, after: &Self) -> Vec<String> {
        let mut texts = Vec::new();
        for (kind, (status, why)) in &after.conditions {
            if self.conditions.get(kind).map(|(status, _)| status) == Some(status) {
                continue;
            }
            // Of all conditions this one is good.
            let well = if kind == "Ready" { status == "True" } else { status == "False" };
            texts.push(match (kind.as_str(), well) {
                ("Ready", true) => "became ready".to_owned(),
                ("Ready", false) => format!("is not ready any more: {why}"),
                (_, true) => format!("has no {kind} any more"),
                (_, false) => format!("has {kind}: {why}"),
            });
        }
        match (self.closed, after.closed) {
            (false, true) => texts.push("was closed for new pods".to_owned()),
            (true, false) => texts.push("was opened for new pods".to_owned()),
            _ => {}
        }
        if self.allocatable != after.allocatable {
            let cpus = after.allocatable.get("cpu").map_or("no", String::as_str);
            texts.push(format!("has {cpus} CPUs for pods now"));
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn node(change: impl Fn(&mut Value)) -> NodeState {
        let mut node = json!({
            "metadata": {"name": "n1"},
            "spec": {},
            "status": {
                "conditions": [
                    {"type": "MemoryPressure", "status": "False", "message": "enough"},
                    {"type": "Ready", "status": "True", "message": "posting"},
                ],
                "allocatable": {"cpu": "2", "memory": "1Gi"},
                "images": [{"names": ["a@sha256:1", "a:1"]}],
            },
        });
        change(&mut node);
        NodeState::of(&serde_json::from_value(node).unwrap())
    }

    #[test]
    fn what_happens_to_nodes_is_told() {
        let expect = |change: &dyn Fn(&mut Value), text: &str| {
            let changes = NodeState::compare(Some(&node(|_| {})), Some(&node(change)));
            let texts: Vec<_> = changes.iter().map(|change| change.text.as_str()).collect();
            assert_eq!(texts, [format!("node n1 {text}")]);
            assert_eq!(changes[0].about, About::Node("n1".into()));
        };
        let condition = |which: usize, status: &'static str, message: &'static str| {
            move |node: &mut Value| {
                node["status"]["conditions"][which]["status"] = status.into();
                node["status"]["conditions"][which]["message"] = message.into();
            }
        };
        expect(&condition(0, "True", "low"), "has MemoryPressure: low");
        expect(&condition(1, "Unknown", "silent"), "is not ready any more: silent");
        expect(&|node| node["spec"]["unschedulable"] = true.into(), "was closed for new pods");
        expect(
            &|node| node["status"]["allocatable"]["cpu"] = "1".into(),
            "has 1 CPUs for pods now",
        );
    }

    #[test]
    fn a_heartbeat_and_an_image_of_others_are_no_change() {
        let beat = node(|node| {
            node["status"]["images"]
                .as_array_mut()
                .unwrap()
                .push(json!({"names": ["b@sha256:2", "b:1"]}));
            node["status"]["conditions"][1]["message"] = "posting still".into();
            node["status"]["allocatable"]["memory"] = "1000Mi".into();
        });
        assert!(NodeState::compare(Some(&node(|_| {})), Some(&beat)).is_empty());
    }
}
