//! Changes of Deployments: the number of replicas that they want.

use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;

use super::change::{About, Change};
use super::follow::WatchedObject;

/// The watched state of a Deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeploymentState {
    namespace: String,
    name: String,
    replicas: i32,
    /// It grows with every change of the pods that are wanted.
    generation: i64,
}

impl WatchedObject for DeploymentState {
    type Object = Deployment;

    fn of(deployment: &Deployment) -> Self {
        Self {
            namespace: deployment.namespace().unwrap_or_default(),
            name: deployment.name_any(),
            replicas: deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1),
            generation: deployment.metadata.generation.unwrap_or_default(),
        }
    }

    fn compare(before: Option<&Self>, after: Option<&Self>) -> Vec<Change> {
        let Some(deployment) = after.or(before) else { return Vec::new() };
        let text = match (before, after) {
            (Some(before), Some(after)) if before.replicas != after.replicas => {
                format!("was scaled from {} to {} replicas", before.replicas, after.replicas)
            }
            (Some(before), Some(after)) if before.generation != after.generation => {
                "was changed".to_owned()
            }
            (None, Some(after)) => format!("was added with {} replicas", after.replicas),
            (Some(_), None) => "was removed".to_owned(),
            _ => return Vec::new(),
        };
        let about = About::Namespace(deployment.namespace.clone());
        vec![Change::new(about, format!("the Deployment {} {text}", deployment.name))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_is_told() {
        let of = |replicas, generation| DeploymentState {
            namespace: "r".into(),
            name: "web".into(),
            replicas,
            generation,
        };
        let told = |before: Option<&DeploymentState>, after: Option<&DeploymentState>| {
            DeploymentState::compare(before, after)
                .into_iter()
                .map(|change| change.text)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told(Some(&of(1, 1)), Some(&of(5, 2))),
            ["the Deployment web was scaled from 1 to 5 replicas"]
        );
        assert_eq!(told(Some(&of(1, 1)), Some(&of(1, 2))), ["the Deployment web was changed"]);
        assert_eq!(told(None, Some(&of(2, 1))), ["the Deployment web was added with 2 replicas"]);
        assert!(told(Some(&of(1, 1)), Some(&of(1, 1))).is_empty());
    }
}
