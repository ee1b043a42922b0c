//! Plain Envoys that hopbench itself puts into pods: their containers, and their bootstraps in
//! Secrets.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use hopbench_control::authority::Authority;
use hopbench_mesh::{
    ADMIN, AdminAddress, POLICY_PORT, ProxyIdentity, ProxySpec, READY, ReadyPort, SPIFFE,
};
use hopbench_model::{ClusterSpec, Fault, IpFamily, MeshProvider, Variant};
use hopbench_testbed::placement::{MeshProcess, MeshRole, Placement, PodId};
use serde_json::{Value, json};

use super::listeners;
use super::services;
use crate::api::labels::RunIdentity;
use crate::objects::containers::{GATEWAY, SIDECAR};
use crate::objects::security::unprivileged;
use crate::objects::sidecar::Sidecar;
use crate::plan::names;
use crate::provision::built::Built;
use crate::provision::mesh_state::Peer;

/// The volume with the bootstrap.
const VOLUME: &str = "bootstrap";
/// Its folder in the container.
const FOLDER: &str = "/etc/hopbench";
/// Its file there, and its key in the Secret.
const FILE: &str = "bootstrap.json";
/// The file of access logs: the container's output, as with Istio.
const ACCESS_LOG: &str = "/dev/stdout";

/// The parts that the pods of a plan get beside their agents. The bootstraps come later, when the
/// servers have addresses.
pub(crate) fn sidecars(spec: &ClusterSpec, placement: &Placement) -> BTreeMap<PodId, Sidecar> {
    let names = names::pods(&placement.pods);
    let of_pod = |(pod, name): (&PodId, &String)| {
        let mut sidecar = Sidecar::default();
        let own = placement.settings.get(pod).and_then(|own| own.proxy.as_ref());
        for MeshProcess { role, variant, .. } in placement.processes_in(pod) {
            match role {
                MeshRole::Sidecar | MeshRole::Gateway => {
                    let volume = json!({
                        "name": VOLUME,
                        "secret": {"secretName": secret_name(name), "defaultMode": 0o444},
                    });
                    sidecar.volumes.push(volume);
                    let image = own.unwrap_or(&spec.mesh.image);
                    sidecar.containers.push(container(spec, image, role, &variant));
                }
                MeshRole::Policy | MeshRole::Telemetry => {
                    sidecar.containers.push(services::container(spec, role));
                }
            }
        }
        if sidecar.containers.is_empty() { None } else { Some((pod.clone(), sidecar)) }
    };
    names.iter().filter_map(of_pod).collect()
}

fn container(spec: &ClusterSpec, image: &str, role: MeshRole, variant: &Variant) -> Value {
    let mut arguments = vec!["--config-path".to_owned(), format!("{FOLDER}/{FILE}")];
    arguments.extend(arguments_of(variant));
    json!({
        "name": if role == MeshRole::Gateway { GATEWAY } else { SIDECAR },
        "image": image,
        "imagePullPolicy": spec.pull_policy,
        "args": arguments,
        "startupProbe": {"tcpSocket": {"port": READY}, "periodSeconds": 1, "failureThreshold": 120},
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
        "securityContext": unprivileged(),
        "volumeMounts": [{"name": VOLUME, "mountPath": FOLDER, "readOnly": true}],
    })
}

fn arguments_of(variant: &Variant) -> Vec<String> {
    proxy(String::new(), variant, Vec::new(), IpFamily::default()).arguments()
}

/// A proxy whose pod has its first address of this family. There the kubelet asks whether it is
/// ready, whatever the families of its paths are.
fn proxy(
    name: String,
    variant: &Variant,
    listeners: Vec<hopbench_mesh::Listener>,
    family: IpFamily,
) -> ProxySpec {
    ProxySpec {
        name,
        variant: variant.clone(),
        admin: AdminAddress::Loopback(ADMIN),
        ready: Some(ReadyPort { port: READY, family }),
        listeners,
        mark: None,
        identity: None,
        access_log: ACCESS_LOG.to_owned(),
        policy: None,
    }
}

/// The name of the Secret with the bootstrap of a pod's proxy.
fn secret_name(pod: &str) -> String {
    format!("envoy-{pod}")
}

/// The description of a pod's proxy.
#[derive(Debug)]
pub(crate) struct Described {
    proxy: ProxySpec,
    /// The pods that it leads to, with their addresses; absent: not known yet, or there is none.
    pub(crate) peers: BTreeMap<Peer, Option<IpAddr>>,
}

/// Describes a pod's proxy with the addresses that are known; `None`: the pod has no proxy of ours.
pub(crate) fn describe(
    built: &Built,
    pod: &PodId,
    address: listeners::Address<'_>,
) -> Option<Described> {
    if built.spec.mesh.provider != MeshProvider::Envoy {
        return None;
    }
    let processes = built.placement.processes_in(pod);
    let variant = &processes.iter().find(|process| process.role.is_proxy())?.variant;
    let peers = RefCell::new(BTreeMap::new());
    let asked = |peer: &PodId, family: Option<IpFamily>| {
        let found = address(peer, family);
        peers.borrow_mut().insert((peer.clone(), family), found);
        found
    };
    let listeners = listeners::listeners(built, pod, &asked);
    let mut proxy = proxy(pod.to_string(), variant, listeners, built.first_family());
    let policy = built.placement.policy_of(pod).and_then(|service| asked(service, None));
    proxy.policy = policy.map(|address| SocketAddr::new(address, POLICY_PORT));
    Some(Described { proxy, peers: peers.into_inner() })
}

impl Described {
    /// The Secret with its bootstrap, which has the proxy's key; `name` is its pod's.
    pub(crate) fn secret(
        mut self,
        run: &RunIdentity,
        name: &str,
        authority: &Authority,
    ) -> Result<Value, Fault> {
        let issued = authority.issue(&format!("{SPIFFE}pod/{}", self.proxy.name))?;
        self.proxy.identity = Some(ProxyIdentity {
            certificate: issued.certificate,
            key: issued.key,
            authority: issued.authority,
        });
        Ok(json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": run.metadata(&secret_name(name)),
            "type": "Opaque",
            "stringData": {FILE: self.proxy.bootstrap().to_string()},
        }))
    }
}

#[cfg(test)]
mod tests {
    use hopbench_mesh::TELEMETRY_PORT;
    use hopbench_model::{MeshMode, Path, Plan, Via};

    use super::*;
    use crate::plan::fixture::{path, plan, point};
    use crate::provision::built::fixture::{built_with, named};

    fn asking(via: Via, mesh: MeshMode) -> Plan {
        let variant = Variant { policy_check: true, policy_report: true, ..Variant::plain() };
        let path = Path { mesh, variant: Some(variant), ..path("p", "pod@a", "pod@b", via) };
        plan(vec![path], vec![point("rr", "hopbench")])
    }

    fn described(built: &Built, pod: &str) -> ProxySpec {
        let address = |id: &PodId, family: Option<IpFamily>| built.address(id, family);
        describe(built, &named(built, pod), &address).unwrap().proxy
    }

    #[tokio::test]
    async fn services_are_asked_at_the_first_address_of_their_pod() {
        let (ipv4, ipv6) = (IpFamily::Ipv4, IpFamily::Ipv6);
        let plan = asking(Via::Gateway("c".to_owned()), MeshMode::Server);
        for families in [&[ipv4, ipv6][..], &[ipv6, ipv4], &[ipv6]] {
            let built = built_with(&plan, families);
            for pod in ["pod@c/gateway-p", "pod@b"] {
                let proxy = described(&built, pod);
                let policy = proxy.policy.unwrap();
                let telemetry = proxy.listeners[0].routes[0].telemetry.unwrap();
                assert_eq!((policy.port(), telemetry.port()), (POLICY_PORT, TELEMETRY_PORT));
                assert_eq!(policy.ip(), telemetry.ip(), "they share a pod");
                assert!(families[0].has(policy.ip()), "{pod}, {families:?}: {policy}");
                let clusters = proxy.bootstrap()["static_resources"]["clusters"].clone();
                let all = clusters.as_array().unwrap();
                let service = all.iter().find(|cluster| cluster["name"] == "policy").unwrap();
                let endpoint = &service["load_assignment"]["endpoints"][0]["lb_endpoints"][0];
                let at = &endpoint["endpoint"]["address"]["socket_address"];
                // Without the brackets of a URL.
                let expected = json!({"address": policy.ip(), "port_value": POLICY_PORT});
                assert_eq!(*at, expected);
            }
        }
    }

    /// The kubelet asks at the first address of a pod.
    #[tokio::test]
    async fn where_ipv6_is_first_proxies_are_ready_there_whatever_their_paths_take() {
        let ready = |families: &[IpFamily], family| {
            let mut plan = asking(Via::Direct, MeshMode::Both);
            plan.paths[0].family = family;
            let built = built_with(&plan, families);
            let bootstrap = described(&built, "pod@b").bootstrap();
            let listeners = bootstrap["static_resources"]["listeners"].as_array().unwrap();
            let ready = listeners.iter().find(|listener| listener["name"] == "ready").unwrap();
            let more = &ready["additional_addresses"][0]["address"]["socket_address"];
            (more["address"] == "::").then(|| more["port_value"].clone())
        };
        let (ipv4, ipv6) = (IpFamily::Ipv4, IpFamily::Ipv6);
        for family in [None, Some(ipv4), Some(ipv6)] {
            assert_eq!(ready(&[ipv6, ipv4], family), Some(json!(READY)), "{family:?}");
        }
        assert_eq!(ready(&[ipv6], None), Some(json!(READY)));
        assert_eq!(ready(&[ipv4, ipv6], Some(ipv4)), None);
        assert_eq!(ready(&[ipv4], None), None);
    }
}
