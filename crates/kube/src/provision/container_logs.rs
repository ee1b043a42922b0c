//! The last lines of containers that ended, since their logs go with them.

use std::collections::BTreeMap;
use std::time::Duration;

use hopbench_model::printable::line;
use hopbench_testbed::placement::PodId;
use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Pod};
use kube::ResourceExt;
use kube::api::LogParams;
use tokio::time::timeout;

use crate::api::access::explain;
use crate::api::client::Api;

/// As many lines are told.
const LINES: i64 = 20;
/// And as many bytes.
const BYTES: i64 = 16 << 10;
/// Time limit for a log.
const ANSWER: Duration = Duration::from_secs(3);

/// Something that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Termination {
    /// A pod that is not there any more: nothing of it is.
    Gone {
        /// Its name.
        pod: String,
    },
    /// A container of a pod that still is.
    Container {
        /// The pod's name.
        pod: String,
        /// Its own.
        name: String,
        /// The words for its end.
        how: String,
        /// The last words in its status; empty: there are none.
        kept: String,
        /// Whether there is another in its place.
        is_replaced: bool,
    },
}

/// The ends of pods and containers between two looks at a run's pods.
pub(crate) fn ended(before: &BTreeMap<PodId, Pod>, now: &BTreeMap<PodId, Pod>) -> Vec<Termination> {
    let of_pod = |(id, before): (&PodId, &Pod)| match now.get(id) {
        Some(now) if now.uid() == before.uid() => of_containers(before, now),
        _ => vec![Termination::Gone { pod: before.name_any() }],
    };
    before.iter().flat_map(of_pod).collect()
}

fn of_containers(before: &Pod, now: &Pod) -> Vec<Termination> {
    let leaves =
        before.metadata.deletion_timestamp.is_none() && now.metadata.deletion_timestamp.is_some();
    let was = |name: &str| statuses(before).find(|status| status.name == name);
    let one = |status: &ContainerStatus| {
        let was: Vec<&ContainerStateTerminated> =
            ends(was(&status.name)?).map(|(end, _)| end).collect();
        let new = ends(status).find(|(end, _)| !was.contains(end));
        let how = match new {
            Some((end, _)) => {
                format!(
                    "ended with code {} ({})",
                    end.exit_code,
                    end.reason.as_deref().unwrap_or("no reason")
                )
            }
            None if leaves => "is being deleted".to_owned(),
            None => return None,
        };
        let kept = new.and_then(|(end, _)| end.message.clone()).unwrap_or_default();
        let is_replaced = new.is_some_and(|(_, is_replaced)| is_replaced);
        Some(Termination::Container {
            pod: now.name_any(),
            name: status.name.clone(),
            how,
            kept,
            is_replaced,
        })
    };
    statuses(now).filter_map(one).collect()
}

fn statuses(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten())
}

/// The ends of a container: the last one, and the one before it, which has a successor.
fn ends(status: &ContainerStatus) -> impl Iterator<Item = (&ContainerStateTerminated, bool)> {
    let states = [(status.state.as_ref(), false), (status.last_state.as_ref(), true)];
    states
        .into_iter()
        .filter_map(|(state, is_replaced)| Some((state?.terminated.as_ref()?, is_replaced)))
}

/// The report on an end, a line each, with the last lines of the log. If the log cannot be read,
/// the last words in the status take its place.
pub(crate) async fn told(pods: &Api<Pod>, ended: &Termination) -> Vec<String> {
    let (pod, name, how, kept, is_replaced) = match ended {
        Termination::Gone { pod } => {
            return vec![format!("pod {pod} is gone, and its logs with it")];
        }
        Termination::Container { pod, name, how, kept, is_replaced } => {
            (pod, name, how, kept, is_replaced)
        }
    };
    let params = LogParams {
        container: Some(name.clone()),
        previous: *is_replaced,
        tail_lines: Some(LINES),
        limit_bytes: Some(BYTES),
        ..LogParams::default()
    };
    let who = format!("container {name} of pod {pod}");
    let (text, why) = match timeout(ANSWER, pods.streams().logs(pod, &params)).await {
        Ok(Ok(text)) => (text, String::new()),
        Ok(Err(error)) => (kept.clone(), format!("; its log cannot be read: {}", explain(&error))),
        Err(_) => (kept.clone(), format!("; its log is not there after {ANSWER:?}")),
    };
    let first = format!("{who} {how}{why}");
    let lines =
        text.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("{who}: {line}"));
    std::iter::once(first).chain(lines).map(|text| line(&text).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::placement::Group;
    use serde_json::{Value, json};

    use super::*;
    use crate::plan::fixture::place;

    fn pods(change: impl Fn(&mut Value)) -> BTreeMap<PodId, Pod> {
        let mut pod = json!({
            "metadata": {"name": "pod-a", "uid": "1"},
            "status": {"containerStatuses": [{
                "name": "agent", "image": "", "imageID": "", "ready": true, "restartCount": 0,
                "state": {"running": {}},
            }]},
        });
        change(&mut pod);
        let id = PodId::first(place("pod@a"), Group::Shared);
        BTreeMap::from([(id, serde_json::from_value(pod).unwrap())])
    }

    fn agent(how: &str, kept: &str, is_replaced: bool) -> Vec<Termination> {
        let (pod, name) = ("pod-a".to_owned(), "agent".to_owned());
        vec![Termination::Container {
            pod,
            name,
            how: how.to_owned(),
            kept: kept.to_owned(),
            is_replaced,
        }]
    }

    #[test]
    fn what_ended_is_told_once() {
        let before = pods(|_| {});
        assert_eq!(ended(&before, &before), []);
        let killed = json!({
            "terminated": {"exitCode": 137, "reason": "OOMKilled", "message": "its last words"},
        });
        let restarted = pods(|pod| {
            let status = &mut pod["status"]["containerStatuses"][0];
            status["restartCount"] = 1.into();
            status["lastState"] = killed.clone();
        });
        assert_eq!(
            ended(&before, &restarted),
            agent("ended with code 137 (OOMKilled)", "its last words", true)
        );
        assert_eq!(ended(&restarted, &restarted), []);
        let failed = pods(|pod| pod["status"]["containerStatuses"][0]["state"] = killed.clone());
        assert_eq!(
            ended(&before, &failed),
            agent("ended with code 137 (OOMKilled)", "its last words", false)
        );
        assert_eq!(ended(&failed, &failed), []);
        assert_eq!(ended(&failed, &restarted), [], "the same end");
        let leaving =
            pods(|pod| pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into());
        assert_eq!(ended(&before, &leaving), agent("is being deleted", "", false));
        assert_eq!(ended(&leaving, &leaving), []);
    }

    #[test]
    fn a_pod_that_is_gone_or_another_left_nothing() {
        let before = pods(|_| {});
        let gone = [Termination::Gone { pod: "pod-a".to_owned() }];
        assert_eq!(ended(&before, &BTreeMap::new()), gone);
        assert_eq!(ended(&before, &pods(|pod| pod["metadata"]["uid"] = "2".into())), gone);
        assert_eq!(ended(&BTreeMap::new(), &before), []);
    }
}
