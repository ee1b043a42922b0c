//! A Service of one path: its address or node ports, and its backends, which are servers or
//! gateways.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hopbench_mesh::{App, Offer};
use hopbench_model::{Affinity, IpFamily, Path, Via};
use hopbench_testbed::placement::{AGENT_PORT, Endpoints, PodId};

use super::pod_ports::{PROGRAM_PORT, agent_port, entry};
use crate::network::families::{family_of, of_family};
use crate::topology::addresses;
use crate::topology::kind::Reach;
use crate::topology::kinds::kind;

/// The offers of a Service without proxies: there a port carries whatever it is sent.
const UNPROXIED: [Offer; 2] = [Offer::ALL[0], Offer::ALL[2]];

/// Those with proxies that go on with the version of HTTP in which a request came: HTTP/2 needs no
/// port of its own.
const PROXIED: [Offer; 3] = [Offer::ALL[0], Offer::ALL[1], Offer::ALL[2]];

/// The offers of the Service of a path.
fn offers(path: &Path) -> &'static [Offer] {
    match (path.is_proxied(), path.carries_as_http2()) {
        (false, _) => &UNPROXIED,
        (true, false) => &PROXIED,
        (true, true) => &Offer::ALL,
    }
}

/// The Service of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) number: usize,
    /// Name of its path.
    pub(crate) path: String,
    /// The node that translates for its path.
    pub(crate) node: String,
    pub(crate) front: Front,
    /// Its ports, one for each of [`offers`].
    pub(crate) ports: Vec<Port>,
    /// Whether the backends see an address of the node that translated, instead of the client's.
    pub(crate) masquerades: bool,
    /// What ties the connections of a client to a backend.
    pub(crate) affinity: Affinity,
    /// The family of its addresses.
    pub(crate) family: IpFamily,
}

/// The addresses at which a Service is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Front {
    /// At an address of its own, translated on any node.
    Address(IpAddr),
    /// At the addresses of the nodes.
    Nodes,
}

/// One port of a Service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) port: u16,
    /// The backends, in the order of the path's servers, or of its gateways.
    pub(crate) backends: Vec<Backend>,
}

/// A backend of one port of a Service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backend {
    /// The destination of connections.
    pub(crate) tcp: SocketAddr,
    /// The port for datagrams, which proxies do not take: the agent's own.
    pub(crate) udp_port: u16,
}

impl Service {
    /// The Service of a path that has one; `address` knows where its pods are.
    pub(crate) fn of(
        endpoints: &Endpoints,
        address: impl Fn(&PodId) -> Option<Ipv4Addr>,
    ) -> Option<Self> {
        let number = endpoints.service?;
        let family = family_of(&endpoints.path);
        let front = match endpoints.path.via {
            Via::Direct | Via::LoadBalancer | Via::Address(_) => return None,
            Via::ClusterIp | Via::Gateway(_) => {
                Front::Address(of_family(addresses::service(number), family))
            }
            Via::NodePort(_) => Front::Nodes,
        };
        let port = |offer: &Offer| {
            let backend = |pod: &PodId| {
                let entered = match endpoints.gateways.is_empty() {
                    true => entry(*offer, pod, endpoints.path.mesh),
                    false => offer.gateway(),
                };
                let tcp = SocketAddr::new(of_family(address(pod)?, family), entered);
                Some(Backend { tcp, udp_port: agent_port(pod) })
            };
            Port {
                port: port(endpoints, number, *offer),
                backends: backends(endpoints).iter().filter_map(backend).collect(),
            }
        };
        Some(Self {
            number,
            path: endpoints.path.name.clone(),
            node: translator(endpoints)?.to_owned(),
            front,
            ports: offers(&endpoints.path).iter().map(port).collect(),
            masquerades: masquerades(endpoints),
            affinity: endpoints.path.affinity,
            family,
        })
    }

    /// Name of the counter of all connections through it.
    pub(crate) fn counter(&self) -> String {
        format!("svc{}", self.number)
    }

    /// Name of the counter, and of the chain, of a backend of one of its ports.
    pub(crate) fn backend_counter(&self, port: usize, backend: usize) -> String {
        format!("svc{}-{port}-{backend}", self.number)
    }
}

/// The port at which the Service of a path has this offer.
pub(crate) fn port(endpoints: &Endpoints, number: usize, offer: Offer) -> u16 {
    match (&endpoints.path.via, offer.app) {
        // Without proxies the agent has one port for all that it carries.
        (Via::NodePort(_), App::Agent) if !endpoints.path.is_proxied() => {
            addresses::node_ports(number)[0]
        }
        (Via::NodePort(_), _) => addresses::node_ports(number)[offer.position()],
        (Via::Gateway(_), _) => offer.gateway(),
        // The sidecars intercept by port: the one that stands for the mode.
        _ if endpoints.path.is_proxied() => offer.exposed(endpoints.path.mesh),
        (_, App::Agent) => AGENT_PORT,
        (_, App::Program) => PROGRAM_PORT,
    }
}

/// The pods that the Service of a path leads to: its gateways, or without any its servers.
fn backends(endpoints: &Endpoints) -> &[PodId] {
    if endpoints.gateways.is_empty() { &endpoints.servers } else { &endpoints.gateways }
}

/// The node that translates for a path; none without a Service.
pub(crate) fn translator(endpoints: &Endpoints) -> Option<&str> {
    match &endpoints.path.via {
        Via::Gateway(_) if endpoints.service.is_none() => None,
        Via::Direct | Via::LoadBalancer | Via::Address(_) => None,
        Via::ClusterIp | Via::Gateway(_) => Some(&endpoints.path.from.node),
        Via::NodePort(node) => Some(node),
    }
}

/// Whether the source has to be a node's, so that answers come back to the node that translates.
/// That is so behind a node port, for a node's own clients, and if client and backend share a
/// bridge. Answers would go straight over it.
fn masquerades(endpoints: &Endpoints) -> bool {
    let reach = |network: &str| kind(network).map_or(Reach::Node, |kind| kind.reach());
    let backends = backends(endpoints);
    let network =
        |pods: &[PodId]| pods.first().map_or(Reach::Node, |pod| reach(&pod.place.network));
    let (from, to) = (network(&endpoints.clients), network(backends));
    let is_on_both =
        |client: &PodId| backends.iter().any(|backend| backend.place.node == client.place.node);
    let shared = endpoints.clients.iter().any(is_on_both) && from.segment().is_some() && from == to;
    matches!(endpoints.path.via, Via::NodePort(_)) || from == Reach::Node || shared
}

#[cfg(test)]
mod tests {
    use hopbench_model::{HttpVersion, MeshMode, Variant, fixture};
    use hopbench_testbed::placement::{Placement, Rules};

    use super::*;

    #[test]
    fn backends_are_entered_where_the_mode_says() {
        let service = |via: Via, mode: MeshMode| {
            let path = Path {
                from: fixture::place("bridge", "a"),
                to: fixture::place("bridge", "b"),
                via,
                backends: 2,
                mesh: mode,
                variant: (!mode.is_none()).then(Variant::plain),
                ..fixture::path("p")
            };
            let mut placement =
                Placement::of(&fixture::plan(vec![path.clone()], vec![]), Rules::default());
            let endpoints = Endpoints { service: Some(3), ..placement.paths.remove("p").unwrap() };
            let ports = Service::of(&endpoints, |_| Some(Ipv4Addr::LOCALHOST)).unwrap().ports;
            assert!(
                ports
                    .iter()
                    .all(|port| port.backends.len() == 2 && port.backends[0].udp_port == 7474)
            );
            // Whatever is asked for, somebody answers where the clients go.
            let entered =
                |offer: &Offer| ports.iter().any(|known| known.port == port(&endpoints, 3, *offer));
            assert!(PROXIED.iter().all(entered), "{path:?}");
            ports.iter().map(|port| (port.port, port.backends[1].tcp.port())).collect::<Vec<_>>()
        };
        let exposed = |mode| PROXIED.map(|offer| offer.exposed(mode));
        assert_eq!(service(Via::ClusterIp, MeshMode::None), [(7474, 7474), (80, 80)]);
        // The client's sidecar goes to whoever answers; the server's takes the port that stands for
        // its mode.
        let [tcp, http, program] = exposed(MeshMode::Client);
        assert_eq!(
            service(Via::ClusterIp, MeshMode::Client),
            [(tcp, 7474), (http, 7474), (program, 80)]
        );
        let node_port = || Via::NodePort("c".into());
        assert_eq!(service(node_port(), MeshMode::None), [(30_009, 7474), (30_011, 80)]);
        for mode in [MeshMode::Server, MeshMode::Both] {
            let [tcp, http, program] = exposed(mode);
            assert_eq!(
                service(node_port(), mode),
                [(30_009, tcp), (30_010, http), (30_011, program)]
            );
        }
    }

    #[test]
    fn http2_has_a_node_port_of_its_own_where_proxies_cannot_see_the_version() {
        let path = Path {
            from: fixture::place("bridge", "a"),
            to: fixture::place("bridge", "b"),
            via: Via::NodePort("c".into()),
            mesh: MeshMode::Both,
            variant: Some(Variant { upstream: HttpVersion::Http2, ..Variant::plain() }),
            ..fixture::path("p")
        };
        let placement = Placement::of(&fixture::plan(vec![path], vec![]), Rules::default());
        let service = Service::of(&placement.paths["p"], |_| Some(Ipv4Addr::LOCALHOST)).unwrap();
        let entered = service.ports.iter().map(|port| (port.port, port.backends[0].tcp.port()));
        let [tcp, http, program, http2] = Offer::ALL.map(|offer| offer.exposed(MeshMode::Both));
        assert_eq!(
            entered.collect::<Vec<_>>(),
            [(30_000, tcp), (30_001, http), (30_002, program), (29_000, http2)]
        );
    }
}
