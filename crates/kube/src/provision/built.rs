//! The state of a run that stands in the cluster.

#[cfg(test)]
pub(crate) mod fixture;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use hopbench_control::conductor::Conductor;
use hopbench_control::keys::PublicKey;
use hopbench_control::tls;
use hopbench_model::{ClusterSpec, Fault, IpFamily, MeshProvider, Path, Place, Point};
use hopbench_testbed::Beside;
use hopbench_testbed::placement::{Placement, PodId};
use k8s_openapi::api::core::v1::Pod;
use rustls::ClientConfig;

use crate::api::forward::AgentRoute;
use crate::api::labels::RunIdentity;
use crate::image::layout::ENTRYPOINT;
use crate::objects::containers::AGENT;
use crate::objects::security::Level;
use crate::objects::service::ServiceEntry;
use crate::observe::meters::clocks::Clocks;
use crate::plan::attachment::Attachment;
use crate::plan::discovery::Discovery;
use crate::plan::nodes::NodeFacts;
use crate::plan::placement::agent_port;
use crate::plan::services::PathService;
use crate::plan::traffic::Traffic;
use crate::provision::mesh_state::MeshState;
use crate::provision::pod_status;
use crate::provision::pods::Pods;
use crate::provision::proxy_pods::{NodeProxy, ProxyPod};

/// The state of a run that stands.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) spec: ClusterSpec,
    pub(crate) discovery: Discovery,
    pub(crate) placement: Placement,
    pub(crate) run: RunIdentity,
    /// The first port of the agents on each node's own network.
    pub(crate) host_port: u16,
    /// Opens the agents' sessions, and signs what they may do.
    pub(crate) conductor: Conductor,
    /// The agents' public keys.
    pub(crate) agents: BTreeMap<PodId, PublicKey>,
    /// The plan's cells: names of their paths, and points.
    pub(crate) cells: Vec<(String, Point)>,
    /// Target addresses that come from outside, as they were at the last question: by path, server
    /// program, and what is sent.
    pub(crate) entered: BTreeMap<(String, String, Option<Traffic>), SocketAddr>,
    /// The cluster's nodes, by the names of the scenario's.
    pub(crate) nodes: BTreeMap<String, NodeFacts>,
    pub(crate) attachments: BTreeMap<Place, Attachment>,
    pub(crate) level: Level,
    /// The needs of the pods beyond `restricted`, by their agents' names.
    pub(crate) beyond: BTreeMap<String, Vec<String>>,
    /// The pods' names in the cluster.
    pub(crate) names: BTreeMap<PodId, String>,
    /// The pods as they were asked for.
    pub(crate) templates: BTreeMap<PodId, Pod>,
    pub(crate) services: Vec<PathService>,
    /// The entries of the Services, by name.
    pub(crate) entries: BTreeMap<String, ServiceEntry>,
    /// The ready addresses behind them, as last seen.
    pub(crate) endpoints: BTreeMap<String, BTreeSet<IpAddr>>,
    /// The pods as last seen.
    pub(crate) pods: BTreeMap<PodId, Pod>,
    /// Why some of them are not there.
    pub(crate) refused: BTreeMap<PodId, String>,
    /// Why some agents must not measure, by the nodes' names in the scenario and the agents'
    /// images: they are of another build.
    pub(crate) foreign: BTreeMap<(String, String), String>,
    /// The translator of Services and its mode; absent: not known.
    pub(crate) kube_proxy: Option<String>,
    pub(crate) clocks: Arc<Clocks>,
    pub(crate) api: Pods,
    pub(crate) mesh: MeshState,
    /// The group and version of the routes for each traffic, or why there is none.
    pub(crate) served: BTreeMap<Traffic, Result<String, String>>,
    /// The addresses and ports of the Gateways that routes are attached to, or why there are none:
    /// by the names of the routes.
    pub(crate) gateways: BTreeMap<String, Result<String, String>>,
    /// The pods of Gateways that the run made, as last seen: by the names of paths.
    pub(crate) gateway_pods: BTreeMap<String, Vec<ProxyPod>>,
    /// The proxies of the mesh on the nodes, as last seen: by the names of paths.
    pub(crate) node_proxies: BTreeMap<String, Vec<NodeProxy>>,
}

impl Built {
    /// Takes over how the pods are now.
    pub(crate) fn see(&mut self, mut now: BTreeMap<String, Pod>) {
        let seen = self.names.iter().filter_map(|(id, name)| Some((id.clone(), now.remove(name)?)));
        self.pods = seen.collect();
    }

    /// The image of the agent in a pod, as it is asked for.
    pub(crate) fn agent_image(&self, id: &PodId) -> &str {
        let own = self.placement.settings.get(id).and_then(|own| own.agent.as_deref());
        own.unwrap_or(&self.spec.image)
    }

    /// The image of the proxy in a pod, as it is asked for; `None`: its mesh chooses it.
    pub(crate) fn proxy_image(&self, id: &PodId) -> Option<&str> {
        let own = self.placement.settings.get(id).and_then(|own| own.proxy.as_deref());
        let mesh = &self.spec.mesh;
        own.or_else(|| (mesh.provider == MeshProvider::Envoy).then_some(mesh.image.as_str()))
    }

    /// Why the agent of a pod must not measure.
    pub(crate) fn foreign_agent(&self, id: &PodId) -> Option<&String> {
        self.foreign.get(&(id.place.node.clone(), self.agent_image(id).to_owned()))
    }

    /// The family by which the pods of a path are reached: its own, or else the cluster's first.
    pub(crate) fn family_of(&self, path: &Path) -> IpFamily {
        path.family.unwrap_or_else(|| self.first_family())
    }

    /// The cluster's first family, by the first address of a node. Without the right to see nodes,
    /// it is that of the run's own Services or pods; IPv4 if none of them is known.
    pub(crate) fn first_family(&self) -> IpFamily {
        let of_nodes = self.nodes.values().find_map(|node| node.addresses.first().copied());
        let of_services = || {
            let mut all = self.services.iter().filter(|service| service.family.is_none());
            all.find_map(|service| self.entries.get(&service.name)?.address)
        };
        let of_pods =
            || self.pods.values().find_map(|pod| pod_status::addresses(pod).first().copied());
        let first = of_nodes.or_else(of_services).or_else(of_pods);
        first.map(IpFamily::of).unwrap_or_default()
    }

    /// The address to which the traffic for a pod goes, the first of this family.
    pub(crate) fn address(&self, id: &PodId, family: Option<IpFamily>) -> Option<IpAddr> {
        self.address_of(id, self.pods.get(id)?, family)
    }

    /// The same for another view of the pod.
    pub(crate) fn address_of(
        &self,
        id: &PodId,
        pod: &Pod,
        family: Option<IpFamily>,
    ) -> Option<IpAddr> {
        let interface = self
            .attachments
            .get(&id.place)
            .and_then(|attachment| attachment.network.interface.as_deref());
        pod_status::address(pod, interface, family)
    }

    /// The address, of this family, and port of the server in a pod.
    pub(crate) fn listener(&self, id: &PodId, family: Option<IpFamily>) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.address(id, family)?, self.own_port(id)))
    }

    /// The port of a pod's agent.
    pub(crate) fn agent_port(&self, id: &PodId) -> u16 {
        agent_port(&self.placement, self.host_port, id)
    }

    /// The port of the server in a pod.
    pub(crate) fn own_port(&self, id: &PodId) -> u16 {
        let program = id.program.as_ref().and_then(|program| self.spec.servers.get(program));
        program.map_or_else(|| self.agent_port(id), |program| program.port)
    }

    /// The Service of a path for this server.
    pub(crate) fn service(&self, path: &str, program: Option<&String>) -> Option<&PathService> {
        self.services
            .iter()
            .find(|service| service.path == path && service.program.as_ref() == program)
    }

    /// Whether a pod has a kernel of its own.
    pub(crate) fn is_sandbox(&self, id: &PodId) -> bool {
        let class = self
            .attachments
            .get(&id.place)
            .and_then(|attachment| attachment.runtime_class.as_deref());
        class.is_some_and(|class| self.discovery.is_sandbox(class))
    }

    /// The agent that sees the processes of a container, as its pod stands. There is one in the
    /// pod, it may measure, and the pod's containers share a PID namespace of the node's kernel.
    pub(crate) fn beside(&self, id: &PodId, container: &str) -> Option<Beside> {
        let pod = self.pods.get(id)?;
        let sees = self.agents.contains_key(id)
            && self.foreign_agent(id).is_none()
            && pod_status::shares_processes(pod)
            && !self.is_sandbox(id);
        let container = pod_status::container_id(pod, container).filter(|_| sees)?;
        Some(Beside { agent: id.agent(), container: container.to_owned() })
    }

    /// The way to a pod's agent.
    pub(crate) fn way(&self, id: &PodId) -> AgentRoute {
        if self.is_sandbox(id) {
            AgentRoute::Relay { container: AGENT, program: ENTRYPOINT }
        } else {
            AgentRoute::Forward
        }
    }

    /// The TLS settings for a session with a pod's agent.
    pub(crate) fn tls(&self, id: &PodId) -> Result<Arc<ClientConfig>, Fault> {
        let agent =
            self.agents.get(id).ok_or_else(|| Fault::input(format!("pod {id} has no agent")))?;
        tls::conductor_config(self.conductor.keys(), agent)
            .map_err(|e| Fault::environment(format!("TLS: {e}")))
    }

    /// The pod of an agent.
    pub(crate) fn pod(&self, agent: &str) -> Result<&PodId, Fault> {
        let pod = self.placement.pod(agent);
        pod.ok_or_else(|| {
            Fault::input(format!("agent `{agent}` is not part of this cluster's plan"))
        })
    }
}

#[cfg(test)]
mod tests {
    use hopbench_control::keys::KeyPair;
    use hopbench_model::{MeshMode, Variant, Via};
    use serde_json::json;

    use super::fixture::{built, built_with, named};
    use super::*;
    use crate::objects::containers::GATEWAY;
    use crate::plan::fixture::{path, plan, point};

    #[tokio::test]
    async fn the_first_family_is_that_of_nodes_or_else_of_services_or_pods() {
        let (ipv4, ipv6) = (IpFamily::Ipv4, IpFamily::Ipv6);
        let by = |family, via: Via| Path { family, ..path("p", "pod@a", "pod@b", via) };
        for families in [&[ipv4, ipv6][..], &[ipv6, ipv4], &[ipv6]] {
            let run = |path: Path| {
                let plan = plan(vec![path], vec![point("rr", "hopbench")]);
                built_with(&plan, families)
            };
            let mut built = run(by(None, Via::ClusterIp));
            assert_eq!(built.first_family(), families[0]);
            assert_eq!(built.family_of(&by(None, Via::Direct)), families[0]);
            assert_eq!(built.family_of(&by(Some(ipv4), Via::Direct)), ipv4);
            // Without the right to see nodes.
            built.nodes.values_mut().for_each(|node| node.addresses.clear());
            built.pods.clear();
            assert_eq!(built.first_family(), families[0], "by a Service");
            built.entries.clear();
            assert_eq!(built.first_family(), ipv4, "nothing says it");
            // A Service that asks for a family does not say which one is first.
            let mut built = run(by(Some(ipv6), Via::ClusterIp));
            built.nodes.clear();
            assert_eq!(built.first_family(), families[0], "by a pod");
        }
    }

    #[tokio::test]
    async fn a_gateway_is_seen_by_the_agent_beside_it_where_they_share_processes() {
        let (gateway, variant) = (Via::Gateway("c".into()), Some(Variant::plain()));
        let ends = path("in", "pod@a", "pod@b", gateway);
        let path = Path { mesh: MeshMode::Server, variant, ..ends };
        let mut built = built(&plan(vec![path], vec![point("rr", "hopbench")]));
        let id = named(&built, "pod@c/gateway-in");
        let pod = |shared: bool| -> Pod {
            let status = json!({
                "name": GATEWAY, "image": "", "imageID": "", "ready": true, "restartCount": 0,
                "state": {"running": {}}, "containerID": "containerd://0123456789abcdef",
            });
            let spec = json!({"containers": [], "shareProcessNamespace": shared});
            let pod = json!({
                "metadata": {}, "spec": spec, "status": {"containerStatuses": [status]},
            });
            serde_json::from_value(pod).unwrap()
        };
        built.pods.insert(id.clone(), pod(true));
        assert_eq!(built.beside(&id, GATEWAY), None, "there is no agent");
        let keys: KeyPair = "01".repeat(32).parse().unwrap();
        built.agents.insert(id.clone(), keys.public());
        let container = "0123456789abcdef".to_owned();
        let seen = Beside { agent: id.agent(), container };
        assert_eq!(built.beside(&id, GATEWAY), Some(seen));
        assert_eq!(built.beside(&id, "other"), None);
        let image = built.agent_image(&id).to_owned();
        built.foreign.insert(("c".to_owned(), image), "of another build".to_owned());
        assert_eq!(built.beside(&id, GATEWAY), None, "it may not measure");
        built.foreign.clear();
        built.pods.insert(id.clone(), pod(false));
        assert_eq!(built.beside(&id, GATEWAY), None, "they share nothing");
    }
}
