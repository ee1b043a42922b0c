//! The diagnosis of a pod that does not get ready, in the cluster's own words.

use std::collections::BTreeSet;
use std::time::Duration;

use hopbench_model::printable::line;
use k8s_openapi::api::core::v1::{ContainerStatus, Event, Pod};

use crate::objects::containers::{AGENT, GATEWAY, PEER, PROGRAM, SIDECAR};

/// The patience with trouble that sometimes passes: an image that is pulled again, a node that gets
/// free.
const PATIENCE: Duration = Duration::from_secs(8);
/// As many events are told.
const MOST_EVENTS: usize = 3;

/// An event of pods that ask for the cluster's own names where there are none to be had; agents ask
/// for none.
const NO_DNS: &str = "MissingClusterDNS";

/// The kubelet's event about a Secret that is to pull images, and is not there.
const NO_PULL_SECRET: &str = "FailedToRetrieveImagePullSecret";

/// The scheduler's words for ports of a node that are taken: it does not name the pod.
const FREE_PORTS: &str = "free ports";

/// The state of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// Everything in it runs, and it answers.
    Ready,
    /// It is on its way; where it is, in words.
    Starting(String),
    /// Something keeps it from getting ready.
    Stuck(Trouble),
}

/// An obstacle that keeps a pod from getting ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The cluster's word for it: `Unschedulable`, `ImagePullBackOff`, `Evicted` ...
    pub(crate) reason: String,
    pub(crate) message: String,
    /// The container that is in trouble; empty: the pod as a whole.
    pub(crate) container: String,
    /// Whether waiting never helps.
    pub(crate) is_final: bool,
}

impl Trouble {
    fn new(reason: &str, message: Option<&String>, is_final: bool) -> Self {
        let (reason, message) = (reason.to_owned(), message.cloned().unwrap_or_default());
        Self { reason, message, container: String::new(), is_final }
    }

    /// The patience with it.
    pub(crate) fn patience(&self) -> Duration {
        if self.is_final { Duration::ZERO } else { PATIENCE }
    }

    /// The remedy; empty: none is known.
    fn remedy(&self) -> String {
        let (named, writes) = image_of(&self.container);
        let fixed = match self.reason.as_str() {
            "ErrImageNeverPull" => {
                return format!(
                    "bring the image onto every node{writes}, name another ({named}), or let the \
                     nodes pull it (`pull-policy: IfNotPresent`)"
                );
            }
            "ErrImagePull" | "ImagePullBackOff" => {
                return format!(
                    "name an image that the nodes can pull ({named}), with a Secret if its \
                     registry asks for one (`pull-secret:`), or bring it onto them{writes}"
                );
            }
            "InvalidImageName" => {
                return format!(
                    "name an image that the nodes can pull ({named}), or bring it onto them{writes}"
                );
            }
            "Unschedulable" if self.message.contains(FREE_PORTS) => {
                "a pod in its node's own network is there with the same port. End that run \
                 (`hopbench kube clean` removes dead ones), or start this one again, which takes \
                 other ports"
            }
            "Unschedulable" => {
                "make room on the node, tolerate its taints (`patch:`), or name another under \
                 `nodes:`"
            }
            "Evicted" => "make room on the node, or name another under `nodes:`",
            "CreateContainerConfigError"
            | "CreateContainerError"
            | "RunContainerError"
            | "SysctlForbidden" => "look at `patch:`, and at what the node's runtime allows",
            _ => "",
        };
        fixed.to_owned()
    }
}

/// The key of the scenario that names a container's image, and a hint if hopbench writes that
/// image.
fn image_of(container: &str) -> (&'static str, &'static str) {
    match container {
        AGENT => ("`image:`, or `agent:` of a subject", " (`hopbench kube image` writes it)"),
        "policy" | "telemetry" => ("`image:`", " (`hopbench kube image` writes it)"),
        PROGRAM => ("`servers: {NAME: {image: ...}}`", ""),
        PEER => ("`peers: {image: ...}`", ""),
        SIDECAR | GATEWAY => ("`mesh: {image: ...}`, or `proxy:` of a subject", ""),
        _ => ("whoever put this container there says which: a mesh's injector, `patch:`", ""),
    }
}

/// The state of a pod, by its status.
pub(crate) fn state(pod: &Pod) -> State {
    let status = pod.status.clone().unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let is = |kind: &str| conditions.iter().any(|c| c.type_ == kind && c.status == "True");
    if pod.metadata.deletion_timestamp.is_some() {
        return State::Stuck(Trouble::new(
            "Deleted",
            Some(&"somebody deleted it".to_owned()),
            true,
        ));
    }
    if matches!(status.phase.as_deref(), Some("Failed" | "Succeeded")) {
        let reason = status.reason.unwrap_or_else(|| "Failed".to_owned());
        return State::Stuck(Trouble::new(&reason, status.message.as_ref(), true));
    }
    if is("Ready") {
        return State::Ready;
    }
    let scheduled = conditions.iter().find(|c| c.type_ == "PodScheduled");
    if let Some(condition) = scheduled.filter(|c| c.status == "False") {
        let reason = condition.reason.as_deref().unwrap_or("Unschedulable");
        let mut trouble = Trouble::new(reason, condition.message.as_ref(), false);
        if trouble.message.contains(FREE_PORTS) {
            trouble.message = format!("{} It asks for {}", trouble.message, host_ports(pod));
        }
        return State::Stuck(trouble);
    }
    let all = status.init_container_statuses.iter().chain(&status.container_statuses).flatten();
    let mut waiting = Vec::new();
    for container in all {
        if let Some(trouble) = of_container(container) {
            return State::Stuck(trouble);
        }
        if !container.ready && container.started != Some(true) {
            waiting.push(container.name.clone());
        }
    }
    let runs = status.phase.as_deref() == Some("Running");
    State::Starting(match (scheduled.is_some(), waiting.is_empty()) {
        (false, _) => "nobody has given it a node yet".to_owned(),
        // Its node does not answer any more, or a readiness gate or probe is not met.
        (true, true) if runs => "it runs, and is not ready".to_owned(),
        (true, true) => "its node has not started it yet".to_owned(),
        (true, false) => format!("container {} has not started yet", waiting.join(", ")),
    })
}

/// The ports of its node that a pod asks for, in words.
fn host_ports(pod: &Pod) -> String {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let ports = containers
        .flat_map(|container| container.ports.iter().flatten())
        .filter_map(|port| port.host_port);
    let ports: BTreeSet<i32> = ports.collect();
    let ports: Vec<String> = ports.iter().map(i32::to_string).collect();
    format!("port {}", ports.join(", "))
}

fn of_container(container: &ContainerStatus) -> Option<Trouble> {
    let state = container.state.as_ref()?;
    let name = &container.name;
    if let Some(waiting) = &state.waiting {
        let reason = waiting.reason.as_deref().unwrap_or_default();
        let is_trouble = !matches!(reason, "" | "ContainerCreating" | "PodInitializing");
        let ended = container.last_state.as_ref().and_then(|last| last.terminated.as_ref());
        let mut message = format!(
            "container {name}: {}",
            waiting.message.as_deref().unwrap_or("no reason given")
        );
        if let Some(ended) = ended {
            message = format!("{message}; it ended with code {}", ended.exit_code);
            if let Some(words) =
                ended.message.as_deref().map(str::trim).filter(|words| !words.is_empty())
            {
                message = format!("{message} and said: {words}");
            }
        }
        let is_final = matches!(reason, "ErrImageNeverPull" | "InvalidImageName");
        let (reason, container) = (reason.to_owned(), name.clone());
        return is_trouble.then_some(Trouble { reason, message, container, is_final });
    }
    None
}

/// The report on a pod: its state, the events about it, and a remedy.
pub(crate) fn tell(name: &str, state: Option<&State>, events: &[Event]) -> String {
    let (mut text, mut remedy) = match state {
        None => (format!("pod {name} is gone"), String::new()),
        Some(State::Ready) => (format!("pod {name} is ready"), String::new()),
        Some(State::Starting(where_it_is)) => {
            (format!("pod {name} is not ready: {where_it_is}"), String::new())
        }
        Some(State::Stuck(trouble)) => (
            format!("pod {name} is not ready: {}: {}", trouble.reason, trouble.message),
            trouble.remedy(),
        ),
    };
    let all: Vec<(&String, &str)> = of_pod(name, events)
        .filter_map(|event| Some((event.reason.as_ref()?, event.message.as_deref()?.trim())))
        .collect();
    if let Some(State::Stuck(trouble)) = state
        && matches!(trouble.reason.as_str(), "ErrImagePull" | "ImagePullBackOff")
        && all.iter().any(|(reason, _)| *reason == NO_PULL_SECRET)
    {
        "make the Secret of `pull-secret:` in the run's namespace (`kubectl create secret \
         docker-registry`), or correct its name"
            .clone_into(&mut remedy);
    }
    let is_stuck =
        matches!(state, Some(State::Stuck(_))) || all.iter().any(|(reason, _)| *reason != NO_DNS);
    let mut told = 0;
    for (reason, message) in all {
        // It keeps no pod from starting: beside the cause it would be taken for it.
        if reason == NO_DNS && is_stuck || is_said(message, &text) || told == MOST_EVENTS {
            continue;
        }
        text = format!("{text}{}{reason}: {message}", if told == 0 { "; events: " } else { "; " });
        told += 1;
    }
    let text = line(&text);
    if remedy.is_empty() { text.into_owned() } else { format!("{text}; {remedy}") }
}

/// Whether a text has a message already, or the larger part of it behind other words: what `Failed
/// to pull image X:` and `Back-off pulling image X:` say is the same.
fn is_said(message: &str, text: &str) -> bool {
    let behind = message.match_indices(": ").map(|(at, colon)| &message[at + colon.len()..]);
    let mut larger = behind.filter(|part| 2 * part.len() >= message.len());
    text.contains(message) || larger.any(|part| text.contains(part))
}

/// Whether room is made for a pod that has none.
pub(crate) fn is_being_helped(name: &str, events: &[Event]) -> bool {
    of_pod(name, events)
        .any(|event| matches!(event.reason.as_deref(), Some("TriggeredScaleUp" | "Nominated")))
}

/// The warnings of a pod and of what would help it, the last ones first.
fn of_pod<'a>(name: &'a str, events: &'a [Event]) -> impl Iterator<Item = &'a Event> {
    let is_told = |event: &&Event| {
        event.type_.as_deref() != Some("Normal")
            || matches!(
                event.reason.as_deref(),
                Some("TriggeredScaleUp" | "Nominated" | "NotTriggerScaleUp")
            )
    };
    let mut all: Vec<&Event> = events
        .iter()
        .filter(|event| event.involved_object.name.as_deref() == Some(name))
        .filter(is_told)
        .collect();
    all.sort_by_key(|event| std::cmp::Reverse(event.last_timestamp.clone()));
    all.into_iter()
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(status: Value) -> Pod {
        serde_json::from_value(json!({"metadata": {"name": "p"}, "status": status})).unwrap()
    }

    fn stuck(status: Value) -> Trouble {
        match state(&pod(status)) {
            State::Stuck(trouble) => trouble,
            other => panic!("{other:?}"),
        }
    }

    fn scheduled(containers: Value) -> Value {
        json!({
            "phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}],
            "containerStatuses": containers,
        })
    }

    fn container(state: Value, last: Value) -> Value {
        json!({
            "name": "agent", "image": "i", "imageID": "", "ready": false, "restartCount": 1,
            "state": state, "lastState": last,
        })
    }

    #[test]
    fn each_trouble_has_its_reason_and_its_words() {
        let why = "0/3 nodes are available: 3 Insufficient cpu.";
        let condition = json!({
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why,
        });
        let found = stuck(json!({"phase": "Pending", "conditions": [condition]}));
        assert_eq!(
            (found.reason.as_str(), found.message.as_str(), found.is_final),
            ("Unschedulable", why, false)
        );

        let why = "0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod \
                   ports.";
        let condition = json!({
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why,
        });
        let ports = json!([
            {"containerPort": 20016, "hostPort": 20016},
            {"containerPort": 20016, "hostPort": 20016, "protocol": "UDP"},
        ]);
        let taken: Pod = serde_json::from_value(json!({
            "metadata": {"name": "p"}, "status": {"phase": "Pending", "conditions": [condition]},
            "spec": {"hostNetwork": true, "containers": [{"name": "agent", "ports": ports}]},
        }))
        .unwrap();
        let told = tell("p", Some(&state(&taken)), &[]);
        assert!(
            told.contains("It asks for port 20016; a pod in its node's own network is there"),
            "{told}"
        );

        let waiting =
            json!({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}});
        let found = stuck(scheduled(json!([container(waiting, json!({}))])));
        assert_eq!(found.message, "container agent: Back-off pulling image");
        assert!(!found.is_final);

        let waiting = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}});
        let ended = json!({"terminated": {"exitCode": 2, "message": "unexpected argument\n"}});
        let found = stuck(scheduled(json!([container(waiting, ended)])));
        assert_eq!(
            found.message,
            "container agent: back-off 10s; it ended with code 2 and said: unexpected argument"
        );

        let found = stuck(json!({
            "phase": "Failed", "reason": "Evicted", "message": "The node was low on memory.",
        }));
        assert_eq!((found.reason.as_str(), found.is_final), ("Evicted", true));
    }

    #[test]
    fn who_is_on_the_way_is_not_in_trouble() {
        let creating =
            json!([container(json!({"waiting": {"reason": "ContainerCreating"}}), json!({}))]);
        assert_eq!(
            state(&pod(scheduled(creating))),
            State::Starting("container agent has not started yet".into())
        );
        assert_eq!(
            state(&pod(json!({"phase": "Pending"}))),
            State::Starting("nobody has given it a node yet".into())
        );
        let ready =
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        assert_eq!(state(&pod(ready.clone())), State::Ready);
        let mut leaving = pod(ready);
        leaving.metadata.deletion_timestamp =
            serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
        assert!(matches!(state(&leaving), State::Stuck(trouble) if trouble.reason == "Deleted"));
    }

    #[test]
    fn events_are_told_once_and_those_of_others_not_at_all() {
        let event = |pod: &str, kind: &str, reason: &str, message: &str| -> Event {
            serde_json::from_value(json!({
                "metadata": {}, "involvedObject": {"name": pod}, "type": kind, "reason": reason,
                "message": message,
            }))
            .unwrap()
        };
        let events = [
            event("p", "Warning", "Failed", "Failed to pull image \"x\": not found"),
            event("p", "Warning", "Failed", "Failed to pull image \"x\": not found"),
            event("p", "Normal", "Scheduled", "assigned"),
            event("q", "Warning", "Failed", "other"),
            event("p", "Warning", "Failed", "Back-off pulling image"),
        ];
        let stuck = |container: &str| {
            let (reason, message) = ("ImagePullBackOff".into(), "Back-off pulling image".into());
            State::Stuck(Trouble { reason, message, container: container.into(), is_final: false })
        };
        let told = tell("p", Some(&stuck(AGENT)), &events);
        let start = "pod p is not ready: ImagePullBackOff: Back-off pulling image; events: Failed: \
                     Failed to pull image \"x\": not found; name an image that the nodes can pull \
                     (`image:`, or `agent:` of a subject), with a Secret if its registry asks for \
                     one (`pull-secret:`)";
        assert!(told.starts_with(start), "{told}");
        let why = "Unable to retrieve some image pull secrets (registry)";
        let absent = [event("p", "Warning", NO_PULL_SECRET, why)];
        let told = tell("p", Some(&stuck(AGENT)), &absent);
        assert!(told.contains(why), "{told}");
        assert!(told.contains("; make the Secret of `pull-secret:` in the run's names"), "{told}");
        for (container, named) in
            [(SIDECAR, "`mesh: {image: ...}`"), (PROGRAM, "`servers: {NAME: {image: ...}}`")]
        {
            let told = tell("p", Some(&stuck(container)), &events);
            assert!(told.contains(named) && !told.contains("hopbench kube image"), "{told}");
        }
        assert_eq!(tell("gone", None, &[]), "pod gone is gone");
        assert!(is_being_helped("p", &[event("p", "Normal", "TriggeredScaleUp", "1->2")]));
        assert!(!is_being_helped("p", &events));

        // What kubelets say of an image that is not there, and of a pod without the cluster's DNS.
        let cause = "failed to pull and unpack image \"x\": failed to resolve reference \"x\": no \
                     such host";
        let dns = "kubelet does not have ClusterDNS IP configured and cannot create Pod using \
                   \"ClusterFirst\" policy.";
        let events = [
            event("p", "Warning", "Failed", &format!("Failed to pull image \"x\": {cause}")),
            event("p", "Warning", "Failed", "Error: ImagePullBackOff"),
            event("p", "Warning", NO_DNS, dns),
            event("q", "Warning", NO_DNS, dns),
        ];
        let message = format!("Back-off pulling image \"x\": ErrImagePull: {cause}");
        let (reason, container) = ("ImagePullBackOff".to_owned(), AGENT.to_owned());
        let state = State::Stuck(Trouble { reason, message, container, is_final: false });
        let told = tell("p", Some(&state), &events);
        assert_eq!(told.matches(cause).count(), 1, "{told}");
        assert!(!told.contains("events:"), "{told}");
        let starting = State::Starting("its node has not started it yet".into());
        assert!(
            tell("q", Some(&starting), &events).contains(dns),
            "it may be the only thing that is known"
        );
    }
}
