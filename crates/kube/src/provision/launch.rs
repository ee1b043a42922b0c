//! Creation of a run's pods, and waiting until they are ready.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use hopbench_testbed::placement::PodId;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use tokio::time::Instant;

use crate::api::access::explain;
use crate::api::create::create;
use crate::provision::pod_diagnosis::{self, State};
use crate::provision::pods::Pods;

/// Pods that were made, by their names, and why the others were not.
#[derive(Debug, Default)]
pub(crate) struct CreatedPods {
    pub(crate) names: BTreeMap<String, PodId>,
    pub(crate) refused: BTreeMap<PodId, String>,
}

/// The pods that were made and are ready, and why the others are not.
#[derive(Debug, Default)]
pub(crate) struct Launched {
    pub(crate) pods: BTreeMap<String, Pod>,
    pub(crate) refused: BTreeMap<PodId, String>,
}

/// Makes pods, all at once. Their names, and why some are not made.
pub(crate) async fn make(api: &Pods, wanted: &BTreeMap<PodId, Pod>, until: Instant) -> CreatedPods {
    let made =
        wanted.iter().map(|(id, pod)| async move { (id, create(&api.pods, pod, until).await) });
    let mut all = CreatedPods::default();
    for (id, answer) in join_all(made).await {
        match answer {
            Ok(pod) => {
                all.names.insert(pod.name_any(), id.clone());
            }
            Err(error) => {
                all.refused.insert(id.clone(), refusal(&wanted[id].name_any(), &error));
            }
        }
    }
    all
}

/// Waits until each of these pods is ready or nothing helps. No path needs those of agents alone:
/// they are not waited for.
pub(crate) async fn settle(
    api: &Pods,
    made: CreatedPods,
    until: Instant,
) -> kube::Result<Launched> {
    let CreatedPods { names, refused } = made;
    let mut launched = Launched { pods: BTreeMap::new(), refused };
    let needed = names.iter().filter(|(_, id)| !id.is_agent_alone()).map(|(name, _)| name.clone());
    launched.pods = api.wait(&needed.collect::<BTreeSet<_>>(), until).await?;
    let states: BTreeMap<&String, Option<State>> = names
        .iter()
        .map(|(name, id)| (name, id, launched.pods.get(name).map(pod_diagnosis::state)))
        .filter(|(_, id, state)| is_missing(id, state.as_ref()))
        .map(|(name, _, state)| (name, state))
        .collect();
    if states.is_empty() {
        return Ok(launched);
    }
    let events = api.events().await;
    for (name, state) in states {
        launched
            .refused
            .insert(names[name].clone(), pod_diagnosis::tell(name, state.as_ref(), &events));
    }
    Ok(launched)
}

/// Whether a pod in this state is not there. An agent alone may get ready later.
fn is_missing(id: &PodId, state: Option<&State>) -> bool {
    match state {
        Some(State::Ready) => false,
        Some(State::Starting(_)) => !id.is_agent_alone(),
        Some(State::Stuck(_)) | None => true,
    }
}

/// Why the API server takes no such pod: quota, Pod Security, a webhook, a RuntimeClass that is not
/// there.
fn refusal(name: &str, error: &kube::Error) -> String {
    let why = explain(error);
    let remedy = if why.contains("exceeded quota") {
        "; a ResourceQuota of the cluster holds for every namespace: have it raised, or use fewer \
         pods"
    } else if why.contains("failed quota") && why.contains("must specify") {
        "; a ResourceQuota of the cluster asks for these of every container: say them in `patch:`"
    } else if why.contains("violates PodSecurity") {
        "; the cluster lets no namespace have such pods: leave these paths out, or have it allowed"
    } else {
        ""
    };
    format!("the cluster takes no pod {name}: {why}{remedy}")
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::placement::Group;

    use super::*;
    use crate::plan::fixture::place;

    #[test]
    fn an_agent_alone_that_still_starts_is_not_missing() {
        let missing = |group: Group| {
            let id = PodId::first(place("pod@c"), group);
            let starting = State::Starting("nobody has given it a node yet".to_owned());
            [Some(State::Ready), Some(starting), None].map(|state| is_missing(&id, state.as_ref()))
        };
        assert_eq!(missing(Group::Shared), [false, true, true]);
        assert_eq!(missing(Group::AgentAlone), [false, false, true]);
    }
}
