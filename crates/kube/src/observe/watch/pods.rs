//! Changes of pods: placement, restarts, readiness, eviction, images that cannot be had.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::ResourceExt;

use super::change::{About, Change};
use super::follow::WatchedObject;
use crate::api::labels::RUN;

/// The watched state of a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PodState {
    namespace: String,
    name: String,
    uid: String,
    /// Whether a run made it; others are met in groups, by namespace.
    ours: bool,
    node: String,
    address: String,
    ready: bool,
    leaving: bool,
    /// Why it failed; empty: it did not.
    failed: String,
    containers: BTreeMap<String, ContainerState>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ContainerState {
    restarts: i32,
    /// The words for its last end.
    ended: String,
    /// Why it does not run; empty where it does, or just starts.
    waiting: String,
    /// CPU and memory that it is given.
    resources: String,
}

impl WatchedObject for PodState {
    type Object = Pod;

    fn of(pod: &Pod) -> Self {
        let status = pod.status.clone().unwrap_or_default();
        let failed = match status.phase.as_deref() {
            Some("Failed") => {
                let words = [status.reason, status.message]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(": ");
                if words.is_empty() { "no reason given".to_owned() } else { words }
            }
            _ => String::new(),
        };
        let containers =
            status.init_container_statuses.iter().chain(&status.container_statuses).flatten();
        Self {
            namespace: pod.namespace().unwrap_or_default(),
            name: pod.name_any(),
            uid: pod.uid().unwrap_or_default(),
            ours: pod.labels().contains_key(RUN),
            node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).unwrap_or_default(),
            address: status.pod_ip.clone().unwrap_or_default(),
            ready: status
                .conditions
                .iter()
                .flatten()
                .any(|c| c.type_ == "Ready" && c.status == "True"),
            leaving: pod.metadata.deletion_timestamp.is_some(),
            failed,
            containers: containers
                .map(|status| (status.name.clone(), ContainerState::of(status)))
                .collect(),
        }
    }

    fn compare(before: Option<&Self>, after: Option<&Self>) -> Vec<Change> {
        let Some(pod) = after.or(before) else { return Vec::new() };
        let texts = match (before, after) {
            (Some(before), Some(after)) if before.uid != after.uid => {
                vec!["was replaced by another".to_owned()]
            }
            (Some(before), Some(after)) => before.differences(after),
            (None, Some(_)) => vec!["was added".to_owned()],
            (Some(_), None) => vec!["was removed".to_owned()],
            (None, None) => Vec::new(),
        };
        let at = if pod.node.is_empty() { String::new() } else { format!(" of node {}", pod.node) };
        texts
            .into_iter()
            .map(|text| Change::new(pod.about(), format!("pod {}{at} {text}", pod.name)))
            .collect()
    }
}

impl PodState {
    fn about(&self) -> About {
        if self.ours {
            About::Pod(self.namespace.clone(), self.name.clone())
        } else {
            About::Namespace(self.namespace.clone())
        }
    }

    fn differences(&self, after: &Self) -> Vec<String> {
        let mut texts = Vec::new();
        if self.node.is_empty() && !after.node.is_empty() {
            texts.push("was placed there".to_owned());
        }
        if !self.leaving && after.leaving {
            texts.push("is being deleted".to_owned());
        }
        if self.failed != after.failed && !after.failed.is_empty() {
            texts.push(format!("failed: {}", after.failed));
        }
        if self.address != after.address && !self.address.is_empty() {
            texts.push(format!("changed its address from {} to {}", self.address, after.address));
        }
        for (name, container) in &after.containers {
            if let Some(before) = self.containers.get(name) {
                texts.extend(before.differences(name, container));
            }
        }
        match (self.ready, after.ready) {
            (true, false) => texts.push("is not ready any more".to_owned()),
            (false, true) => texts.push("became ready".to_owned()),
            _ => {}
        }
        texts
    }
}

impl ContainerState {
    fn of(status: &ContainerStatus) -> Self {
        let state = status.state.as_ref();
        let waiting = state
            .and_then(|state| state.waiting.as_ref())
            .and_then(|waiting| waiting.reason.clone());
        let ended = |state: Option<&k8s_openapi::api::core::v1::ContainerState>| {
            let ended = state?.terminated.as_ref()?;
            let reason = ended.reason.clone().unwrap_or_else(|| "ended".to_owned());
            Some(format!("{reason}, exit code {}", ended.exit_code))
        };
        let resources = status
            .resources
            .iter()
            .flat_map(|given| given.limits.iter().chain(&given.requests))
            .flatten();
        Self {
            restarts: status.restart_count,
            ended: ended(status.last_state.as_ref()).or_else(|| ended(state)).unwrap_or_default(),
            // These two are how every container begins.
            waiting: waiting
                .filter(|why| why != "ContainerCreating" && why != "PodInitializing")
                .unwrap_or_default(),
            resources: resources
                .map(|(what, amount)| format!("{what} {}", amount.0))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    fn differences(&self, name: &str, after: &Self) -> Vec<String> {
        let mut texts = Vec::new();
        if self.restarts < after.restarts {
            let why =
                if after.ended.is_empty() { String::new() } else { format!(" ({})", after.ended) };
            texts.push(format!("restarted its container {name}{why}"));
        }
        if self.waiting != after.waiting && !after.waiting.is_empty() {
            texts.push(format!("cannot run its container {name}: {}", after.waiting));
        }
        if self.resources != after.resources && !self.resources.is_empty() {
            texts
                .push(format!("got other resources for its container {name}: {}", after.resources));
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(change: impl Fn(&mut Value)) -> PodState {
        let mut pod = json!({
            "metadata": {
                "name": "server-2", "namespace": "r", "uid": "u1",
                "labels": {"hopbench.dev/run": "x"},
            },
            "spec": {"nodeName": "n1", "containers": []},
            "status": {
                "phase": "Running", "podIP": "10.0.0.1",
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [{
                    "name": "agent", "image": "", "imageID": "", "ready": true, "restartCount": 0,
                    "state": {"running": {}}, "resources": {"limits": {"cpu": "200m"}},
                }],
            },
        });
        change(&mut pod);
        PodState::of(&serde_json::from_value(pod).unwrap())
    }

    fn texts(before: Option<&PodState>, after: Option<&PodState>) -> Vec<String> {
        PodState::compare(before, after).into_iter().map(|change| change.text).collect()
    }

    #[test]
    fn a_restart_and_its_reason_are_told() {
        let restarted = pod(|pod| {
            let container = &mut pod["status"]["containerStatuses"][0];
            container["restartCount"] = 1.into();
            container["lastState"] =
                json!({"terminated": {"reason": "OOMKilled", "exitCode": 137}});
            pod["status"]["conditions"][0]["status"] = "False".into();
        });
        assert_eq!(
            texts(Some(&pod(|_| {})), Some(&restarted)),
            [
                "pod server-2 of node n1 restarted its container agent (OOMKilled, exit code 137)",
                "pod server-2 of node n1 is not ready any more"
            ]
        );
        assert!(texts(Some(&restarted), Some(&restarted)).is_empty());
    }

    #[test]
    fn what_else_happens_to_pods_is_told() {
        let expect = |change: &dyn Fn(&mut Value), text: &str| {
            assert_eq!(
                texts(Some(&pod(|_| {})), Some(&pod(change))),
                [format!("pod server-2 of node n1 {text}")]
            );
        };
        expect(
            &|pod| pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into(),
            "is being deleted",
        );
        expect(&|pod| pod["metadata"]["uid"] = "u2".into(), "was replaced by another");
        expect(
            &|pod| pod["status"]["podIP"] = "10.0.0.2".into(),
            "changed its address from 10.0.0.1 to 10.0.0.2",
        );
        expect(
            &|pod| {
                pod["status"]["phase"] = "Failed".into();
                pod["status"]["reason"] = "Evicted".into();
                pod["status"]["message"] = "low on memory".into();
            },
            "failed: Evicted: low on memory",
        );
        expect(
            &|pod| {
                pod["status"]["containerStatuses"][0]["state"] =
                    json!({"waiting": {"reason": "ImagePullBackOff"}});
            },
            "cannot run its container agent: ImagePullBackOff",
        );
        expect(
            &|pod| pod["status"]["containerStatuses"][0]["resources"]["limits"]["cpu"] = "1".into(),
            "got other resources for its container agent: cpu 1",
        );
        assert_eq!(texts(None, Some(&pod(|_| {}))), ["pod server-2 of node n1 was added"]);
        assert_eq!(texts(Some(&pod(|_| {})), None), ["pod server-2 of node n1 was removed"]);
    }

    #[test]
    fn pods_of_others_concern_whoever_is_in_their_namespace() {
        let ours = PodState::compare(None, Some(&pod(|_| {})));
        assert_eq!(ours[0].about, About::Pod("r".into(), "server-2".into()));
        let gateway = pod(|pod| pod["metadata"]["labels"] = json!({"app": "gateway"}));
        assert_eq!(PodState::compare(None, Some(&gateway))[0].about, About::Namespace("r".into()));
    }
}
