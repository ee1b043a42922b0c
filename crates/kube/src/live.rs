//! What the API server says of a pod that runs.

use std::collections::BTreeMap;
use std::net::IpAddr;

use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;

/// The annotation in which Multus says which addresses a pod has on its other interfaces.
const NETWORKS: &str = "k8s.v1.cni.cncf.io/network-status";

/// The address of a pod; `interface`: that of this interface of it.
pub(crate) fn address(pod: &Pod, interface: Option<&str>) -> Option<IpAddr> {
    match interface {
        None => pod.status.as_ref()?.pod_ip.as_deref()?.parse().ok(),
        Some(interface) => {
            let networks: Vec<Value> = serde_json::from_str(pod.metadata.annotations.as_ref()?.get(NETWORKS)?).ok()?;
            let network = networks.iter().find(|network| network["interface"] == interface)?;
            network["ips"].get(0)?.as_str()?.parse().ok()
        }
    }
}

/// Its addresses, all of them.
pub(crate) fn addresses(pod: &Pod) -> Vec<IpAddr> {
    let all = pod.status.iter().flat_map(|status| status.pod_ips.iter().flatten());
    all.filter_map(|address| address.ip.parse().ok()).collect()
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
    let containers = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
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
        let text = |interface| address(&pod, interface).map(|address| address.to_string());
        assert_eq!(text(None).as_deref(), Some("10.244.1.5"));
        assert_eq!(text(Some("net1")).as_deref(), Some("192.168.7.9"));
        assert_eq!(text(Some("net2")), None);
        assert_eq!(addresses(&pod).len(), 2);
        assert_eq!(address(&Pod::default(), Some("net1")), None);
    }
}
