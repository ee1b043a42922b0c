//! A Service of a run: the object that is made, and what the API server makes of it.

pub(crate) mod gateway;
pub(crate) mod ingress;
pub(crate) mod route;

use std::collections::BTreeMap;
use std::net::IpAddr;

use hopbench_model::{Affinity, Via};
use hopbench_peer::PORT;
use hopbench_testbed::placement::AGENT_PORT;
use k8s_openapi::api::core::v1::{Service, ServicePort};
use serde_json::{Value, json};

use crate::api::labels::{RunIdentity, behind};
use crate::objects::containers::{AGENT, DATAGRAMS, PEER, PROGRAM};
use crate::plan::services::{HTTP2_AGENT, PathService};

/// The word for HTTP/2 without TLS that gateways and meshes know.
const H2C: &str = "kubernetes.io/h2c";
/// The word for HTTP/1.1 that meshes know.
const HTTP: &str = "http";
/// The port for HTTP/2 of a Service that a gateway of the cluster leads to.
const HTTP2_PORT: u16 = AGENT_PORT + 1;

/// The Service of a path, for the agents or for the server program on `program_port`. Its pods are
/// those with its label.
pub(crate) fn service(run: &RunIdentity, wanted: &PathService, program_port: Option<u16>) -> Value {
    let PathService { name, via, datagrams, sidecars, affinity, family, .. } = wanted;
    let port = |name: &str, port: u16, protocol: &str| {
        json!({
            "name": name, "port": port, "targetPort": name, "protocol": protocol,
        })
    };
    let mut ports = match program_port {
        _ if wanted.is_of_gateways => Vec::new(),
        Some(program) => {
            let mut port = port(PROGRAM, program, "TCP");
            if wanted.says_http {
                port["appProtocol"] = HTTP.into();
            }
            vec![port]
        }
        None => vec![port(AGENT, AGENT_PORT, "TCP")],
    };
    if *datagrams && program_port.is_none() {
        ports.push(port(DATAGRAMS, AGENT_PORT, "UDP"));
    }
    if wanted.has_tools {
        ports.push(json!({"name": PEER, "port": PORT, "targetPort": PORT, "protocol": "TCP"}));
    }
    if wanted.http2 {
        // The agent answers all versions at one port, and gateways take the Service's for one.
        let mut port = port(HTTP2_AGENT, HTTP2_PORT, "TCP");
        port["targetPort"] = AGENT.into();
        port["appProtocol"] = H2C.into();
        ports.push(port);
    }
    // Meshes take a port for what its name begins with, or for what `appProtocol` says.
    ports.extend(sidecars.iter().map(|(name, number)| {
        let mut port =
            json!({"name": name, "port": number, "targetPort": number, "protocol": "TCP"});
        match name.split_once('-').map_or(name.as_str(), |(protocol, _)| protocol) {
            // Gateways refuse a word that is none of Kubernetes'.
            "tcp" => {}
            "http2" => port["appProtocol"] = H2C.into(),
            protocol => port["appProtocol"] = protocol.into(),
        }
        port
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
    /// The address of its load balancer, the first of its own family, or its name.
    pub(crate) balancer: Option<String>,
    pub(crate) port: u16,
    /// On every node; 0: none.
    pub(crate) node_port: u16,
    /// The same for datagrams.
    pub(crate) datagrams_node_port: u16,
    /// All its ports, by name, with that on every node; 0: none.
    pub(crate) ports: BTreeMap<String, (u16, u16)>,
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
        let address: Option<IpAddr> = spec.cluster_ip.and_then(|address| address.parse().ok());
        let balancer = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
        let ingress = balancer.into_iter().flat_map(|balancer| balancer.ingress.iter().flatten());
        let balancers = ingress.filter_map(|one| one.ip.as_ref().or(one.hostname.as_ref()));
        // Of a name, which is no address, the family is not known.
        let fits = |balancer: &&String| {
            let both = balancer.parse::<IpAddr>().ok().zip(address);
            both.is_none_or(|(balancer, own)| balancer.is_ipv6() == own.is_ipv6())
        };
        let fitting = balancers.clone().find(fits).or_else(|| balancers.clone().next());
        Self {
            address,
            balancer: fitting.cloned(),
            port: number(connections.map(|port| port.port)),
            node_port: number(connections.and_then(|port| port.node_port)),
            datagrams_node_port: number(named(&[DATAGRAMS]).and_then(|port| port.node_port)),
            ports: ports.iter().filter_map(numbers).collect(),
        }
    }

    /// The same for those who connect to its port of this name.
    pub(crate) fn at(&self, name: &str) -> Option<Self> {
        let (port, node_port) = *self.ports.get(name)?;
        Some(Self { port, node_port, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> PathService {
        PathService {
            name: "path0-in".into(),
            path: "in".into(),
            program: None,
            via: Via::Gateway(String::new()),
            affinity: Affinity::None,
            family: None,
            datagrams: false,
            http2: false,
            says_http: false,
            has_tools: false,
            is_of_gateways: false,
            backends: Vec::new(),
            sidecars: BTreeMap::new(),
        }
    }

    /// The ports of the Service, for the agents or for a program on this port.
    fn ports(wanted: &PathService, program_port: Option<u16>) -> Vec<Value> {
        let run = RunIdentity {
            name: "k2v9xq1bzr".into(),
            namespace: "run".into(),
            is_guest: false,
            owner: "uid".into(),
        };
        service(&run, wanted, program_port)["spec"]["ports"].as_array().unwrap().clone()
    }

    #[test]
    fn a_program_that_a_mesh_takes_says_that_it_speaks_http() {
        let of = |says_http: bool| {
            let program = Some("nginx".to_owned());
            ports(&PathService { program, says_http, ..wanted() }, Some(8080))
        };
        let mut own =
            json!({"name": "program", "port": 8080, "targetPort": "program", "protocol": "TCP"});
        assert_eq!(of(false), std::slice::from_ref(&own));
        own["appProtocol"] = "http".into();
        assert_eq!(of(true), [own]);
    }

    #[test]
    fn a_port_says_the_version_of_http_in_the_words_of_kubernetes() {
        let made = |http2: bool, sidecars: &[(&str, u16)]| -> Vec<Value> {
            let sidecars = sidecars.iter().map(|(name, port)| ((*name).to_owned(), *port));
            let sidecars = sidecars.collect();
            ports(&PathService { http2, sidecars, ..wanted() }, None)
        };
        let own = json!({"name": "agent", "port": 7474, "targetPort": "agent", "protocol": "TCP"});
        let http2 = json!({
            "name": "http2-agent", "port": 7475, "targetPort": "agent", "protocol": "TCP",
            "appProtocol": "kubernetes.io/h2c",
        });
        assert_eq!(made(false, &[]), std::slice::from_ref(&own));
        assert_eq!(made(true, &[]), [own, http2]);
        let taken =
            made(false, &[("http-agent", 17_011), ("http2-agent", 17_031), ("tcp-agent", 17_001)]);
        let said: Vec<Option<&str>> =
            taken[1..].iter().map(|port| port["appProtocol"].as_str()).collect();
        assert_eq!(said, [Some("http"), Some("kubernetes.io/h2c"), None]);
        assert_eq!(taken[2]["targetPort"], 17_031);
    }

    #[test]
    fn an_entry_is_what_the_api_server_gave() {
        let service: Service = serde_json::from_value(json!({
            "metadata": {},
            "spec": {"clusterIP": "10.96.0.7", "ports": [
                {"name": "agent", "port": 7474, "nodePort": 30123, "protocol": "TCP"},
                {"name": "agent-udp", "port": 7474, "nodePort": 30124, "protocol": "UDP"},
                {"name": "peer", "port": 5201, "nodePort": 30125, "protocol": "TCP"},
            ]},
            "status": {"loadBalancer": {"ingress": [{"hostname": "lb.example"}]}},
        }))
        .unwrap();
        let entry = ServiceEntry::of(&service);
        assert_eq!(entry.address.unwrap().to_string(), "10.96.0.7");
        assert_eq!((entry.port, entry.node_port, entry.datagrams_node_port), (7474, 30123, 30124));
        let of_tools = entry.at(PEER).unwrap();
        assert_eq!((of_tools.port, of_tools.node_port), (5201, 30125));
        assert_eq!((of_tools.address, entry.at("other")), (entry.address, None));
        assert_eq!(entry.balancer.as_deref(), Some("lb.example"));
    }

    #[test]
    fn a_load_balancer_is_entered_at_an_address_of_the_service_s_family() {
        let at = |own: &str, balancers: Value| {
            let service: Service = serde_json::from_value(json!({
                "metadata": {}, "spec": {"clusterIP": own},
                "status": {"loadBalancer": {"ingress": balancers}},
            }))
            .unwrap();
            ServiceEntry::of(&service).balancer.unwrap_or_default()
        };
        let both = json!([{"ip": "203.0.113.7"}, {"ip": "2001:db8::7"}]);
        assert_eq!(at("10.96.0.7", both.clone()), "203.0.113.7");
        assert_eq!(at("fd00:96::7", both), "2001:db8::7");
        assert_eq!(at("fd00:96::7", json!([{"hostname": "lb.example"}])), "lb.example");
        assert_eq!(at("fd00:96::7", json!([{"ip": "203.0.113.7"}])), "203.0.113.7");
        assert_eq!(at("fd00:96::7", json!([])), "");
    }
}
