//! Services: addresses and node ports that stand for several backends.

use std::net::{Ipv4Addr, SocketAddrV4};

use hopbench_model::Via;

use crate::addresses;
use crate::demand::{AGENT_PORT, Cast, PROGRAM_PORT, PodId};
use crate::kind::Reach;
use crate::kinds::kind;

/// The Service of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) number: usize,
    /// Name of its path.
    pub(crate) path: String,
    /// The node that translates for its path.
    pub(crate) node: String,
    pub(crate) front: Front,
    /// The agents' port and the server program's.
    pub(crate) ports: [Port; 2],
    /// Whether the backends see an address of the node that translated, instead of the client's.
    pub(crate) masquerades: bool,
}

/// Where a Service is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Front {
    /// At an address of its own, translated on any node.
    Address(Ipv4Addr),
    /// At the addresses of the nodes.
    Nodes,
}

/// One port of a Service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) port: u16,
    /// Who answers there, in the order of the path's servers.
    pub(crate) backends: Vec<SocketAddrV4>,
}

impl Service {
    /// The Service of a path that has one; `address` knows where its pods are.
    pub(crate) fn of(cast: &Cast, address: impl Fn(&PodId) -> Option<Ipv4Addr>) -> Option<Self> {
        let number = cast.service?;
        let backends = |port: fn(&PodId) -> u16| {
            cast.servers.iter().filter_map(|pod| Some(SocketAddrV4::new(address(pod)?, port(pod)))).collect()
        };
        let (front, agent, program) = match cast.path.via {
            Via::Direct | Via::Gateway(_) => return None,
            Via::ClusterIp => (Front::Address(addresses::service(number)), AGENT_PORT, PROGRAM_PORT),
            Via::NodePort(_) => {
                let (agent, program) = addresses::node_ports(number);
                (Front::Nodes, agent, program)
            }
        };
        Some(Self {
            number,
            path: cast.path.name.clone(),
            node: translator(cast)?.to_owned(),
            front,
            ports: [
                Port { port: agent, backends: backends(PodId::agent_port) },
                Port { port: program, backends: backends(PodId::program_port) },
            ],
            masquerades: masquerades(cast),
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

/// The node that translates for a path; none without a Service.
pub(crate) fn translator(cast: &Cast) -> Option<&str> {
    match &cast.path.via {
        Via::Direct | Via::Gateway(_) => None,
        Via::ClusterIp => Some(&cast.path.from.node),
        Via::NodePort(node) => Some(node),
    }
}

/// Whether the source has to be a node's, so that answers come back to where they are translated: always behind a node
/// port; for a node's own clients; and where client and backend share a bridge, over which answers would go straight.
fn masquerades(cast: &Cast) -> bool {
    let reach = |network: &str| kind(network).map_or(Reach::Node, |kind| kind.reach());
    let (from, to) = (reach(&cast.path.from.network), reach(&cast.path.to.network));
    let shared = cast.path.from.node == cast.path.to.node && from.segment().is_some() && from == to;
    matches!(cast.path.via, Via::NodePort(_)) || from == Reach::Node || shared
}
