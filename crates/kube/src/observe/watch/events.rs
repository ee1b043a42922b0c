//! Events that disturb a measurement, or say why something else did.

use k8s_openapi::api::core::v1::Event;
use kube::ResourceExt;

use super::change::{About, Change};
use super::follow::WatchedObject;

/// Those that disturb a measurement, or say why something else did. Of what pods do when they start
/// there is nothing.
#[rustfmt::skip]
const WORTH: &[&str] = &[
    "BackOff", "Evicted", "Killing", "NodeNotReady", "OOMKilling", "Preempted", "Preempting",
    "Pulling", "ScalingReplicaSet", "SuccessfulRescale", "TaintManagerEviction", "Unhealthy",
];

/// Events that disturb all pods of the node.
const OF_NODES: &[&str] = &["Pulling"];

/// The watched state of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EventState {
    about: About,
    /// Its object, in words.
    object: String,
    reason: String,
    message: String,
    /// The number of its occurrences.
    count: i32,
}

impl WatchedObject for EventState {
    type Object = Event;

    fn of(event: &Event) -> Self {
        let object = &event.involved_object;
        let kind = object.kind.clone().unwrap_or_default();
        let name = object.name.clone().unwrap_or_default();
        let namespace = object.namespace.clone().or_else(|| event.namespace()).unwrap_or_default();
        let series = event.series.as_ref().and_then(|series| series.count);
        let reason = event.reason.clone().unwrap_or_default();
        let host = event
            .source
            .as_ref()
            .and_then(|source| source.host.clone())
            .or_else(|| event.reporting_instance.clone());
        let host = host.filter(|host| !host.is_empty() && OF_NODES.contains(&reason.as_str()));
        Self {
            object: format!("{} {name}", kind.to_lowercase()),
            about: match kind.as_str() {
                "Pod" if host.is_some() => About::Node(host.unwrap_or_default()),
                "Pod" => About::Pod(namespace, name),
                "Node" => About::Node(name),
                _ => About::Namespace(namespace),
            },
            reason,
            message: event.message.clone().unwrap_or_default(),
            count: series.or(event.count).unwrap_or(1),
        }
    }

    fn compare(before: Option<&Self>, after: Option<&Self>) -> Vec<Change> {
        let happened = before.map_or(0, |before| before.count);
        let Some(event) = after.filter(|after| after.count > happened) else { return Vec::new() };
        if !WORTH.contains(&event.reason.as_str()) {
            return Vec::new();
        }
        vec![Change::new(
            event.about.clone(),
            format!("{} of {}: {}", event.reason, event.object, event.message.trim()),
        )]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(reason: &str, kind: &str, count: i32) -> EventState {
        let event = json!({
            "metadata": {"name": "x.1", "namespace": "r"},
            "involvedObject": {"kind": kind, "name": "x", "namespace": "r"},
            "reason": reason, "message": "Pulling image \"b:1\"", "count": count,
        });
        EventState::of(&serde_json::from_value(event).unwrap())
    }

    #[test]
    fn events_that_matter_are_told_each_time() {
        let pulled = EventState::compare(None, Some(&event("Pulling", "Pod", 1)));
        assert_eq!(pulled[0].text, "Pulling of pod x: Pulling image \"b:1\"");
        assert_eq!(pulled[0].about, About::Pod("r".into(), "x".into()));
        let by = json!({
            "metadata": {"name": "x.1", "namespace": "r"},
            "involvedObject": {"kind": "Pod", "name": "x", "namespace": "r"},
            "reason": "Pulling", "message": "Pulling image \"b:1\"",
            "source": {"component": "kubelet", "host": "n1"},
        });
        let by = EventState::of(&serde_json::from_value(by).unwrap());
        assert_eq!(by.about, About::Node("n1".into()), "whoever is on that node is disturbed");
        let once = event("Pulling", "Pod", 1);
        assert!(EventState::compare(Some(&once), Some(&once)).is_empty());
        assert_eq!(EventState::compare(Some(&once), Some(&event("Pulling", "Pod", 2))).len(), 1);
        assert!(
            EventState::compare(Some(&once), None).is_empty(),
            "events are forgotten after a while"
        );
        assert!(EventState::compare(None, Some(&event("Started", "Pod", 1))).is_empty());
        let rescaled = EventState::compare(
            None,
            Some(&event("SuccessfulRescale", "HorizontalPodAutoscaler", 1)),
        );
        assert_eq!(rescaled[0].about, About::Namespace("r".into()));
    }
}
