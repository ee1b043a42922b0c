//! Changes of horizontal autoscalers: how many replicas they have, and want.

use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use kube::ResourceExt;

use super::change::{About, Change};
use super::follow::WatchedObject;

/// The watched state of an autoscaler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScalerState {
    namespace: String,
    name: String,
    target: String,
    wanted: i32,
}

impl WatchedObject for ScalerState {
    type Object = HorizontalPodAutoscaler;

    fn of(scaler: &HorizontalPodAutoscaler) -> Self {
        let target = scaler.spec.as_ref().map(|spec| &spec.scale_target_ref);
        Self {
            namespace: scaler.namespace().unwrap_or_default(),
            name: scaler.name_any(),
            target: target
                .map(|target| format!("{} {}", target.kind, target.name))
                .unwrap_or_default(),
            wanted: scaler
                .status
                .as_ref()
                .map(|status| status.desired_replicas)
                .unwrap_or_default(),
        }
    }

    fn compare(before: Option<&Self>, after: Option<&Self>) -> Vec<Change> {
        let Some(scaler) = after.or(before) else { return Vec::new() };
        let text = match (before, after) {
            (Some(before), Some(after)) if before.wanted != after.wanted => {
                format!(
                    "wants {} instead of {} replicas of {}",
                    after.wanted, before.wanted, after.target
                )
            }
            (None, Some(after)) => format!("was added; it scales {}", after.target),
            (Some(before), None) => format!("was removed; it scaled {}", before.target),
            _ => return Vec::new(),
        };
        let about = About::Namespace(scaler.namespace.clone());
        vec![Change::new(about, format!("the autoscaler {} {text}", scaler.name))]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scaler(wanted: i32) -> ScalerState {
        let scaler = json!({
            "metadata": {"name": "web", "namespace": "r"},
            "spec": {"maxReplicas": 9, "scaleTargetRef": {"kind": "Deployment", "name": "web"}},
            "status": {"desiredReplicas": wanted, "currentReplicas": 1},
        });
        ScalerState::of(&serde_json::from_value(scaler).unwrap())
    }

    #[test]
    fn what_it_wants_is_told() {
        let changes = ScalerState::compare(Some(&scaler(1)), Some(&scaler(5)));
        assert_eq!(
            changes[0].text,
            "the autoscaler web wants 5 instead of 1 replicas of Deployment web"
        );
        assert_eq!(changes[0].about, About::Namespace("r".into()));
        assert!(ScalerState::compare(Some(&scaler(5)), Some(&scaler(5))).is_empty());
    }
}
