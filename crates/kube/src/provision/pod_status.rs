//! The status of a pod that runs, as the API server gives it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use hopbench_model::IpFamily;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use serde_json::Value;

/// The annotation in which Multus says which addresses a pod has on its other interfaces.
const NETWORKS: &str = "k8s.v1.cni.cncf.io/network-status";

/// The address of a pod, the first of this family; `interface`: that of this interface of it.
pub(crate) fn address(
    pod: &Pod,
    interface: Option<&str>,
    family: Option<IpFamily>,
) -> Option<IpAddr> {
    let mut all = match interface {
        None => addresses(pod),
        Some(interface) => {
            let networks: Vec<Value> =
                serde_json::from_str(pod.metadata.annotations.as_ref()?.get(NETWORKS)?).ok()?;
            let network = networks.iter().find(|network| network["interface"] == interface)?;
            let all = network["ips"].as_array()?.iter();
            all.filter_map(|address| address.as_str()?.parse().ok()).collect()
        }
    };
    all.retain(|address| family.is_none_or(|family| family.has(*address)));
    all.first().copied()
}

/// Its addresses, all of them, first that of the cluster's first family.
pub(crate) fn addresses(pod: &Pod) -> Vec<IpAddr> {
    let Some(status) = &pod.status else { return Vec::new() };
    let all = status.pod_ips.iter().flatten().map(|address| &address.ip);
    let mut all: Vec<IpAddr> =
        status.pod_ip.iter().chain(all).filter_map(|address| address.parse().ok()).collect();
    // The first stands in both lists.
    let mut seen = BTreeSet::new();
    all.retain(|address| seen.insert(*address));
    all
}

/// When one of its containers was started that runs, in whole seconds of its node's clock since
/// 1970 UTC.
pub(crate) fn started(pod: &Pod, container: &str) -> Option<Duration> {
    let running = status_of(pod, container)?.state.as_ref()?.running.as_ref()?;
    let seconds = running.started_at.as_ref()?.0.as_second();
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// The id of one of its containers that runs, without the name of its runtime.
pub(crate) fn container_id<'a>(pod: &'a Pod, container: &str) -> Option<&'a str> {
    let status = status_of(pod, container)?;
    status.state.as_ref()?.running.as_ref()?;
    status.container_id.as_deref()?.split_once("://").map(|(_, id)| id)
}

/// The image that one of its containers is to have, and the digest of the one that it has.
pub(crate) fn image<'a>(pod: &'a Pod, container: &str) -> Option<(&'a str, &'a str)> {
    let spec = pod.spec.as_ref()?;
    let mut all = spec.containers.iter().chain(spec.init_containers.iter().flatten());
    let image = all.find(|one| one.name == container)?.image.as_deref()?;
    Some((image, status_of(pod, container)?.image_id.as_str()))
}

/// The CPU limit of one of its containers, cores: the scenario's, or what a patch or a LimitRange
/// made of it. Kubernetes takes 0 for none.
pub(crate) fn cpu_limit(pod: &Pod, container: &str) -> Option<f64> {
    let all = &pod.spec.as_ref()?.containers;
    let resources = all.iter().find(|one| one.name == container)?.resources.as_ref()?;
    let said = resources.limits.as_ref()?.get("cpu")?.0.as_str();
    let (number, of_core) = said.strip_suffix('m').map_or((said, 1.0), |millis| (millis, 1000.0));
    let cores = number.parse::<f64>().ok()? / of_core;
    Some(cores).filter(|cores| cores.is_finite() && *cores > 0.0)
}

/// Sidecars may be among the init containers.
fn status_of<'a>(pod: &'a Pod, container: &str) -> Option<&'a ContainerStatus> {
    let status = pod.status.as_ref()?;
    let mut all = status.init_container_statuses.iter().chain(&status.container_statuses).flatten();
    all.find(|status| status.name == container)
}

/// Whether its containers share a PID namespace.
pub(crate) fn shares_processes(pod: &Pod) -> bool {
    pod.spec.as_ref().is_some_and(|spec| spec.share_process_namespace == Some(true))
}

/// The node that it is on.
pub(crate) fn node(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default()
}

/// The RuntimeClass that it has.
pub(crate) fn runtime_class(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.runtime_class_name.as_deref()
}

/// Whether it is in its node's own network.
pub(crate) fn is_host(pod: &Pod) -> bool {
    pod.spec.as_ref().is_some_and(|spec| spec.host_network == Some(true))
}

/// The images of its containers with their digests, by the containers' names.
pub(crate) fn images(pod: &Pod) -> BTreeMap<&str, (&str, &str)> {
    let containers =
        pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    containers.map(|c| (c.name.as_str(), (c.image.as_str(), c.image_id.as_str()))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_are_the_pods_own_or_those_of_a_named_interface() {
        let networks = json!([
            {"name": "cni0", "interface": "eth0", "ips": ["10.244.1.5"], "default": true},
            {"name": "default/macvlan", "interface": "net1", "ips": ["192.168.7.9", "fd00::9"]},
        ]);
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"annotations": {NETWORKS: networks.to_string()}},
            "status": {"podIP": "10.244.1.5", "podIPs": [{"ip": "10.244.1.5"}, {"ip": "fd00::5"}]},
        }))
        .unwrap();
        let text =
            |interface, family| address(&pod, interface, family).map(|address| address.to_string());
        assert_eq!(text(None, None).as_deref(), Some("10.244.1.5"));
        assert_eq!(text(None, Some(IpFamily::Ipv6)).as_deref(), Some("fd00::5"));
        assert_eq!(text(Some("net1"), None).as_deref(), Some("192.168.7.9"));
        assert_eq!(text(Some("net1"), Some(IpFamily::Ipv6)).as_deref(), Some("fd00::9"));
        assert_eq!(text(Some("net2"), None), None);
        assert_eq!(addresses(&pod).len(), 2);
        assert_eq!(address(&Pod::default(), Some("net1"), None), None);
    }

    #[test]
    fn only_a_container_that_runs_has_an_id() {
        let status = |name: &str, state: Value| {
            json!({
                "name": name, "image": "", "imageID": "", "ready": true, "restartCount": 0,
                "state": state, "containerID": format!("containerd://{name}1"),
            })
        };
        let running = json!({"running": {"startedAt": "1970-01-02T00:00:07Z"}});
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {},
            "spec": {"containers": [], "shareProcessNamespace": true},
            "status": {
                "initContainerStatuses": [status("proxy", running.clone())],
                "containerStatuses": [
                    status("agent", running), status("old", json!({"terminated": {"exitCode": 0}})),
                ],
            },
        }))
        .unwrap();
        let ids = ["agent", "proxy", "old", "none"].map(|name| container_id(&pod, name));
        assert_eq!(ids, [Some("agent1"), Some("proxy1"), None, None]);
        assert!(shares_processes(&pod) && !shares_processes(&Pod::default()));
    }

    #[test]
    fn a_cpu_limit_is_in_cores() {
        let limit = |resources: Value| {
            let program = json!({"name": "program", "resources": resources});
            let agent = json!({"name": "agent", "resources": {"limits": {"cpu": "7"}}});
            let pod = json!({"metadata": {}, "spec": {"containers": [agent, program]}});
            cpu_limit(&serde_json::from_value(pod).unwrap(), "program")
        };
        for (said, cores) in [("500m", Some(0.5)), ("2", Some(2.0)), ("0.25", Some(0.25))] {
            assert_eq!(limit(json!({"limits": {"cpu": said, "memory": "1Gi"}})), cores, "{said}");
        }
        for none in ["0", "0m", "-1", "inf", "nan", "much"] {
            assert_eq!(limit(json!({"limits": {"cpu": none}})), None, "{none}");
        }
        assert_eq!(limit(json!({"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}})), None);
        assert_eq!(cpu_limit(&Pod::default(), "program"), None);
    }

    #[test]
    fn a_container_that_runs_has_begun() {
        let status = |state: Value| {
            let status = json!({
                "name": "agent", "image": "", "imageID": "", "ready": true, "restartCount": 0,
                "state": state,
            });
            serde_json::from_value::<Pod>(
                json!({"metadata": {}, "status": {"containerStatuses": [status]}}),
            )
            .unwrap()
        };
        let running = status(json!({"running": {"startedAt": "1970-01-02T00:00:07Z"}}));
        assert_eq!(started(&running, "agent"), Some(Duration::from_secs(86_407)));
        assert_eq!(started(&running, "other"), None);
        assert_eq!(started(&status(json!({"waiting": {}})), "agent"), None);
    }
}
