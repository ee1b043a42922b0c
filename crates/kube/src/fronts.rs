//! Services: what stands for several backends.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use hopbench_model::Via;
use k8s_openapi::api::core::v1::{Service, ServicePort};

use crate::cast::Cast;
use crate::demand::Demand;
use crate::names;
use crate::objects::pod::{AGENT, DATAGRAMS, PROGRAM};
use crate::pod::PodId;

/// A Service that a plan needs: of one path, for the agents or for one server program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Front {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) program: Option<String>,
    pub(crate) via: Via,
    pub(crate) datagrams: bool,
    pub(crate) backends: Vec<PodId>,
    /// The ports beside those of whoever answers, with their names: each leads to the port of the same number, where
    /// the servers' sidecars take it.
    pub(crate) sidecars: BTreeMap<&'static str, u16>,
}

/// The Services of a plan.
pub(crate) fn fronts(demand: &Demand) -> Vec<Front> {
    let mut all = Vec::new();
    for (number, cast) in demand.paths.values().filter(|cast| cast.has_service()).enumerate() {
        let path = &cast.path.name;
        all.extend(cast.servers.iter().enumerate().map(|(of, (program, backends))| Front {
            name: names::service(number, path, program.as_deref().map(|program| (of, program))),
            path: path.clone(),
            program: program.clone(),
            via: cast.path.via.clone(),
            datagrams: cast.datagrams,
            backends: backends.clone(),
            sidecars: sidecars(cast, program.as_ref()),
        }));
    }
    all
}

fn sidecars(cast: &Cast, program: Option<&String>) -> BTreeMap<&'static str, u16> {
    let mode = cast.entered();
    let named = mode.has_server() || cast.intercepted && mode.has_client();
    let asks = cast.asks.iter().filter(|ask| named && ask.program.as_ref() == program);
    asks.map(|ask| (ask.port_name(), ask.offer().exposed(mode))).collect()
}

/// The Services that each pod is behind, by name.
pub(crate) fn behind(fronts: &[Front]) -> BTreeMap<&PodId, BTreeSet<String>> {
    let mut all: BTreeMap<&PodId, BTreeSet<String>> = BTreeMap::new();
    for front in fronts {
        for pod in &front.backends {
            all.entry(pod).or_default().insert(front.name.clone());
        }
    }
    all
}

/// Where a Service is reached, as the API server says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Entry {
    pub(crate) address: Option<IpAddr>,
    /// Where its load balancer is: an address, or a name.
    pub(crate) balancer: Option<String>,
    pub(crate) port: u16,
    /// On every node; 0: none.
    pub(crate) node_port: u16,
    /// The same for datagrams.
    pub(crate) datagrams_node_port: u16,
    /// The ports that servers' sidecars take, by name, with that on every node; 0: none.
    pub(crate) sidecars: BTreeMap<String, (u16, u16)>,
}

impl Entry {
    pub(crate) fn of(service: &Service) -> Self {
        let spec = service.spec.clone().unwrap_or_default();
        let ports = spec.ports.unwrap_or_default();
        let named = |names: &[&str]| ports.iter().find(|port| port.name.as_deref().is_some_and(|n| names.contains(&n)));
        let number = |port: Option<i32>| port.and_then(|port| u16::try_from(port).ok()).unwrap_or_default();
        let connections = named(&[AGENT, PROGRAM]);
        let numbers =
            |port: &ServicePort| Some((port.name.clone()?, (number(Some(port.port)), number(port.node_port))));
        let balancer = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
        let ingress = balancer.and_then(|balancer| balancer.ingress.as_ref()?.first());
        Self {
            address: spec.cluster_ip.and_then(|address| address.parse().ok()),
            balancer: ingress.and_then(|ingress| ingress.ip.clone().or_else(|| ingress.hostname.clone())),
            port: number(connections.map(|port| port.port)),
            node_port: number(connections.and_then(|port| port.node_port)),
            datagrams_node_port: number(named(&[DATAGRAMS]).and_then(|port| port.node_port)),
            sidecars: ports.iter().filter_map(numbers).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::{path, plan, point};

    #[test]
    fn each_path_with_a_service_has_one_for_each_who_answers() {
        let mut node_port = path("node port", "pod@a", "pod@b", Via::NodePort("c".into()));
        node_port.backends = 2;
        let plan = plan(
            vec![path("direct", "pod@a", "pod@b", Via::Direct), node_port],
            vec![point("udp", "hopbench"), point("http", "nginx")],
        );
        let demand = Demand::of(&plan);
        let fronts = fronts(&demand);
        let names: Vec<_> = fronts.iter().map(|front| front.name.as_str()).collect();
        assert_eq!(names, ["path0-node-port", "path0-node-port-nginx"]);
        assert!(fronts.iter().all(|front| front.backends.len() == 2 && front.datagrams));
        let behind = behind(&fronts);
        assert_eq!(behind.len(), 4);
        assert!(behind.values().all(|services| services.len() == 1));
    }

    #[test]
    fn an_entry_is_what_the_api_server_gave() {
        let service: Service = serde_json::from_value(json!({
            "metadata": {},
            "spec": {"clusterIP": "10.96.0.7", "ports": [
                {"name": "agent", "port": 7474, "nodePort": 30123, "protocol": "TCP"},
                {"name": "agent-udp", "port": 7474, "nodePort": 30124, "protocol": "UDP"},
            ]},
            "status": {"loadBalancer": {"ingress": [{"hostname": "lb.example"}]}},
        }))
        .unwrap();
        let entry = Entry::of(&service);
        assert_eq!(entry.address.unwrap().to_string(), "10.96.0.7");
        assert_eq!((entry.port, entry.node_port, entry.datagrams_node_port), (7474, 30123, 30124));
        assert_eq!(entry.balancer.as_deref(), Some("lb.example"));
    }
}
