//! Changes of EndpointSlices: the pods that a Service leads to.
//!
//! A pod that is added behind a Service by others is seen here, too.

use std::collections::BTreeMap;

use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::ResourceExt;

use super::change::{About, Change};
use super::follow::WatchedObject;

/// The watched state of a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct EndpointState {
    namespace: String,
    service: String,
    /// Those that traffic goes to: what is there, by address.
    ready: BTreeMap<String, String>,
}

impl WatchedObject for EndpointState {
    type Object = EndpointSlice;

    fn of(slice: &EndpointSlice) -> Self {
        let mut ready = BTreeMap::new();
        for endpoint in slice.endpoints.iter() {
            if endpoint.conditions.as_ref().and_then(|conditions| conditions.ready) == Some(false) {
                continue;
            }
            let target = endpoint.target_ref.as_ref().and_then(|target| target.name.clone());
            for address in &endpoint.addresses {
                ready.insert(address.clone(), target.clone().unwrap_or_else(|| address.clone()));
            }
        }
        Self {
            namespace: slice.namespace().unwrap_or_default(),
            service: slice.labels().get("kubernetes.io/service-name").cloned().unwrap_or_default(),
            ready,
        }
    }

    fn compare(before: Option<&Self>, after: Option<&Self>) -> Vec<Change> {
        let Some(slice) = after.or(before) else { return Vec::new() };
        let none = BTreeMap::new();
        let was = before.map_or(&none, |before| &before.ready);
        let is = after.map_or(&none, |after| &after.ready);
        let gained: Vec<&str> = is
            .iter()
            .filter(|(at, _)| !was.contains_key(*at))
            .map(|(_, who)| who.as_str())
            .collect();
        let lost: Vec<&str> = was
            .iter()
            .filter(|(at, _)| !is.contains_key(*at))
            .map(|(_, who)| who.as_str())
            .collect();
        let mut words = Vec::new();
        if !gained.is_empty() {
            words.push(format!("gained {}", gained.join(", ")));
        }
        if !lost.is_empty() {
            words.push(format!("lost {}", lost.join(", ")));
        }
        if words.is_empty() {
            return Vec::new();
        }
        let about = About::Service(slice.namespace.clone(), slice.service.clone());
        let text = format!(
            "the Service {} {}: {} instead of {} endpoints",
            slice.service,
            words.join(" and "),
            is.len(),
            was.len()
        );
        vec![Change::new(about, text)]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn slice(endpoints: &[(&str, Option<bool>)]) -> EndpointState {
        let endpoints: Vec<_> = endpoints
            .iter()
            .map(|(pod, ready)| {
                json!({
                    "addresses": [format!("10.0.0.{pod}")], "conditions": {"ready": ready},
                    "targetRef": {"name": format!("pod-{pod}")},
                })
            })
            .collect();
        let slice = json!({
            "metadata": {
                "name": "svc-x", "namespace": "r", "labels": {"kubernetes.io/service-name": "svc"},
            },
            "addressType": "IPv4", "endpoints": endpoints, "ports": [],
        });
        EndpointState::of(&serde_json::from_value(slice).unwrap())
    }

    #[test]
    fn endpoints_that_come_and_go_are_told() {
        let two = slice(&[("1", Some(true)), ("2", None)]);
        let other =
            slice(&[("1", Some(false)), ("2", Some(true)), ("3", Some(true)), ("4", Some(true))]);
        let changes = EndpointState::compare(Some(&two), Some(&other));
        assert_eq!(changes.len(), 1);
        assert_eq!(
            changes[0].text,
            "the Service svc gained pod-3, pod-4 and lost pod-1: 3 instead of 2 endpoints"
        );
        assert_eq!(changes[0].about, About::Service("r".into(), "svc".into()));
        assert!(EndpointState::compare(Some(&two), Some(&two)).is_empty());
        let gone = EndpointState::compare(Some(&two), None);
        assert_eq!(gone[0].text, "the Service svc lost pod-1, pod-2: 0 instead of 2 endpoints");
        assert!(EndpointState::compare(None, Some(&slice(&[("1", Some(false))]))).is_empty());
    }
}
