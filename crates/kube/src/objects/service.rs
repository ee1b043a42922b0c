//! A Service of a run: the object that is made, and what the API server makes of it.

pub(crate) mod gateway;
pub(crate) mod http_route;
pub(crate) mod ingress;

use std::collections::BTreeMap;
use std::net::IpAddr;

use hopbench_model::{Affinity, Via};
use hopbench_testbed::placement::AGENT_PORT;
use k8s_openapi::api::core::v1::{Service, ServicePort};
use serde_json::{Value, json};

use crate::api::labels::{RunIdentity, behind};
use crate::objects::containers::{AGENT, DATAGRAMS, PROGRAM};
use crate::plan::services::PathService;

/// The Service of a path, for the agents or for the server program on `program_port`. Its pods are
/// those with its label.
pub(crate) fn service(run: &RunIdentity, wanted: &PathService, program_port: Option<u16>) -> Value {
    let PathService { name, via, datagrams, sidecars, affinity, family, is_of_gateways, .. } =
        wanted;
    let port = |name: &str, port: u16, protocol: &str| {
        json!({
            "name": name, "port": port, "targetPort": name, "protocol": protocol,
        })
    };
    let mut ports = match program_port {
        _ if *is_of_gateways => Vec::new(),
        Some(program) => vec![port(PROGRAM, program, "TCP")],
        None => vec![port(AGENT, AGENT_PORT, "TCP")],
    };
    if *datagrams && program_port.is_none() {
        ports.push(port(DATAGRAMS, AGENT_PORT, "UDP"));
    }
    // Meshes take a port for what its name begins with, or for what `appProtocol` says.
    ports.extend(sidecars.iter().map(|(name, number)| {
        let protocol = name.split_once('-').map_or(name.as_str(), |(protocol, _)| protocol);
        json!({
            "name": name, "port": number, "targetPort": number, "protocol": "TCP",
            "appProtocol": protocol,
        })
    }));
    let kind = match via {
        Via::NodePort(_) => "NodePort",
        Via::LoadBalancer => "LoadBalancer",
        _ => "ClusterIP",
    };
    let mut spec = json!({"type": kind, "selector": {behind(name): ""}, "ports": ports});
    if *affinity == Affinity::ClientIp {
        spec["sessionAffinity"] = json!("ClientIP");
    }
    if let Some(family) = family {
        spec["ipFamilyPolicy"] = json!("SingleStack");
        spec["ipFamilies"] = json!([family.to_string()]);
    }
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": run.metadata(name),
        "spec": spec,
    })
}

/// The addresses and ports of a Service, as the API server gives them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ServiceEntry {
    pub(crate) address: Option<IpAddr>,
    /// The address of its load balancer, or its name.
    pub(crate) balancer: Option<String>,
    pub(crate) port: u16,
    /// On every node; 0: none.
    pub(crate) node_port: u16,
    /// The same for datagrams.
    pub(crate) datagrams_node_port: u16,
    /// The ports that servers' sidecars take, by name, with that on every node; 0: none.
    pub(crate) sidecars: BTreeMap<String, (u16, u16)>,
}

impl ServiceEntry {
    pub(crate) fn of(service: &Service) -> Self {
        let spec = service.spec.clone().unwrap_or_default();
        let ports = spec.ports.unwrap_or_default();
        let named = |names: &[&str]| {
            ports.iter().find(|port| port.name.as_deref().is_some_and(|n| names.contains(&n)))
        };
        let number =
            |port: Option<i32>| port.and_then(|port| u16::try_from(port).ok()).unwrap_or_default();
        let connections = named(&[AGENT, PROGRAM]);
        let numbers = |port: &ServicePort| {
            Some((port.name.clone()?, (number(Some(port.port)), number(port.node_port))))
        };
        let balancer = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
        let ingress = balancer.and_then(|balancer| balancer.ingress.as_ref()?.first());
        Self {
            address: spec.cluster_ip.and_then(|address| address.parse().ok()),
            balancer: ingress
                .and_then(|ingress| ingress.ip.clone().or_else(|| ingress.hostname.clone())),
            port: number(connections.map(|port| port.port)),
            node_port: number(connections.and_then(|port| port.node_port)),
            datagrams_node_port: number(named(&[DATAGRAMS]).and_then(|port| port.node_port)),
            sidecars: ports.iter().filter_map(numbers).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let entry = ServiceEntry::of(&service);
        assert_eq!(entry.address.unwrap().to_string(), "10.96.0.7");
        assert_eq!((entry.port, entry.node_port, entry.datagrams_node_port), (7474, 30123, 30124));
        assert_eq!(entry.balancer.as_deref(), Some("lb.example"));
    }
}
